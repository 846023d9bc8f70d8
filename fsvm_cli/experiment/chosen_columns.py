"""A table of the best features of a ranking, to go on with elsewhere."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

import scipy.sparse as sp

from fsvm_cli.errors import UsageError
from fsvm_cli.evaluation.seeds import random_stream
from fsvm_cli.experiment.ranking_request import SEED
from fsvm_cli.files import write_atomically
from fsvm_cli.terminal import without_formulas

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from fsvm_cli.data.source import DataSource


def write_chosen(
    path: Path, source: DataSource, order: NDArray[np.intp], keep: int, target: str, *, for_spreadsheet: bool = False
) -> int:
    """Write the best columns of a data set and its classes as CSV, in the order that they have in the data set.

    Parameters
    ----------
    path : Path
    source : DataSource
    order : ndarray of int
        Columns, best first; a column of words counts as one, and all features of its words are written.
    keep : int
        Number of columns.
    target : str
        What the column of the classes is called.
    for_spreadsheet : bool
        Whether nothing in it may be taken for a formula.

    Returns
    -------
    int
        The number of features written.

    Raises
    ------
    UsageError
        If there are fewer columns, or a feature is called like the target.
    """
    dataset = source.draw(random_stream(SEED, "data"))
    if not 1 <= keep <= len(order):
        raise UsageError(
            f"--keep {keep}: the data have {len(order)} columns to keep; name a number from 1 to {len(order)}"
        )
    columns = dataset.source_columns or dataset.feature_names
    kept = {list(dict.fromkeys(columns))[index] for index in order[:keep]}
    chosen = [feature for feature, column in enumerate(columns) if column in kept]
    names = [dataset.feature_names[feature] for feature in chosen]
    if target in names:
        raise UsageError(f"a feature is called '{target}' as the classes would be; rename it")
    values = sp.csr_array(dataset.X)[:, chosen].toarray()
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow([*names, target])
    for row, code in zip(values.tolist(), dataset.y.tolist(), strict=True):
        writer.writerow([*(int(value) if value.is_integer() else value for value in row), dataset.class_names[code]])
    text = stream.getvalue()
    write_atomically(path, (without_formulas(text) if for_spreadsheet else text).encode())
    return len(names)
