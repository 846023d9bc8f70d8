"""Kernel values between two sets of samples, block by block while a block is in the processor's cache."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numba import njit

from fsvm_cli.svm.kernels.compiled import (
    EXPONENTIAL,
    SQUARED_DISTANCE,
    Form,
    add_exponentials_of_distances,
    apply_function,
    distances_in_row,
    exponentials_of_distances,
)
from fsvm_cli.svm.vectors import COMPILED, Array, add_scaled

if TYPE_CHECKING:
    import numpy.typing as npt

ROWS, COLUMNS = 64, 1024
"""Of a block, half a megabyte; of samples with more features it has as many rows, for BLAS copies its columns first."""
MOST_ROWS = 1024
FEWER_COLUMNS = 256
"""Of a block whose values are added up at once."""


def write_cross_gram(  # noqa: PLR0917
    form: Form, left: Array, right: Array, out: Array, places: npt.NDArray[np.intp], start: int
) -> None:
    """Write phi(s(a_i, b_k)) for all pairs of samples into parts of rows of a matrix.

    Parameters
    ----------
    form : Form
        Of a kernel whose statistic is computed from inner products.
    left, right : (n_a, d) and (n_b, d) arrays
        Their inner products are those of the samples, see `PairwiseStatistic.cross_factors`.
    out : (any, any) array
        Of doubles or, then the values are rounded once, of single precision.
    places : (n_a,) array of int
        The row of each a_i in `out`.
    start : int
        The column of the first b_k in `out`.
    """
    (n_a, d), n_b = left.shape, len(right)
    squares_a, squares_b = np.einsum("ij,ij->i", left, left), np.einsum("ij,ij->i", right, right)
    rows = min(max(ROWS, d), MOST_ROWS)
    inner = np.empty((min(rows, n_a), min(COLUMNS, n_b)))
    for top in range(0, n_a, rows):
        own = slice(top, min(top + rows, n_a))
        for first in range(0, n_b, COLUMNS):
            others = slice(first, min(first + COLUMNS, n_b))
            np.matmul(left[own], right[others].T, out=inner[: own.stop - top, : others.stop - first])
            _finish_block(form, inner, squares_a[own], squares_b[others], out, places[own], start + first)


def add_expansion(form: Form, left: Array, right: Array, coefficients: Array, total: Array) -> None:
    """Add sum_i coefficients_i phi(s(a_i, b_k)), without the kernel values beside it.

    Parameters
    ----------
    form : Form
    left, right : (n_a, d) and (n_b, d) arrays
        As in `write_cross_gram`.
    coefficients : (n_a,) array
    total : (n_b,) array
    """
    squares_a, squares_b = np.einsum("ij,ij->i", left, left), np.einsum("ij,ij->i", right, right)
    columns = np.ascontiguousarray(right.T)
    inner = np.empty((min(ROWS, len(left)), min(FEWER_COLUMNS, len(right))))
    for first in range(0, len(right), FEWER_COLUMNS):
        others = slice(first, min(first + FEWER_COLUMNS, len(right)))
        for top in range(0, len(left), ROWS):
            own = slice(top, min(top + ROWS, len(left)))
            products = inner[: own.stop - top, : others.stop - first]
            np.matmul(left[own], columns[:, others], out=products)
            _add_block(form, products, squares_a[own], squares_b[others], coefficients[own], total[others])


@njit(**COMPILED)
def _add_block(  # noqa: PLR0917
    form: Form, inner: Array, squares_a: Array, squares_b: Array, coefficients: Array, total: Array
) -> None:
    """Turn inner products into kernel values, and add them to the totals."""
    for i in range(squares_a.size):
        if form.statistic == SQUARED_DISTANCE and form.function == EXPONENTIAL:
            add_exponentials_of_distances(form, inner[i], squares_a[i], squares_b, coefficients[i], total)
            continue
        if form.statistic == SQUARED_DISTANCE:
            distances_in_row(inner[i], squares_a[i], squares_b)
        apply_function(form, inner[i], inner[i])
        add_scaled(total, inner[i], coefficients[i])


@njit(**COMPILED)
def _finish_block(  # noqa: PLR0917
    form: Form,
    inner: Array,
    squares_a: Array,
    squares_b: Array,
    out: Array,
    places: npt.NDArray[np.intp],
    start: int,
) -> None:
    """Turn inner products into kernel values."""
    n = squares_b.size
    for i in range(squares_a.size):
        row, values = inner[i, :n], out[places[i], start : start + n]
        if form.statistic == SQUARED_DISTANCE and form.function == EXPONENTIAL:
            exponentials_of_distances(form, row, squares_a[i], squares_b, values)
            continue
        if form.statistic == SQUARED_DISTANCE:
            distances_in_row(row, squares_a[i], squares_b)
        apply_function(form, row, row)
        for t in range(n):
            values[t] = row[t]
