"""Linear machines on many samples, with the certificate of all others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from scipy.linalg import LinAlgError

from fsvm_cli.svm.linear.approach import approach, machine_of_part
from fsvm_cli.svm.linear.band import optimise_near, start_at
from fsvm_cli.svm.linear.interior_point import solve_interior_point
from fsvm_cli.svm.linear.smooth import optimum_with_ridge
from fsvm_cli.svm.solvers.certificate import certificate, on_bounds
from fsvm_cli.svm.solvers.dual import DualSolution
from fsvm_cli.svm.solvers.solve import balanced, check_options, failed
from fsvm_cli.svm.solvers.working_set import optimise_by_working_sets

if TYPE_CHECKING:
    from fsvm_cli.svm.linear.band import Optimum, Start
    from fsvm_cli.svm.linear.interior_point import InteriorPoint
    from fsvm_cli.svm.linear.problem import LinearProblem
    from fsvm_cli.svm.vectors import Array

ROUGHLY = 1e-3
"""Relative gap of the interior point, once it is decided which samples are free, before working sets take over."""
ROUNDS_FROM_A_START = 12
"""About what half an interior point costs: a start that is not near after these is not near at all."""


@dataclass(frozen=True, eq=False)
class LinearSolution(DualSolution):
    """A `DualSolution` with its machine, of which its duality gap is.

    Attributes
    ----------
    w : (d,) array
        Sum of alpha_i y_i x_i, but for what the gap says of rounding.
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
    tolerance : float
        The relative duality gap to reach, > 0.
    alpha0 : (n,) array, optional
        A feasible point near the optimum: first, only the samples near its margin are optimised.
    w0 : (d,) array, optional
        Sum of alpha_i y_i x_i of `alpha0`, where it is known.
    outputs0 : (n,) array, optional
        w0 . x_i, where they are known, too.
    on_failure : {"raise", "flag"}
        What to do when the gap is not reached: raise, or return the best point with `converged` False.

    Returns
    -------
    LinearSolution

    Raises
    ------
    InfeasibleError, ConvergenceError, ValueError
        As of `fsvm_cli.svm.solve`.
    """
    check_options(tolerance, "feature-space")
    if alpha0 is not None:
        found = _from_a_start(problem, alpha0, start_at(problem, alpha0, w0, outputs0), tolerance)
        if found is not None and found.converged:
            return found
    if problem.ridge == 0.0 and (start := approach(problem)) is not None:
        optimum = optimise_near(problem, start, tolerance)
        if optimum is not None and (found := _concluded(problem, optimum, tolerance)).converged:
            return found
    inner = solve_interior_point(problem, ROUGHLY, machine_of_part(problem))
    if problem.ridge > 0.0 and (found := _with_ridge(problem, inner, tolerance)).converged:
        return found
    start_of_sets, steps = balanced(problem, inner.alpha), inner.steps
    if inner.infeasible:
        return _told(
            problem, _certified(problem, start_of_sets, steps, tolerance), tolerance, on_failure, infeasible=True
        )
    ended = optimise_by_working_sets(problem, start_of_sets, tolerance)
    steps += ended.rounds
    solutions = [
        _certified(problem, alpha, steps, tolerance)
        for alpha in (ended.alpha, start_of_sets)[: 1 if ended.optimal else 2]
    ]
    best = min(solutions, key=lambda each: each.duality_gap)
    return best if best.converged else _told(problem, best, tolerance, on_failure, infeasible=False)


def _from_a_start(problem: LinearProblem, alpha: Array, start: Start | None, tolerance: float) -> LinearSolution | None:
    """Return the optimum from a point that is near it; None where it turns out not to be."""
    if start is not None:
        optimum = optimise_near(problem, start, tolerance)
        if optimum is not None and (found := _concluded(problem, optimum, tolerance)).converged:
            return found
    ended = optimise_by_working_sets(problem, alpha, tolerance, rounds=ROUNDS_FROM_A_START)
    return _certified(problem, ended.alpha, ended.rounds, tolerance) if ended.optimal else None


def _with_ridge(problem: LinearProblem, inner: InteriorPoint, tolerance: float) -> LinearSolution:
    """Go on to the optimum by Newton's method on the loss, which has no corner; a large part of the samples is free."""
    try:
        alpha, steps = optimum_with_ridge(problem, inner.w, inner.b)
    except LinAlgError:
        alpha, steps = inner.alpha, 0
    return _certified(problem, balanced(problem, alpha), inner.steps + steps, tolerance)


def _concluded(problem: LinearProblem, optimum: Optimum, tolerance: float) -> LinearSolution:
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


def _told(
    problem: LinearProblem,
    solution: LinearSolution,
    tolerance: float,
    on_failure: Literal["raise", "flag"],
    *,
    infeasible: bool,
) -> LinearSolution:
    """Return a solution that misses its gap, or raise what tells why, as `on_failure` says."""
    failed(problem, solution, tolerance, on_failure, infeasible=infeasible)
    return solution
