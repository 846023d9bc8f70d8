"""The sparse text format of LIBSVM and SVMlight."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from fsvm_cli.data.readers.rows import Rows
from fsvm_cli.errors import DataError

if TYPE_CHECKING:
    from pathlib import Path

MAX_DENSE_CELLS = 500_000_000


def read_libsvm(path: Path, *, n_features: int | None = None, dense: bool = False) -> Rows:
    """Read lines of ``label index:value ...``, indices from 1 and rising.

    Parameters
    ----------
    path : Path
        The file.
    n_features : int, optional
        Number of features, where the file alone cannot tell; otherwise the largest index.
    dense : bool
        Whether X is an array, not CSR.

    Returns
    -------
    Rows
        A label that is a whole number is written as one.

    Raises
    ------
    DataError
        If it is no such file, with the line; or is too large to be dense.
    """
    from sklearn.datasets import load_svmlight_file  # noqa: PLC0415 - slow to import, and seldom needed

    try:
        X, y = load_svmlight_file(str(path), n_features=n_features, zero_based=False)
    except (ValueError, OverflowError) as error:
        raise DataError(
            f"{path}:{_first_bad_line(path)}: not in LIBSVM's format, label index:value ... with indices that rise "
            f"from 1 ({error})"
        ) from error
    if X.nnz == 0:
        raise DataError(f"{path}: holds no {'rows' if y.size == 0 else 'features'}")
    if dense and X.shape[0] * X.shape[1] > MAX_DENSE_CELLS:
        raise DataError(f"{path}: {X.shape[0]:,} x {X.shape[1]:,} is too large for a full matrix; leave 'dense' out")
    return Rows(X.toarray() if dense else sp.csr_array(X), [np.format_float_positional(label, trim="-") for label in y])


def _first_bad_line(path: Path) -> int:
    """Find the first line that cannot be read, by halves: each line can be read without the others."""
    from sklearn.datasets import load_svmlight_file  # noqa: PLC0415 - slow to import, and seldom needed

    lines = path.read_bytes().splitlines(keepends=True)
    first, end = 0, len(lines)
    while end - first > 1:
        middle = (first + end) // 2
        try:
            load_svmlight_file(io.BytesIO(b"".join(lines[first:middle])), zero_based=False)
        except (ValueError, OverflowError):
            end = middle
        else:
            first = middle
    return first + 1
