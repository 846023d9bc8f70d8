"""A primal-dual interior-point method for linear machines, whose normal equations are of the size of a sample.

A step costs n d^2 operations and O(n + d^2) memory beside the samples (Ferris and Munson 2002), with the predictor and
corrector of Mehrotra (1992). The normal equations are made in blocks of samples.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from fsvm_cli.svm.large.linear_problem import BLOCK_ROWS, blocks_of, weighted_sum
from fsvm_cli.svm.solvers.active_set import UNBOUNDED_OBJECTIVE
from fsvm_cli.svm.solvers.interior_point import InnerPoint, predict_and_correct

if TYPE_CHECKING:
    from fsvm_cli.svm.compiled import Array
    from fsvm_cli.svm.large.linear_problem import LinearProblem


class NormalMatrix:
    """The identity and sum_i T_i x_i x_i', T > 0, bordered with the bias where there is one.

    The bias is eliminated first, and with it the mean of the samples, weighted by T: the sum over T (x - m)(x - m)' is
    accurate where a feature hardly differs from the bias, too.

    Parameters
    ----------
    X : (n, d) array
    T : (n,) array
    has_bias : bool

    Raises
    ------
    LinAlgError
        If there are no samples, or rounding has made it indefinite.
    """

    def __init__(self, X: Array, T: Array, has_bias: bool) -> None:
        n, d = X.shape
        if n == 0:
            raise LinAlgError("no samples")
        self.total = float(T.sum())
        self.mean = weighted_sum(T, X) / self.total if has_bias else np.zeros(d)
        matrix, roots = np.eye(d), np.sqrt(T)
        memory = np.empty((min(BLOCK_ROWS, n), d))  # fresh memory for each block would take a fifth of the time
        for rows in blocks_of(n):
            samples = X[rows]
            block = np.subtract(samples, self.mean, out=memory[: len(samples)])
            block *= roots[rows, None]
            matrix += block.T @ block
        self.factor = cho_factor(matrix, lower=True, overwrite_a=True, check_finite=False)

    def solve(self, right: Array, balance: float) -> tuple[Array, float]:
        """Return w and b with w + sum_i T_i (w . x_i + b) x_i = right and sum_i T_i (w . x_i + b) = balance.

        Of a problem without bias the balance is 0, and so is b.
        """
        w = cho_solve(self.factor, right - balance * self.mean, check_finite=False)
        return w, balance / self.total - float(self.mean @ w)


MAX_STEPS = 100
MAX_STEPS_WITHOUT_PROGRESS = 40
"""Steps without a smaller gap after which rounding is taken as the limit."""
BOUND_MULTIPLIER_RATIO = 10.0
"""A sample is on a bound if its multiplier exceeds its distance from the bound by this factor."""
MAX_FREE_PER_FEATURE = 4
"""Free samples at the end, for each feature, at most, unless there is a ridge."""
BARRIER_WIDTH = 0.3
"""Of the barriers around the machine of a part, in units of the mean distance of a sample from its margin."""
MIN_BOUND_DISTANCE = 0.1
"""Part of its distance from a bound that a coefficient keeps where the first point is moved to give its machine."""


@dataclass
class _LinearIterate(InnerPoint):
    """A point of the method: of alpha and its multipliers, and the machine w, b with its outputs w . x_i, (n,)."""

    w: Array
    b: float
    outputs: Array

    def is_finite(self) -> bool:
        return super().is_finite() and bool(np.isfinite(self.w).all())


class _Misses(NamedTuple):
    """By how much the equations of the optimum are missed: of the margins, of w, and of the bias."""

    margin: Array
    w: Array
    b: float


class InteriorPoint(NamedTuple):
    """Where the method ended.

    Attributes
    ----------
    alpha : (n,) array
        On a bound where the multipliers say so.
    steps : int
    infeasible : bool
        Whether the objective grows without end: no hard margin exists.
    w, b : (d,) array and float
        The machine.
    """

    alpha: Array
    steps: int
    infeasible: bool
    w: Array
    b: float


class WarmStart(NamedTuple):
    """A machine to begin at.

    Attributes
    ----------
    w, b : (d,) array and float
        The machine.
    largest : float
        Its largest coefficient.
    """

    w: Array
    b: float
    largest: float


class _LinearBarrier:
    """The problem with its bounds as barriers."""

    def __init__(self, problem: LinearProblem) -> None:
        self.problem = problem
        self.X, self.y, self.C, self.ridge = problem.X, problem.y, problem.C, problem.ridge
        self.bounded = np.isfinite(problem.C)

    def around(self, w: Array, b: float, largest: float) -> _LinearIterate:
        """Set alpha and the multipliers from the margins, limited to twice the largest coefficient."""
        outputs = self.problem.outputs(w)
        slack = 1.0 - self.y * (outputs + b)
        width = BARRIER_WIDTH * float(np.abs(slack).mean())
        xi, z = np.maximum(slack, 0.0) + width, np.maximum(-slack, 0.0) + width
        reach = np.minimum(self.C, 2.0 * largest)
        alpha = self._giving(w, reach * xi / (xi + z), reach)
        left = np.where(self.bounded, self.C - alpha, 1.0)
        xi = np.where(self.bounded, np.minimum(xi, alpha * z / left), 0.0)
        return _LinearIterate(alpha, left, z, xi, w, b, outputs)

    def _giving(self, w: Array, alpha: Array, reach: Array) -> Array:
        """Move alpha to where it about gives w and is balanced, each entry as far as it may go by itself.

        Least squares, weighted by how far each entry is from its bounds. A step of the method would do the same, but
        ends where the first of all entries comes near its bound.
        """
        freedom = alpha * (reach - alpha) / reach
        missing = w - self.problem.outside_w - self.problem.normal_vector(self.y * alpha)
        balance = -float(self.y @ alpha + self.problem.outside_sum) if self.problem.equality else 0.0
        try:
            v, level = NormalMatrix(self.problem.X, freedom, self.problem.equality).solve(missing, balance)
        except LinAlgError:
            return alpha
        moved = alpha + freedom * self.y * (self.problem.outputs(v) + level)
        if not np.isfinite(moved).all():
            return alpha
        return np.clip(moved, MIN_BOUND_DISTANCE * alpha, reach - MIN_BOUND_DISTANCE * (reach - alpha))

    def around_the_origin(self) -> _LinearIterate:
        typical = 1.0 / max(float(self.problem.squared_lengths.mean()), 1e-300)
        alpha = np.minimum(0.5 * self.C, typical)
        margin = self.ridge * alpha - 1.0
        z = np.maximum(margin, 1.0)
        xi = np.where(self.bounded, np.maximum(-margin, 1.0), 0.0)
        slack = np.where(self.bounded, self.C - alpha, 1.0)
        return _LinearIterate(alpha, slack, z, xi, np.zeros(self.X.shape[1]), 0.0, np.zeros(len(alpha)))

    def misses(self, at: _LinearIterate) -> _Misses:
        coefficients = self.y * at.alpha
        margin = 1.0 - self.y * (at.outputs + at.b) - self.ridge * at.alpha + at.z - at.xi
        w = self.problem.normal_vector(coefficients) + self.problem.outside_w - at.w
        return _Misses(
            margin, w, -float(coefficients.sum() + self.problem.outside_sum) if self.problem.equality else 0.0
        )

    def gap(self, at: _LinearIterate, misses: _Misses) -> tuple[float, float]:
        """Return a bound of the duality gap of the point, and the primal objective."""
        missed = float(np.where(self.bounded, self.C, at.alpha) @ np.abs(misses.margin))
        missed += 0.5 * float(misses.w @ misses.w) + abs(at.b * misses.b)
        loss = float(self.C[self.bounded] @ at.xi[self.bounded]) + 0.5 * self.ridge * float(at.alpha @ at.alpha)
        return at.complementarity() + missed, 0.5 * float(at.w @ at.w) + loss

    def is_decided(self, at: _LinearIterate) -> bool:
        """Return whether hardly more samples are free than at the optimum, where they are as many as features."""
        alpha = self.on_bounds(at)
        n_free = np.count_nonzero((alpha > 0.0) & (alpha < self.C))
        return self.ridge > 0.0 or n_free <= MAX_FREE_PER_FEATURE * (self.X.shape[1] + 1)

    def on_bounds(self, at: _LinearIterate) -> Array:
        """Return alpha, on a bound where its distance from it is small beside its multiplier, each in its own unit.

        At the optimum one of the two is 0.
        """
        coefficient = np.minimum(self.C, at.alpha.max())
        margin = BOUND_MULTIPLIER_RATIO * float((at.z + at.xi).mean())
        low = at.alpha * margin < at.z * coefficient
        high = self.bounded & (at.slack * margin < at.xi * coefficient)
        return np.where(low, 0.0, np.where(high, self.C, at.alpha))


class _NormalEquations:
    """The Newton step in w alone, for the positive diagonal T of a point."""

    def __init__(self, barrier: _LinearBarrier, at: _LinearIterate, misses: _Misses) -> None:
        self.barrier, self.at, self.misses = barrier, at, misses
        self.T = 1.0 / (at.z / at.alpha + at.xi / at.slack + barrier.ridge)
        self.matrix = NormalMatrix(barrier.X, self.T, barrier.problem.equality)

    def direction(self, lower: Array, upper: Array) -> _LinearIterate:
        """Solve for the complementarity targets alpha z + lower = 0 and slack xi + upper = 0."""
        barrier, at, y = self.barrier, self.at, self.barrier.y
        needed = self.misses.margin - lower / at.alpha + upper / at.slack
        weighted = self.T * needed * y
        balance = float(weighted.sum()) - self.misses.b if barrier.problem.equality else 0.0
        w, b = self.matrix.solve(self.misses.w + barrier.problem.normal_vector(weighted), balance)
        outputs = barrier.problem.outputs(w)
        alpha = self.T * (needed - y * (outputs + b))
        xi = np.where(barrier.bounded, (-upper + at.xi * alpha) / at.slack, 0.0)
        return _LinearIterate(alpha, -alpha * barrier.bounded, (-lower - at.z * alpha) / at.alpha, xi, w, b, outputs)


@np.errstate(over="ignore", invalid="ignore", divide="ignore")  # what is not finite ends the method
def solve_interior_point(problem: LinearProblem, accuracy: float, near: WarmStart | None = None) -> InteriorPoint:
    """Return alpha near the optimum, on the bounds where its multipliers say so.

    Parameters
    ----------
    problem : LinearProblem
    accuracy : float
        Relative duality gap at which to stop.
    near : WarmStart, optional
        Where to begin; by default at the origin.
    """
    barrier = _LinearBarrier(problem)
    at = best = barrier.around_the_origin() if near is None else barrier.around(*near)
    least, patience = np.inf, MAX_STEPS_WITHOUT_PROGRESS
    for step in range(MAX_STEPS):
        misses = barrier.misses(at)
        gap, size = barrier.gap(at, misses)
        relative = gap / max(size, 1e-300)
        best, least, patience = (
            (at, relative, MAX_STEPS_WITHOUT_PROGRESS) if relative < least else (best, least, patience - 1)
        )
        if (relative <= accuracy and barrier.is_decided(at)) or patience == 0:
            break
        if float(at.alpha.sum()) * problem.largest_kernel_value() > UNBOUNDED_OBJECTIVE and not barrier.bounded.all():
            return InteriorPoint(barrier.on_bounds(best), step, infeasible=True, w=best.w, b=best.b)
        try:
            following = predict_and_correct(at, barrier.bounded, _NormalEquations(barrier, at, misses).direction)
        except LinAlgError:
            break
        if not following.is_finite():
            break
        at = following
    return InteriorPoint(barrier.on_bounds(best), step, infeasible=False, w=best.w, b=best.b)
