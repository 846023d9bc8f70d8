"""The sparse text format of LIBSVM and SVMlight."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import load_svmlight_file

from fsvm_cli.data.readers.rows import Rows
from fsvm_cli.errors import DataError

if TYPE_CHECKING:
    from pathlib import Path


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
        If it is no such file.
    """
    try:
        X, y = load_svmlight_file(str(path), n_features=n_features, zero_based=False)
    except (ValueError, OverflowError) as error:
        raise DataError(f"{path}: not in LIBSVM's format, label index:value ... from index 1 ({error})") from error
    if X.nnz == 0:
        raise DataError(f"{path}: holds no {'rows' if y.size == 0 else 'features'}")
    return Rows(X.toarray() if dense else sp.csr_array(X), [np.format_float_positional(label, trim="-") for label in y])
