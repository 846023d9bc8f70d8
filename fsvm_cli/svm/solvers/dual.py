"""The dual problem of one binary support vector machine, its solution and its exceptions.

`BinaryProblem` is the interface of all forms of the problem: labels, bounds, and residuals with bounds on their errors.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from fsvm_cli.errors import FsvmError
from fsvm_cli.svm.compiled import EPSILON, ROWS_IN_CACHE, Array
from fsvm_cli.svm.solvers.optimality import kernel_errors, residuals_of, sharpen

if TYPE_CHECKING:
    from fsvm_cli.svm.kernels.base import Rounding


class Residuals(NamedTuple):
    """y_i - f_i - ridge alpha_i y_i of a point, with what rounding may have done to it.

    Attributes
    ----------
    values, error : (n,) arrays
        Each residual, and a bound on its error.
    distance : float
        How far, at most, the normal vector that makes the residuals is from sum_i alpha_i y_i phi(x_i); 0 where they
        are sums over the coefficients.
    """

    values: Array
    error: Array
    distance: float = 0.0


@dataclass(frozen=True, eq=False, init=False)
class BinaryProblem(ABC):
    """Maximise sum_i alpha_i - 1/2 alpha' Y (K + ridge I) Y alpha subject to 0 <= alpha <= C and y' alpha = 0.

    Attributes
    ----------
    y : (n,) array
        Labels, -1 or +1.
    C : (n,) array
        Upper bounds, > 0, infinity allowed.
    equality : bool
        Whether the machine has a bias; without one the constraint y' alpha = 0 is absent (Gold et al. 2005, eq. (2)).
    ridge : float
        >= 0. The squared loss C/2 sum_i max(0, 1 - y_i f_i)^2 is C = infinity with a ridge of 1/C.
    """

    y: Array
    C: Array
    equality: bool
    ridge: float

    def _set_constraints(self, n: int, y: npt.ArrayLike, C: npt.ArrayLike, equality: bool, ridge: float) -> None:
        """Check what all problems have, and keep it."""
        labels = np.ascontiguousarray(y, dtype=np.float64)
        bounds = np.asarray(C, dtype=np.float64)
        if bounds.shape not in {(), (n,)}:
            raise ValueError(f"C has shape {bounds.shape}; it must be one number or one for each of {n} samples")
        if not (np.abs(labels) == 1.0).all():
            raise ValueError("y must hold -1 and +1 only")
        if not (bounds > 0).all():
            raise ValueError("C must be > 0 (infinity is allowed)")
        if not (np.isfinite(ridge) and ridge >= 0):
            raise ValueError(f"ridge must be a finite number >= 0, not {ridge!r}")
        if equality and abs(labels.sum()) == n:
            raise ValueError("y holds one class only; a machine with a bias needs two")
        object.__setattr__(self, "y", labels)
        object.__setattr__(self, "C", np.full(n, bounds) if bounds.ndim == 0 else bounds)
        object.__setattr__(self, "equality", equality)
        object.__setattr__(self, "ridge", float(ridge))

    @abstractmethod
    def diagonal(self) -> Array:
        """Return the kernel of each sample with itself, shape (n,)."""

    @abstractmethod
    def largest_kernel_value(self) -> float:
        """Return the largest magnitude of a kernel value."""

    @abstractmethod
    def objective(self, alpha: Array) -> float:
        """Return the dual objective at `alpha`, the value that is maximised."""

    @abstractmethod
    def bounded_residuals(self, alpha: Array, *, sharp: bool = False) -> Residuals:
        """Return the residuals at `alpha` with bounds on their errors, much smaller ones where they are to be sharp."""


class ImplicitProblem(BinaryProblem):
    """A problem whose Gram matrix is never made whole: kernel values are computed from the samples when needed."""

    @abstractmethod
    def block(self, rows: npt.NDArray[np.intp]) -> Array:
        """Return the kernel values of some samples with each other, shape (n_rows, n_rows)."""

    @abstractmethod
    def residuals(self, coefficients: Array) -> Array:
        """Return y_i - f_i - ridge c_i, shape (n,), at the coefficients c_i = alpha_i y_i."""

    def residuals_after(
        self,
        before: Array,  # noqa: ARG002 - of use where few coefficients move
        coefficients: Array,
        rows: npt.NDArray[np.intp],  # noqa: ARG002
        change: Array,  # noqa: ARG002
    ) -> Array:
        """Return the residuals after the coefficients of some samples have changed.

        Parameters
        ----------
        before : (n,) array
            Residuals at the coefficients before.
        coefficients : (n,) array
            Those after.
        rows : (n_rows,) array of int
            Samples whose coefficients have changed.
        change : (n_rows,) array
            By how much.
        """
        return self.residuals(coefficients)


SolverName = Literal["auto", "smo", "interior-point", "libsvm", "feature-space", "coordinate-ascent", "decomposition"]


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

    def with_rounding(self, rounding: Rounding) -> DualProblem:
        """Return the same problem, with what is checked already, and bounds on the rounding of its kernel values."""
        predicting = copy(self)
        object.__setattr__(predicting, "rounding", rounding)
        return predicting

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
        """Return the residuals with bounds on their errors, of twice the precision up to the last digit if sharp."""
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
        Whether the gap is within the tolerance that was asked for, or the solver stopped on request.
    """

    alpha: Array
    bias: float
    objective: float
    duality_gap: float
    iterations: int
    solver: str
    converged: bool


@dataclass(frozen=True)
class Needs:
    """What a solver needs of a problem, beyond what every `BinaryProblem` has.

    Attributes
    ----------
    gram : bool
        The Gram matrix, for which there must be memory.
    linear_kernel, dense_samples : bool
        Samples as a dense array under the linear kernel.
    bias, soft_margin : bool
        A machine with bias, and no hard margin.
    """

    gram: bool = False
    linear_kernel: bool = False
    dense_samples: bool = False
    bias: bool = False
    soft_margin: bool = False


class DualSolver(ABC):
    """A solver of the dual problem; `fsvm_cli.svm.routing` chooses among them.

    Attributes
    ----------
    name : str
        By which users ask for it.
    needs : Needs
    """

    name: ClassVar[SolverName]
    needs: ClassVar[Needs]

    @abstractmethod
    def solve(
        self,
        problem: Any,
        *,
        tolerance: float = 1e-6,
        alpha0: Array | None = None,
        on_failure: Literal["raise", "flag"] = "raise",
    ) -> DualSolution:
        """Solve a problem to a relative duality gap.

        Parameters
        ----------
        problem : BinaryProblem
            A `DualProblem` where the solver needs a Gram matrix, a `LinearProblem` where it needs the linear kernel,
            else a `KernelProblem`.
        tolerance : float
            The relative duality gap to reach, > 0.
        alpha0 : (n,) array, optional
            A feasible point to begin at, for solvers that can.
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
            If the tolerance is out of range, or the problem lacks what the solver needs.
        """

    def check(self, problem: BinaryProblem, tolerance: float) -> None:
        """Raise ValueError for a tolerance out of range, and for a problem that lacks the bias or the finite C."""
        check_tolerance(tolerance)
        if self.needs.bias and not problem.equality:
            raise ValueError(f"{self.name} has no machine without bias; use solver='auto'")
        if self.needs.soft_margin and np.isinf(problem.C).any():
            raise ValueError(f"{self.name} has no infinite C; use solver='auto'")


Solver = SolverName | DualSolver


def check_tolerance(tolerance: float) -> None:
    """Raise ValueError unless the tolerance is above 0."""
    if not tolerance > 0.0:
        raise ValueError(f"tolerance must be > 0, not {tolerance!r}")


class ConvergenceError(FsvmError):
    """A fit missed its duality gap.

    Attributes
    ----------
    solution : DualSolution
        The best point that was found.

    See Also
    --------
    SVM : Uses that point, and flags it, where `on_failure` is "flag".

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
