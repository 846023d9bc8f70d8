"""Columns of words in which marks such as a dash stand for a missing value."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import pyarrow as pa

from fsvm_cli.data.phrases import shown
from fsvm_cli.data.readers.marks import MARKS_AMONG_NUMBERS, found_in, is_mark, marks_among_words
from fsvm_cli.data.readers.numbers import reads_as_number

if TYPE_CHECKING:
    from collections.abc import Container

    from fsvm_cli.data.readers.numbers import Reading


def without_marks(reading: Reading, left_out: Container[str]) -> Reading:
    """Take marks of missing values out of the columns of words, and say so.

    Parameters
    ----------
    reading : Reading
        Columns of numbers are numbers already.
    left_out : container of str
        Columns that stay as they are.
    """
    table = reading.table
    found: list[str] = []
    for index, (name, column) in enumerate(zip(table.column_names, table.columns, strict=True)):
        is_text = pa.types.is_string(column.type) or pa.types.is_large_string(column.type)
        if not is_text or name in left_out or name in reading.mistakes:
            continue
        values = [value for value in column.unique().to_pylist() if value is not None]
        marks = marks_among_words(values)
        if not marks or all(reads_as_number(value) or is_mark(value, MARKS_AMONG_NUMBERS) for value in values):
            continue
        as_words = column.to_pylist()
        known = pa.array([None if word in marks else word for word in as_words], column.type)
        table = table.set_column(index, name, pa.chunked_array([known]))
        found.append(found_in(name, marks, sum(word in marks for word in as_words)))
    if not found:
        return reading
    said = (
        f"among words, these are taken as missing values: {shown(found)}; where they are words, name instead what is "
        "missing (na: NA, or --na NA)"
    )
    return dataclasses.replace(reading, table=table, taken_as_missing=(*reading.taken_as_missing, said))
