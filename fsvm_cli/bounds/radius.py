"""The smallest ball that encloses samples in the feature space of a kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fsvm_cli.bounds.bound import centred
from fsvm_cli.svm.solvers.active_set import maximise
from fsvm_cli.svm.solvers.engine import STEPS_PER_SAMPLE, make_scratch
from fsvm_cli.svm.solvers.residuals import refresh

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

    Notes
    -----
    The problem has the form of the dual of a support vector machine with labels k_ii / 2 in place of -1 and 1, bounds 0
    and 1, and a further sample, with zeros for a kernel, whose coefficient is fixed at -1: so the machines' own solver
    finds it.
    """
    n = len(gram)
    around_mean = centred(gram)
    squares = around_mean.diagonal()
    unit = float(squares.max())
    if not unit > 0.0:
        return Ball(np.full(n, 1.0 / n), 0.0, 0.0, converged=True)
    K, y = np.zeros((n + 1, n + 1)), np.zeros(n + 1)
    K[:n, :n] = around_mean / unit
    y[:n] = 0.5 * K.diagonal()[:n]
    box, factor = make_scratch(n + 1)
    box.upper[:n] = 1.0
    box.lower[n] = box.upper[n] = box.c[n] = -1.0
    box.c[squares.argmax()] = 1.0
    refresh(K, y, box)
    maximise(K, y, box, factor, VIOLATION * tolerance, STEPS_PER_SAMPLE * (n + 1))
    beta = box.c[:n] / box.c[:n].sum()
    to_centre = around_mean @ beta
    inner = float(beta @ to_centre)
    squared_radius = float(beta @ squares) - inner
    gap = float((squares - 2.0 * to_centre).max() + inner) / squared_radius - 1.0
    return Ball(beta, squared_radius, gap, gap <= tolerance)
