"""Tables with named columns: CSV and Parquet."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from fsvm_cli.errors import DataError

if TYPE_CHECKING:
    from pathlib import Path

MISSING_MARKS = ["", "NA", "N/A", "NaN", "nan", "null", "NULL", "?"]
SEPARATORS = ",;\t"


def read_csv(path: Path) -> pa.Table:
    """Read UTF-8 text with a header, fields set off by commas, semicolons or tabs (the header decides).

    Columns of numbers are read as numbers, all others as words.

    Raises
    ------
    DataError
        If the file is empty, not UTF-8, or rows differ in length.
    """
    with path.open("rb") as stream:
        header = stream.readline()
    separator = max(SEPARATORS, key=lambda mark: header.count(mark.encode()))
    try:
        table = pyarrow.csv.read_csv(
            path,
            # One block, so that a word far down makes a column of words and no error that depends on the block.
            read_options=pyarrow.csv.ReadOptions(block_size=max(path.stat().st_size, 1 << 16)),
            parse_options=pyarrow.csv.ParseOptions(delimiter=separator, newlines_in_values=True),
            convert_options=pyarrow.csv.ConvertOptions(null_values=MISSING_MARKS, strings_can_be_null=True),
        )
        return _with_checked_names(table)
    except (pa.ArrowException, OverflowError, UnicodeDecodeError) as error:
        raise DataError(f"{path}: not a CSV table with a header, in UTF-8 ({_first_line(error)})") from error


def read_parquet(path: Path) -> pa.Table:
    """Read a Parquet file.

    Raises
    ------
    DataError
        If it is none, or is damaged.
    """
    try:
        return _with_checked_names(pyarrow.parquet.read_table(path))
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path}: not a Parquet file, or damaged ({_first_line(error)})") from error


def _with_checked_names(table: pa.Table) -> pa.Table:
    """Rename the columns to their own names: pyarrow decodes names as late as when they are asked for."""
    return table.rename_columns(table.column_names)


def _first_line(error: Exception) -> str:
    return (str(error) or type(error).__name__).splitlines()[0][:200]
