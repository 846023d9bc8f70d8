"""The user's own tables with named columns, read from text, Excel's workbooks or Parquet."""

from __future__ import annotations

import contextlib
import dataclasses
import zipfile
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from xml.parsers import expat

import pyarrow as pa

from fsvm_cli import memory_check as memory
from fsvm_cli.console import brief
from fsvm_cli.data.messages import nearest
from fsvm_cli.data.readers.csv import (
    MISSING_MARKS,
    ROW_NAMES,
    columns_that_may_be_grouped,
    find_form,
    read_csv,
    read_words,
)
from fsvm_cli.data.readers.numbers import Reading, quoted, with_decimal_commas, with_numbers
from fsvm_cli.data.readers.parquet import read_parquet
from fsvm_cli.data.table_memory import MEMORY_REMEDY
from fsvm_cli.errors import DataError, FsvmError, UsageError

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from pathlib import Path

    import pandas as pd

    from fsvm_cli.data.readers.csv import CsvForm
    from fsvm_cli.data.readers.numbers import DecimalMark
    from fsvm_cli.data.source_spec import FileFormat, FileSpec, TableSpec

BYTES_PER_CELL = 24
"""Of a cell, empty or not: in pandas' lists, in its table, and in a column."""
BYTES_PER_ROW = 72
"""Of a row without cells above a row with cells."""
PANDAS_UNNAMED_PREFIX = "Unnamed: "
"""Prefix of the names that pandas gives to columns without a name."""


def read_excel(
    path: Path, marks: Sequence[str], name: str | None = None, header_rows: str | None = None
) -> tuple[pa.Table, tuple[str, ...]]:
    """Read a sheet of a workbook.

    Parameters
    ----------
    path : Path
    marks : sequence of str
        What stands for a missing value.
    name : str, optional
        Of the sheet; by default the first.
    header_rows : str, optional
        First and last row that hold the names, as 3-4; by default the first row.

    Returns
    -------
    table : pyarrow.Table
        Numbers, truth values and dates as such, all else as words.
    remarks : tuple of str
        That there are other sheets, where none is named.

    Raises
    ------
    UsageError
        If the package that pandas reads workbooks with is not installed, there is no such sheet, or no memory for it.
    DataError
        If the file is no workbook, or the sheet is no table.
    """
    import pandas as pd  # noqa: PLC0415 - a CSV file does without it

    try:
        _check_unpacked_size(path)
        with pd.ExcelFile(path, engine="openpyxl") as workbook:
            first, *others = map(str, workbook.sheet_names)
            own = first if name is None else _named_sheet(path, name, (first, *others))
            _check_memory_for_cells(path, workbook.book[own])
            first_row, last_row = map(int, (header_rows or "1-1").split("-"))
            frame = pd.read_excel(
                workbook,
                sheet_name=own,
                header=first_row - 1 if first_row == last_row else [*range(first_row - 1, last_row)],
                dtype=object,
                keep_default_na=False,
                na_values=[*marks],
            )
    except ImportError as error:
        raise UsageError(
            f"{path}: Excel's files are read with openpyxl, which is not installed; "
            "pip install openpyxl, or save the sheet as CSV (UTF-8)"
        ) from error
    except (FsvmError, MemoryError):
        raise
    except Exception as error:  # openpyxl has no error of its own for damaged files
        reason = next(iter(str(error).splitlines()), type(error).__name__)[:200]
        raise DataError(f"{path}: not a workbook of Excel (.xlsx), or damaged ({reason})") from error
    frame = frame.dropna(how="all")
    frame.columns = [*map(_own_name, frame.columns)]
    table = pa.table([_column(values) for _, values in frame.items()], names=[*map(str, frame.columns)])
    if not others or name is not None:
        return table, ()
    return table, (
        f"of the workbook's {1 + len(others)} sheets the first is read, '{brief(first)}' (sheet: NAME, or --sheet "
        "NAME, names another)",
    )


def _named_sheet(path: Path, name: str, sheets: Sequence[str]) -> str:
    if name not in sheets:
        raise UsageError(f"{path}: has no sheet '{brief(name)}'; {nearest(name, sheets)}")
    return name


def _check_unpacked_size(path: Path) -> None:
    """Refuse a workbook that does not fit into memory decompressed; zipfile reads no more than the stated sizes."""
    with zipfile.ZipFile(path) as archive:
        size, free = sum(each.file_size for each in archive.infolist()), memory.free_memory()
    if size > free:
        raise UsageError(
            f"{path}: decompresses to {size / memory.GIGABYTE:,.1f} GB, and {free / memory.GIGABYTE:,.1f} GB are free; "
            f"{MEMORY_REMEDY}"
        )


@dataclass
class _Extent:
    """How far the cells of a sheet reach that hold something.

    Positions are counted as openpyxl does: a row or cell without a reference follows the one before it.
    """

    row: int = 0
    column: int = 0
    last_row: int = 0
    last_column: int = 0
    n_cells: int = 0

    def begin(self, element: str, attributes: dict[str, str]) -> None:
        name = element.rpartition(":")[2]
        if name == "row":
            self.row = int(float(attributes["r"])) if "r" in attributes else self.row + 1
            self.last_row, self.column = max(self.last_row, self.row), 0
        elif name == "c":
            letters = attributes.get("r", "").rstrip("0123456789")
            self.column = _number_of(letters) if letters else self.column + 1
        elif name in {"v", "is"}:
            self.n_cells += 1
            self.last_column = max(self.last_column, self.column)


def _number_of(letters: str) -> int:
    """Convert the letters of a column to its number: A is 1, XFD is 16,384."""
    number = 0
    for letter in letters.upper():
        number = 26 * number + ord(letter) - ord("A") + 1
    return number


def _check_memory_for_cells(path: Path, sheet: Any) -> None:
    """Refuse a sheet with a cell so far from the others that all cells between them do not fit into memory."""
    extent, parser = _Extent(), expat.ParserCreate()
    parser.StartElementHandler = extent.begin
    with zipfile.ZipFile(path) as archive, archive.open(sheet._worksheet_path) as stream:
        parser.ParseFile(stream)
    needed = extent.last_row * (BYTES_PER_ROW + BYTES_PER_CELL * extent.last_column)
    if needed > (free := memory.free_memory()):
        raise UsageError(
            f"{path}: the sheet reaches over {extent.last_row:,} rows of {extent.last_column:,} columns, of "
            f"whose cells {extent.n_cells:,} hold something; they need {needed / memory.GIGABYTE:,.1f} GB, and "
            f"{free / memory.GIGABYTE:,.1f} GB are free; delete the cells far from the table (Ctrl+End finds the "
            "last), or save the table as CSV"
        )


def _own_name(name: object) -> str:
    """Join the parts of a name that stands in several rows; those that are empty do not count."""
    parts = map(str, name if isinstance(name, tuple) else (name,))
    return " ".join(part for part in parts if not part.startswith(PANDAS_UNNAMED_PREFIX))


def _column(values: pd.Series[Any]) -> pa.Array:
    """Convert a column to an array of one type; mixed columns become words."""
    plain = values.infer_objects()
    if plain.dtype != object:
        return pa.array(plain, from_pandas=True)
    there = plain.notna()
    if plain[there].map(lambda value: isinstance(value, bool)).all():
        return pa.array([bool(value) if is_there else None for value, is_there in zip(plain, there, strict=True)])
    return pa.array(
        [str(value) if is_there else None for value, is_there in zip(plain, there, strict=True)], pa.string()
    )


NAMED_SEPARATORS = {"tab": "\t", "space": " "}
"""Separators that have a name."""


def read_user_table(path: Path, file_format: FileFormat, spec: FileSpec) -> Reading:
    """Read a table of the user's own, with remarks on the decisions made.

    Raises
    ------
    UsageError
        If an option names no encoding, or the package that reads workbooks is missing.
    DataError
        If the file is not what its format asks for.
    """
    left_out = taken_as_written(spec)
    marks = (*MISSING_MARKS, *spec.na)
    if file_format == "parquet":
        table, index = read_parquet(path)
        table = with_declared_words(table, spec.words)
        index = tuple(name for name in index if name not in left_out)
        reading = numbers_of(table.drop_columns([*index]), left_out)
        remark = f"left out, because pandas wrote it as the index of the rows: {quoted(index)}"
        return with_remarks(reading, (remark,)) if index else reading
    if file_format == "excel":
        table, remarks = read_excel(path, marks, spec.sheet, spec.header_rows)
        if spec.words:
            written, _ = read_excel(path, ("", *spec.na), spec.sheet, spec.header_rows)
            table = with_declared_words(table, spec.words, written)
        return with_remarks(numbers_of(table, left_out, spec.decimal, marks), remarks)
    separator = None if spec.separator is None else NAMED_SEPARATORS.get(spec.separator, spec.separator)
    form = find_form(path, separator, spec.encoding, no_header=spec.no_header)
    form = dataclasses.replace(form, marks=marks, decimal=spec.decimal or ".")
    exact = {spec.target or "", spec.groups or "", spec.order_by or "", getattr(spec.split, "column", "")}
    table = _with_words(path, form, spec, read_csv(path, form, exact))
    remarks = form.remarks
    unnamed = {ROW_NAMES} - left_out if form.names[:1] == (ROW_NAMES,) else set()
    if unnamed:
        remarks += (f"left out, because the header has no name for it: '{ROW_NAMES}', the first column",)
    commas = [] if spec.decimal else with_decimal_commas(table, left_out)
    if commas:
        # With decimal commas, points may group digits.
        form = dataclasses.replace(form, decimal=",")
        table = _with_words(path, form, spec, read_csv(path, form, exact))
        remarks += (_about(commas),)
    reading = with_numbers(table, "," if commas else spec.decimal, left_out, marks)
    may_be_grouped = {} if commas or spec.decimal else columns_that_may_be_grouped(path, form, table, left_out)
    reading = dataclasses.replace(reading, issues={**reading.issues, **may_be_grouped})
    return with_remarks(reading.without_columns(unnamed), remarks)


def _with_words(path: Path, form: CsvForm, spec: FileSpec, table: pa.Table) -> pa.Table:
    """Take the columns that are declared to hold words, and classes that are called TRUE and FALSE, as they stand."""
    if words := dropped_columns(spec.words, table.column_names):
        as_words = dataclasses.replace(form, marks=("", *spec.na))
        table = with_declared_words(table, words, read_words(path, as_words, words))
    target = spec.target or ""
    if table.column_names.count(target) == 1 and pa.types.is_boolean(table.column(target).type):
        table = with_declared_words(table, [target], read_words(path, form, [target]))
    return table


def numbers_of(
    table: pa.Table, left_out: Collection[str], decimal: DecimalMark | None = None, missing: Collection[str] = ()
) -> Reading:
    """Turn columns of words that are numbers into numbers, with the given or the detected decimal mark."""
    commas = [] if decimal else with_decimal_commas(table, left_out)
    reading = with_numbers(table, "," if commas else decimal, left_out, missing)
    return with_remarks(reading, (_about(commas),)) if commas else reading


def with_remarks(reading: Reading, remarks: tuple[str, ...]) -> Reading:
    """Put remarks before those of a reading."""
    return dataclasses.replace(reading, remarks=(*remarks, *reading.remarks))


def _about(commas: list[str]) -> str:
    return f"decimal commas are read as such in: {quoted(commas)} (as with decimal: ',', or --decimal ,)"


def taken_as_written(spec: TableSpec) -> set[str]:
    """Return the columns in which no numbers and marks are sought: target, groups, order, dropped ones, and words."""
    named = (*spec.drop, *dropped_columns(spec.drop, ()), *spec.words, *dropped_columns(spec.words, ()))
    return {spec.target or "", spec.groups or "", spec.order_by or "", *named}


def with_declared_words(table: pa.Table, names: Sequence[str], written: pa.Table | None = None) -> pa.Table:
    """Turn the columns that are declared to hold words into words.

    Parameters
    ----------
    table : pyarrow.Table
    names : sequence of str
        As in `dropped_columns`; of columns that are not there nothing is said here.
    written : pyarrow.Table, optional
        The columns as they stand in a text, where digits may begin with a 0, and NA is a word.
    """
    for name in dropped_columns(names, table.column_names):
        if table.column_names.count(name) == 1:
            column = (table if written is None else written).column(name)
            with contextlib.suppress(pa.ArrowException):  # what can be no word is refused later
                table = table.set_column(table.column_names.index(name), name, column.cast(pa.string()))
    return table


def dropped_columns(drop: Collection[str], columns: Collection[str]) -> list[str]:
    """List the columns that are no features; ``a,b`` means two where no column is called so.

    Parameters
    ----------
    drop : collection of str
    columns : collection of str
        Those of the table.
    """
    names = [[name] if name in columns or not name else [part.strip() for part in name.split(",")] for name in drop]
    return list(dict.fromkeys(part for parts in names for part in parts))
