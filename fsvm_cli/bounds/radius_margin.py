"""The radius-margin bound on the leave-one-out error, jebara-slides; Vapnik (1998), and its enclosing ball."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fsvm_cli.bounds.bound import Bound
from fsvm_cli.svm.kernels.gram import centred
from fsvm_cli.svm.solvers.active_set import Simplex

if TYPE_CHECKING:
    from fsvm_cli.svm.compiled import Array
    from fsvm_cli.svm.kernels.base import Rounding
    from fsvm_cli.svm.solvers.dual import DualSolution

MAX_VIOLATION = 1e-2
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


def enclosing_ball(
    gram: Array, *, tolerance: float = 1e-6, rounding: Rounding | None = None, beta0: Array | None = None
) -> Ball:
    """Find the smallest ball that encloses all samples.

    Its squared radius is the maximum of sum_i beta_i k_ii - beta' K beta over beta >= 0 with a sum of 1.

    Parameters
    ----------
    gram : (n, n) array
        A positive semidefinite Gram matrix, finite.
    tolerance : float
        The relative gap to reach, > 0.
    rounding : Rounding, optional
        As of `fsvm_cli.svm.DualProblem`: the gap is then that for exact kernel values.
    beta0 : (n,) array, optional
        Where to begin: >= 0, with a sum of 1, such as the coefficients on a similar Gram matrix.

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
    start = np.zeros(n) if beta0 is None else beta0
    if beta0 is None:
        start[squares.argmax()] = 1.0
    beta = Simplex(n).maximise(around_mean / unit, 0.5 * squares / unit, start, MAX_VIOLATION * tolerance)
    to_centre = around_mean @ beta
    inner = float(beta @ to_centre)
    squared_radius = float(beta @ squares) - inner
    gap = float((squares - 2.0 * to_centre).max() + inner) / squared_radius - 1.0
    if rounding is not None:
        # Each squared distance is a sum of kernel values with the weights 1, -2 and 1, the squared radius one with 1
        # and -1.
        sizes = rounding.relative * rounding.lengths + rounding.reach
        blur = 6.0 * float(sizes.max() * rounding.lengths.max()) / squared_radius
        gap = (gap + blur) / (1.0 - blur) if blur < 1.0 else np.inf
    return Ball(beta, squared_radius, gap, gap <= tolerance)


def radius_margin_bound(y: Array, ball: Ball, machine: DualSolution) -> Bound:
    """Return R^2 W^2: the squared radius of the samples over the squared margin.

    W^2 = ||w||^2 is twice the dual optimum, and 1 / W the margin. By the theorem of the envelope, R^2 and W^2 change
    with the Gram matrix as if beta and alpha were fixed:

        d(R^2 W^2) = W^2 (sum_i beta_i dk_ii - beta' dK beta) - R^2 sum_ik alpha_i alpha_k y_i y_k dk_ik

    Parameters
    ----------
    y : (n,) array
        Labels, -1 or +1.
    ball : Ball
        Of the Gram matrix; machines of several classes on one Gram matrix share it.
    machine : DualSolution
        From `hard_margin_machine` on the same Gram matrix.

    Returns
    -------
    Bound

    Notes
    -----
    Source: jebara-slides, "SVM Feature Selection", with these corrections. The printed dual lacks the 1/2 before its
    quadratic term, which divides W^2 by 4. The derivative of W^2 holds for a hard margin, with a ridge or without, not
    for a bound on alpha.

    Of a machine without bias, whose ball has its centre in the origin, no more than R^2 W^2 samples are classified
    wrongly when each is left out in turn. With a bias the proof, by way of the spans, which are no longer than the
    diameter, gives 4 R^2 W^2; the factor does not move the minimum.

    References
    ----------
    - V. N. Vapnik, "Statistical Learning Theory", Wiley, 1998, chapter 10.
    - O. Chapelle, V. Vapnik, O. Bousquet and S. Mukherjee, "Choosing Multiple Parameters for Support Vector Machines",
      Machine Learning 46, 2002, pages 131-159: the derivatives.
    """
    squared_norm = 2.0 * machine.objective
    # Both factors of the product may be far from 1 where their product is not.
    steep = np.sqrt(ball.squared_radius) * machine.alpha * y
    gradient = squared_norm * ball.gram_gradient - np.multiply.outer(steep, steep)
    converged = machine.converged and ball.converged
    return Bound(ball.squared_radius * squared_norm, gradient, machine, converged, ball.beta)
