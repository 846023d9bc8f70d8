"""The dual problem of one binary support vector machine as a value, its solution, and the solution's certificate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from fsvm_cli.errors import FsvmError
from fsvm_cli.svm.solvers.problem import BinaryProblem, Residuals
from fsvm_cli.svm.solvers.residuals import kernel_errors, residuals_of, sharpen
from fsvm_cli.svm.vectors import EPSILON, ROWS_IN_CACHE

if TYPE_CHECKING:
    from fsvm_cli.svm.kernels.base import Rounding

Array = npt.NDArray[np.float64]
SolverName = Literal["auto", "smo", "interior-point", "libsvm", "feature-space", "decomposition"]


@dataclass(frozen=True)
class StoppedLibsvm:
    """libsvm, stopped after so many iterations wherever it is then, with the bias that it has then.

    It shows what comes of a solver that gives up. The solution counts as converged, for it is what was asked for; how
    far it is from the optimum is its duality gap.

    Attributes
    ----------
    max_iterations : int
        >= 1.
    """

    max_iterations: int


Solver = SolverName | StoppedLibsvm


@dataclass(frozen=True, eq=False, init=False)
class DualProblem(BinaryProblem):
    """The problem with its Gram matrix, of any kernel; see `BinaryProblem`.

    Attributes
    ----------
    gram : (n, n) array
        The symmetric Gram matrix K.
    rounding : Rounding or None
        What rounding separates a machine's outputs from exact ones, see `Rounding.of_machine`, so that gaps are those
        of the machine that predicts; None where the Gram matrix counts as exact.
    y, C, equality, ridge
        As in `BinaryProblem`; C given as a number holds for every sample.

    Raises
    ------
    ValueError
        If the shapes disagree, a value is out of range or not finite, or only one class is present while `equality`
        holds (alpha = 0 would be the only feasible point).
    """

    gram: Array
    rounding: Rounding | None

    def __init__(  # noqa: PLR0917 - as of the other problems
        self,
        gram: npt.ArrayLike,
        y: npt.ArrayLike,
        C: npt.ArrayLike,
        equality: bool = True,
        ridge: float = 0.0,
        rounding: Rounding | None = None,
    ) -> None:
        matrix = np.ascontiguousarray(gram, dtype=np.float64)
        n = np.size(y)
        if matrix.shape != (n, n) or n == 0:
            raise ValueError(f"the Gram matrix has shape {matrix.shape}, the labels ask for {(n, n)}")
        if not _is_finite(matrix):
            raise ValueError("the Gram matrix holds values that are not finite")
        self._set_constraints(n, y, C, equality, ridge)
        object.__setattr__(self, "gram", matrix)
        object.__setattr__(self, "rounding", rounding)

    def diagonal(self) -> Array:  # noqa: D102 - as in BinaryProblem
        return self.gram.diagonal()

    def largest_kernel_value(self) -> float:  # noqa: D102
        return float(np.abs(self.gram).max())

    def objective(self, alpha: Array) -> float:  # noqa: D102
        coefficients = alpha * self.y
        quadratic = coefficients @ (self.gram @ coefficients) + self.ridge * (alpha @ alpha)
        return float(alpha.sum() - 0.5 * quadratic)

    def residuals(self, alpha: Array) -> Array:
        """Return y_i - f_i - ridge alpha_i y_i, the bias at which sample i lies on its margin, shape (n,)."""
        coefficients = alpha * self.y
        return self.y - self.gram @ coefficients - self.ridge * coefficients

    def bounded_residuals(self, alpha: Array, *, sharp: bool = False) -> Residuals:
        """Return the residuals with bounds on their errors, of twice the precision but for the last digit if sharp."""
        coefficients, n = alpha * self.y, len(self.y)
        values, error = np.empty(n), np.empty(n)
        terms = residuals_of(self.gram, self.y, coefficients, values, error)
        of_kernel = np.zeros(n)
        if self.rounding is not None:
            kernel_errors(coefficients, error, terms, *self.rounding, of_kernel)
        if sharp:
            sharpen(self.gram, self.y, coefficients, values, error, np.empty(n))
        shrinkage = self.ridge * coefficients
        error += of_kernel
        return Residuals(values - shrinkage, error + EPSILON * (np.abs(values) + 2.0 * np.abs(shrinkage)))


@dataclass(frozen=True, eq=False)
class DualSolution:
    """What a solver found, with the certificate of how good it is.

    Attributes
    ----------
    alpha : (n,) array
        Feasible for the box and, up to rounding, the equality constraint.
    bias : float
        See `certificate.bias_of`; 0 for a machine without bias.
    objective : float
        The dual objective.
    duality_gap : float
        Relative, an upper bound, see `certificate.duality_gap`: the primal point is the machine of `alpha` and `bias`
        as it predicts, with a hard margin scaled up until no sample is within it. Infinity where no primal feasible
        point is at hand.
    iterations : int
        Of all solvers that took part.
    solver : str
        The solver that finished.
    converged : bool
        Whether the gap is within the tolerance that was asked for, or the solver stopped where it was told to.
    """

    alpha: Array
    bias: float
    objective: float
    duality_gap: float
    iterations: int
    solver: str
    converged: bool


class ConvergenceError(FsvmError):
    """A fit missed its duality gap.

    Attributes
    ----------
    solution : DualSolution
        The best point that was found.

    See Also
    --------
    SVM : Takes that point, and says so, where `on_failure` is "flag".

    Examples
    --------
    >>> from fsvm_cli import SVM, ConvergenceError
    >>> try:
    ...     SVM(C=float("inf")).fit([[0], [1], [2], [3]], [0, 1, 0, 1])
    ... except ConvergenceError as error:
    ...     print(error.solution.converged)
    False
    """

    def __init__(self, message: str, solution: DualSolution) -> None:
        super().__init__(message)
        self.solution = solution


class InfeasibleError(ConvergenceError):
    """No machine satisfies hard-margin constraints: the classes are not separable and the dual is unbounded."""


def _is_finite(matrix: Array) -> bool:
    """Return whether no value is infinite or not a number, without a mask as large as the matrix."""
    starts = range(0, len(matrix), ROWS_IN_CACHE)
    return all(np.isfinite(matrix[start : start + ROWS_IN_CACHE]).all() for start in starts)
