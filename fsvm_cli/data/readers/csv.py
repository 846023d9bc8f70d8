"""Tables with named columns from text (CSV and the like), through pyarrow.

A large text is read in blocks, with neither the text nor a second copy of its numbers in memory as a whole: read at
once, it takes three times as much memory.
"""

from __future__ import annotations

import codecs
import contextlib
import io
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.csv

from fsvm_cli import memory_check as memory
from fsvm_cli.console import brief, byte_progress
from fsvm_cli.data.table_memory import (
    COMPRESSED_SUFFIXES,
    MEMORY_REMEDY,
    check_memory_for_table,
    check_memory_for_text,
    out_of_memory,
    text_bytes,
)
from fsvm_cli.errors import DataError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from pathlib import Path

MISSING_MARKS = ("", "NA", "N/A", "NaN", "nan", "null", "NULL", "?")
SEPARATORS = ",;\t"
MAX_HEADER_CHARACTERS = 1 << 26
"""A file without line ends consists of a header only, which is read up to this length."""
MAX_COLUMNS = 1_000_000
"""More would take minutes to read, without a progress bar."""
BYTES_PER_COLUMN = 8_000
"""Overhead of pyarrow, in addition to the values."""
EXCEL_SEPARATOR_LINE = re.compile(r"sep=(.)\s*")
"""First line of some of Excel's exports, which names the separator."""


@dataclass(frozen=True)
class CsvForm:
    """Format of a table in a text.

    Attributes
    ----------
    separator : str
        One character.
    encoding : str
        As Python's codecs call it.
    lines_before : int
        Lines before the header.
    decimal : {".", ","}
    marks : tuple of str
        What stands for a missing value.
    """

    separator: str
    encoding: str = "utf8"
    lines_before: int = 0
    decimal: str = "."
    marks: tuple[str, ...] = MISSING_MARKS


def find_form(path: Path, separator: str | None = None, encoding: str | None = None) -> CsvForm:
    """Detect the encoding by the byte order mark, and the separator by the header.

    Raises
    ------
    UsageError
        If the encoding does not exist.
    """
    header = ""
    try:
        with pa.input_stream(str(path)) as unpacked, io.BufferedReader(unpacked) as raw:
            if encoding is None and raw.peek(2)[:2] in {codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE}:
                encoding = "utf-16"
            stream = io.TextIOWrapper(raw, encoding or "utf8", errors="replace", newline="\n")
            header = stream.readline(MAX_HEADER_CHARACTERS).removeprefix("\ufeff")
    except LookupError as error:
        raise UsageError(
            f"there is no encoding {encoding!r}; common ones are utf-8, utf-16, cp1252, latin-1"
        ) from error
    except UnicodeError:  # a byte order mark is missing
        pass
    except OSError:
        # That a compressed file is damaged is told where its rows are read.
        if path.suffix not in COMPRESSED_SUFFIXES:
            raise
    encoding = encoding or "utf8"
    if named := EXCEL_SEPARATOR_LINE.fullmatch(header):
        return CsvForm(separator or named[1], encoding, lines_before=1)
    found = max(SEPARATORS, key=header.count)
    if not header.count(found) and "|" in header:
        found = "|"
    return CsvForm(separator or found, encoding)


def options_of(
    form: CsvForm, block: int, refuse: Callable[[pyarrow.csv.InvalidRow], str] | None = None
) -> dict[str, Any]:
    """Return pyarrow's options for a form and a block size in bytes; `refuse` handles rows of another length."""
    return {
        "read_options": pyarrow.csv.ReadOptions(block_size=block, skip_rows=form.lines_before, encoding=form.encoding),
        "parse_options": pyarrow.csv.ParseOptions(
            delimiter=form.separator, newlines_in_values=True, invalid_row_handler=refuse
        ),
        "convert_options": pyarrow.csv.ConvertOptions(
            null_values=list(form.marks), strings_can_be_null=True, decimal_point=form.decimal
        ),
    }


MIN_BYTES_READ_IN_BLOCKS = 1 << 25
"""A smaller file is read as a whole, which takes little memory."""
BLOCK_BYTES = 1 << 20
"""A few blocks are in memory at a time; a file with a longer row is read as a whole."""
MAX_EXACT_INTEGER = 2.0**53
"""Beyond it, different integers may round to the same double."""


def read_in_blocks(path: Path, form: CsvForm, exact: Collection[str]) -> pa.Table | None:
    """Read a large file block by block.

    Parameters
    ----------
    path : Path
    form : CsvForm
    exact : collection of str
        Columns whose integers stay integers; those of others become floating-point numbers, and what they lack NaN.

    Returns
    -------
    pyarrow.Table or None
        None for a small file, and after any error, such as a column whose type the first block does not show: then the
        file has to be read as a whole.

    Raises
    ------
    UsageError
        If the rows do not fit into memory.
    """
    size = text_bytes(path)
    if size <= MIN_BYTES_READ_IN_BLOCKS:
        return None
    options = options_of(form, BLOCK_BYTES)
    try:
        with pyarrow.csv.open_csv(path, **options) as first:
            kinds = dict(zip(first.schema.names, first.schema.types, strict=True))
            if len(kinds) < len(first.schema):
                return None
            n_rows = first.read_next_batch().num_rows * size / BLOCK_BYTES
        check_memory_for_table(str(path), n_rows, len(kinds))
        # Columns of integers or nulls in the first block may hold other numbers below.
        unsure = [name for name, kind in kinds.items() if name not in exact and kind in {pa.int64(), pa.null()}]
        options["convert_options"].column_types = dict.fromkeys(unsure, pa.float64())
        with pyarrow.csv.open_csv(path, **options) as blocks, byte_progress(path.name, size) as bar:
            numbers = _Numbers(blocks.schema, exact)
            batches = []
            for batch in blocks:
                batches.append(numbers.compact(batch))
                bar.update(min(BLOCK_BYTES, size - bar.n))
    except (pa.ArrowException, OverflowError, UnicodeError, StopIteration):
        return None
    pa.default_memory_pool().release_unused()  # of the text, which is no more
    if any(kinds[name] == pa.int64() and numbers.largest[name] >= MAX_EXACT_INTEGER for name in unsure):
        return None
    table = pa.Table.from_batches(batches)
    for name in unsure:
        if not numbers.n_known[name]:
            table = table.set_column(table.column_names.index(name), name, pa.nulls(len(table)))
    return table


class _Numbers:
    """The columns of floating-point numbers, moved from pyarrow's many small pieces to one piece for each block.

    Attributes
    ----------
    largest : dict of str to float
        The largest magnitude so far in each column; NaN where there is none.
    n_known : dict of str to int
        Number of values that are not missing.
    """

    def __init__(self, schema: pa.Schema, exact: Collection[str]) -> None:
        self.indices = [
            index for index, each in enumerate(schema) if each.type == pa.float64() and each.name not in exact
        ]
        self.names = [schema.names[index] for index in self.indices]
        self.largest = dict.fromkeys(self.names, np.nan)
        self.n_known = dict.fromkeys(self.names, 0)

    def compact(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        columns = batch.columns
        block = np.empty((len(self.indices), batch.num_rows))
        for index, name, values in zip(self.indices, self.names, block, strict=True):
            column = columns[index]
            values[:] = np.from_dlpack(column.fill_null(np.nan) if column.null_count else column)
            self.n_known[name] += len(values) - column.null_count
            self.largest[name] = np.fmax(self.largest[name], np.fmax.reduce(np.abs(values), initial=np.nan))
            columns[index] = pa.Array.from_buffers(pa.float64(), len(values), [None, pa.py_buffer(values)])
        return pa.RecordBatch.from_arrays(columns, schema=batch.schema)


if TYPE_CHECKING:
    RowHandler: TypeAlias = Callable[[pyarrow.csv.InvalidRow], str]

MAX_BYTES_PER_CHARACTER = 3
"""Of a character in UTF-8 that takes one byte in another encoding."""


def read_csv(path: Path, form: CsvForm | None = None, exact: Collection[str] = ()) -> pa.Table:
    """Read text with a header; without a form UTF-8 with fields set off by commas, semicolons, tabs or bars.

    Columns of numbers are read as numbers, all others as words.

    Parameters
    ----------
    path : Path
    form : CsvForm, optional
    exact : collection of str
        Columns whose integers stay integers; those of others may be read as floating-point numbers in a large file.

    Raises
    ------
    DataError
        If the file is empty, not in its encoding, or rows differ in length; with the lines.
    UsageError
        If there is no memory for it.
    """
    form = form or find_form(path)
    try:
        _check_columns(path, form)
        table = read_in_blocks(path, form, exact)
        if table is None:
            check_memory_for_text(path)
            table = with_checked_names(_parsed(path, form))
    except MemoryError as error:
        raise UsageError(out_of_memory(path)) from error
    except (pa.ArrowException, OSError, OverflowError, UnicodeError) as error:
        where, reason = _what_is_wrong(path, form) or (str(path), first_line(error))
        encoding = "UTF-8" if form.encoding == "utf8" else form.encoding
        raise DataError(f"{where}: not a CSV table with a header, in {encoding} ({reason})") from error
    for name, column in zip(table.column_names, table.columns, strict=True):
        if pa.types.is_binary(column.type):  # what pyarrow makes of words that are not UTF-8
            raise DataError(
                f"{path}: the column '{brief(name)}' is not in UTF-8; save the table in this encoding, or say which "
                f"it has{_in_cp1252(path)}"
            )
    return table


def _check_columns(path: Path, form: CsvForm) -> None:
    """Refuse a header of more columns than can be read, before pyarrow makes room for one of them."""
    header, left = "", MAX_HEADER_CHARACTERS
    with pa.input_stream(str(path)) as raw, io.TextIOWrapper(raw, form.encoding, errors="replace") as stream:
        for _ in range(form.lines_before):
            stream.readline(MAX_HEADER_CHARACTERS)
        # As pyarrow reads it: empty lines do not count, and quotes may hold line ends.
        while left > 0 and (not header.strip("\r\n") or header.count('"') % 2) and (line := stream.readline(left)):
            header += line
            left -= len(line)
    n_columns = header.count(form.separator) + 1
    if n_columns > MAX_COLUMNS:
        raise UsageError(
            f"{path}: {n_columns:,} columns, and at most {MAX_COLUMNS:,} are read from text; save them in LIBSVM's "
            "format, or as Parquet, or take columns out of the file"
        )
    if (needed := BYTES_PER_COLUMN * n_columns) > (free := memory.free_memory()):
        raise UsageError(
            f"{path}: {n_columns:,} columns need {needed / memory.GIGABYTE:,.1f} GB, and "
            f"{free / memory.GIGABYTE:,.1f} GB are free; {MEMORY_REMEDY}"
        )


def _parsed(path: Path, form: CsvForm, refuse: RowHandler | None = None) -> pa.Table:
    size = text_bytes(path) * (1 if form.encoding == "utf8" else MAX_BYTES_PER_CHARACTER)
    # One block, so that a word in a late row makes a column of words, and not an error that depends on the block size.
    # pyarrow counts rows with one thread only.
    options = options_of(form, max(size, 1 << 16), refuse)
    options["read_options"].use_threads = refuse is None
    return pyarrow.csv.read_csv(path, **options)


def _what_is_wrong(path: Path, form: CsvForm) -> tuple[str, str] | None:
    """Return location and reason of a byte outside the encoding, or of a row whose length differs from the header."""
    try:
        lines = path.read_text(encoding=form.encoding).split("\n")
    except UnicodeDecodeError as error:
        # pyarrow cannot pass such a row to the handler.
        hint = _in_cp1252(path) if form.encoding == "utf8" else ""
        return str(path), f"byte {error.start} is not {'UTF-8' if form.encoding == 'utf8' else form.encoding}{hint}"
    except UnicodeError as error:
        return str(path), first_line(error)
    ragged: list[pyarrow.csv.InvalidRow] = []

    def note(row: pyarrow.csv.InvalidRow) -> str:
        ragged.append(row)
        return "skip"

    with contextlib.suppress(pa.ArrowException, OverflowError):
        _parsed(path, form, note)
    if not ragged:
        return None
    row, *others = ragged
    # pyarrow counts rows: empty lines and line ends within quotes are not among them.
    line = next((n for n, text in enumerate(lines, start=1) if n >= row.number and text == row.text), row.number)
    more = f"; {len(others)} rows more have another number of fields" if others else ""
    return f"{path}:{line}", f"{row.actual_columns} fields, where the header has {row.expected_columns}{more}"


def _in_cp1252(path: Path) -> str:
    """Return a hint that shows the first word that is not UTF-8 as decoded by cp1252."""
    content = path.read_bytes()
    try:
        content.decode("utf-8")
    except UnicodeDecodeError as error:
        around = content[max(0, error.start - 12) : error.start + 12].decode("cp1252", errors="replace")
        offset = min(12, error.start)
        word = next((word for word in re.finditer(r"\w+", around) if word.start() <= offset < word.end()), None)
        shown = f" ('{brief(word[0])}')" if word else ""
        return f": in Windows' cp1252 it would read{shown or ' well'}; encoding: cp1252, or --encoding cp1252"
    return ""


def with_checked_names(table: pa.Table) -> pa.Table:
    """Rename the columns to their own names: pyarrow decodes names as late as when they are asked for."""
    return table.rename_columns(table.column_names)


def first_line(error: Exception) -> str:
    """Return the first line of an error message of pyarrow."""
    return (str(error) or type(error).__name__).splitlines()[0][:200]
