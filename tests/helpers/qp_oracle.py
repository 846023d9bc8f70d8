"""Independent solutions of the dual problem, from general interior-point QP solvers in double precision."""

from __future__ import annotations

from typing import TYPE_CHECKING

import clarabel
import numpy as np
import piqp
from scipy import sparse

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fsvm_cli.svm import DualProblem


def solve_with_piqp(problem: DualProblem) -> NDArray[np.float64] | None:
    """Return alpha, or None where PIQP does not vouch for its answer."""
    n = len(problem.y)
    P = problem.gram * np.outer(problem.y, problem.y) + problem.ridge * np.eye(n)
    A, b = (problem.y[None, :], np.zeros(1)) if problem.equality else (None, None)
    for accuracy in (1e-10, 1e-9, 1e-8):
        solver = piqp.DenseSolver()
        solver.settings.eps_abs, solver.settings.eps_rel = accuracy, 0.1 * accuracy
        solver.settings.max_iter = 500
        solver.setup(P, -np.ones(n), A, b, None, None, None, np.zeros(n), np.minimum(problem.C, 1e30))
        if solver.solve() == piqp.PIQP_SOLVED:
            return np.clip(np.array(solver.result.x, dtype=np.float64), 0.0, problem.C)
    return None


def solve_with_clarabel(problem: DualProblem) -> NDArray[np.float64]:
    """Return alpha of a problem with finite bounds; slower than PIQP, and the second to be asked."""
    n = len(problem.y)
    P = problem.gram * np.outer(problem.y, problem.y) + problem.ridge * np.eye(n)
    rows = [sparse.csc_matrix(problem.y[None, :])] if problem.equality else []
    A = sparse.vstack([*rows, -sparse.eye(n), sparse.eye(n)], format="csc")
    b = np.concatenate([np.zeros(len(rows)), np.zeros(n), problem.C])
    cones = [clarabel.ZeroConeT(len(rows)), clarabel.NonnegativeConeT(2 * n)]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-9
    solution = clarabel.DefaultSolver(sparse.triu(P, format="csc"), -np.ones(n), A, b, cones, settings).solve()
    assert solution.status == clarabel.SolverStatus.Solved
    return np.clip(np.array(solution.x, dtype=np.float64), 0.0, problem.C)
