"""Tables with named columns: CSV and Parquet."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, TypeAlias

import pyarrow as pa
import pyarrow.csv

from fsvm_cli.errors import DataError
from fsvm_cli.terminal import brief

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    RowHandler: TypeAlias = Callable[[pyarrow.csv.InvalidRow], str]

MISSING_MARKS = ["", "NA", "N/A", "NaN", "nan", "null", "NULL", "?"]
SEPARATORS = ",;\t"


def read_csv(path: Path) -> pa.Table:
    """Read UTF-8 text with a header, fields set off by commas, semicolons or tabs (the header decides).

    Columns of numbers are read as numbers, all others as words.

    Raises
    ------
    DataError
        If the file is empty, not UTF-8, or rows differ in length; with the line.
    """
    with path.open("rb") as stream:
        header = stream.readline()
    separator = max(SEPARATORS, key=lambda mark: header.count(mark.encode()))
    try:
        table = _with_checked_names(_parsed(path, separator))
    except (pa.ArrowException, OverflowError, UnicodeDecodeError) as error:
        where, reason = _what_is_wrong(path, separator) or (str(path), _first_line(error))
        raise DataError(f"{where}: not a CSV table with a header, in UTF-8 ({reason})") from error
    for name, column in zip(table.column_names, table.columns, strict=True):
        if pa.types.is_binary(column.type):  # what pyarrow makes of words that are not UTF-8
            raise DataError(f"{path}: the column '{brief(name)}' is not in UTF-8; save the table in this encoding")
    return table


def _parsed(path: Path, separator: str, refuse: RowHandler | None = None) -> pa.Table:
    return pyarrow.csv.read_csv(
        path,
        # One block, so that a word far down makes a column of words and no error that depends on the block. Where rows
        # are to be counted, pyarrow needs one thread.
        read_options=pyarrow.csv.ReadOptions(block_size=max(path.stat().st_size, 1 << 16), use_threads=refuse is None),
        parse_options=pyarrow.csv.ParseOptions(
            delimiter=separator, newlines_in_values=True, invalid_row_handler=refuse
        ),
        convert_options=pyarrow.csv.ConvertOptions(null_values=MISSING_MARKS, strings_can_be_null=True),
    )


def _what_is_wrong(path: Path, separator: str) -> tuple[str, str] | None:
    """Find the place of a byte that is not UTF-8, or of a row that is longer or shorter than the header, and say so."""
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except UnicodeDecodeError as error:
        # pyarrow could not hand such a row over either.
        return str(path), f"byte {error.start} is not UTF-8"
    ragged: list[pyarrow.csv.InvalidRow] = []

    def refuse(row: pyarrow.csv.InvalidRow) -> str:
        ragged.append(row)
        return "error"

    with contextlib.suppress(pa.ArrowException, OverflowError):
        _parsed(path, separator, refuse)
    if not ragged:
        return None
    row = ragged[0]
    # pyarrow counts rows: empty lines and line ends within quotes are not among them.
    line = next((n for n, text in enumerate(lines, start=1) if n >= row.number and text == row.text), row.number)
    return f"{path}:{line}", f"{row.actual_columns} fields, where the header has {row.expected_columns}"


def read_parquet(path: Path) -> pa.Table:
    """Read a Parquet file.

    Raises
    ------
    DataError
        If it is none, or is damaged.
    """
    from pyarrow import parquet  # noqa: PLC0415 - slow to import, and seldom needed

    try:
        return _with_checked_names(parquet.read_table(path))
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path}: not a Parquet file, or damaged ({_first_line(error)})") from error


def _with_checked_names(table: pa.Table) -> pa.Table:
    """Rename the columns to their own names: pyarrow decodes names as late as when they are asked for."""
    return table.rename_columns(table.column_names)


def _first_line(error: Exception) -> str:
    return (str(error) or type(error).__name__).splitlines()[0][:200]
