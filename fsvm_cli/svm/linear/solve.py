"""Linear machines on many samples, with the certificate of all others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from fsvm_cli.svm.linear.band import optimise_in_band
from fsvm_cli.svm.linear.interior_point import solve_interior_point
from fsvm_cli.svm.solvers.certificate import certificate, on_bounds
from fsvm_cli.svm.solvers.dual import DualSolution
from fsvm_cli.svm.solvers.solve import balanced, check_options, failed
from fsvm_cli.svm.solvers.working_set import optimise_by_working_sets

if TYPE_CHECKING:
    from fsvm_cli.svm.linear.problem import LinearProblem
    from fsvm_cli.svm.vectors import Array

ROUGHLY = 1e-3
"""Relative gap of the interior point, once it is decided which samples are free, before working sets take over."""
WITH_RIDGE = 1e-3
"""In tolerances: its gap where there is a ridge, and no working sets, since a large part of the samples is free."""

ROUNDS_FROM_A_START = 12
"""About what half an interior point costs: a start that is not near after these is not near at all."""


def solve_linear(
    problem: LinearProblem,
    *,
    tolerance: float = 1e-6,
    alpha0: Array | None = None,
    on_failure: Literal["raise", "flag"] = "raise",
) -> DualSolution:
    """Solve the dual problem of a linear machine to a relative duality gap, in O(n d^2) a step and O(n d) memory.

    An interior point finds out which samples are free, working sets end at the exact optimum over them, so that margin
    vectors and ties come out as from `fsvm_cli.svm.solve`.

    Parameters
    ----------
    problem : LinearProblem
    tolerance : float
        The relative duality gap to reach, > 0.
    alpha0 : (n,) array, optional
        A feasible point near the optimum: first, only the samples near its margin are optimised.
    on_failure : {"raise", "flag"}
        What to do when the gap is not reached: raise, or return the best point with `converged` False.

    Returns
    -------
    DualSolution

    Raises
    ------
    InfeasibleError, ConvergenceError, ValueError
        As of `fsvm_cli.svm.solve`.
    """
    check_options(tolerance, "feature-space")
    steps = 0
    if alpha0 is not None:
        start, steps = optimise_in_band(problem, alpha0)
        near = optimise_by_working_sets(problem, start, tolerance, rounds=ROUNDS_FROM_A_START)
        steps += near.rounds
        if near.optimal and (found := _certified(problem, near.alpha, steps, tolerance)).converged:
            return found
    inner = solve_interior_point(problem, WITH_RIDGE * tolerance if problem.ridge > 0.0 else ROUGHLY)
    start = balanced(problem, inner.alpha)
    steps += inner.steps
    if inner.infeasible:
        return failed(problem, _certified(problem, start, steps, tolerance), tolerance, on_failure, infeasible=True)
    ended = optimise_by_working_sets(problem, start, tolerance)
    steps += ended.rounds
    solutions = [
        _certified(problem, alpha, steps, tolerance) for alpha in (ended.alpha, start)[: 1 if ended.optimal else 2]
    ]
    best = min(solutions, key=lambda each: each.duality_gap)
    return best if best.converged else failed(problem, best, tolerance, on_failure, infeasible=False)


def _certified(problem: LinearProblem, alpha: Array, steps: int, tolerance: float) -> DualSolution:
    alpha = on_bounds(problem, alpha)
    bias, gap, objective = certificate(problem, alpha, tolerance)
    return DualSolution(alpha, bias, objective, gap, steps, "feature-space", gap <= tolerance)
