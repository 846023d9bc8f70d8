"""What every form of a machine's dual problem has: labels, bounds, and residuals whose errors are known."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from fsvm_cli.svm.vectors import Array


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
