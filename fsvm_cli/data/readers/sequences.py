"""DNA sequences with their class, one per line, as the UCI archive has the splice junctions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fsvm_cli.data.readers.rows import Rows
from fsvm_cli.errors import DataError

if TYPE_CHECKING:
    from pathlib import Path


def read_sequences(path: Path, *, coding: str) -> Rows:
    """Read lines of class, name and sequence, and code each letter by a number.

    Rows with a letter that stands for several nucleotides (D, N, R, S) are left out.

    Parameters
    ----------
    path : Path
        ASCII text; fields are set off by commas and padded with blanks.
    coding : str
        The four nucleotides in the order of the codes 1, 2, 3, 4.

    Raises
    ------
    DataError
        If there are no rows, a line has not three fields, or sequences differ in length; with the line.
    """
    code = {letter: float(number) for number, letter in enumerate(coding, start=1)}
    values: list[list[float]] = []
    labels: list[str] = []
    for number, line in enumerate(path.read_text(encoding="latin-1").splitlines(), start=1):
        fields = [field.strip() for field in line.split(",")]
        if len(fields) != 3:
            raise DataError(f"{path}:{number}: {len(fields)} fields; class, name and sequence are expected")
        label, _, sequence = fields
        if not code.keys() >= set(sequence):
            continue
        values.append([code[letter] for letter in sequence])
        labels.append(label)
        if len(sequence) != len(values[0]):
            raise DataError(f"{path}:{number}: a sequence of {len(sequence)} letters after one of {len(values[0])}")
    if not values:
        raise DataError(f"{path}: holds no rows")
    return Rows(np.array(values), labels)
