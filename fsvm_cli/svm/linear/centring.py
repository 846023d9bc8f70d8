"""Columns without what all samples have in common, for which the bias of a machine makes up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from fsvm_cli.svm.linear.looks import blocks_of

if TYPE_CHECKING:
    from fsvm_cli.svm.vectors import Array

UNIT = 8.0
"""Of a centre, in standard deviations of its column, before it is rounded up to a power of two. A column whose mean is
less than half of that stays as it is: a standardised one to the last digit."""


def centre_of(X: Any) -> Array | None:
    """Return what is subtracted from each column, shape (d,); None where nothing is.

    The optimum of a machine with a bias does not depend on it, but rounding does: of a column of 1e9 ± 1, a kernel
    value has lost all digits that tell one sample from another. The centre is the mean, rounded to a multiple of a
    power of two, which leaves most differences from it without rounding. Of a constant column it is the constant.

    Parameters
    ----------
    X : (n, d) array or sparse matrix
        Of a sparse one nothing is subtracted, for it would be sparse no more.
    """
    if sparse.issparse(X):
        return None
    n, constant = len(X), X.min(axis=0) == X.max(axis=0)
    mean = np.sum([X[rows].sum(axis=0) / n for rows in blocks_of(n)], axis=0)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        deviation = np.sqrt(np.sum([((X[rows] - mean) ** 2).sum(axis=0) / n for rows in blocks_of(n)], axis=0))
        unit = np.exp2(np.ceil(np.log2(UNIT * deviation)))
        rounded = unit * np.rint(mean / unit)
    centre = np.where(constant, X[0], np.where(np.isfinite(rounded), rounded, 0.0))
    return centre if centre.any() else None


def centred(X: Any, centre: Array | None) -> Any:
    """Return samples less their centre: the same object where there is none.

    Parameters
    ----------
    X : (n, d) array or sparse matrix
        A sparse one that has a centre, that of dense training samples, becomes dense.
    centre : (d,) array, optional
    """
    if centre is None:
        return X
    return (X.toarray() if sparse.issparse(X) else X) - centre
