"""One function for all solvers; every solution that it returns carries its certificate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

import numpy as np

from fsvm_cli.svm.solvers.active_set import INFEASIBLE
from fsvm_cli.svm.solvers.certificate import cause_of_failure, certificate, duality_gap, on_bounds
from fsvm_cli.svm.solvers.dual import (
    Array,
    ConvergenceError,
    DualProblem,
    DualSolution,
    InfeasibleError,
    Solver,
    SolverName,
    StoppedLibsvm,
)
from fsvm_cli.svm.solvers.engine import STEPS_PER_SAMPLE, make_scratch, maximise_certified
from fsvm_cli.svm.solvers.interior_point import solve_interior_point
from fsvm_cli.svm.solvers.libsvm import solve_libsvm
from fsvm_cli.svm.solvers.residuals import refresh

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fsvm_cli.svm.solvers.problem import BinaryProblem

LIBSVM_VIOLATIONS = (1.0, 1e-2)
"""libsvm's stopping tolerance, in tolerances; the tighter one where the first leaves too large a gap. Asked for 1e-3,
libsvm's default, libsvm then stops where the machines of its users stop."""
LIBSVM_TOLERANCE = 1e-3
"""libsvm's default."""


class _Candidate(NamedTuple):
    alpha: Array
    steps: int
    solver: str
    infeasible: bool = False
    certificate: tuple[float, float, float] | None = None
    """Bias, gap and objective, where the compiled solver has found them for this very problem."""


def solve(
    problem: DualProblem,
    *,
    tolerance: float = 1e-6,
    solver: Solver = "auto",
    alpha0: Array | None = None,
    on_failure: Literal["raise", "flag"] = "raise",
) -> DualSolution:
    """Solve a dual problem to a relative duality gap.

    Parameters
    ----------
    problem : DualProblem
    tolerance : float
        The relative duality gap to reach, > 0.
    solver : {"auto", "smo", "interior-point", "libsvm"} or StoppedLibsvm
        "smo" is sequential minimal optimisation with Newton steps on the free samples; "interior-point" ends with the
        same Newton steps; "auto" begins with "smo" and changes to it where the budget of steps is spent. "libsvm" stops
        where a violation of the optimality conditions is within the tolerance, as libsvm does for its users, and goes
        on, to a hundredth of it, only where the gap is not.
    alpha0 : (n,) array, optional
        A feasible point where "smo" begins.
    on_failure : {"raise", "flag"}
        What to do when the gap is not reached: raise, or return the best point with `converged` False.

    Returns
    -------
    DualSolution

    Raises
    ------
    InfeasibleError
        If a hard margin was asked for and the classes are not separable, and `on_failure` is "raise".
    ConvergenceError
        If the gap was not reached and `on_failure` is "raise".
    ValueError
        If a parameter is out of range, `alpha0` is infeasible, or the solver cannot take the problem.
    """
    check_options(tolerance, solver)
    if isinstance(solver, StoppedLibsvm):
        return _stopped(problem, solver.max_iterations)
    if solver in {"feature-space", "decomposition"}:
        form = "LinearProblem" if solver == "feature-space" else "KernelProblem"
        raise ValueError(f"solver '{solver}' takes samples, not their Gram matrix: see `{form}`")
    start = np.zeros(len(problem.y)) if alpha0 is None else _checked_start(problem, alpha0)
    best: DualSolution | None = None
    steps = 0
    for candidate in _candidates(problem, tolerance, solver, start):
        steps += candidate.steps
        solution = _certified(problem, candidate, steps, tolerance)
        if candidate.infeasible:
            return failed(problem, solution, tolerance, on_failure, infeasible=True)
        if solution.converged:
            return solution
        if best is None or solution.duality_gap < best.duality_gap:
            best = solution
    assert best is not None
    return failed(problem, best, tolerance, on_failure, infeasible=False)


def _stopped(problem: DualProblem, max_iterations: int) -> DualSolution:
    """Take libsvm's point as it is after so many iterations, or where libsvm's default tolerance ends it before."""
    alpha, steps, bias = solve_libsvm(problem, LIBSVM_TOLERANCE, max_iterations)
    gap = duality_gap(problem, alpha, bias)
    return DualSolution(alpha, bias, problem.objective(alpha), gap, steps, "libsvm", converged=True)


def check_options(tolerance: float, solver: Solver) -> None:
    """Raise ValueError for a tolerance that is out of range or a solver that does not exist."""
    if not tolerance > 0.0:
        raise ValueError(f"tolerance must be > 0, not {tolerance!r}")
    if isinstance(solver, StoppedLibsvm):
        if solver.max_iterations < 1:
            raise ValueError(f"max_iterations must be >= 1, not {solver.max_iterations!r}")
    elif solver not in get_args(SolverName):
        raise ValueError(f"solver must be one of {', '.join(get_args(SolverName))}, not {solver!r}")


def _candidates(problem: DualProblem, tolerance: float, solver: SolverName, start: Array) -> Iterator[_Candidate]:
    """Yield ever better points, cheapest first."""
    if solver == "libsvm":
        for violation in LIBSVM_VIOLATIONS:
            alpha, steps, _ = solve_libsvm(problem, violation * tolerance)
            yield _Candidate(alpha, steps, "libsvm")
        return
    if solver in {"auto", "smo"}:
        yield _run_engine(problem, start, tolerance, "smo")
    if solver in {"auto", "interior-point"}:
        alpha, steps = solve_interior_point(problem)
        start = balanced(problem, alpha)
        finish = _run_engine(problem, start, tolerance, "interior-point")
        yield finish._replace(steps=steps + finish.steps)
        # The finish measures by the largest kernel value; where others are 1e12 times smaller it may lose the optimum.
        yield _Candidate(start, 0, "interior-point")


def balanced(problem: BinaryProblem, alpha: Array) -> Array:
    """Restore the equality constraint by moving the coefficients that are farthest from any bound."""
    rounded = alpha.copy()
    missing = -float(problem.y @ rounded) if problem.equality else 0.0
    for i in np.argsort(-np.minimum(rounded, problem.C - rounded)):
        if abs(missing) <= 1e-15 * rounded.sum():  # a coefficient off its bound by rounding only would fix the bias
            break
        distance = problem.C[i] - rounded[i] if problem.y[i] * missing > 0.0 else rounded[i]
        moved = min(abs(missing), distance) * np.sign(missing)
        rounded[i] += moved * problem.y[i]
        missing -= moved
    return np.clip(rounded, 0.0, problem.C)


def _run_engine(problem: DualProblem, start: Array, tolerance: float, name: str) -> _Candidate:
    """Run the compiled solver.

    A machine without bias gets an artificial sample, with a zero row in the Gram matrix, label 0 and no bounds: its
    coefficient makes the sum zero whatever the others are, and its residual, 0, is the bias.
    """
    n = len(problem.y)
    size = n if problem.equality else n + 1
    K, y = problem.gram, problem.y
    if problem.ridge > 0.0 or not problem.equality:
        K = np.zeros((size, size))
        K[:n, :n] = problem.gram
        K.flat[: n * size : size + 1] += problem.ridge
        y = np.zeros(size)
        y[:n] = problem.y
    box, factor = make_scratch(size)
    box.lower[:], box.upper[:] = -np.inf, np.inf
    box.lower[:n], box.upper[:n] = np.where(y[:n] > 0, 0.0, -problem.C), np.where(y[:n] > 0, problem.C, 0.0)
    box.c[:n] = start * problem.y
    if not problem.equality:
        box.c[n] = -box.c[:n].sum()
    refresh(K, y, box)
    status, steps, bias, gap = maximise_certified(K, y, box, factor, tolerance, STEPS_PER_SAMPLE * size)
    alpha = np.abs(box.c[:n])
    if problem.ridge > 0.0:  # a ridge allows a smaller loss, and so a smaller gap
        return _Candidate(alpha, steps, name, status == INFEASIBLE)
    objective = 0.5 * float(box.c[:n] @ (problem.y + box.r[:n]))
    return _Candidate(alpha, steps, name, status == INFEASIBLE, (bias, gap, objective))


def _certified(problem: DualProblem, candidate: _Candidate, steps: int, tolerance: float) -> DualSolution:
    alpha, found = candidate.alpha, candidate.certificate
    if found is None:
        alpha = on_bounds(problem, alpha)
        found = certificate(problem, alpha, tolerance)
    bias, gap, objective = found
    return DualSolution(alpha, bias, objective, gap, steps, candidate.solver, gap <= tolerance)


def failed(
    problem: BinaryProblem,
    solution: DualSolution,
    tolerance: float,
    on_failure: Literal["raise", "flag"],
    *,
    infeasible: bool,
) -> DualSolution:
    """Return a solution that misses its gap, or raise what tells why, as `on_failure` says."""
    if on_failure == "flag":
        return solution
    if infeasible:
        raise InfeasibleError(
            "the classes are not separable with this kernel, so that no hard margin exists; choose a finite C", solution
        )
    cause = cause_of_failure(problem, solution.alpha, solution.bias, tolerance)
    raise ConvergenceError(
        f"{solution.solver} stopped after {solution.iterations} iterations at a relative duality gap of "
        f"{solution.duality_gap:.1e}, above the tolerance of {tolerance:.1e}{cause and ': ' + cause}",
        solution,
    )


def _checked_start(problem: DualProblem, alpha0: Array) -> Array:
    start = np.asarray(alpha0, dtype=np.float64)
    if start.shape != problem.y.shape or not ((start >= 0) & (start <= problem.C)).all():
        raise ValueError("alpha0 must lie in the box of the problem")
    if problem.equality and abs(start @ problem.y) > 1e-8 * start.sum():
        raise ValueError("alpha0 must satisfy the equality constraint y' alpha = 0")
    return start
