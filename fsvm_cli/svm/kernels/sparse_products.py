"""Inner products between the rows of sparse matrices, as a dense matrix.

scipy's product of two sparse matrices counts the entries of the result, writes them as a sparse matrix and lets it be
filled; where nearly all of them are there, as between texts, two of the three passes and half of the third are not
needed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

from fsvm_cli.svm.kernels.compiled import ROWS_MIRRORED, mirror_rows
from fsvm_cli.svm.vectors import ALLOCATING, COMPILED, Array

Sparse = Any  # scipy ships no types
Indices = npt.NDArray[np.integer]


def sparse_inner_products(A: Sparse, B: Sparse) -> Array:
    """Return the inner products of all rows of two CSR matrices.

    Parameters
    ----------
    A, B : (n_a, d) and (n_b, d) CSR matrices
        Where they are one object, half of the products are computed.

    Returns
    -------
    (n_a, n_b) array
    """
    products = np.zeros((A.shape[0], B.shape[0]))
    if A is not B:
        columns = B.tocsc()
        add_products(*_parts(A), *_parts(columns), products)
        return products
    if not A.has_canonical_format:
        A = A.copy()
        A.sum_duplicates()
    fill_own_products(*_parts(A), *_parts(A.tocsc()), products)
    return products


def _parts(A: Sparse) -> tuple[Indices, Indices, Array]:
    return A.indptr, A.indices, np.asarray(A.data, dtype=np.float64)


@njit(**COMPILED)
def add_products(  # noqa: PLR0917
    row_begins: Indices,
    columns: Indices,
    row_values: Array,
    column_begins: Indices,
    others: Indices,
    column_values: Array,
    products: Array,
) -> None:
    """Add the inner products of the rows of a CSR matrix with those of another, which is given as CSC."""
    for i in range(products.shape[0]):
        row = products[i]
        for entry in range(row_begins[i], row_begins[i + 1]):
            j, value = columns[entry], row_values[entry]
            for other in range(column_begins[j], column_begins[j + 1]):
                row[others[other]] += value * column_values[other]


@njit(**ALLOCATING)
def fill_own_products(  # noqa: PLR0917
    row_begins: Indices,
    columns: Indices,
    row_values: Array,
    column_begins: Indices,
    others: Indices,
    column_values: Array,
    products: Array,
) -> None:
    """Add to zeros the inner products of a matrix's rows, given as CSR and CSC without duplicates."""
    # Rows before the present one stand first in each column; they have had their products.
    begins = column_begins[:-1].copy()
    n = products.shape[0]
    for start in range(0, n, ROWS_MIRRORED):
        stop = min(start + ROWS_MIRRORED, n)
        for i in range(start, stop):
            row = products[i]
            for entry in range(row_begins[i], row_begins[i + 1]):
                j, value = columns[entry], row_values[entry]
                for other in range(begins[j], column_begins[j + 1]):
                    row[others[other]] += value * column_values[other]
                begins[j] += 1
        mirror_rows(products, start, stop)
