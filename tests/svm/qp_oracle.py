"""An independent solution of the dual problem, from a general interior-point QP solver in double precision."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import piqp

if TYPE_CHECKING:
    from fsvm_cli.svm import DualProblem


def solve_with_piqp(problem: DualProblem) -> np.ndarray | None:
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
            return np.clip(solver.result.x, 0.0, problem.C)
    return None
