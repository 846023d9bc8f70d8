"""Tables with named columns from text (CSV and the like), through pyarrow.

A large text is read in blocks, with neither the text nor a second copy of its numbers in memory as a whole: read at
once, it takes three times as much memory.
"""

from __future__ import annotations

import codecs
import contextlib
import csv
import io
import itertools
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.csv

from fsvm_cli import memory_check as memory
from fsvm_cli.console import brief, byte_progress
from fsvm_cli.data.messages import shown
from fsvm_cli.data.readers.numbers import reads_as_number, unclear_points
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
    from collections.abc import Callable, Collection, Sequence
    from pathlib import Path

MISSING_MARKS = ("", "NA", "N/A", "NaN", "nan", "null", "NULL", "?")
SEPARATORS = ",;\t"
MAX_HEADER_CHARACTERS = 1 << 26
"""A file without line ends consists of a header only, which is read up to this length."""
MAX_COLUMNS = 1_000_000
"""More would take minutes to read, without a progress bar."""
BYTES_PER_COLUMN = 8_000
"""Overhead of pyarrow, in addition to the values."""
SAMPLE_LINES = 50
SAMPLE_CHARACTERS = 1 << 20
"""Of the lines by which the form of a text is found, beside the first one."""
ROW_NAMES = "row names"
"""Name of the column that R writes without one."""
BLANKS = re.compile(r'("[^"]*")|[ \t]+')
PLAIN_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?")
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
    names : tuple of str
        Of the columns, where they are not what the first line below `lines_before` says.
    remarks : tuple of str
        What users should know of how the form was found.
    """

    separator: str
    encoding: str = "utf8"
    lines_before: int = 0
    decimal: str = "."
    marks: tuple[str, ...] = MISSING_MARKS
    names: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()


def find_form(
    path: Path, separator: str | None = None, encoding: str | None = None, *, no_header: bool = False
) -> CsvForm:
    """Detect the encoding by the byte order mark, and by the first lines separator, header and what is above it.

    Raises
    ------
    UsageError
        If the encoding does not exist.
    """
    encoding, lines = _first_lines(path, encoding)
    begin = 0
    if lines and (named := EXCEL_SEPARATOR_LINE.fullmatch(lines[0])):
        separator, begin = separator or named[1], 1
    above = [*itertools.takewhile(lambda line: line.startswith("#") or not line.strip(), lines[begin:])]
    below = lines[begin + len(above) :]
    asked_for, separator = separator, separator or _separator(below)
    rows = _fields(below, separator)
    comments = [line for line in above if line.startswith("#")]
    if comments and not no_header and _names_columns(comments[-1], rows, separator):
        above = above[: len(above) - above[::-1].index(comments[-1]) - 1]  # it is the header
        rows = _fields([comments.pop(), *below], separator)
    begin += len(above)
    names: tuple[str, ...] = ()
    remarks = [f"{len(above)} lines above the header are read over"] * bool(comments)
    header, *others = rows or [[]]
    if separator == " " and asked_for is None:
        remarks.append("fields are taken as separated by blanks (as with separator: space, or --separator space)")
    if no_header:
        names = tuple(f"column{number}" for number in range(1, len(header) + 1))
    elif others and all(len(row) == len(header) + 1 for row in others):
        names, begin = (ROW_NAMES, *header), begin + 1
    elif _is_of_data(header, others):
        shown_names = shown([brief(repr(name)) for name in header], 3)
        remark = (
            f"suspect, the first row looks like data, not like names: {shown_names}; where the file has no header, say"
        )
        remarks.append(f"{remark} so (no_header: true, or --no-header)")
    return CsvForm(separator, encoding, begin, names=names, remarks=tuple(remarks))


def _names_columns(line: str, rows: Sequence[Sequence[str]], separator: str) -> bool:
    """Whether a line that begins as a comment is the header: a row with numbers and as many fields follows."""
    if not rows:
        return True
    return 1 < len(rows[0]) == len((_fields([line], separator) or [[]])[0]) and any(map(_is_plain, rows[0]))


def _first_lines(path: Path, encoding: str | None) -> tuple[str, list[str]]:
    """Return the encoding, and whole lines from the beginning: the first one, and a sample of those below it."""
    lines: list[str] = []
    try:
        with pa.input_stream(str(path)) as unpacked, io.BufferedReader(unpacked) as raw:
            if encoding is None and raw.peek(2)[:2] in {codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE}:
                encoding = "utf-16"
            stream = io.TextIOWrapper(raw, encoding or "utf8", errors="replace", newline="\n")
            left = MAX_HEADER_CHARACTERS
            while len(lines) < SAMPLE_LINES and (line := stream.readline(left)):
                if lines and not line.endswith("\n") and len(line) == left:
                    break
                lines.append(line if lines else line.removeprefix("\ufeff"))
                left = max(1, min(left, SAMPLE_CHARACTERS) - len(line))
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
    return encoding or "utf8", lines


def _fields(lines: Sequence[str], separator: str) -> list[list[str]]:
    """Split lines, of which quotes may join several; the last is left out where it is not whole."""
    lines = [_with_single_blanks(line) for line in lines] if separator == " " else lines
    try:
        rows = [row for row in csv.reader(lines, delimiter=separator) if row]
    except csv.Error:
        return []
    return rows[:-1] if len(lines) == SAMPLE_LINES else rows


def _separator(lines: Sequence[str]) -> str:
    """Choose the separator by which all lines have as many fields as the header, or else that of which it has most."""
    header = lines[0] if lines else ""
    fits = {each: _fit(lines, each) for each in f"{SEPARATORS}|" if each in header}
    if not fits:
        return " " if len(lines) > 1 and len(header.split()) > 1 and _fit(lines, " ") else ","
    # Where commas and semicolons fit alike, commas stand before decimals, or in names.
    is_sure = {each: fit == 2 and len(lines) > 1 and each != "," for each, fit in fits.items()}
    return max(fits, key=lambda each: (fits[each], each != "|", is_sure[each], header.count(each)))


def _fit(lines: Sequence[str], separator: str) -> int:
    """Tell whether rows have as many fields as the header (2), one more, as where R names the rows (1), or others."""
    if len(lines) < 2:
        return 2
    header, *rows = _fields(lines, separator) or [[]]
    lengths = {len(row) for row in rows}
    return 2 if lengths <= {len(header)} else int(lengths == {len(header) + 1})


def _with_single_blanks(line: str) -> str:
    return BLANKS.sub(lambda found: found[1] or " ", line.strip())


def _is_of_data(header: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Whether a header looks like a row: by words that its columns hold, too, or by numbers among theirs."""
    rows = [row for row in rows if len(row) == len(header)]
    columns = [[value.strip() for value in column] for column in zip(*rows, strict=True)]
    named = [*zip((name.strip() for name in header), columns, strict=False)]
    if any(name in column and name not in MISSING_MARKS and not reads_as_number(name) for name, column in named):
        return True
    numbers = [(float(name), column) for name, column in named if _is_plain(name)]
    if not numbers or 2 * len(numbers) < len(header) or _is_count([number for number, _ in numbers]):
        return False
    for number, column in numbers:
        values = [float(value) for value in column if _is_plain(value)]
        if not values or abs(number - (max(values) + min(values)) / 2) > 1.5 * (max(values) - min(values)):
            return False
    return True


def _is_plain(value: str) -> bool:
    return PLAIN_NUMBER.fullmatch(value) is not None


def _is_count(numbers: Sequence[float]) -> bool:
    """Whether numbers rise in equal steps from 0 or above, as those do that name columns."""
    steps = {after - before for before, after in itertools.pairwise(numbers)}
    return numbers[0] >= 0 and len(steps) == 1 and min(steps) > 0 and all(map(float.is_integer, numbers))


def options_of(
    form: CsvForm, block: int, refuse: Callable[[pyarrow.csv.InvalidRow], str] | None = None
) -> dict[str, Any]:
    """Return pyarrow's options for a form and a block size in bytes; `refuse` handles rows of another length."""
    return {
        "read_options": pyarrow.csv.ReadOptions(
            block_size=block,
            skip_rows=form.lines_before,
            column_names=[*form.names] or None,
            encoding=form.encoding,
        ),
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
    if size <= MIN_BYTES_READ_IN_BLOCKS or form.separator == " ":
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


def read_words(path: Path, form: CsvForm, names: Collection[str]) -> pa.Table:
    """Read columns as they stand, those of numbers too; of a name that no or several columns have nothing is read."""
    options = options_of(form, _block_bytes(path, form))
    source, encoding = _source(path, form)
    options["read_options"].encoding = encoding
    with pyarrow.csv.open_csv(source(), **options) as stream:
        found = stream.schema.names
    options["convert_options"].include_columns = [name for name in dict.fromkeys(names) if found.count(name) == 1]
    options["convert_options"].column_types = dict.fromkeys(names, pa.string())
    return with_checked_names(pyarrow.csv.read_csv(source(), **options))


def columns_that_may_be_grouped(
    path: Path, form: CsvForm, table: pa.Table, left_out: Collection[str]
) -> dict[str, str]:
    """Find columns of numbers such as 1.234 and 899, whose points may stand between thousands, each with the remedy.

    There are none where a point of any column cannot.
    """
    found: list[str] = []
    for name, column in zip(table.column_names, table.columns, strict=True):
        if not pa.types.is_floating(column.type) or name in left_out:
            continue
        values = np.from_dlpack(column.drop_null().combine_chunks())
        broken = values[values != np.rint(values)]
        broken = broken[~np.isnan(broken)]
        places = 1000 * broken
        if (
            (np.abs(values) >= 1000).any()
            or (np.abs(broken) < 1).any()
            or (np.abs(places - np.rint(places)) > 1e-6).any()
        ):
            return {}
        found += [name] * bool(len(broken))
    if not found:
        return {}
    written = read_words(path, form, found)
    return unclear_points({name: written.column(name).unique().drop_null().to_pylist() for name in found})


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
    # One block, so that a word in a late row makes a column of words, and not an error that depends on the block size.
    # pyarrow counts rows with one thread only.
    options = options_of(form, _block_bytes(path, form), refuse)
    options["read_options"].use_threads = refuse is None
    source, options["read_options"].encoding = _source(path, form)
    return pyarrow.csv.read_csv(source(), **options)


def _block_bytes(path: Path, form: CsvForm) -> int:
    """Return the size of a block that holds the whole file."""
    return max(text_bytes(path) * (1 if form.encoding == "utf8" else MAX_BYTES_PER_CHARACTER), 1 << 16)


def _source(path: Path, form: CsvForm) -> tuple[Callable[[], Path | io.BytesIO], str]:
    """Return what opens a text for pyarrow, and its encoding; several blanks between fields become one."""
    if form.separator != " ":
        return lambda: path, form.encoding
    with pa.input_stream(str(path)) as stream:
        lines = stream.read().decode(form.encoding).split("\n")
    text = "\n".join(map(_with_single_blanks, lines)).encode()
    return lambda: io.BytesIO(text), "utf8"


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
    if form.separator == "," and re.search(r"(^|,)[+-]?\d+,\d+(,|$)", row.text or ""):
        more += "; where commas stand before decimals, too, save it with ';' between fields"
    elif row.actual_columns > row.expected_columns:
        more += "; where lines stand above the header, take them out, or begin them with #"
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
