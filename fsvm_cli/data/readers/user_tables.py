"""Tables of the user's own with named columns, from their files: text, Excel's workbooks, Parquet."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from fsvm_cli.data.readers.columns import read_csv, read_parquet
from fsvm_cli.data.readers.csv_form import MISSING_MARKS, find_form
from fsvm_cli.data.readers.excel import read_excel
from fsvm_cli.data.readers.numbers import Reading, quoted, with_decimal_commas, with_numbers

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    import pyarrow as pa

    from fsvm_cli.data.readers.numbers import DecimalMark
    from fsvm_cli.data.spec import FileFormat, FileSpec, TableSpec

SEPARATORS = {"tab": "\t", "space": " "}
"""Separators that have a name."""


def read_user_table(path: Path, file_format: FileFormat, spec: FileSpec) -> Reading:
    """Read a file, and say what was decided on the way.

    Raises
    ------
    UsageError
        If an option names no encoding, or the package that reads workbooks is missing.
    DataError
        If the file is not what its format asks for.
    """
    left_out = no_features(spec)
    marks = (*MISSING_MARKS, *spec.na)
    if file_format == "parquet":
        table, index = read_parquet(path)
        index = tuple(name for name in index if name not in left_out)
        reading = numbers_of(table.drop_columns([*index]), left_out)
        said = f"left out, because pandas wrote it as the index of the rows: {quoted(index)}"
        return with_remarks(reading, (said,)) if index else reading
    if file_format == "excel":
        table, remarks = read_excel(path, marks)
        return with_remarks(numbers_of(table, left_out, spec.decimal), remarks)
    separator = None if spec.separator is None else SEPARATORS.get(spec.separator, spec.separator)
    form = dataclasses.replace(find_form(path, separator, spec.encoding), marks=marks, decimal=spec.decimal or ".")
    exact = {spec.target or "", spec.groups or "", getattr(spec.split, "column", "")}
    table = read_csv(path, form, exact)
    commas = [] if spec.decimal else with_decimal_commas(table, left_out)
    if not commas:
        return with_numbers(table, spec.decimal, left_out)
    # Points may group digits where commas stand before decimals.
    table = read_csv(path, dataclasses.replace(form, decimal=","), exact)
    return with_remarks(with_numbers(table, ",", left_out), (_about(commas),))


def numbers_of(table: pa.Table, left_out: Collection[str], decimal: DecimalMark | None = None) -> Reading:
    """Turn columns of words that are numbers into numbers, with the decimal mark that is said or found."""
    commas = [] if decimal else with_decimal_commas(table, left_out)
    reading = with_numbers(table, "," if commas else decimal, left_out)
    return with_remarks(reading, (_about(commas),)) if commas else reading


def with_remarks(reading: Reading, remarks: tuple[str, ...]) -> Reading:
    """Put remarks before those of a reading."""
    return dataclasses.replace(reading, remarks=(*remarks, *reading.remarks))


def _about(commas: list[str]) -> str:
    return f"decimal commas are read as such in: {quoted(commas)} (as with decimal: ',', or --decimal ,)"


def no_features(spec: TableSpec) -> set[str]:
    """Name the columns of target and groups, and those that are dropped, before it is known which ones there are."""
    return {spec.target or "", spec.groups or "", *spec.drop, *dropped_columns(spec.drop, ())}


def dropped_columns(said: Collection[str], columns: Collection[str]) -> list[str]:
    """List the columns that are no features; ``a,b`` means two where no column is called so.

    Parameters
    ----------
    said : collection of str
    columns : collection of str
        Those of the table.
    """
    names = [[name] if name in columns or not name else [part.strip() for part in name.split(",")] for name in said]
    return list(dict.fromkeys(part for parts in names for part in parts))
