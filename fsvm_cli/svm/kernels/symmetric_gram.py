"""The Gram matrix of samples with themselves, rows by rows while they are in the processor's cache."""

from __future__ import annotations

import numpy as np
from numba import njit

from fsvm_cli.svm.kernels.compiled import (
    SQUARED_DISTANCE,
    Differences,
    Form,
    apply_function,
    differences_of,
    distances_in_row,
    fill_gram,
    mirror_rows,
    recompute_far,
)
from fsvm_cli.svm.vectors import ALLOCATING, COMPILED, ROWS_IN_CACHE, Array


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
