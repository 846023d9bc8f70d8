"""Plain text as the UCI and StatLog archives have it: one row per line, no header."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fsvm_cli.data.readers.rows import Rows
from fsvm_cli.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path


def read_text(
    path: Path,
    *,
    separator: str,
    target: str,
    drop: Collection[int] = (),
    missing: str | None = None,
) -> Rows:
    """Read one file; line ends may be LF or CRLF, the last may lack one, and empty lines do not count.

    Parameters
    ----------
    path : Path
        The file, in latin-1 (of which ASCII is a part).
    separator : {"comma", "blank"}
        What stands between the fields; blanks around a field never count.
    target : {"first", "last"}
        Which of the remaining fields is the class.
    drop : collection of int
        Fields to leave out first, counted from 1.
    missing : str, optional
        Mark of a missing value; rows that have one are left out.

    Raises
    ------
    DataError
        If there are no rows, rows differ in length, or a feature is no number; with the line.
    """
    values: list[list[float]] = []
    labels: list[str] = []
    width = 0
    for number, line in enumerate(path.read_text(encoding="latin-1").splitlines(), start=1):
        if not line.strip():
            continue
        # Numbers may keep the blanks around them: float() passes over these.
        fields = line.split(",") if separator == "comma" else line.split()
        width = width or len(fields)
        if len(fields) != width:
            raise DataError(f"{path}:{number}: {len(fields)} fields where the first row has {width}")
        if drop:
            fields = [field for column, field in enumerate(fields, start=1) if column not in drop]
        if not fields:
            raise DataError(f"{path}:{number}: no field for the class")
        label = fields.pop(0 if target == "first" else -1).strip()
        if missing is not None and missing in map(str.strip, fields):
            continue
        try:
            values.append(list(map(float, fields)))
        except ValueError as error:
            raise DataError(f"{path}:{number}: {str(error).partition(': ')[2]} is no number") from error
        labels.append(label)
    if not values:
        raise DataError(f"{path}: holds no rows")
    return Rows(np.array(values, dtype=np.float64), labels)
