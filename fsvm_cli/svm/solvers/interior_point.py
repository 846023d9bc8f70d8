"""The predictor-corrector method of Mehrotra (1992) for the dual problem and others with bounded variables.

It takes few, costly steps, whatever the conditioning.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

    import numpy.typing as npt

    from fsvm_cli.svm.compiled import Array
    from fsvm_cli.svm.solvers.dual import DualProblem

STEP_TO_BOUNDARY = 0.995
"""Part of the way to the boundary that a step may go."""


@dataclass
class InnerPoint:
    """A point strictly between the bounds of alpha.

    Attributes
    ----------
    alpha : (n,) array
    slack : (n,) array
        C - alpha, 1 where there is no upper bound. It is kept apart, for the subtraction would lose its digits.
    z, xi : (n,) arrays
        The multipliers of the lower and of the upper bound; xi, which is 0 where there is none, is what the sample
        loses.
    """

    alpha: Array
    slack: Array
    z: Array
    xi: Array

    def moved(self, step: Self, for_alpha: float, for_others: float) -> Self:
        """Return the point after a step, of which alpha with its slack and all other fields may go different parts."""
        parts = {"alpha": for_alpha, "slack": for_alpha}
        names = [field.name for field in fields(self)]
        moved = {name: getattr(self, name) + parts.get(name, for_others) * getattr(step, name) for name in names}
        return type(self)(**moved)

    def complementarity(self) -> float:
        """Return alpha'z + slack'xi, which is 0 at the optimum."""
        return float(self.alpha @ self.z + self.slack @ self.xi)

    def is_finite(self) -> bool:
        """Return whether rounding has left the point one to go on from."""
        return all(bool(np.isfinite(part).all()) for part in (self.alpha, self.z, self.xi))


Point = TypeVar("Point", bound=InnerPoint)


def predict_and_correct(at: Point, bounded: npt.NDArray[np.bool_], direction: Callable[[Array, Array], Point]) -> Point:
    """Take one step of Mehrotra (1992).

    Parameters
    ----------
    at : InnerPoint
    bounded : (n,) array
        Where there is an upper bound.
    direction : callable
        Solves the Newton equations for the targets alpha z + lower = 0 and slack xi + upper = 0, given lower and upper.
    """
    n_barriers = len(bounded) + int(bounded.sum())
    mu = at.complementarity() / n_barriers
    predictor = direction(at.alpha * at.z, at.slack * at.xi)
    predicted = at.moved(predictor, *_lengths(at, predictor)).complementarity() / n_barriers
    target = mu * (max(predicted, 0.0) / mu) ** 3
    corrector = direction(
        at.alpha * at.z + predictor.alpha * predictor.z - target,
        (at.slack * at.xi + predictor.slack * predictor.xi - target) * bounded,
    )
    for_alpha, for_others = _lengths(at, corrector)
    return at.moved(corrector, STEP_TO_BOUNDARY * for_alpha, STEP_TO_BOUNDARY * for_others)


def _lengths(at: InnerPoint, step: InnerPoint) -> tuple[float, float]:
    """Return how far alpha and the multipliers may go along a step, at most 1."""
    return min(_longest(at.alpha, step.alpha), _longest(at.slack, step.slack)), min(
        _longest(at.z, step.z), _longest(at.xi, step.xi)
    )


def _longest(values: Array, step: Array) -> float:
    """Return the longest step, at most 1, that keeps all values >= 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(np.min(np.where(step < 0.0, -values / step, 1.0), initial=1.0))


MAX_ITERATIONS = 100
RELATIVE_ACCURACY = 1e-12
"""Relative complementarity gap and residuals to stop at; most problems stall at about this point."""
BOUND_DISTANCE_SHARE = 1e-6
"""At the end, what is within this part of the box of a bound is set to it, if its multiplier agrees."""


@dataclass
class _Iterate(InnerPoint):
    """A point of the method: of alpha and its multipliers, and of that of the equality constraint, nu."""

    nu: float


class _Barrier:
    """The problem in alpha: Q = Y (K + ridge I) Y and the box, with what every step needs."""

    def __init__(self, problem: DualProblem) -> None:
        self.y, self.C, self.equality = problem.y, problem.C, problem.equality
        self.Q = problem.gram * np.multiply.outer(problem.y, problem.y)
        self.Q.flat[:: len(problem.y) + 1] += problem.ridge
        self.bounded = np.isfinite(problem.C)

    def start(self) -> _Iterate:
        typical = 1.0 / max(float(np.mean(np.diag(self.Q))), 1e-12)
        alpha = np.minimum(0.5 * self.C, typical)
        gradient = self.Q @ alpha - 1.0
        z = np.maximum(gradient, 1.0)
        slack = np.where(self.bounded, self.C - alpha, 1.0)
        return _Iterate(alpha, slack, z, np.where(self.bounded, np.maximum(-gradient, 1.0), 0.0), 0.0)

    def undecided(self, at: _Iterate) -> float:
        """Return the largest part of a decision value for which a sample may be on a bound or on its margin.

        z is how far a sample lies beyond its margin, alpha_i Q_ii how far its own alpha has moved it: at the optimum
        one of the two is 0. Their product is uninformative for an outlier under a polynomial of high degree, whose Q_ii
        may be 1e17 times that of others, and whose alpha as much smaller.
        """
        influence = self.Q.diagonal()
        lower, upper = np.minimum(at.alpha * influence, at.z), np.minimum(at.slack * influence, at.xi)
        return float(max(lower.max(), upper.max()))

    def on_bounds(self, at: _Iterate) -> Array:
        """Return alpha, on a bound where it is near it and `undecided` leaves no doubt."""
        influence = self.Q.diagonal()
        low = (at.alpha < BOUND_DISTANCE_SHARE * np.minimum(self.C, at.alpha.max())) & (at.alpha * influence < at.z)
        high = (at.slack < BOUND_DISTANCE_SHARE * self.C) & (at.slack * influence < at.xi)
        return np.where(low, 0.0, np.where(high & self.bounded, self.C, at.alpha))


class _NewtonEquations:
    """The Newton step in alpha alone, for the positive diagonal of a point."""

    def __init__(self, barrier: _Barrier, at: _Iterate, residual_dual: Array, residual_primal: float) -> None:
        self.barrier, self.at = barrier, at
        self.residual_dual, self.residual_primal = residual_dual, residual_primal
        matrix = barrier.Q.copy()
        matrix.flat[:: len(at.alpha) + 1] += at.z / at.alpha + at.xi / at.slack
        self.factor = cho_factor(matrix, lower=True, overwrite_a=True, check_finite=False)
        self.along_y = cho_solve(self.factor, barrier.y, check_finite=False)

    def direction(self, lower: Array, upper: Array) -> _Iterate:
        """Solve for the complementarity targets alpha z + lower = 0 and slack xi + upper = 0."""
        barrier, at = self.barrier, self.at
        right = -self.residual_dual - lower / at.alpha + upper / at.slack
        alpha = cho_solve(self.factor, right, check_finite=False)
        missing = float(barrier.y @ alpha) + self.residual_primal
        nu = missing / float(barrier.y @ self.along_y) if barrier.equality else 0.0
        alpha -= nu * self.along_y
        xi = np.where(barrier.bounded, (-upper + at.xi * alpha) / at.slack, 0.0)
        return _Iterate(alpha, -alpha * barrier.bounded, (-lower - at.z * alpha) / at.alpha, xi, nu)


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
    best, least = at, np.inf
    for iteration in range(MAX_ITERATIONS):
        residual_dual = barrier.Q @ at.alpha - 1.0 + at.nu * barrier.y - at.z + at.xi
        residual_primal = float(barrier.y @ at.alpha) if barrier.equality else 0.0
        complementarity = at.complementarity()
        objective = 0.5 * abs(float(at.alpha @ (barrier.Q @ at.alpha))) + float(at.alpha.sum())
        violation = float(np.abs(residual_dual).max()) + abs(residual_primal) / (1.0 + float(at.alpha.sum()))
        violation += barrier.undecided(at)
        if complementarity < least:
            best, least = at, complementarity
        if complementarity <= RELATIVE_ACCURACY * objective and violation <= 1e-9:
            return barrier.on_bounds(at), iteration
        try:
            equations = _NewtonEquations(barrier, at, residual_dual, residual_primal)
            following = predict_and_correct(at, barrier.bounded, equations.direction)
        except (LinAlgError, FloatingPointError):
            # An overflow is one or the other or a step that is not finite, depending on how numpy is told to treat it.
            break
        if not following.is_finite():
            break
        at = following
    return barrier.on_bounds(best), iteration
