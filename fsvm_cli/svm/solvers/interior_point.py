"""Mehrotra's predictor-corrector method for the dual problem: few, costly steps whatever the conditioning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

if TYPE_CHECKING:
    from fsvm_cli.svm.solvers.dual import Array, DualProblem

MAX_ITERATIONS = 100
TO_BOUNDARY = 0.995
"""Part of the way to the boundary that a step may go."""
ACCURACY = 1e-12
"""Relative complementarity gap and residuals to stop at; most problems stall at about this point."""
NEAR_BOUND = 1e-6
"""At the end, what is within this part of the box of a bound is set to it, if its multiplier agrees."""


@dataclass
class _Iterate:
    """A point of the method.

    alpha, its slack C - alpha (1 where there is no upper bound; kept apart, for the subtraction would lose its digits),
    the multipliers of the lower and upper bounds, and of the equality constraint.
    """

    alpha: Array
    slack: Array
    z: Array
    w: Array
    nu: float

    def moved(self, step: _Iterate, primal: float, dual: float) -> _Iterate:
        return _Iterate(
            self.alpha + primal * step.alpha,
            self.slack + primal * step.slack,
            self.z + dual * step.z,
            self.w + dual * step.w,
            self.nu + dual * step.nu,
        )


class _Barrier:
    """The problem in alpha: Q = Y (K + ridge I) Y and the box, with what every step needs."""

    def __init__(self, problem: DualProblem) -> None:
        self.y, self.C, self.equality = problem.y, problem.C, problem.equality
        self.Q = problem.gram * np.multiply.outer(problem.y, problem.y)
        self.Q.flat[:: len(problem.y) + 1] += problem.ridge
        self.bounded = np.isfinite(problem.C)
        self.n_barriers = len(problem.y) + int(self.bounded.sum())

    def start(self) -> _Iterate:
        typical = 1.0 / max(float(np.mean(np.diag(self.Q))), 1e-12)
        alpha = np.minimum(0.5 * self.C, typical)
        gradient = self.Q @ alpha - 1.0
        z = np.maximum(gradient, 1.0)
        slack = np.where(self.bounded, self.C - alpha, 1.0)
        return _Iterate(alpha, slack, z, np.where(self.bounded, np.maximum(-gradient, 1.0), 0.0), 0.0)

    def mu(self, at: _Iterate) -> float:
        return float(at.alpha @ at.z + at.slack @ at.w) / self.n_barriers

    def undecided(self, at: _Iterate) -> float:
        """Return by how much of a decision value it is open whether a sample is on a bound or on its margin.

        z is how far a sample lies beyond its margin, alpha_i Q_ii how far its own alpha has moved it: at the optimum
        one of the two is 0. Their product says little for an outlier under a polynomial of high degree, whose Q_ii
        may be 1e17 times that of others, and whose alpha as much smaller.
        """
        influence = self.Q.diagonal()
        lower, upper = np.minimum(at.alpha * influence, at.z), np.minimum(at.slack * influence, at.w)
        return float(max(lower.max(), upper.max()))

    def on_bounds(self, at: _Iterate) -> Array:
        """Return alpha, on a bound where it is near it and `undecided` leaves no doubt."""
        influence = self.Q.diagonal()
        low = (at.alpha < NEAR_BOUND * np.minimum(self.C, at.alpha.max())) & (at.alpha * influence < at.z)
        high = (at.slack < NEAR_BOUND * self.C) & (at.slack * influence < at.w)
        return np.where(low, 0.0, np.where(high & self.bounded, self.C, at.alpha))


def solve_interior_point(problem: DualProblem) -> tuple[Array, int]:
    """Return alpha near the optimum, on the bounds where its multipliers say so, and the number of iterations.

    Each iteration factors one (n, n) matrix (LAPACK's Cholesky), n^3 / 3 operations. Mehrotra (1992); for support
    vector machines Fine and Scheinberg (2001), here with the dense matrix.

    Parameters
    ----------
    problem : DualProblem
        With a positive semidefinite Gram matrix; the method stops early at the best point where it is not.
    """
    barrier = _Barrier(problem)
    at = barrier.start()
    best, best_mu = at, np.inf
    for iteration in range(MAX_ITERATIONS):
        residual_dual = barrier.Q @ at.alpha - 1.0 + at.nu * barrier.y - at.z + at.w
        residual_primal = float(barrier.y @ at.alpha) if barrier.equality else 0.0
        mu = barrier.mu(at)
        objective = 0.5 * abs(float(at.alpha @ (barrier.Q @ at.alpha))) + float(at.alpha.sum())
        violation = float(np.abs(residual_dual).max()) + abs(residual_primal) / (1.0 + float(at.alpha.sum()))
        violation += barrier.undecided(at)
        if mu < best_mu:
            best, best_mu = at, mu
        if mu * barrier.n_barriers <= ACCURACY * objective and violation <= 1e-9:
            return barrier.on_bounds(at), iteration
        try:
            following = _step(barrier, at, residual_dual, residual_primal, mu)
        except LinAlgError:
            break
        if not all(np.isfinite(part).all() for part in (following.alpha, following.z, following.w)):
            break
        at = following
    return barrier.on_bounds(best), iteration


def _step(barrier: _Barrier, at: _Iterate, residual_dual: Array, residual_primal: float, mu: float) -> _Iterate:
    matrix = barrier.Q.copy()
    matrix.flat[:: len(at.alpha) + 1] += at.z / at.alpha + at.w / at.slack
    factor = cho_factor(matrix, lower=True, overwrite_a=True, check_finite=False)
    along_y = cho_solve(factor, barrier.y, check_finite=False)

    def direction(lower: Array, upper: Array) -> _Iterate:
        """Solve for the complementarity targets alpha z + lower = 0 and slack w + upper = 0."""
        right = -residual_dual - lower / at.alpha + upper / at.slack
        alpha = cho_solve(factor, right, check_finite=False)
        nu = (barrier.y @ alpha + residual_primal) / (barrier.y @ along_y) if barrier.equality else 0.0
        alpha -= nu * along_y
        w = np.where(barrier.bounded, (-upper + at.w * alpha) / at.slack, 0.0)
        return _Iterate(alpha, -alpha * barrier.bounded, (-lower - at.z * alpha) / at.alpha, w, nu)

    predictor = direction(at.alpha * at.z, at.slack * at.w)
    affine = at.moved(predictor, *_lengths(at, predictor))
    target = mu * (max(barrier.mu(affine), 0.0) / mu) ** 3
    corrector = direction(
        at.alpha * at.z + predictor.alpha * predictor.z - target,
        at.slack * at.w - predictor.alpha * predictor.w - target,
    )
    primal, dual = _lengths(at, corrector)
    return at.moved(corrector, TO_BOUNDARY * primal, TO_BOUNDARY * dual)


def _lengths(at: _Iterate, step: _Iterate) -> tuple[float, float]:
    """Return how far the primal and the dual part of a step may go, at most 1."""
    return min(_longest(at.alpha, step.alpha), _longest(at.slack, step.slack)), min(
        _longest(at.z, step.z), _longest(at.w, step.w)
    )


def _longest(values: Array, step: Array) -> float:
    """Return the longest step, at most 1, that keeps all values >= 0."""
    decreasing = step < 0.0
    if not decreasing.any():
        return 1.0
    return min(1.0, float((values[decreasing] / -step[decreasing]).min()))
