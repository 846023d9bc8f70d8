"""A problem as the compiled solver takes it, in memory that serves one problem after the other of the same size."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import lapack

from fsvm_cli.svm.solvers.active_set import synchronise
from fsvm_cli.svm.solvers.engine import STEPS_PER_SAMPLE, make_scratch, maximise_certified
from fsvm_cli.svm.solvers.residuals import refresh

if TYPE_CHECKING:
    import numpy.typing as npt

    from fsvm_cli.svm.solvers.dual import DualProblem
    from fsvm_cli.svm.vectors import Array


NO_ROUNDING = (np.zeros(1), np.zeros(1), np.zeros(1))
"""Of a Gram matrix that counts as exact."""


class Workspace:
    """Memory of the compiled solver.

    A machine without bias gets an artificial sample, with a zero row in the Gram matrix, label 0 and no bounds: its
    coefficient makes the sum zero whatever the others are, and its residual, 0, is the bias.

    Parameters
    ----------
    problem : DualProblem
        One of the problems; the others have as many samples, and a bias if it has one.

    Attributes
    ----------
    box : Box
        On return from `maximise` the point that was reached, with its residuals.
    """

    def __init__(self, problem: DualProblem) -> None:
        self.box, self._factor = make_scratch(len(problem.y) + (not problem.equality))
        self._K = problem.gram

    def maximise(self, problem: DualProblem, start: Array, tolerance: float) -> tuple[int, int, float, float]:
        """Run the compiled solver from a feasible point; return what `maximise_certified` does."""
        box, n, size = self.box, len(problem.y), len(self.box.c)
        K, y = problem.gram, problem.y
        if problem.ridge > 0.0 or not problem.equality:
            K = np.zeros((size, size))
            K[:n, :n] = problem.gram
            K.flat[: n * size : size + 1] += problem.ridge
            y = np.zeros(size)
            y[:n] = problem.y
        self._K = K
        farthest = problem.C * problem.y
        for array, values in zip((box.relative, box.reach, box.lengths), problem.rounding or NO_ROUNDING, strict=True):
            array[:n], array[n:] = values, 0.0
        box.lower[n:], box.upper[n:] = -np.inf, np.inf
        np.minimum(farthest, 0.0, out=box.lower[:n])
        np.maximum(farthest, 0.0, out=box.upper[:n])
        np.multiply(start, problem.y, out=box.c[:n])
        if not problem.equality:
            box.c[n] = -box.c[:n].sum()
        refresh(K, y, box)
        status, steps, bias, gap = maximise_certified(K, y, box, self._factor, tolerance, STEPS_PER_SAMPLE * size)
        return status, steps, bias, gap

    def solve_on_free(self, right: Array) -> tuple[npt.NDArray[np.intp], Array]:
        """Solve for several right sides on the free samples, by the Cholesky factor that `maximise` has left.

        Parameters
        ----------
        right : (m, n) array
            Each row a right side, on all samples.

        Returns
        -------
        free : (n_free,) array of int
            The samples strictly between their bounds, in no order.
        solutions : (m, n_free) array
            Of (K_FF + tau 11') x = right_F; the same for every tau > 0 where x is to have the sum 0. What is not
            positive definite is shifted, see `Factor`.
        """
        synchronise(self._factor, self._K, self.box)
        size = int(self._factor.size[0])
        free = self._factor.members[:size].copy()
        restricted = right.take(free, axis=1)
        if size == 0:
            return free, restricted
        # Rows of an upper triangle are the columns of LAPACK's lower one.
        factor = self._factor.U[:size, :size].T
        solutions, _ = lapack.dpotrs(factor, restricted.T, lower=1, overwrite_b=1)
        return free, solutions.T
