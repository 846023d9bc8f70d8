"""Tables with named columns from Parquet, through pyarrow.

pyarrow trusts the sizes that a file declares, and a page may decompress to 2 GB. So the headers of all pages are read
first, and nothing is decompressed that does not fit into memory.
"""

from __future__ import annotations

import base64
import itertools
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from fsvm_cli import memory_check as memory
from fsvm_cli.console import brief
from fsvm_cli.data.messages import shown
from fsvm_cli.data.readers.csv import first_line, with_checked_names
from fsvm_cli.data.table_memory import (
    MEMORY_REMEDY,
    TEXT_COPIES,
    check_memory_for_table,
    check_memory_for_words,
    out_of_memory,
)
from fsvm_cli.errors import DataError, UsageError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping
    from pathlib import Path
    from typing import BinaryIO

    from pyarrow.parquet import ColumnChunkMetaData, ParquetFile

READ_BLOCK_BYTES = 1 << 25
"""Bytes of the values that are read at a time."""
FIRST_HEADER_BYTES = 1 << 12
"""Most page headers are shorter; a longer one is read again, with more bytes."""
MAX_HEADER_BYTES = 1 << 24
"""The limit of pyarrow."""
DELTA_WORD_ENCODINGS = frozenset({6, 7})
"""DELTA_LENGTH_BYTE_ARRAY and DELTA_BYTE_ARRAY, which pyarrow does not read as a dictionary. In the second, each word
may repeat a prefix of the previous one."""


def read_parquet(path: Path) -> tuple[pa.Table, tuple[str, ...]]:
    """Read a Parquet file; return also the names of the columns that pandas wrote as the index of the rows.

    Columns that hold neither numbers nor words, such as lists, are not read: their values are missing.

    Raises
    ------
    DataError
        If it is none, or is damaged, or holds other numbers of rows than it declares.
    UsageError
        If there is no memory for it.
    """
    from pyarrow import parquet  # noqa: PLC0415 - slow to import, and seldom needed

    try:
        with parquet.ParquetFile(path) as file:
            schema = file.schema_arrow
            if repeated := [f"'{brief(name)}'" for name, count in Counter(schema.names).items() if count > 1]:
                raise DataError(f"{path}: column names occur more than once: {shown(repeated)}; make them distinct")
            read = [each.name for each in schema if _is_read(each.type)]
            uncoded = _check_pages(path, file, read)
            _check_memory_for_words(path, file, [name for name in read if _is_word(schema.field(name).type)], uncoded)
            table = with_string_columns(_by_columns(file, read), _categories(file))
        return with_checked_names(table), _index_columns(table)
    except MemoryError as error:
        raise UsageError(out_of_memory(path)) from error
    except (pa.ArrowException, OSError, UnicodeDecodeError, RecursionError) as error:
        raise DataError(f"{path}: not a Parquet file, or damaged ({first_line(error)})") from error


def _categories(file: ParquetFile) -> set[str]:
    """Name the columns that were written as categories, which pyarrow reads back as such only where they are words."""
    written = (file.metadata.metadata or {}).get(b"ARROW:schema")
    if written is None:
        return set()
    try:
        schema = pa.ipc.read_schema(pa.py_buffer(base64.b64decode(written)))
    except (pa.ArrowException, OSError, ValueError):  # another program's
        return set()
    return {each.name for each in schema if pa.types.is_dictionary(each.type)}


def with_string_columns(table: pa.Table, categories: Collection[str] = ()) -> pa.Table:
    """Turn words of other types, and categories of numbers, which are no numbers to compute with, into plain words.

    Parameters
    ----------
    table : pyarrow.Table
    categories : collection of str
        Columns of categories of which the type does not tell it.
    """
    for index, each in enumerate(table.schema):
        kind = each.type
        is_category = (pa.types.is_dictionary(kind) and not _is_word(kind)) or (
            each.name in categories and pa.types.is_integer(kind)
        )
        if is_category or pa.types.is_string_view(kind):
            values = table.column(index).to_pylist()
            words = pa.array([None if value is None else str(value) for value in values], pa.string())
            # Of categories, digits are no numbers: as codes they are not read as such.
            words = words.dictionary_encode() if is_category else words
            table = table.set_column(index, each.name, pa.chunked_array([words]))
    return table


def _is_word(kind: pa.DataType) -> bool:
    own = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(pa.types.is_string(own) or pa.types.is_large_string(own) or pa.types.is_string_view(own))


def _is_read(kind: pa.DataType) -> bool:
    """Whether a column has a value in each row that is a number, a time or a word."""
    types = pa.types
    return _is_word(kind) or bool(types.is_primitive(kind) or types.is_decimal(kind) or types.is_null(kind))


def _check_pages(path: Path, file: ParquetFile, names: list[str]) -> Mapping[str, int]:
    """Refuse columns that do not fit into memory, or of whose rows the pages hold another number than is declared.

    Returns
    -------
    dict of str to int
        Of columns of words that are not read as codes: the bytes of the largest page, decompressed.
    """
    metadata, wanted = file.metadata, set(names)
    groups = [metadata.row_group(k) for k in range(metadata.num_row_groups)]
    leaves = [metadata.schema.column(k) for k in range(metadata.num_columns)]
    columns = [k for k, leaf in enumerate(leaves) if wanted.intersection(_prefixes(leaf.path))]
    # pyarrow also reads a name with dots as a path, perhaps of a list, of which a row may hold any number of values.
    if lists := [leaves[k].path for k in columns if leaves[k].max_repetition_level]:
        raise DataError(
            f"{path}: '{brief(lists[0])}' is the name of a column and the path of a list; rename the column"
        )
    n_rows = sum(group.num_rows for group in groups)
    uncoded: dict[str, int] = {}
    size = metadata.num_rows * sum(
        _width_of_missing(each.type) for each in file.schema_arrow if each.name not in wanted
    )
    with path.open("rb") as stream:
        for group, k in itertools.product(groups, columns):
            chunk = group.column(k)
            pages = list(_pages(path, stream, chunk))
            found = sum(page.n_values for page in pages)
            if not found == chunk.num_values == group.num_rows or n_rows != metadata.num_rows:
                raise DataError(
                    f"{path}: damaged: it declares {metadata.num_rows:,} rows, {group.num_rows:,} of them in a part "
                    f"whose pages hold {found:,} of the column '{brief(leaves[k].path)}'; write the file again"
                )
            is_of_words = chunk.physical_type == "BYTE_ARRAY"
            size += (TEXT_COPIES if is_of_words else 1) * sum(page.size for page in pages)
            if (name := leaves[k].path) in wanted and any(page.encoding in DELTA_WORD_ENCODINGS for page in pages):
                uncoded[name] = max(uncoded.get(name, 0), *(page.size for page in pages))
    check_memory_for_table(str(path), metadata.num_rows, len(names))
    if size > (free := memory.free_memory()):
        raise UsageError(
            f"{path}: its pages, decompressed, need {size / memory.GIGABYTE:,.1f} GB, and "
            f"{free / memory.GIGABYTE:,.1f} GB are free; {MEMORY_REMEDY}"
        )
    return uncoded


def _prefixes(path: str) -> list[str]:
    parts = path.split(".")
    return [".".join(parts[:end]) for end in range(1, len(parts) + 1)]


def _width_of_missing(kind: pa.DataType) -> int:
    """Count the bytes of a missing value."""
    types = pa.types
    if types.is_fixed_size_binary(kind):
        return int(kind.byte_width)
    if types.is_fixed_size_list(kind):
        return int(kind.list_size) * _width_of_missing(kind.value_type)
    if types.is_struct(kind):
        return sum(_width_of_missing(kind.field(k).type) for k in range(kind.num_fields))
    return 8


@dataclass(frozen=True)
class _Page:
    """The header of a page.

    Attributes
    ----------
    size : int
        Bytes, decompressed.
    n_values : int
        0 in a dictionary.
    encoding : int
    """

    size: int
    n_values: int
    encoding: int


def _pages(path: Path, stream: BinaryIO, chunk: ColumnChunkMetaData) -> Iterator[_Page]:
    """Read the headers of the pages of a chunk, up to the number of values that it declares, as pyarrow does."""
    starts = [chunk.data_page_offset]
    if chunk.has_dictionary_page and chunk.dictionary_page_offset:
        starts.append(chunk.dictionary_page_offset)
    at = min(starts)
    end, n_values = at + chunk.total_compressed_size, 0
    while n_values < chunk.num_values and at < end:
        header, length = _header_at(path, stream, at)
        of_dictionary, of_values = (header.get(7) or {}), (header.get(5) or header.get(8) or {})
        if not (isinstance(of_dictionary, dict) and isinstance(of_values, dict)):
            raise _no_page(path, at)
        numbers = header.get(2), header.get(3), of_dictionary.get(1, 0), of_values.get(1, 0)
        size, packed, n_entries, found = (each if isinstance(each, int) else -1 for each in numbers)
        if min(size, packed, n_entries, found) < 0 or n_entries > size:  # an entry takes a byte or more
            raise _no_page(path, at)
        n_values += found
        at += length + packed
        yield _Page(size, found, of_values.get(4 if 8 in header else 2, 0))


def _header_at(path: Path, stream: BinaryIO, at: int) -> tuple[dict[int, Any], int]:
    """Read the header of a page, by the numbers of its fields in Parquet's definition, and count its bytes."""
    n_bytes = FIRST_HEADER_BYTES
    while n_bytes <= MAX_HEADER_BYTES:
        stream.seek(at)
        reader = _Thrift(stream.read(n_bytes))
        try:
            return reader.struct(), reader.at
        except IndexError:
            n_bytes *= 16
        except ValueError:
            break
    raise _no_page(path, at)


def _no_page(path: Path, at: int) -> DataError:
    return DataError(f"{path}: not a Parquet file, or damaged (no page begins at byte {at:,}); write the file again")


class _Thrift:
    """Thrift's compact protocol: the integers and structures of a structure, all else skipped.

    Raises ``IndexError`` where the text ends, and ``ValueError`` where it is none.
    """

    def __init__(self, text: bytes) -> None:
        self.text = text
        self.at = 0

    def struct(self) -> dict[int, Any]:
        fields: dict[int, Any] = {}
        number = 0
        while head := self._byte():
            number = number + (head >> 4) if head >> 4 else self._integer()
            fields[number] = self._value(head & 15)
        return fields

    def _value(self, kind: int) -> Any:
        match kind:
            case 1 | 2:  # true and false, without a byte of their own
                return None
            case 4 | 5 | 6:
                return self._integer()
            case 9 | 10:
                return self._list()
            case 12:
                return self.struct()
            case 3 | 7 | 8:
                return self._skip({3: 1, 7: 8}.get(kind) or self._number())
        raise ValueError(f"{kind} is no kind of value")

    def _list(self) -> None:
        head = self._byte()
        for _ in range(self._number() if head >> 4 == 15 else head >> 4):
            if head & 15 in {1, 2}:
                self._skip(1)
            else:
                self._value(head & 15)

    def _skip(self, n_bytes: int) -> None:
        self.at += n_bytes
        if self.at > len(self.text):
            raise IndexError

    def _byte(self) -> int:
        self._skip(1)
        return self.text[self.at - 1]

    def _number(self) -> int:
        value = 0
        for shift in range(0, 70, 7):
            byte = self._byte()
            value |= (byte & 127) << shift
            if byte < 128:
                return value
        raise ValueError("a number of more than 64 bits")

    def _integer(self) -> int:
        value = self._number()
        return (value >> 1) ^ -(value & 1)


def _check_memory_for_words(path: Path, file: ParquetFile, names: list[str], uncoded: Mapping[str, int]) -> None:
    """Refuse columns of words that do not fit into memory: a word that the file has once may be in every row."""
    from pyarrow import compute, parquet  # noqa: PLC0415 - as in `read_parquet`

    size = 0
    for name, largest in uncoded.items():
        # No word is longer than a page.
        for batch in file.iter_batches(max(1, READ_BLOCK_BYTES // max(1, largest)), columns=[name], use_threads=False):
            words = batch.column(name)
            words = words.cast(words.type.value_type) if pa.types.is_dictionary(words.type) else words
            words = words.cast(pa.large_string()) if pa.types.is_string_view(words.type) else words
            size += compute.sum(compute.binary_length(words).cast(pa.int64())).as_py() or 0
            check_memory_for_words(str(path), size)
    if coded := [name for name in names if name not in uncoded]:
        with parquet.ParquetFile(path, read_dictionary=coded) as with_codes:
            for name in coded:
                for chunk in with_codes.read([name], use_threads=False)[name].chunks:
                    if pa.types.is_dictionary(chunk.type):
                        lengths = compute.binary_length(chunk.dictionary).cast(pa.int64())
                        size += compute.sum(lengths.take(chunk.indices)).as_py() or 0
    check_memory_for_words(str(path), size)


def _by_columns(file: ParquetFile, names: list[str]) -> pa.Table:
    """Read a few columns at a time: the pages of all of them would take as much memory again."""
    schema, n_rows = file.schema_arrow, file.metadata.num_rows
    at_a_time = max(1, READ_BLOCK_BYTES // (8 * max(1, n_rows)))
    read: dict[str, pa.ChunkedArray] = {}
    for start in range(0, len(names), at_a_time):
        own = names[start : start + at_a_time]
        read.update(zip(own, file.read(own, use_threads=False).select(own).columns, strict=True))
    columns = [read[each.name] if each.name in read else pa.nulls(n_rows, each.type) for each in schema]
    return pa.table(columns, schema=schema)


def _index_columns(table: pa.Table) -> tuple[str, ...]:
    try:
        index = table.schema.pandas_metadata["index_columns"]
    except (KeyError, TypeError, ValueError, RecursionError):  # there is none, or it is another program's
        return ()
    return tuple(name for name in index if isinstance(name, str) and table.column_names.count(name) == 1)
