"""Excel's workbooks: the first sheet, through pandas."""

from __future__ import annotations

import zipfile
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from fsvm_cli.errors import DataError, UsageError
from fsvm_cli.terminal import brief

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import pandas as pd

UNNAMED = "Unnamed: "
"""What pandas puts before the number of a column that has no name."""


def read_excel(path: Path, marks: Sequence[str]) -> tuple[pa.Table, tuple[str, ...]]:
    """Read the first sheet of a workbook, whose first row holds the names.

    Parameters
    ----------
    path : Path
    marks : sequence of str
        What stands for a missing value.

    Returns
    -------
    table : pyarrow.Table
        Numbers, truth values and dates as such, all else as words.
    remarks : tuple of str
        That there are other sheets.

    Raises
    ------
    UsageError
        If the package that pandas reads workbooks with is not installed.
    DataError
        If the file is no workbook, or its first sheet is no table.
    """
    import pandas as pd  # noqa: PLC0415 - a CSV file does without it

    try:
        with pd.ExcelFile(path, engine="openpyxl") as workbook:
            first, *others = workbook.sheet_names
            frame = pd.read_excel(workbook, sheet_name=first, dtype=object, keep_default_na=False, na_values=[*marks])
    except ImportError as error:
        raise UsageError(
            f"{path}: Excel's files are read with openpyxl, which is not installed; "
            "pip install openpyxl, or save the sheet as CSV (UTF-8)"
        ) from error
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        reason = (str(error) or type(error).__name__).splitlines()[0][:200]
        raise DataError(f"{path}: not a workbook of Excel (.xlsx), or damaged ({reason})") from error
    frame = frame.dropna(how="all").rename(columns=_own_name)
    table = pa.table([_column(values) for _, values in frame.items()], names=[*map(str, frame.columns)])
    if not others:
        return table, ()
    return table, (f"of the workbook's {1 + len(others)} sheets the first is read, '{brief(str(first))}'",)


def _own_name(name: object) -> str:
    return "" if str(name).startswith(UNNAMED) else str(name)


def _column(values: pd.Series[Any]) -> pa.Array:
    """Give one kind of value, or words."""
    plain = values.infer_objects()
    if plain.dtype != object:
        return pa.array(plain, from_pandas=True)
    there = plain.notna()
    if plain[there].map(lambda value: isinstance(value, bool)).all():
        return pa.array([bool(value) if is_there else None for value, is_there in zip(plain, there, strict=True)])
    return pa.array(
        [str(value) if is_there else None for value, is_there in zip(plain, there, strict=True)], pa.string()
    )
