"""The smallest ball that encloses samples in the feature space of a kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fsvm_cli.svm.kernels.centred_gram import centred
from fsvm_cli.svm.solvers.simplex import Simplex

if TYPE_CHECKING:
    from fsvm_cli.svm.vectors import Array

VIOLATION = 1e-2
"""The violation of the optimality conditions to reach, in tolerances and units of the largest squared distance."""


@dataclass(frozen=True, eq=False)
class Ball:
    """An enclosing ball around a convex combination of the samples.

    Attributes
    ----------
    beta : (n,) array
        The centre's coefficients: >= 0, with a sum of 1.
    squared_radius : float
        R^2 = sum_i beta_i k_ii - beta' K beta: no larger than that of any ball that holds all samples.
    gap : float
        By what part of it the squared distance of the farthest sample from the centre exceeds `squared_radius`.
    converged : bool
        Whether the gap is within the tolerance that was asked for.
    """

    beta: Array
    squared_radius: float
    gap: float
    converged: bool

    @property
    def gram_gradient(self) -> Array:
        """The derivative of `squared_radius` by the entries of the Gram matrix, diag(beta) - beta beta', (n, n)."""
        gradient = np.multiply.outer(-self.beta, self.beta)
        gradient.flat[:: len(self.beta) + 1] += self.beta
        return gradient


def enclosing_ball(gram: Array, *, tolerance: float = 1e-6) -> Ball:
    """Find the smallest ball that encloses all samples.

    Its squared radius is the maximum of sum_i beta_i k_ii - beta' K beta over beta >= 0 with a sum of 1.

    Parameters
    ----------
    gram : (n, n) array
        A positive semidefinite Gram matrix, finite.
    tolerance : float
        The relative gap to reach, > 0.

    Returns
    -------
    Ball
    """
    n = len(gram)
    around_mean = centred(gram)
    squares = around_mean.diagonal()
    unit = float(squares.max())
    if not unit > 0.0:
        return Ball(np.full(n, 1.0 / n), 0.0, 0.0, converged=True)
    start = np.zeros(n)
    start[squares.argmax()] = 1.0
    beta = Simplex(len(start)).maximise(around_mean / unit, 0.5 * squares / unit, start, VIOLATION * tolerance)
    to_centre = around_mean @ beta
    inner = float(beta @ to_centre)
    squared_radius = float(beta @ squares) - inner
    gap = float((squares - 2.0 * to_centre).max() + inner) / squared_radius - 1.0
    return Ball(beta, squared_radius, gap, gap <= tolerance)
