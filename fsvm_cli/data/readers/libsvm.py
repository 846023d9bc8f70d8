"""The sparse text format of LIBSVM and SVMlight."""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from fsvm_cli import memory_check as memory
from fsvm_cli.console import brief
from fsvm_cli.data.readers.rows import Rows
from fsvm_cli.data.table_memory import check_memory_for_table, check_memory_for_text
from fsvm_cli.errors import DataError, UsageError

if TYPE_CHECKING:
    from pathlib import Path

MAX_DENSE_CELLS = 500_000_000
BYTES_PER_FEATURE = 300
"""Independent of the number of rows: name, scaling, score and rank."""


def read_libsvm(path: Path, *, n_features: int | None = None, dense: bool = False) -> Rows:
    """Read lines of ``label index:value ...``, indices from 1 and rising.

    Parameters
    ----------
    path : Path
        The file.
    n_features : int, optional
        Number of features; by default, the largest index in the file.
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
    UsageError
        If the features do not fit into memory.
    """
    from sklearn.datasets import load_svmlight_file  # noqa: PLC0415 - slow to import, and seldom needed

    try:
        check_memory_for_text(path)
        X, y = load_svmlight_file(str(path), n_features=n_features, zero_based=False)
    except (ValueError, OverflowError, EOFError) as error:
        number = _first_bad_line(path)
        lines = path.read_bytes().splitlines()[number - 1 : number]
        if several := [labels for line in lines if b"," in (labels := line.lstrip().partition(b" ")[0])]:
            text = brief(several[0].decode(errors="replace"))
            raise DataError(
                f"{path}:{number}: several labels in a row ({text}); write a file for each label, which says in each "
                "row whether it has the label"
            ) from error
        raise DataError(
            f"{path}:{number}: not in LIBSVM's format, label index:value ... with indices that rise from 1 ({error})"
        ) from error
    if X.nnz == 0:
        raise DataError(f"{path}: holds no {'rows' if y.size == 0 else 'features'}")
    needed, free = X.shape[1] * BYTES_PER_FEATURE, memory.free_memory()
    if needed > free:
        raise UsageError(
            f"{path}: its largest index is {X.shape[1]:,}, and so many features need {needed / memory.GIGABYTE:,.1f} "
            f"GB, where {free / memory.GIGABYTE:,.1f} GB are free; number the features without gaps, from 1"
        )
    if dense and X.shape[0] * X.shape[1] > MAX_DENSE_CELLS:
        raise DataError(f"{path}: {X.shape[0]:,} x {X.shape[1]:,} is too large for a full matrix; leave 'dense' out")
    if dense:
        check_memory_for_table(str(path), *X.shape)
    return Rows(X.toarray() if dense else sp.csr_array(X), [np.format_float_positional(label, trim="-") for label in y])


QUERY = re.compile(rb"^\s*[^\s#]+[ \t]+qid:", re.MULTILINE)
SAMPLE_BYTES = 1 << 16


def names_queries(path: Path) -> bool:
    """Whether the first rows of a file say with ``qid:`` which rows belong together."""
    with path.open("rb") as stream:
        return QUERY.search(stream.read(SAMPLE_BYTES)) is not None


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
