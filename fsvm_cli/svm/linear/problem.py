"""The dual problem of a linear machine, by its samples instead of their Gram matrix."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from fsvm_cli.svm.solvers.problem import ImplicitProblem, Residuals
from fsvm_cli.svm.vectors import EPSILON

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    from fsvm_cli.svm.vectors import Array

ROWS = 1024
"""Of a block: of 100 features it fits into a processor's cache, and sums over it have few terms to round."""


@dataclass(frozen=True, eq=False, init=False)
class LinearProblem(ImplicitProblem):
    """The problem of a machine with K = X X'; see `BinaryProblem`.

    Attributes
    ----------
    X : (n, d) array
        Samples. A weighted linear kernel multiplies each feature by the root of its weight first.
    y, C, equality, ridge
        As in `BinaryProblem`; C given as a number holds for every sample.

    Raises
    ------
    ValueError
        As of `DualProblem`.
    """

    X: Array

    def __init__(
        self, X: npt.ArrayLike, y: npt.ArrayLike, C: npt.ArrayLike, equality: bool = True, ridge: float = 0.0
    ) -> None:
        samples = np.asarray(X, dtype=np.float64)
        n = np.size(y)
        if samples.ndim != 2 or len(samples) != n or n == 0:
            raise ValueError(f"the samples have shape {samples.shape}; there are {n} labels")
        if not all(np.isfinite(samples[rows]).all() for rows in blocks_of(n)):
            raise ValueError("the samples hold values that are not finite")
        self._set_constraints(n, y, C, equality, ridge)
        object.__setattr__(self, "X", samples)

    @cached_property
    def squared_norms(self) -> Array:
        """x_i . x_i, shape (n,)."""
        return np.concatenate([np.einsum("ij,ij->i", self.X[rows], self.X[rows]) for rows in blocks_of(len(self.y))])

    def diagonal(self) -> Array:  # noqa: D102 - as in BinaryProblem
        return self.squared_norms

    def largest_kernel_value(self) -> float:  # noqa: D102
        return float(self.squared_norms.max())

    def objective(self, alpha: Array) -> float:  # noqa: D102
        w = self.normal_vector(alpha * self.y)
        return float(alpha.sum() - 0.5 * (w @ w + self.ridge * (alpha @ alpha)))

    def normal_vector(self, coefficients: Array) -> Array:
        """Return sum_i c_i x_i, shape (d,), summed in two stages, which rounds less than one long sum."""
        parts = [coefficients[rows] @ self.X[rows] for rows in blocks_of(len(coefficients))]
        return np.asarray(np.sum(parts, axis=0), dtype=np.float64)

    def outputs(self, w: Array) -> Array:
        """Return w . x_i, shape (n,)."""
        return np.concatenate([self.X[rows] @ w for rows in blocks_of(len(self.y))])

    def block(self, rows: npt.NDArray[np.intp]) -> Array:  # noqa: D102 - as in ImplicitProblem
        own = self.X[rows]
        return np.asarray(own @ own.T, dtype=np.float64)

    def residuals(self, coefficients: Array) -> Array:  # noqa: D102
        outputs = self.outputs(self.normal_vector(coefficients))
        return np.asarray(self.y - outputs - self.ridge * coefficients, dtype=np.float64)

    def bounded_residuals(self, alpha: Array, *, sharp: bool = False) -> Residuals:
        """Return the residuals of the normal vector as computed, and how far that may be from the one of alpha.

        A residual has then only one product of d terms to round. Its bound is by the norms of the two factors, or, if
        sharp, by their entries, which differ where features have very different units.
        """
        n, d = self.X.shape
        coefficients = alpha * self.y
        w = self.normal_vector(coefficients)
        outputs = self.outputs(w)
        if sharp:
            sizes = np.concatenate([np.abs(self.X[rows]) @ np.abs(w) for rows in blocks_of(n)])
        else:
            sizes = np.sqrt(self.squared_norms * (w @ w))
        shrinkage = self.ridge * coefficients
        values = self.y - outputs - shrinkage
        error = EPSILON * ((d + 2) * sizes + 2.0 * (1.0 + np.abs(outputs) + 2.0 * np.abs(shrinkage)))
        rounding = EPSILON * (ROWS + n // ROWS + 2) * float(alpha.sum())
        return Residuals(values, error, rounding * float(np.linalg.norm(self._largest_entries)))

    @cached_property
    def _largest_entries(self) -> Array:
        """Largest magnitude in each column, shape (d,)."""
        return np.asarray(np.max([np.abs(self.X[rows]).max(axis=0) for rows in blocks_of(len(self.y))], axis=0))


def blocks_of(n: int) -> Iterator[slice]:
    """Yield the blocks of rows, in their order."""
    for start in range(0, n, ROWS):
        yield slice(start, start + ROWS)
