"""Linear machines on many samples, in the space of their features.

The hinge is smoothed, as in Lee and Mangasarian (2001) and Chapelle (2007): it is made quadratic within a distance h
of its corner. The shift of the optimum falls with h and with the number of samples within h, so that two or three
Newton steps, the first ones on a part of the samples, leave few samples whose side of the margin is open. These are the
first working set; where smoothing does not help, an interior-point method on all samples finds it. The sizes and widths
below are measured: they limit what is spent before the certified solver takes over, and not what it returns.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from scipy.linalg import LinAlgError

from fsvm_cli.svm.large.linear_interior_point import WarmStart, solve_interior_point
from fsvm_cli.svm.large.linear_newton import (
    MAX_SMOOTHING,
    WORKING_SET_WIDTH_IN_ERRORS,
    Guess,
    PrimalPoint,
    SmoothedHinge,
    evaluated,
    newton_step,
    optimum_with_ridge,
    sharpened,
)
from fsvm_cli.svm.large.linear_problem import LinearProblem
from fsvm_cli.svm.large.linear_working_set import Start, optimise_near, start_at
from fsvm_cli.svm.solvers.certificate import certificate, on_bounds
from fsvm_cli.svm.solvers.dual import DualSolution, DualSolver, Needs, check_tolerance
from fsvm_cli.svm.solvers.solve import balanced, failed
from fsvm_cli.svm.solvers.working_set import optimise_by_working_sets

if TYPE_CHECKING:
    import numpy.typing as npt

    from fsvm_cli.svm.compiled import Array
    from fsvm_cli.svm.large.linear_interior_point import InteriorPoint
    from fsvm_cli.svm.large.linear_working_set import Optimum

FIRST_PART_MIN_ROWS, FIRST_PART_ROWS_PER_FEATURE, FIRST_PART_DIVISOR, PART_GROWTH_FACTOR = 2000, 20, 16, 4
"""Samples of the first part: so many, so many for each feature, or one in so many, whichever is the most; a part that
is too small for a start is enlarged by the last factor, up to half of the samples."""
SMALL_WORKING_SET_SHARE = 0.125
"""Share of the samples that is a small working set to begin with."""
MAX_NEWTON_STEPS = 20
"""Newton steps at each smoothing."""
ERROR_PER_DEVIATION = 1.4
"""What the error of the machine of a part turned out to be, in standard deviations by the variance of its gradient."""
PART_GAP = 1e-2
"""Relative gap below which the interior point on a part gives no better start for all samples."""


def locate_by_smoothing(problem: LinearProblem) -> Start | None:
    """Find about where the machine is; None of few samples, of hard margins, and where this gives no start.

    Parameters
    ----------
    problem : LinearProblem
        Without ridge.
    """
    n, d = problem.X.shape
    size = max(FIRST_PART_MIN_ROWS, FIRST_PART_ROWS_PER_FEATURE * d, n // FIRST_PART_DIVISOR)
    if n < 2 * size or not np.isfinite(problem.C).all():
        return None
    try:
        guess = _guess_by_parts(problem, size)
        if not np.isfinite(guess.error):
            return None
        at, error = sharpened(problem, guess)
    except LinAlgError:
        return None
    return Start(
        WarmStart(at.w, at.b, float(problem.C.max())), at.outputs, WORKING_SET_WIDTH_IN_ERRORS * error, w=at.violators
    )


def _guess_by_parts(problem: LinearProblem, size: int) -> Guess:
    """Guess by parts of the samples, each larger than the last, until one determines a start."""
    n, d = problem.X.shape
    w, b = np.zeros(d), 0.0
    while True:
        part = _even_part(problem, size)
        at = PrimalPoint(w, b, part.outputs(w))
        if not w.any():  # all slacks are 1: from there a wide loss leads to where a narrow one sees enough samples
            at = _descend(part, at, 2.0 * MAX_SMOOTHING)
        w, b, outputs, _ = _descend(part, at, MAX_SMOOTHING)
        slack = 1.0 - part.y * (outputs + b)
        # Of the gradient's variance and the curvature: each sample that loses pulls, those near the corner hold.
        pull, hold = (
            (part.C[slack > 0.0] ** 2).sum(),
            part.C[np.abs(slack) < MAX_SMOOTHING].sum() / (2.0 * MAX_SMOOTHING),
        )
        error = float(ERROR_PER_DEVIATION * np.sqrt(d * pull) / hold) if hold > 0.0 else np.inf
        share = np.mean(np.abs(slack) < WORKING_SET_WIDTH_IN_ERRORS * error)
        if error <= MAX_SMOOTHING or share < SMALL_WORKING_SET_SHARE or size >= n // 2:
            return Guess(evaluated(problem, w, b), error)
        size = min(PART_GROWTH_FACTOR * size, n // 2)


def _descend(part: LinearProblem, at: PrimalPoint, half: float) -> PrimalPoint:
    """Take Newton steps on a hinge that is smoothed from -MAX_SMOOTHING over twice a distance, until little changes."""
    for _ in range(MAX_NEWTON_STEPS):
        at, change = newton_step(part, SmoothedHinge(-MAX_SMOOTHING, 2.0 * half / part.C), at)
        if change <= MAX_SMOOTHING:
            break
    return at


def machine_of_part(problem: LinearProblem) -> WarmStart | None:
    """Return the machine of a part of the samples by the interior point; None of few.

    A large part begins at the machine of a smaller one.

    Parameters
    ----------
    problem : LinearProblem
    """
    n, d = problem.X.shape
    least = max(FIRST_PART_MIN_ROWS, FIRST_PART_ROWS_PER_FEATURE * d)
    if n < PART_GROWTH_FACTOR * least:
        return None
    rows, _ = _evenly(problem, max(least, n // FIRST_PART_DIVISOR))
    part = LinearProblem(problem.X[rows], problem.y[rows], problem.C[rows], problem.equality, problem.ridge)
    found = solve_interior_point(part, PART_GAP, machine_of_part(part))
    return WarmStart(found.w, found.b, float(found.alpha.max()))


def _even_part(problem: LinearProblem, size: int) -> LinearProblem:
    """Return the problem of some samples, each with the weight of those that it stands for."""
    rows, weights = _evenly(problem, size)
    return LinearProblem(problem.X[rows], problem.y[rows], weights * problem.C[rows], problem.equality)


def _evenly(problem: LinearProblem, size: int) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.float64]]:
    """Choose samples, as many from either class, or all of a rare one, and return how many each one represents."""
    rows, weights = [], []
    for label in (-1.0, 1.0):
        of = np.flatnonzero(problem.y == label)
        number = min(len(of), size // 2)
        rows.append(of[np.arange(number) * len(of) // max(number, 1)])
        weights.append(np.full(number, len(of) / max(number, 1)))
    chosen = np.concatenate(rows)
    order = np.argsort(chosen)
    return chosen[order], np.concatenate(weights)[order]


INTERIOR_POINT_GAP = 1e-3
"""Relative gap of the interior point, once it is decided which samples are free, before working sets take over."""
MAX_ROUNDS_FROM_START = 12
"""About half the cost of an interior point: a start that is not near the optimum after these rounds is discarded."""


@dataclass(frozen=True, eq=False)
class LinearSolution(DualSolution):
    """A `DualSolution` with its machine, of which its duality gap is.

    Attributes
    ----------
    w : (d,) array
        Sum of alpha_i y_i x_i, up to the rounding that the gap includes.
    outputs : (n,) array
        w . x_i.
    """

    w: Array
    outputs: Array


def solve_linear(
    problem: LinearProblem,
    *,
    tolerance: float = 1e-6,
    alpha0: Array | None = None,
    w0: Array | None = None,
    outputs0: Array | None = None,
    on_failure: Literal["raise", "flag"] = "raise",
) -> LinearSolution:
    """Solve the dual problem of a linear machine to a relative duality gap, in O(n d^2) a step and O(n d) memory.

    Of many samples, those near the margin are found first and optimised alone; where that is no help, an interior point
    runs on all. Working sets end at the exact optimum, so that margin vectors and ties come out as from
    `fsvm_cli.svm.solve`.

    Parameters
    ----------
    problem : LinearProblem
    tolerance, on_failure
        As of `DualSolver.solve`.
    alpha0 : (n,) array, optional
        A feasible point near the optimum: first, only the samples near its margin are optimised.
    w0 : (d,) array, optional
        Sum of alpha_i y_i x_i of `alpha0`, where it is known.
    outputs0 : (n,) array, optional
        w0 . x_i, where they are known, too.

    Raises
    ------
    InfeasibleError, ConvergenceError, ValueError
        As `DualSolver.solve`.
    """
    check_tolerance(tolerance)
    if alpha0 is not None:
        found = _from_a_start(problem, alpha0, start_at(problem, alpha0, w0, outputs0), tolerance)
        if found is not None and found.converged:
            return found
    if problem.ridge == 0.0 and (start := locate_by_smoothing(problem)) is not None:
        optimum = optimise_near(problem, start, tolerance)
        if optimum is not None and (found := _certified_optimum(problem, optimum, tolerance)).converged:
            return found
    inner = solve_interior_point(problem, INTERIOR_POINT_GAP, machine_of_part(problem))
    if problem.ridge > 0.0 and (found := _with_ridge(problem, inner, tolerance)).converged:
        return found
    start_of_sets, steps = balanced(problem, inner.alpha), inner.steps
    if inner.infeasible:
        return _or_failed(
            problem, _certified(problem, start_of_sets, steps, tolerance), tolerance, on_failure, infeasible=True
        )
    ended = optimise_by_working_sets(problem, start_of_sets, tolerance)
    steps += ended.rounds
    solutions = [
        _certified(problem, alpha, steps, tolerance)
        for alpha in (ended.alpha, start_of_sets)[: 1 if ended.optimal else 2]
    ]
    best = min(solutions, key=lambda each: each.duality_gap)
    return best if best.converged else _or_failed(problem, best, tolerance, on_failure, infeasible=False)


class FeatureSpace(DualSolver):
    """`solve_linear` as a solver."""

    name = "feature-space"
    needs = Needs(linear_kernel=True, dense_samples=True)

    def solve(  # noqa: D102
        self,
        problem: LinearProblem,
        *,
        tolerance: float = 1e-6,
        alpha0: Array | None = None,
        on_failure: Literal["raise", "flag"] = "raise",
    ) -> LinearSolution:
        return solve_linear(problem, tolerance=tolerance, alpha0=alpha0, on_failure=on_failure)


def _from_a_start(problem: LinearProblem, alpha: Array, start: Start | None, tolerance: float) -> LinearSolution | None:
    """Return the optimum from a point that is near it; None where it turns out not to be."""
    if start is not None:
        optimum = optimise_near(problem, start, tolerance)
        if optimum is not None and (found := _certified_optimum(problem, optimum, tolerance)).converged:
            return found
    ended = optimise_by_working_sets(problem, alpha, tolerance, rounds=MAX_ROUNDS_FROM_START)
    return _certified(problem, ended.alpha, ended.rounds, tolerance) if ended.optimal else None


def _with_ridge(problem: LinearProblem, inner: InteriorPoint, tolerance: float) -> LinearSolution:
    """Iterate to the optimum by Newton's method on the smooth loss; a large part of the samples is free."""
    try:
        alpha, steps = optimum_with_ridge(problem, inner.w, inner.b)
    except LinAlgError:
        alpha, steps = inner.alpha, 0
    return _certified(problem, balanced(problem, alpha), inner.steps + steps, tolerance)


def _certified_optimum(problem: LinearProblem, optimum: Optimum, tolerance: float) -> LinearSolution:
    """Certify an optimum by its own outputs, or, where rounding in them is too much, by new ones."""
    alpha = on_bounds(problem, optimum.alpha)
    if np.array_equal(alpha, optimum.alpha):
        w, outputs = optimum.w, optimum.outputs
        apart = float(np.linalg.norm(optimum.normal_vector - w))
        known = problem.residuals_of(alpha, w, outputs, apart=apart)
        bias, gap, objective = certificate(problem, alpha, tolerance, known)
        if gap <= tolerance:
            return LinearSolution(alpha, bias, objective, gap, optimum.steps, "feature-space", True, w, outputs)
    return _certified(problem, alpha, optimum.steps, tolerance)


def _certified(problem: LinearProblem, alpha: Array, steps: int, tolerance: float) -> LinearSolution:
    alpha = on_bounds(problem, alpha)
    bias, gap, objective = certificate(problem, alpha, tolerance)
    w = problem.normal_vector(alpha * problem.y)
    outputs = problem.outputs(w)
    return LinearSolution(alpha, bias, objective, gap, steps, "feature-space", gap <= tolerance, w, outputs)


def _or_failed(
    problem: LinearProblem,
    solution: LinearSolution,
    tolerance: float,
    on_failure: Literal["raise", "flag"],
    *,
    infeasible: bool,
) -> LinearSolution:
    """Return a solution that misses its gap, or raise an error with the cause, depending on `on_failure`."""
    failed(problem, solution, tolerance, on_failure, infeasible=infeasible)
    return solution
