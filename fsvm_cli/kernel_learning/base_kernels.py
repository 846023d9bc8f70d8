"""The base kernels of a sum whose weights are learned: Gram matrices, traces and their combinations."""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import lapack

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from fsvm_cli.svm.compiled import Array

EIGENVALUE_ROUNDING = 1e-10
"""Largest rounding error of an eigenvalue, as a part of the largest diagonal entry times the number of rows."""


@dataclass(frozen=True, eq=False)
class BaseKernels(ABC):
    """Positive semidefinite Gram matrices K_i on training rows and, for transduction, on others.

    Attributes
    ----------
    traces : (m,) array
        r_i, the trace of each on all rows.
    """

    traces: Array

    @property
    @abstractmethod
    def n_all(self) -> int:
        """Rows that the traces are over."""

    @abstractmethod
    def combined(self, weights: Array, out: Array | None = None) -> Array:
        """Return sum_i weights_i K_i on the training rows, (n, n), in the memory of `out` if it is given."""

    @abstractmethod
    def products(self, coefficients: Array) -> Array:
        """Return K_i times the coefficients of the training rows, on these rows, (m, n)."""

    @property
    def units(self) -> Array:
        """The weight at which each kernel alone has the trace c = sum_i r_i; 0 for a kernel that is zero, (m,)."""
        has_trace = self.traces > 0.0
        units: Array = np.divide(self.traces.sum(), self.traces, out=np.zeros(len(self.traces)), where=has_trace)
        return units


@dataclass(frozen=True, eq=False)
class GramMatrices(BaseKernels):
    """Base kernels by their Gram matrices.

    Attributes
    ----------
    grams : (m, n_all, n_all) array
        On all rows.
    training : (m, n, n) array
        On the training rows, which come first.
    """

    grams: Array
    training: Array

    @classmethod
    def of(
        cls, grams: Sequence[Array] | Array, n_train: int | None = None, *, known_semidefinite: Sequence[bool] = ()
    ) -> GramMatrices:
        """Check Gram matrices.

        Parameters
        ----------
        grams : sequence of (n_all, n_all) arrays
            Positive semidefinite up to rounding, finite.
        n_train : int, optional
            Number of the first rows, those of the training part; all where it is None.
        known_semidefinite : sequence of bool
            Whether each is a Gram matrix of a kernel that is positive semidefinite, so that neither this nor its
            symmetry is checked; where nothing is said, all are.

        Raises
        ------
        ValueError
            If there is none, their shapes differ, or one is not finite, not symmetric or indefinite; if all are zero.
        """
        stack = np.ascontiguousarray(grams, dtype=np.float64)
        if stack.ndim != 3 or 0 in stack.shape or stack.shape[1] != stack.shape[2]:
            raise ValueError(f"Gram matrices of one size are needed, one for each kernel, not an array {stack.shape}")
        for number, (gram, known) in enumerate(itertools.zip_longest(stack, known_semidefinite), start=1):
            label = f"the Gram matrix of base kernel {number}"
            if not np.isfinite(gram).all():
                raise ValueError(f"{label} holds values that are not finite")
            if not known:
                _check_symmetric(gram, label)
                _check_semidefinite(gram, label)
        traces = np.maximum(np.trace(stack, axis1=1, axis2=2), 0.0)
        if not traces.any():
            raise ValueError("all base kernels are zero; there is nothing to learn from")
        n = stack.shape[1] if n_train is None else n_train
        training = stack if n == stack.shape[1] else np.ascontiguousarray(stack[:, :n, :n])
        return cls(traces, stack, training)

    @property
    def n_all(self) -> int:  # noqa: D102 - as in BaseKernels
        return len(self.grams[0])

    def combined(self, weights: Array, out: Array | None = None) -> Array:  # noqa: D102 - as in BaseKernels
        m, n, _ = self.training.shape
        total = np.empty((n, n)) if out is None else out
        # One pass of matrix times vector: a temporary array for each kernel would take most of the time.
        np.dot(weights, self.training.reshape(m, n * n), out=total.reshape(n * n))
        return total

    def products(self, coefficients: Array) -> Array:  # noqa: D102 - as in BaseKernels
        m, n, _ = self.training.shape
        return np.asarray(np.dot(self.training.reshape(m * n, n), coefficients), dtype=np.float64).reshape(m, n)


@dataclass(frozen=True, eq=False)
class SingleFeatures(BaseKernels):
    """One linear kernel for each feature, K_j = x_j x_j', without a matrix for each: jebara-slides, last slide.

    Attributes
    ----------
    X : (n, m) array
        The training rows.
    """

    X: Array

    @classmethod
    def of(cls, X: npt.ArrayLike) -> SingleFeatures:
        """Take samples, all of them training rows.

        Raises
        ------
        ValueError
            If values are not finite, or all zero.
        """
        samples = np.ascontiguousarray(X, dtype=np.float64)
        if not np.isfinite(samples).all():
            raise ValueError("the samples hold values that are not finite")
        traces = np.einsum("ij,ij->j", samples, samples)
        if not traces.any():
            raise ValueError("all features are zero; there is nothing to learn from")
        return cls(traces, samples)

    @property
    def n_all(self) -> int:  # noqa: D102 - as in BaseKernels
        return len(self.X)

    def combined(self, weights: Array, out: Array | None = None) -> Array:  # noqa: D102 - as in BaseKernels
        chosen = np.flatnonzero(weights)
        scaled = self.X[:, chosen] * np.sqrt(weights[chosen])
        return np.asarray(np.matmul(scaled, scaled.T, out=out), dtype=np.float64)

    def products(self, coefficients: Array) -> Array:  # noqa: D102 - as in BaseKernels
        return self.X.T * (coefficients @ self.X)[:, None]


@dataclass(frozen=True, eq=False)
class WithIdentity(BaseKernels):
    """Base kernels and, as the last, the identity, whose weight is a ridge: Lanckriet et al. (2004), section 4.3.

    Attributes
    ----------
    base : BaseKernels
    """

    base: BaseKernels

    @classmethod
    def of(cls, base: BaseKernels) -> WithIdentity:
        """Add the identity of all rows to base kernels."""
        return cls(np.append(base.traces, float(base.n_all)), base)

    @property
    def n_all(self) -> int:  # noqa: D102 - as in BaseKernels
        return self.base.n_all

    def combined(self, weights: Array, out: Array | None = None) -> Array:  # noqa: D102 - as in BaseKernels
        total = self.base.combined(weights[:-1], out)
        total.flat[:: len(total) + 1] += weights[-1]
        return total

    def products(self, coefficients: Array) -> Array:  # noqa: D102 - as in BaseKernels
        return np.vstack([self.base.products(coefficients), coefficients])


def _check_symmetric(gram: Array, label: str) -> None:
    if not np.array_equal(gram, gram.T) and np.abs(gram - gram.T).max() > _room(gram):
        raise ValueError(f"{label} is not symmetric")


def _room(gram: Array) -> float:
    return EIGENVALUE_ROUNDING * len(gram) * float(np.abs(gram.diagonal()).max())


def _check_semidefinite(gram: Array, label: str) -> None:
    if not gram.any():
        return
    shifted = gram.copy()
    shifted.flat[:: len(gram) + 1] += _room(gram)
    # A Cholesky factor is there if and only if no eigenvalue is below minus the room; eigenvalues would take longer.
    if lapack.dpotrf(shifted.T, lower=1, clean=0, overwrite_a=1)[1]:
        raise ValueError(f"{label} is indefinite: it has a negative eigenvalue, and no machine of largest margin")
