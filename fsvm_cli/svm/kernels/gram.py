"""Kernel values between two sets of samples, block by block while a block is in the processor's cache.

The Gram matrix of samples with themselves, rows by rows while they are in the processor's cache.

Gram matrices around the samples' mean.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numba import njit

from fsvm_cli.svm.compiled import ALLOCATING, COMPILED, ROWS_IN_CACHE, SPLITTER, Array, add_scaled
from fsvm_cli.svm.kernels.compiled import (
    EXPONENTIAL,
    SQUARED_DISTANCE,
    Differences,
    Form,
    add_exponentials_of_distances,
    apply_function,
    differences_of,
    distances_in_row,
    exponentials_of_distances,
    fill_gram,
    mirror_rows,
    recompute_far,
)

if TYPE_CHECKING:
    import numpy.typing as npt

BLOCK_ROWS, BLOCK_COLUMNS = 64, 1024
"""Of a block, half a megabyte; of samples with more features it has as many rows, for BLAS copies its columns first."""
MAX_BLOCK_ROWS = 1024
EXPANSION_BLOCK_COLUMNS = 256
"""Of a block whose values are added up at once."""


class Factored(NamedTuple):
    """Two sets of samples, and what their inner products are computed from.

    Attributes
    ----------
    left, right : (n_a, d) and (n_b, d) arrays
        Their inner products are those of the samples, see `PairwiseStatistic.cross_factors`.
    A, B : (n_a, d) and (n_b, d) arrays
        The samples themselves.
    weights : (d,) array or None
        Of the features.
    """

    left: Array
    right: Array
    A: Array
    B: Array
    weights: Array | None


def write_cross_gram(form: Form, samples: Factored, out: Array, places: npt.NDArray[np.intp], start: int) -> None:
    """Write phi(s(a_i, b_k)) for all pairs of samples into parts of rows of a matrix.

    Parameters
    ----------
    form : Form
        Of a kernel whose statistic is computed from inner products.
    samples : Factored
    out : (any, any) array
        Of doubles or, then the values are rounded once, of single precision.
    places : (n_a,) array of int
        The row of each a_i in `out`.
    start : int
        The column of the first b_k in `out`.
    """
    left, right = samples.left, samples.right
    (n_a, d), n_b = left.shape, len(right)
    squares_a, squares_b = np.einsum("ij,ij->i", left, left), np.einsum("ij,ij->i", right, right)
    all_differences = differences_of(form, samples.A, samples.B, samples.weights, squares_a, squares_b)
    rows = min(max(BLOCK_ROWS, d), MAX_BLOCK_ROWS)
    inner = np.empty((min(rows, n_a), min(BLOCK_COLUMNS, n_b)))
    for top in range(0, n_a, rows):
        own = slice(top, min(top + rows, n_a))
        for first in range(0, n_b, BLOCK_COLUMNS):
            others = slice(first, min(first + BLOCK_COLUMNS, n_b))
            np.matmul(left[own], right[others].T, out=inner[: own.stop - top, : others.stop - first])
            differences = _part_of(all_differences, own, others)
            _finish_block(form, inner, squares_a[own], squares_b[others], differences, out, places[own], start + first)


def add_expansion(form: Form, samples: Factored, coefficients: Array, total: Array) -> None:
    """Add sum_i coefficients_i phi(s(a_i, b_k)), without the kernel values beside it.

    Parameters
    ----------
    form : Form
    samples : Factored
    coefficients : (n_a,) array
    total : (n_b,) array
    """
    left, right = samples.left, samples.right
    squares_a, squares_b = np.einsum("ij,ij->i", left, left), np.einsum("ij,ij->i", right, right)
    all_differences = differences_of(form, samples.A, samples.B, samples.weights, squares_a, squares_b)
    columns = np.ascontiguousarray(right.T)
    inner = np.empty((min(BLOCK_ROWS, len(left)), min(EXPANSION_BLOCK_COLUMNS, len(right))))
    for first in range(0, len(right), EXPANSION_BLOCK_COLUMNS):
        others = slice(first, min(first + EXPANSION_BLOCK_COLUMNS, len(right)))
        for top in range(0, len(left), BLOCK_ROWS):
            own = slice(top, min(top + BLOCK_ROWS, len(left)))
            products = inner[: own.stop - top, : others.stop - first]
            np.matmul(left[own], columns[:, others], out=products)
            differences = _part_of(all_differences, own, others)
            _add_block(form, products, squares_a[own], squares_b[others], differences, coefficients[own], total[others])


SHARP_BLOCK_COLUMNS = 512
"""Samples whose outputs are summed up in twice the precision while they are in the processor's cache."""


def sharp_outputs(form: Form, A: Array, B: Array, weights: Array, coefficients: Array) -> Array:
    """Return sum_i coefficients_i phi(s(a_i, b_k)) as if computed in twice the precision and rounded once.

    Products and sums with what rounding takes from them (Dekker 1971; Ogita, Rump and Oishi 2005): the error is
    EPSILON / 2 of the output and about n_a + degree (d + 4) times EPSILON^2 of the absolute values of its terms. An
    output does not depend on the others.

    Parameters
    ----------
    form : Form
        Of a power of an inner product.
    A, B : (n_a, d) and (n_b, d) arrays
    weights : (d,) array
    coefficients : (n_a,) array

    Returns
    -------
    (n_b,) array
    """
    A, outputs = np.ascontiguousarray(A), np.empty(len(B))
    for start in range(0, len(B), SHARP_BLOCK_COLUMNS):
        columns = np.ascontiguousarray(B[start : start + SHARP_BLOCK_COLUMNS].T)
        scratch = np.zeros((6, columns.shape[1]))
        _add_sharply(form, A, columns, weights, coefficients, scratch)
        outputs[start : start + SHARP_BLOCK_COLUMNS] = scratch[0] + scratch[1]
    return outputs


@njit(**COMPILED)
def _add_sharply(  # noqa: PLR0917
    form: Form, A: Array, columns: Array, weights: Array, coefficients: Array, scratch: Array
) -> None:
    """Add outputs to the first row of the scratch, and what rounding takes from them to the second."""
    total, rest, high, low, base_high, base_low = scratch[0], scratch[1], scratch[2], scratch[3], scratch[4], scratch[5]
    for i in range(A.shape[0]):
        for t in range(total.size):
            high[t], low[t] = 0.0, 0.0
        for j in range(A.shape[1]):
            factor, factor_rest = exact_product(weights[j], A[i, j])
            add_exactly(high, low, columns[j], factor, factor_rest)
        for t in range(total.size):
            value, lost = double_product(high[t], low[t], form.scale, 0.0)
            value, lost = double_sum(value, lost, form.offset, 0.0)
            high[t], low[t], base_high[t], base_low[t] = value, lost, value, lost
        for _ in range(form.degree - 1):
            for t in range(total.size):
                high[t], low[t] = double_product(high[t], low[t], base_high[t], base_low[t])
        for t in range(total.size):
            value, lost = double_product(high[t], low[t], coefficients[i], 0.0)
            total[t], rest[t] = double_sum(total[t], rest[t], value, lost)


@njit(**COMPILED)
def add_exactly(high: Array, low: Array, row: Array, factor: float, factor_rest: float) -> None:
    """Add (factor + factor_rest) * row to high + low."""
    for t in range(high.size):
        value, lost = double_product(row[t], 0.0, factor, factor_rest)
        high[t], low[t] = double_sum(high[t], low[t], value, lost)


@njit(**COMPILED)
def exact_product(a: float, b: float) -> tuple[float, float]:
    """Return the product as computed, and what it lacks (Dekker 1971)."""
    product = a * b
    scaled_a, scaled_b = SPLITTER * a, SPLITTER * b
    high_a, high_b = scaled_a - (scaled_a - a), scaled_b - (scaled_b - b)
    low_a, low_b = a - high_a, b - high_b
    return product, low_a * low_b - (((product - high_a * high_b) - low_a * high_b) - high_a * low_b)


@njit(**COMPILED)
def double_product(a: float, a_rest: float, b: float, b_rest: float) -> tuple[float, float]:
    """Return (a + a_rest) (b + b_rest) as a number of two parts."""
    product, lost = exact_product(a, b)
    lost += a * b_rest + a_rest * b
    total = product + lost
    return total, lost - (total - product)


@njit(**COMPILED)
def double_sum(a: float, a_rest: float, b: float, b_rest: float) -> tuple[float, float]:
    """Return a + a_rest + b + b_rest as a number of two parts."""
    first = a + b
    taken = first - a
    rest = ((a - (first - taken)) + (b - taken)) + (a_rest + b_rest)
    total = first + rest
    return total, rest - (total - first)


def _part_of(differences: Differences, rows: slice, columns: slice) -> Differences:
    return differences._replace(left=differences.left[rows], right=differences.right[columns])


@njit(**COMPILED)
def _add_block(  # noqa: PLR0917
    form: Form,
    inner: Array,
    squares_a: Array,
    squares_b: Array,
    differences: Differences,
    coefficients: Array,
    total: Array,
) -> None:
    """Turn inner products into kernel values, and add them to the totals."""
    is_far = differences.weights.size > 0
    for i in range(squares_a.size):
        if form.statistic == SQUARED_DISTANCE and form.function == EXPONENTIAL and not is_far:
            add_exponentials_of_distances(form, inner[i], squares_a[i], squares_b, coefficients[i], total)
            continue
        if form.statistic == SQUARED_DISTANCE:
            distances_in_row(inner[i], squares_a[i], squares_b)
            if is_far:
                left, right = differences.left[i], differences.right
                recompute_far(form, inner[i], squares_a[i], squares_b, left, right, differences.weights)
        apply_function(form, inner[i], inner[i])
        add_scaled(total, inner[i], coefficients[i])


@njit(**COMPILED)
def _finish_block(  # noqa: PLR0917
    form: Form,
    inner: Array,
    squares_a: Array,
    squares_b: Array,
    differences: Differences,
    out: Array,
    places: npt.NDArray[np.intp],
    start: int,
) -> None:
    """Turn inner products into kernel values."""
    n, is_far = squares_b.size, differences.weights.size > 0
    for i in range(squares_a.size):
        row, values = inner[i, :n], out[places[i], start : start + n]
        if form.statistic == SQUARED_DISTANCE and form.function == EXPONENTIAL and not is_far:
            exponentials_of_distances(form, row, squares_a[i], squares_b, values)
            continue
        if form.statistic == SQUARED_DISTANCE:
            distances_in_row(row, squares_a[i], squares_b)
            if is_far:
                left, right = differences.left[i], differences.right
                recompute_far(form, row, squares_a[i], squares_b, left, right, differences.weights)
        apply_function(form, row, row)
        for t in range(n):
            values[t] = row[t]


def symmetric_gram(form: Form, left: Array, right: Array, X: Array, weights: Array | None) -> Array:
    """Return phi(s(x_i, x_k)) for all pairs of samples, of which one triangle is computed.

    Parameters
    ----------
    form : Form
        Of a kernel whose statistic is computed from inner products.
    left, right : (n, d) arrays
        Their inner products are those of the samples, see `PairwiseStatistic.factors`.
    X : (n, d) array
        The samples themselves.
    weights : (d,) array or None
        Of the features.

    Returns
    -------
    (n, n) array
    """
    n = len(left)
    gram = np.empty((n, n))
    squares = np.einsum("ij,ij->i", left, right)
    differences = differences_of(form, X, X, weights, squares, squares)
    for start in range(0, n, ROWS_IN_CACHE):
        stop = min(start + ROWS_IN_CACHE, n)
        np.matmul(left[start:stop], right[start:].T, out=gram[start:stop, start:])
        finish_rows(form, gram, squares, differences, start, stop)
    return gram


@njit(**COMPILED)
def finish_rows(  # noqa: PLR0917
    form: Form, gram: Array, squares: Array, differences: Differences, start: int, stop: int
) -> None:
    """Turn the inner products in rows from `start` to `stop` into kernel values, and copy them to their columns."""
    for i in range(start, stop):
        row = gram[i, i:]
        if form.statistic == SQUARED_DISTANCE:
            distances_in_row(row, squares[i], squares[i:])
            if differences.weights.size > 0:
                left, right = differences.left[i], differences.right[i:]
                recompute_far(form, row, squares[i], squares[i:], left, right, differences.weights)
            row[0] = 0.0
        apply_function(form, row, row)
    mirror_rows(gram, start, stop)


@njit(**ALLOCATING)
def gram_of_statistic(form: Form, statistic: Array) -> Array:
    """Return phi of the statistic (n, n) of samples with themselves; where phi is costly, of one triangle."""
    n = len(statistic)
    gram = np.empty((n, n))
    fill_gram(form, statistic, gram)
    return gram


def centred(gram: Array) -> Array:
    """Return the Gram matrix around the samples' mean.

    Neither a machine with a bias, nor a ball, nor a span depends on the origin; what all samples share would cost
    digits.
    """
    means = gram.mean(axis=0)
    moved: Array = gram - means[:, None] - means + means.mean()
    return moved
