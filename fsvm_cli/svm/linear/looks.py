"""Looks at all samples, in blocks of rows: outputs of a machine, and weighted sums of the samples.

Of samples that lie in memory row by row, a product of BLAS with a vector takes two to three times as long as memory
does to give them; these loops hardly longer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numba import njit
from numpy.lib.stride_tricks import as_strided

from fsvm_cli.svm.vectors import COMPILED, add_scaled, inner_product

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fsvm_cli.svm.vectors import Array

ROWS = 1024
"""Of a block: of 100 features it fits into a processor's cache, and sums over it have few terms to round."""


def blocks_of(n: int) -> Iterator[slice]:
    """Yield the blocks of rows, in their order."""
    for start in range(0, n, ROWS):
        yield slice(start, start + ROWS)


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
    parts = np.zeros((-(-len(X) // ROWS), X.shape[1]))
    add_up(coefficients, samples, parts)
    return np.asarray(parts.sum(axis=0))


def outputs_and_sum(X: Array, w: Array, coefficients: Array) -> tuple[Array, Array]:
    """Return `outputs_of` and `weighted_sum` by one look."""
    if (samples := _by_rows(X)) is None:
        return outputs_of(X, w), weighted_sum(coefficients, X)
    outputs, parts = np.empty(len(X)), np.zeros((-(-len(X) // ROWS), X.shape[1]))
    multiply_and_add_up(samples, w, outputs, coefficients, parts)
    return outputs, np.asarray(parts.sum(axis=0))


def outputs_and_losers(X: Array, w: Array, b: float, coefficients: Array) -> tuple[Array, Array]:
    """Return `outputs_of`, and `weighted_sum` over the samples within their margin, by one look.

    Those have s_i (w . x_i + b) < 1, where s_i is the sign of their coefficient.
    """
    if (samples := _by_rows(X)) is None:
        outputs = outputs_of(X, w)
        return outputs, weighted_sum(np.where(np.sign(coefficients) * (outputs + b) < 1.0, coefficients, 0.0), X)
    outputs, parts = np.empty(len(X)), np.zeros((-(-len(X) // ROWS), X.shape[1]))
    multiply_and_add_losers(samples, w, b, outputs, coefficients, parts)
    return outputs, np.asarray(parts.sum(axis=0))


def squared_lengths(X: Array) -> Array:
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
            add_scaled(parts[i // ROWS], X[i], coefficients[i])


@njit(**COMPILED)
def multiply_and_add_up(X: Array, w: Array, outputs: Array, coefficients: Array, parts: Array) -> None:
    """Do both, a row after the other, so that it is fetched from memory once."""
    for i in range(outputs.size):
        outputs[i] = inner_product(w, X[i])
        if coefficients[i] != 0.0:
            add_scaled(parts[i // ROWS], X[i], coefficients[i])


@njit(**COMPILED)
def multiply_and_add_losers(  # noqa: PLR0917
    X: Array, w: Array, b: float, outputs: Array, coefficients: Array, parts: Array
) -> None:
    """Do the same with the rows within their margin alone, on whose side the sign of their coefficient puts them."""
    for i in range(outputs.size):
        outputs[i] = inner_product(w, X[i])
        if np.sign(coefficients[i]) * (outputs[i] + b) < 1.0:
            add_scaled(parts[i // ROWS], X[i], coefficients[i])


def _by_rows(X: Array) -> Array | None:
    """Return samples as a contiguous array, read only, with the columns that lie between theirs, or None.

    Vector instructions need to know that the numbers of a row follow one another. Where those of a column do, BLAS is
    fast.
    """
    (n, d), (step, within) = X.shape, X.strides
    if within != X.itemsize or step % X.itemsize or step < d * X.itemsize:
        return None
    return as_strided(X, (n, step // X.itemsize), (step, within), writeable=False)
