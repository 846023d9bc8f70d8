"""Training samples as machines of one kernel see them: by their Gram matrix, or by their features."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import scipy.sparse as sp

from fsvm_cli.svm.linear.problem import LinearProblem, blocks_of
from fsvm_cli.svm.linear.solve import solve_linear
from fsvm_cli.svm.solvers.dual import DualProblem
from fsvm_cli.svm.solvers.solve import solve

if TYPE_CHECKING:
    import numpy.typing as npt

    from fsvm_cli.svm.kernels.base import Kernel
    from fsvm_cli.svm.solvers.dual import Array, DualSolution, Solver

MANY = 5000
"""More samples than these, and than `PER_FEATURE` for each feature, and a linear machine needs no Gram matrix: the one
of as many takes 200 megabytes."""
PER_FEATURE = 4


class TrainingSet(ABC):
    """Samples that machines are trained on."""

    @abstractmethod
    def problem(self, y: Array, C: Any, rows: npt.NDArray[np.intp] | None = None) -> DualProblem | LinearProblem:
        """Return the problem of one machine.

        Parameters
        ----------
        y : (n,) or (n_rows,) array
            Labels, -1 or +1.
        C : float or array of the shape of y
            Upper bounds.
        rows : (n_rows,) array of int, optional
            The samples to train on; all where it is None.
        """

    @abstractmethod
    def outputs(self, coefficients: Array) -> Array:
        """Return sum_i c_mi K(x_i, x_k), shape (n_machines, n), from the coefficients (n_machines, n)."""


class GramTrainingSet(TrainingSet):
    """Samples by their Gram matrix, (n, n), of any kernel."""

    def __init__(self, gram: Array) -> None:
        self.gram = gram

    def problem(self, y: Array, C: Any, rows: npt.NDArray[np.intp] | None = None) -> DualProblem:  # noqa: D102
        return DualProblem(self.gram if rows is None else self.gram[np.ix_(rows, rows)], y, C)

    def outputs(self, coefficients: Array) -> Array:  # noqa: D102
        return np.asarray(coefficients @ self.gram, dtype=np.float64)


class LinearTrainingSet(TrainingSet):
    """Samples of linear machines by their features, (n, d), each multiplied by the root of its weight."""

    def __init__(self, X: Array) -> None:
        self.X = X

    def problem(self, y: Array, C: Any, rows: npt.NDArray[np.intp] | None = None) -> LinearProblem:  # noqa: D102
        return LinearProblem(self.X if rows is None else self.X[rows], y, C)

    def outputs(self, coefficients: Array) -> Array:  # noqa: D102
        normals = np.sum([coefficients[:, rows] @ self.X[rows] for rows in blocks_of(len(self.X))], axis=0)
        return np.asarray(normals @ self.X.T, dtype=np.float64)


def train(
    problem: DualProblem | LinearProblem, *, tolerance: float, solver: Solver, on_failure: Literal["raise", "flag"]
) -> DualSolution:
    """Solve a problem of a training set; as `solve` and `solve_linear`."""
    if isinstance(problem, LinearProblem):
        return solve_linear(problem, tolerance=tolerance, on_failure=on_failure)
    return solve(problem, tolerance=tolerance, solver=solver, on_failure=on_failure)


def training_set(kernel: Kernel, X: Any, solver: Solver) -> TrainingSet:
    """Choose how machines with a kernel are trained; see `works_in_feature_space`.

    Raises
    ------
    ValueError
        If the solver is "feature-space", and the kernel is not linear or the samples are sparse.
    """
    if not works_in_feature_space(kernel, X, solver):
        return GramTrainingSet(kernel.gram(X, X))
    weights = kernel.feature_weights(X.shape[1])
    return LinearTrainingSet(X if weights is None else X * np.sqrt(weights))


def works_in_feature_space(kernel: Kernel, X: Any, solver: Solver) -> bool:
    """Return whether machines on these samples are solved in the space of the features.

    They are where the kernel is linear, the samples are dense, and there are so many of them that a matrix of all pairs
    would cost more. The solver "feature-space" asks for it whatever their number.

    Raises
    ------
    ValueError
        As of `training_set`.
    """
    able = kernel.is_linear and not sp.issparse(X)
    if solver == "feature-space" and not able:
        raise ValueError("solver 'feature-space' is for the linear kernel and dense samples; leave it to 'auto'")
    n, d = X.shape
    return able and (solver == "feature-space" or (solver == "auto" and n > max(MANY, PER_FEATURE * d)))
