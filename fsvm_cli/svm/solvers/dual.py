"""The dual problem of one binary support vector machine as a value, its solution, and the solution's certificate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from fsvm_cli.errors import FsvmError
from fsvm_cli.svm.vectors import ROWS_IN_CACHE

Array = npt.NDArray[np.float64]
Solver = Literal["auto", "smo", "interior-point", "libsvm"]


@dataclass(frozen=True, eq=False)
class DualProblem:
    """Maximise sum_i alpha_i - 1/2 alpha' Y (K + ridge I) Y alpha subject to 0 <= alpha <= C and y' alpha = 0.

    Attributes
    ----------
    gram : (n, n) array
        The symmetric Gram matrix K.
    y : (n,) array
        Labels, -1 or +1.
    C : (n,) array
        Upper bounds, > 0, infinity allowed. Given as a number it holds for every sample.
    equality : bool
        Whether the machine has a bias; without one the constraint y' alpha = 0 is absent (Gold et al. 2005, eq. (2)).
    ridge : float
        >= 0. The squared loss C/2 sum_i max(0, 1 - y_i f_i)^2 is C = infinity with a ridge of 1/C.

    Raises
    ------
    ValueError
        If the shapes disagree, a value is out of range or not finite, or only one class is present while `equality`
        holds (alpha = 0 would be the only feasible point).
    """

    gram: Array
    y: Array
    C: Array
    equality: bool = True
    ridge: float = 0.0

    def __init__(
        self, gram: npt.ArrayLike, y: npt.ArrayLike, C: npt.ArrayLike, equality: bool = True, ridge: float = 0.0
    ) -> None:
        labels = np.ascontiguousarray(y, dtype=np.float64)
        matrix = np.ascontiguousarray(gram, dtype=np.float64)
        n = len(labels)
        bounds = np.asarray(C, dtype=np.float64)
        if matrix.shape != (n, n) or n == 0:
            raise ValueError(f"the Gram matrix has shape {matrix.shape}, the labels ask for {(n, n)}")
        if bounds.shape not in {(), (n,)}:
            raise ValueError(f"C has shape {bounds.shape}; it must be one number or one for each of {n} samples")
        if not _is_finite(matrix):
            raise ValueError("the Gram matrix holds values that are not finite")
        if not (np.abs(labels) == 1.0).all():
            raise ValueError("y must hold -1 and +1 only")
        if not (bounds > 0).all():
            raise ValueError("C must be > 0 (infinity is allowed)")
        if not (np.isfinite(ridge) and ridge >= 0):
            raise ValueError(f"ridge must be a finite number >= 0, not {ridge!r}")
        if equality and abs(labels.sum()) == n:
            raise ValueError("y holds one class only; a machine with a bias needs two")
        object.__setattr__(self, "gram", matrix)
        object.__setattr__(self, "y", labels)
        object.__setattr__(self, "C", np.full(n, bounds) if bounds.ndim == 0 else bounds)
        object.__setattr__(self, "equality", equality)
        object.__setattr__(self, "ridge", float(ridge))

    def objective(self, alpha: Array) -> float:
        """Return the dual objective at `alpha`, the value that is maximised."""
        coefficients = alpha * self.y
        quadratic = coefficients @ (self.gram @ coefficients) + self.ridge * (alpha @ alpha)
        return float(alpha.sum() - 0.5 * quadratic)

    def residuals(self, alpha: Array) -> Array:
        """Return y_i - f_i - ridge alpha_i y_i, the bias at which sample i lies on its margin, shape (n,)."""
        coefficients = alpha * self.y
        return self.y - self.gram @ coefficients - self.ridge * coefficients


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
        Relative, an upper bound, see `certificate.duality_gap`; infinity where no primal feasible point is at hand.
    iterations : int
        Of all solvers that took part.
    solver : str
        The solver that finished.
    converged : bool
        Whether the gap is within the tolerance that was asked for.
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
