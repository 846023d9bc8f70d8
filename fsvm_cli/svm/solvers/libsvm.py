"""libsvm, through scikit-learn, as another solver of the dual problem (Fan et al. 2005)."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from fsvm_cli.svm.compiled import Array
    from fsvm_cli.svm.solvers.dual import DualProblem

MAX_ITERATIONS = 10_000_000


def solve_libsvm(
    problem: DualProblem, tolerance: float, max_iterations: int = MAX_ITERATIONS
) -> tuple[Array, int, float]:
    """Return libsvm's alpha, its number of iterations, and its bias.

    libsvm stores kernel values in single precision and stops on the violation of the optimality conditions, not on
    the gap; on ill-conditioned problems it ends far from the optimum (see the duality gap).

    Parameters
    ----------
    problem : DualProblem
        With equality constraint and without infinite bounds.
    tolerance : float
        libsvm's stopping tolerance.
    max_iterations : int
        Number after which it stops.
    """
    from sklearn.exceptions import ConvergenceWarning  # noqa: PLC0415 - slow to import, and seldom needed
    from sklearn.svm import SVC  # noqa: PLC0415

    gram = problem.gram + problem.ridge * np.eye(len(problem.y)) if problem.ridge else problem.gram
    weights = problem.C / problem.C[0]
    machine = SVC(C=problem.C[0], kernel="precomputed", tol=tolerance, shrinking=False, max_iter=max_iterations)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the duality gap is reported instead
        try:
            machine.fit(gram, problem.y, sample_weight=weights)
        except ValueError:  # libsvm lost all digits: what it found is not finite
            return np.zeros(len(problem.y)), 0, 0.0
    alpha = np.zeros(len(problem.y))
    alpha[machine.support_] = np.abs(machine.dual_coef_.ravel())
    return np.minimum(alpha, problem.C), int(np.max(machine.n_iter_)), float(machine.intercept_[0])
