"""The dual problem of a linear machine, by its samples instead of their Gram matrix.

Passes over all samples go in blocks of rows. Of samples that lie in memory row by row, a product of BLAS with a vector
takes two to three times as long as reading them from memory; the compiled loops take hardly longer than reading.
"""

from __future__ import annotations

from abc import abstractmethod
from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numba import njit
from numpy.lib.stride_tricks import as_strided

from fsvm_cli.svm.compiled import COMPILED, EPSILON, add_scaled, inner_product
from fsvm_cli.svm.solvers.dual import ImplicitProblem, Residuals

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    from fsvm_cli.svm.compiled import Array

BLOCK_ROWS = 1024
"""Of a block: of 100 features it fits into a processor's cache, and sums over it have few terms to round."""


def blocks_of(n: int) -> Iterator[slice]:
    """Yield the blocks of rows, in their order."""
    for start in range(0, n, BLOCK_ROWS):
        yield slice(start, start + BLOCK_ROWS)


def outputs_of(X: Array, w: Array) -> Array:
    """Return w . x_i, shape (n,), of samples (n, d)."""
    if (samples := _by_rows(X)) is None:
        return np.concatenate([X[rows] @ w for rows in blocks_of(len(X))])
    outputs = np.empty(len(X))
    multiply(samples, w, outputs)
    return outputs


def weighted_sum(coefficients: Array, X: Array) -> Array:
    """Return sum_i c_i x_i, shape (d,), summed in two stages, which rounds less than one long sum."""
    if (samples := _by_rows(X)) is None:
        return np.asarray(np.sum([coefficients[rows] @ X[rows] for rows in blocks_of(len(X))], axis=0))
    parts = np.zeros((-(-len(X) // BLOCK_ROWS), X.shape[1]))
    add_up(coefficients, samples, parts)
    return np.asarray(parts.sum(axis=0))


def outputs_and_sum(X: Array, w: Array, coefficients: Array) -> tuple[Array, Array]:
    """Return `outputs_of` and `weighted_sum` in one pass."""
    if (samples := _by_rows(X)) is None:
        return outputs_of(X, w), weighted_sum(coefficients, X)
    outputs, parts = np.empty(len(X)), np.zeros((-(-len(X) // BLOCK_ROWS), X.shape[1]))
    multiply_and_add_up(samples, w, outputs, coefficients, parts)
    return outputs, np.asarray(parts.sum(axis=0))


def outputs_and_violators(X: Array, w: Array, b: float, coefficients: Array) -> tuple[Array, Array]:
    """Return `outputs_of`, and `weighted_sum` over the samples within their margin, in one pass.

    Those have s_i (w . x_i + b) < 1, where s_i is the sign of their coefficient.
    """
    if (samples := _by_rows(X)) is None:
        outputs = outputs_of(X, w)
        return outputs, weighted_sum(np.where(np.sign(coefficients) * (outputs + b) < 1.0, coefficients, 0.0), X)
    outputs, parts = np.empty(len(X)), np.zeros((-(-len(X) // BLOCK_ROWS), X.shape[1]))
    multiply_and_add_violators(samples, w, b, outputs, coefficients, parts)
    return outputs, np.asarray(parts.sum(axis=0))


def squared_norms(X: Array) -> Array:
    """Return x_i . x_i, shape (n,)."""
    return np.concatenate([np.einsum("ij,ij->i", X[rows], X[rows]) for rows in blocks_of(len(X))])


@njit(**COMPILED)
def multiply(X: Array, w: Array, outputs: Array) -> None:
    """Write the products of rows with w; columns beyond those of w are left out."""
    for i in range(outputs.size):
        outputs[i] = inner_product(w, X[i])


@njit(**COMPILED)
def add_up(coefficients: Array, X: Array, parts: Array) -> None:
    """Add the weighted rows of each block to its part; columns beyond those of the parts are left out."""
    for i in range(coefficients.size):
        if coefficients[i] != 0.0:
            add_scaled(parts[i // BLOCK_ROWS], X[i], coefficients[i])


@njit(**COMPILED)
def multiply_and_add_up(X: Array, w: Array, outputs: Array, coefficients: Array, parts: Array) -> None:
    """Do both, a row after the other, so that it is fetched from memory once."""
    for i in range(outputs.size):
        outputs[i] = inner_product(w, X[i])
        if coefficients[i] != 0.0:
            add_scaled(parts[i // BLOCK_ROWS], X[i], coefficients[i])


@njit(**COMPILED)
def multiply_and_add_violators(  # noqa: PLR0917
    X: Array, w: Array, b: float, outputs: Array, coefficients: Array, parts: Array
) -> None:
    """Do the same with the rows within their margin alone, on whose side the sign of their coefficient puts them."""
    for i in range(outputs.size):
        outputs[i] = inner_product(w, X[i])
        if np.sign(coefficients[i]) * (outputs[i] + b) < 1.0:
            add_scaled(parts[i // BLOCK_ROWS], X[i], coefficients[i])


def _by_rows(X: Array) -> Array | None:
    """Return samples as a contiguous array, read only, with the columns that lie between theirs, or None.

    Vector instructions need to know that the numbers of a row follow one another. Where those of a column do, BLAS is
    fast.
    """
    (n, d), (step, within) = X.shape, X.strides
    if within != X.itemsize or step % X.itemsize or step < d * X.itemsize:
        return None
    return as_strided(X, (n, step // X.itemsize), (step, within), writeable=False)


@dataclass(frozen=True, eq=False, init=False)
class NormalVectorProblem(ImplicitProblem):
    """The problem of a linear machine, dense or sparse, by its normal vector; see `BinaryProblem`.

    Attributes
    ----------
    squared_lengths : (n,) array
        x_i . x_i.
    """

    squared_lengths: Array

    @abstractmethod
    def normal_vector(self, coefficients: Array) -> Array:
        """Return sum_i c_i x_i, shape (d,)."""

    def diagonal(self) -> Array:  # noqa: D102 - as in BinaryProblem
        return self.squared_lengths

    def largest_kernel_value(self) -> float:  # noqa: D102
        return float(self.squared_lengths.max())

    def objective(self, alpha: Array) -> float:  # noqa: D102
        w = self.normal_vector(alpha * self.y)
        return float(alpha.sum() - 0.5 * (w @ w + self.ridge * (alpha @ alpha)))


@dataclass(frozen=True, eq=False, init=False)
class LinearProblem(NormalVectorProblem):
    """The problem of a machine with K = X X'; see `BinaryProblem`.

    Attributes
    ----------
    X : (n, d) array
        Samples. A weighted linear kernel multiplies each feature by the root of its weight first.
    y, C, equality, ridge
        As in `BinaryProblem`; C given as a number holds for every sample.
    squared_lengths : (n,) array
        x_i . x_i. Given where they are known.
    outside_w, outside_sum : (d,) array and float
        Sum of alpha_i y_i x_i, and of alpha_i y_i, over samples that are not among these and whose alpha is held: 0 but
        for a `part`.

    Raises
    ------
    ValueError
        As of `DualProblem`.
    """

    X: Array
    outside_w: Array
    outside_sum: float

    def __init__(
        self,
        X: npt.ArrayLike,
        y: npt.ArrayLike,
        C: npt.ArrayLike,
        equality: bool = True,
        ridge: float = 0.0,
        *,
        squared_lengths: Array | None = None,
    ) -> None:
        samples = np.asarray(X, dtype=np.float64)
        n = np.size(y)
        if samples.ndim != 2 or len(samples) != n or n == 0:
            raise ValueError(f"the samples have shape {samples.shape}; there are {n} labels")
        object.__setattr__(self, "X", samples)
        lengths = squared_norms(samples) if squared_lengths is None else squared_lengths
        object.__setattr__(self, "squared_lengths", lengths)
        # One pass at the samples gives their lengths, too: only squares that are not finite ask for a second.
        if not np.isfinite(lengths).all() and not all(np.isfinite(samples[rows]).all() for rows in blocks_of(n)):
            raise ValueError("the samples hold values that are not finite")
        self._set_constraints(n, y, C, equality, ridge)
        object.__setattr__(self, "outside_w", np.zeros(samples.shape[1]))
        object.__setattr__(self, "outside_sum", 0.0)

    def part(self, rows: npt.NDArray[np.intp], alpha: Array, w: Array | None = None) -> LinearProblem:
        """Return the problem of some samples, the alpha of all others held.

        Parameters
        ----------
        rows : (n_rows,) array of int
        alpha : (n,) array
            In the box.
        w : (d,) array, optional
            Sum of alpha_i y_i x_i over all samples, where it is known.
        """
        coefficients, samples, part = self.y * alpha, self.X[rows], copy(self)
        w = self.normal_vector(coefficients) if w is None else w
        own = coefficients[rows]
        coefficients[rows] = 0.0
        fields = {
            "X": samples,
            "y": self.y[rows],
            "C": self.C[rows],
            "squared_lengths": self.squared_lengths[rows],
            "outside_w": self.outside_w + w - own @ samples,
            "outside_sum": self.outside_sum + float(coefficients.sum()),
        }
        for name, value in fields.items():
            object.__setattr__(part, name, value)
        return part

    def normal_vector(self, coefficients: Array) -> Array:
        """Return sum_i c_i x_i, shape (d,), summed in two stages, which rounds less than one long sum."""
        return weighted_sum(coefficients, self.X)

    def outputs(self, w: Array) -> Array:
        """Return w . x_i, shape (n,)."""
        return outputs_of(self.X, w)

    def outputs_and_normal_vector(self, w: Array, coefficients: Array) -> tuple[Array, Array]:
        """Return `outputs` and `normal_vector` in one pass at the samples."""
        return outputs_and_sum(self.X, w, coefficients)

    def outputs_and_violators(self, w: Array, b: float) -> tuple[Array, Array]:
        """Return `outputs`, and the sum of C_i y_i x_i over samples within their margin, in one pass at the samples."""
        return outputs_and_violators(self.X, w, b, self.C * self.y)

    def block(self, rows: npt.NDArray[np.intp]) -> Array:  # noqa: D102 - as in ImplicitProblem
        own = self.X[rows]
        return np.asarray(own @ own.T, dtype=np.float64)

    def residuals(self, coefficients: Array) -> Array:  # noqa: D102
        outputs = self.outputs(self.normal_vector(coefficients) + self.outside_w)
        return np.asarray(self.y - outputs - self.ridge * coefficients, dtype=np.float64)

    def bounded_residuals(self, alpha: Array, *, sharp: bool = False) -> Residuals:
        """Return the residuals of the normal vector as computed, and how far that may be from the one of alpha.

        A residual has then only one product of d terms to round. Its bound is by the norms of the two factors, or, if
        sharp, by their entries, which differ where features have very different units.
        """
        w = self.normal_vector(alpha * self.y)
        return self.residuals_of(alpha, w, self.outputs(w), sharp=sharp)

    def residuals_of(
        self, alpha: Array, w: Array, outputs: Array, *, apart: float = 0.0, sharp: bool = False
    ) -> Residuals:
        """Return the residuals with their bounds where their machine is at hand.

        Parameters
        ----------
        alpha : (n,) array
        w, outputs : (d,) and (n,) arrays
            A normal vector, and w . x_i.
        apart : float
            How far, at most, it is from what `normal_vector` gives.
        sharp : bool
            As of `bounded_residuals`.
        """
        n, d = self.X.shape
        if sharp:
            sizes = np.concatenate([np.abs(self.X[rows]) @ np.abs(w) for rows in blocks_of(n)])
        else:
            sizes = np.sqrt(self.squared_lengths * (w @ w))
        shrinkage = self.ridge * alpha * self.y
        values = self.y - outputs - shrinkage
        error = EPSILON * ((d + 2) * sizes + 2.0 * (1.0 + np.abs(outputs) + 2.0 * np.abs(shrinkage)))
        lengths = float(alpha @ np.sqrt(self.squared_lengths))
        return Residuals(values, error, apart + EPSILON * (BLOCK_ROWS + n // BLOCK_ROWS + 2) * lengths)
