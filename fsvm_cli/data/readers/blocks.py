"""Large texts, read block by block: neither the text nor a second copy of its numbers is ever in memory as a whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.csv

from fsvm_cli.byte_bar import byte_bar
from fsvm_cli.data.readers.csv_form import options_of
from fsvm_cli.data.room import check_room_for_table, text_bytes

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from fsvm_cli.data.readers.csv_form import CsvForm

LARGE = 1 << 25
"""Bytes of a file that is read block by block: one that is smaller takes little memory however it is read."""
BLOCK = 1 << 20
"""Bytes of a block, a few of which are in memory at a time; a file with a longer row is read as a whole."""
LARGEST_OF_ALL_INTEGERS = 2.0**53
"""From it on, floating-point numbers do not tell all integers apart."""


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
        None of a small file, and where the first block does not tell what all columns hold, or something is wrong: then
        the file has to be read as a whole, which tells.

    Raises
    ------
    UsageError
        If there is no memory for so many rows.
    """
    size = text_bytes(path)
    if size <= LARGE:
        return None
    options = options_of(form, BLOCK)
    try:
        with pyarrow.csv.open_csv(path, **options) as first:
            kinds = dict(zip(first.schema.names, first.schema.types, strict=True))
            if len(kinds) < len(first.schema):
                return None
            n_rows = first.read_next_batch().num_rows * size / BLOCK
        check_room_for_table(str(path), n_rows, len(kinds))
        # After integers, or nothing at all, other numbers may follow.
        unsure = [name for name, kind in kinds.items() if name not in exact and kind in {pa.int64(), pa.null()}]
        options["convert_options"].column_types = dict.fromkeys(unsure, pa.float64())
        with pyarrow.csv.open_csv(path, **options) as blocks, byte_bar(path.name, size) as bar:
            numbers = _Numbers(blocks.schema, exact)
            batches = []
            for batch in blocks:
                batches.append(numbers.compact(batch))
                bar.update(min(BLOCK, size - bar.n))
    except (pa.ArrowException, OverflowError, UnicodeError, StopIteration):
        return None
    pa.default_memory_pool().release_unused()  # of the text, which is no more
    if any(kinds[name] == pa.int64() and numbers.largest[name] >= LARGEST_OF_ALL_INTEGERS for name in unsure):
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
        How many values are there.
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
