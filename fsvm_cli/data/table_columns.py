"""The columns of a table as numbers, codes of words and classes."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from fsvm_cli.data.phrases import shown
from fsvm_cli.data.preparation import Preparation
from fsvm_cli.data.readers.numbers import has_comma, reads_as_number
from fsvm_cli.data.suspects import FEWEST_GROUPS
from fsvm_cli.data.table_mistakes import Mistake, of_column
from fsvm_cli.row_blocks import row_blocks
from fsvm_cli.terminal import brief

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fsvm_cli.data.spec import TableSpec

MAX_CLASSES = 100
CLASSES_BEYOND_DOUBT = 20
LONG_WORD = 1000
MAX_WORDS = 100
LARGEST_OF_ALL_INTEGERS = 2.0**53
"""Up to it, floating-point numbers tell all integers apart."""


def is_missing(column: pa.ChunkedArray) -> NDArray[np.bool_]:
    """Tell which values are missing; NaN is."""
    is_floating = pa.types.is_floating(column.type)
    if column.null_count:
        return _to_numpy(column.is_null(nan_is_null=is_floating).cast(pa.uint8())).astype(np.bool_)
    return np.isnan(_to_numpy(column)) if is_floating else np.zeros(len(column), dtype=np.bool_)


def _to_numpy(column: pa.ChunkedArray) -> NDArray[Any]:
    """Give the numbers of a column without holes; pyarrow's own `to_numpy` imports pandas for it, which is slow."""
    return np.from_dlpack(column.combine_chunks())


def _is_number(kind: pa.DataType) -> bool:
    types = pa.types
    return any(test(kind) for test in (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal))


def _to_floats(column: pa.ChunkedArray) -> NDArray[np.float64]:
    if not column.null_count and (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)):
        return _to_numpy(column).astype(np.float64, copy=False)
    if pa.types.is_boolean(column.type):
        column = column.cast(pa.int8())
    floats = column.cast(pa.float64(), safe=False)
    return _to_numpy(floats.fill_null(np.nan) if floats.null_count else floats)


def _is_rounded(integers: pa.ChunkedArray, floats: NDArray[np.float64]) -> bool:
    """Whether different integers have become the same floating-point number."""
    is_large = bool(np.any(np.abs(floats) >= LARGEST_OF_ALL_INTEGERS))
    return is_large and len(integers.unique()) > len(np.unique(floats))


def _words(column: pa.ChunkedArray) -> NDArray[np.str_] | None:
    """Give the column's values as words, or None where they are neither words nor coded words."""
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
        return None
    words = column if pa.types.is_string(column.type) else column.cast(pa.string())
    values = words.to_pylist()
    # NumPy's texts are all as long as the longest: where that is long, Python's take less.
    is_long = max(map(len, values), default=0) > LONG_WORD
    return np.array(values, dtype=object if is_long else np.str_)


def encode_target(
    target: str, column: pa.ChunkedArray, mistakes: list[Mistake]
) -> tuple[tuple[str, ...], NDArray[np.int64]]:
    """Give the classes of a target without holes, and the code of each row; what is none is added to mistakes."""
    if pa.types.is_integer(column.type):
        # As integers, of which floating-point numbers cannot tell all apart.
        values, y = np.unique(_to_numpy(column), return_inverse=True)
        classes = tuple(map(str, values.tolist()))
    elif _is_number(column.type):
        values, y = np.unique(_to_floats(column), return_inverse=True)
        classes = tuple(np.format_float_positional(value, trim="-") for value in values)
    else:
        words = _words(column)
        if words is None:
            text = f"the target '{brief(target)}' holds {column.type}, not classes; name another target"
            mistakes.append(Mistake("the target", text))
            return (), np.zeros(len(column), dtype=np.int64)
        values, y = np.unique(words, return_inverse=True)
        classes = tuple(values.tolist())
    n_classes = len(classes)
    if n_classes == 1:
        text = f"the target '{brief(target)}' has only one class ({shown(classes)}); at least two are needed"
        mistakes.append(Mistake("the target", text))
    if n_classes > MAX_CLASSES or CLASSES_BEYOND_DOUBT < n_classes > len(column) / 2:
        text = (
            f"the target '{brief(target)}' has {n_classes} distinct values in {len(column)} rows; "
            "this looks like a measurement, not a class; name another target, or put the values into classes"
        )
        mistakes.append(Mistake("the target", text))
    return classes, y.astype(np.int64)


def columns_of(features: pa.Table, spec: TableSpec, mistakes: list[Mistake]) -> Preparation:
    """Give the columns as numbers and codes of words; what is neither is added to mistakes."""
    names: list[str] = []
    words_of: list[tuple[str, ...] | None] = []
    # Filled as it is found, since a list of columns beside it would take as much again; with a mistake, not to its end.
    columns = np.empty((features.num_rows, features.num_columns))
    refused: list[str] = []
    may_group: list[str] = []
    for column_name, column in zip(features.column_names, features.columns, strict=True):
        if _is_number(column.type):
            numbers = _to_floats(column)
            if pa.types.is_integer(column.type) and _is_rounded(column, numbers):
                what = (
                    "holds integers so large that floating-point numbers cannot tell them apart; drop it if it only "
                    "names the rows, or subtract what they have in common"
                )
                mistakes.append(of_column(column_name, what))
            columns[:, len(names)] = numbers
            names.append(column_name)
            words_of.append(None)
            continue
        is_known = ~is_missing(column)
        words = _words(column.drop_null())
        if words is None:
            mistakes.append(of_column(column_name, f"holds {column.type}, not numbers; drop it"))
            continue
        values, codes = np.unique(words, return_inverse=True)
        odd = _odd_words(values.tolist())
        with_commas = bool(odd) and any(has_comma(value) for value in values.tolist())
        if len(values) > MAX_WORDS or (odd and (spec.categorical == "refuse" or with_commas)):
            n_rows = int(np.isin(values[codes], odd).sum())
            what = _not_numbers(values.tolist(), odd, n_rows, may_be_words=not with_commas)
            mistakes.append(of_column(column_name, f"holds {what}"))
            continue
        refused.append(f"'{brief(column_name)}' ({shown([*map(brief, values.tolist())])})")
        if FEWEST_GROUPS <= len(values) <= len(words) / 2:
            may_group.append(brief(column_name))
        columns[:, len(names)] = np.nan
        columns[is_known, len(names)] = codes
        names.append(column_name)
        words_of.append(tuple(values.tolist()))
    if refused and spec.categorical == "refuse":
        more = f" and {len(refused) - 3} more" if len(refused) > 3 else ""
        text = (
            f"columns of words: {'; '.join(refused[:3])}{more}\n"
            "Turn each word into a feature (categorical: one-hot, or --categorical one-hot), number the words of a "
            "column (ordinal), or drop the columns."
        )
        if may_group:
            text += (
                f" Where '{may_group[0]}' tells which rows belong together, such as those of a patient, name it "
                f"(groups: {may_group[0]}, or --groups {shlex.quote(may_group[0])})."
            )
        mistakes.append(Mistake("columns of words", text))
    return Preparation(tuple(names), tuple(words_of), columns[:, : len(names)], spec.missing, spec.categorical)


def infinite_values(prepared: Preparation) -> list[Mistake]:
    """Find the columns that hold infinite values, which no rule for missing values fills."""
    counts = np.sum(
        [np.isinf(prepared.columns[rows]).sum(axis=0) for rows in row_blocks(*prepared.columns.shape)], axis=0
    )
    columns = np.flatnonzero(counts)
    if not len(columns):
        return []
    n_rows = int(np.isinf(prepared.columns[:, columns]).any(axis=1).sum())
    found = shown([f"'{brief(prepared.names[column])}' ({counts[column]})" for column in columns.tolist()])
    text = f"infinite values in {n_rows} of {len(prepared.columns)} rows; by feature: {found}; mend them"
    return [Mistake("infinite values", text)]


def _not_numbers(values: list[str], odd: list[str], n_rows: int, *, may_be_words: bool) -> str:
    """Say what keeps a column of distinct `values` from being one of numbers, and what can be done."""
    if not odd:
        return (
            f"{len(values)} different words, such as {brief(repr(values[0]))}; drop it, or, if it names what rows "
            "belong to, keep these together (groups: COLUMN)"
        )
    found = f"numbers and, in {n_rows} rows, words: {shown([brief(repr(word)) for word in odd])}"
    may_be_words = may_be_words and len(values) <= MAX_WORDS
    others = ", or take each value as a word (--categorical one-hot)" if may_be_words else ""
    return f"{found}; mend those, say which means a missing value (--na WORD), drop the column{others}"


def _odd_words(values: list[str]) -> list[str]:
    """List the words in a column most of whose different words are numbers; empty where it is one of words.

    What has a comma may be a list of codes: there, all but a quarter are numbers.
    """
    words = [value for value in values if not reads_as_number(value)]
    share = 4 if any(has_comma(value) for value in values) else 2
    return words if share * len(words) < len(values) else []
