"""From a table with named columns to a data set: target, groups, missing values, columns of words."""

from __future__ import annotations

import shlex
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from fsvm_cli.console import brief
from fsvm_cli.data.data_quality import MIN_GROUPS, data_quality_warnings
from fsvm_cli.data.dataset import Dataset, hash_values
from fsvm_cli.data.given_splits import (
    check_column_beside,
    check_parts,
    group_codes,
    order_codes,
    row_weights,
    split_by_words,
)
from fsvm_cli.data.messages import TableIssue, issues_in_words, nearest, of_column, shown
from fsvm_cli.data.preparation import Preparation
from fsvm_cli.data.readers.csv import MAX_EXACT_INTEGER
from fsvm_cli.data.readers.numbers import (
    are_numbers_with_signs,
    has_comma,
    in_order_of_numbers,
    reads_as_number,
)
from fsvm_cli.data.readers.user_tables import dropped_columns
from fsvm_cli.data.readers.words import alike
from fsvm_cli.data.table_memory import check_memory_for_table
from fsvm_cli.errors import DataError, UsageError
from fsvm_cli.numerics import all_finite, row_blocks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fsvm_cli.data.given_splits import GivenSplit
    from fsvm_cli.data.readers.numbers import Reading
    from fsvm_cli.data.source_spec import TableSpec

MAX_CLASSES = 100
"""A target with more distinct values is refused as a measurement."""
MAX_UNCHECKED_CLASSES = 20
"""Up to this number, classes may outnumber half of the rows."""
MAX_NUMPY_WORD_LENGTH = 1000
"""Characters; longer words are Python strings, because NumPy pads all words to the longest."""
MAX_WORDS_PER_COLUMN = 100
"""Distinct words of a column that can become features."""


def is_missing(column: pa.ChunkedArray) -> NDArray[np.bool_]:
    """Return a mask of missing values, including NaN; all False for nested and binary columns, refused later."""
    if pa.types.is_nested(column.type) or pa.types.is_binary(column.type) or pa.types.is_large_binary(column.type):
        return np.zeros(len(column), dtype=np.bool_)
    is_floating = pa.types.is_floating(column.type)
    if column.null_count:
        return _to_numpy(column.is_null(nan_is_null=is_floating).cast(pa.uint8())).astype(np.bool_)
    return np.isnan(_to_numpy(column)) if is_floating else np.zeros(len(column), dtype=np.bool_)


def _to_numpy(column: pa.ChunkedArray) -> NDArray[Any]:
    """Return a column without nulls as an array; pyarrow's own `to_numpy` imports pandas, which is slow."""
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
    """Whether different integers have been rounded to the same double."""
    is_large = bool(np.any(np.abs(floats) >= MAX_EXACT_INTEGER))
    return is_large and len(integers.unique()) > len(np.unique(floats))


def _words(column: pa.ChunkedArray) -> NDArray[np.str_] | None:
    """Return the values of a column of words or of dictionary-encoded words; None for other types."""
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
        return None
    words = column if pa.types.is_string(column.type) else column.cast(pa.string())
    values = words.to_pylist()
    is_long = max(map(len, values), default=0) > MAX_NUMPY_WORD_LENGTH
    return np.array(values, dtype=object if is_long else np.str_)


def _with_named_truth(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Call the truth values of a column without gaps as Python does, where its source has no words for them."""
    if not pa.types.is_boolean(column.type):
        return column
    return pa.chunked_array([pa.array(map(str, column.to_pylist()), pa.string())])


def class_names_of(column: pa.ChunkedArray) -> list[str | None] | None:
    """Name the class of each row as `encode_target` does, None where it is missing; None for a column of no classes."""
    missing = is_missing(column)
    known = _with_named_truth(column.filter(pa.array(~missing)))
    if pa.types.is_integer(known.type):
        values = [str(value) for value in known.to_pylist()]
    elif _is_number(known.type):
        values = [np.format_float_positional(value, trim="-") for value in _to_floats(known)]
    elif (words := _words(known)) is not None:
        values = words.tolist()
    else:
        return None
    names = iter(values)
    return [None if is_gap else next(names) for is_gap in missing.tolist()]


def encode_target(
    target: str, column: pa.ChunkedArray, issues: list[TableIssue], weight: str | None = None
) -> tuple[tuple[str, ...], NDArray[np.int64]]:
    """Return the classes of a target without missing values, and the code of each row; add an issue if invalid.

    `weight` names the column of the rows' weights, all of which are above 0.
    """
    column = _with_named_truth(column)
    if pa.types.is_integer(column.type):
        # As integers: different ones may round to the same double.
        values, y = np.unique(_to_numpy(column), return_inverse=True)
        classes = tuple(map(str, values.tolist()))
    elif _is_number(column.type):
        values, y = np.unique(_to_floats(column), return_inverse=True)
        classes = tuple(np.format_float_positional(value, trim="-") for value in values)
    else:
        words = _words(column)
        if words is None:
            text = f"the target '{brief(target)}' holds {column.type}, not classes; name another target"
            issues.append(TableIssue("the target", text))
            return (), np.zeros(len(column), dtype=np.int64)
        values, y = np.unique(words, return_inverse=True)
        classes = tuple(values.tolist())
    n_classes = len(classes)
    if n_classes == 1:
        where = "" if weight is None else f" in the rows whose weight '{brief(weight)}' is above 0"
        text = f"the target '{brief(target)}' has only one class ({shown(classes)}){where}; at least two are needed"
        issues.append(TableIssue("the target", text))
    if n_classes > MAX_CLASSES or MAX_UNCHECKED_CLASSES < n_classes > len(column) / 2:
        text = (
            f"the target '{brief(target)}' has {n_classes} distinct values in {len(column)} rows; "
            "this looks like a measurement, not a class; name another target, or put the values into classes"
        )
        issues.append(TableIssue("the target", text))
    return classes, y.astype(np.int64)


def columns_of(features: pa.Table, spec: TableSpec, issues: list[TableIssue]) -> Preparation:
    """Convert the columns to numbers and codes of words; add columns that are neither to `issues`."""
    names: list[str] = []
    words_of: list[tuple[str, ...] | None] = []
    # Filled column by column, since a list of columns would take as much memory again; with issues, not to its end.
    columns = np.empty((features.num_rows, features.num_columns))
    for name, column in zip(features.column_names, features.columns, strict=True):
        if _is_number(column.type):
            columns[:, len(names)] = _numbers(name, column, issues)
            words_of.append(None)
        elif (coded := _coded_words(name, column, spec, issues)) is not None:
            words, columns[:, len(names)] = coded
            words_of.append(words)
        else:
            continue
        names.append(name)
    if spec.categorical == "refuse":
        issues += _refused_words(dict(zip(names, words_of, strict=True)), features)
    return Preparation(tuple(names), tuple(words_of), columns[:, : len(names)], spec.missing, spec.categorical)


def _numbers(name: str, column: pa.ChunkedArray, issues: list[TableIssue]) -> NDArray[np.float64]:
    """Convert a column of numbers; integers that differ and round to the same double are an issue."""
    numbers = _to_floats(column)
    if pa.types.is_integer(column.type) and _is_rounded(column, numbers):
        what = (
            "holds integers so large that floating-point numbers cannot tell them apart; drop it if it only "
            "names the rows, or subtract what they have in common"
        )
        issues.append(of_column(name, what))
    return numbers


def _coded_words(
    name: str, column: pa.ChunkedArray, spec: TableSpec, issues: list[TableIssue]
) -> tuple[tuple[str, ...], NDArray[np.float64]] | None:
    """Return the distinct words of a column and a code for each row (NaN where missing), or None if it is refused.

    Refused, with an issue, are values of other types, more than `MAX_WORDS_PER_COLUMN` words, and words in a column of
    numbers.
    """
    words = _words(column.drop_null())
    if words is None:
        issues.append(of_column(name, f"holds {column.type}, not numbers; drop it"))
        return None
    distinct, codes = np.unique(words, return_inverse=True)
    if spec.categorical == "ordinal" and (known := _ordered_words(column)):
        place = {word: number for number, word in enumerate(known)}
        ascending = np.argsort([place[word] for word in distinct.tolist()])
        distinct, codes = distinct[ascending], np.argsort(ascending)[codes]
    values: list[str] = distinct.tolist()
    if spec.categorical == "ordinal" and not _ordered_words(column) and (what := _out_of_order(values)):
        issues.append(of_column(name, what))
        return None
    odd = _odd_words(values)
    with_commas = bool(odd) and any(has_comma(value) for value in values)
    if len(values) > MAX_WORDS_PER_COLUMN or (odd and (spec.categorical == "refuse" or with_commas)):
        n_rows = int(np.isin(distinct[codes], odd).sum())
        what = _not_numbers(values, odd, n_rows, may_be_words=not with_commas)
        issues.append(of_column(name, f"holds {what}"))
        return None
    coded = np.full(len(column), np.nan)
    coded[~is_missing(column)] = codes
    return tuple(values), coded


def _out_of_order(words: list[str]) -> str:
    """Say why the alphabet numbers words otherwise than the numbers in them; nothing where it does not."""
    others = "take each value as a word (--categorical one-hot), or drop the column"
    if are_numbers_with_signs(words):
        return f"holds {_of_several_signs(words)}, {others}"
    if in_order_of_numbers(words):
        return ""
    listed = shown([brief(repr(word)) for word in words], 3)
    return f"holds words with numbers that the alphabet puts in another order: {listed}; write numbers alone, {others}"


def _of_several_signs(words: list[str]) -> str:
    first, last = (brief(repr(words[place])) for place in (0, -1))
    return f"numbers with different signs, such as {first} and {last}; write all alike"


def _ordered_words(column: pa.ChunkedArray) -> list[str]:
    """List the categories of a column whose source orders them, ascending; nothing for any other column."""
    if not (pa.types.is_dictionary(column.type) and column.type.ordered):
        return []
    return [str(word) for word in column.unify_dictionaries().combine_chunks().dictionary.to_pylist()]


def _kept_orders(features: pa.Table, prepared: Preparation) -> list[str]:
    """Say in which order the words of ordered categories are numbered."""
    if prepared.categorical != "ordinal":
        return []
    found = [
        f"'{brief(name)}' ({' < '.join(map(brief, words))})"
        for name, words in zip(prepared.names, prepared.words, strict=True)
        if words is not None and _ordered_words(features.column(name))
    ]
    return [f"numbered in the order of their categories: {shown(found)}"] if found else []


def _refused_words(words_of: dict[str, tuple[str, ...] | None], features: pa.Table) -> list[TableIssue]:
    """Return one issue about all columns of words, where words are refused; it names one that may hold groups."""
    of_words = {name: words for name, words in words_of.items() if words is not None}
    if not of_words:
        return []
    listed = [f"'{brief(name)}' ({shown([*map(brief, words)])})" for name, words in of_words.items()]
    more = f" and {len(listed) - 3} more" if len(listed) > 3 else ""
    text = (
        f"columns of words: {'; '.join(listed[:3])}{more}\n"
        "Turn each word into a feature (categorical: one-hot, or --categorical one-hot), number the words of a "
        "column (ordinal), or drop the columns."
    )
    for name, words in of_words.items():
        column = features.column(name)
        if MIN_GROUPS <= len(words) <= (len(column) - column.null_count) / 2:
            text += (
                f" Where '{brief(name)}' tells which rows belong together, such as those of a patient, name it "
                f"(groups: {brief(name)}, or --groups {shlex.quote(brief(name))})."
            )
            break
    return [TableIssue("columns of words", text)]


def infinite_values(prepared: Preparation) -> list[TableIssue]:
    """Find the columns that hold infinite values, which no rule for missing values fills."""
    counts = np.sum(
        [np.isinf(prepared.columns[rows]).sum(axis=0) for rows in row_blocks(*prepared.columns.shape)], axis=0
    )
    columns = np.flatnonzero(counts)
    if not len(columns):
        return []
    n_rows = int(np.isinf(prepared.columns[:, columns]).any(axis=1).sum())
    found = shown([f"'{brief(prepared.names[column])}' ({counts[column]})" for column in columns.tolist()])
    text = f"infinite values in {n_rows} of {len(prepared.columns)} rows; by feature: {found}; correct them"
    return [TableIssue("infinite values", text)]


def _not_numbers(values: list[str], odd: list[str], n_rows: int, *, may_be_words: bool) -> str:
    """Describe why a column of distinct `values` is not one of numbers, with remedies."""
    if are_numbers_with_signs(values):
        return f"{_of_several_signs(values)}, or drop the column"
    if not odd:
        return (
            f"{len(values)} different words, such as {brief(repr(values[0]))}; drop it, or, if it names what rows "
            "belong to, keep these together (groups: COLUMN)"
        )
    found = f"numbers and, in {n_rows} rows, words: {shown([brief(repr(word)) for word in odd])}"
    may_be_words = may_be_words and len(values) <= MAX_WORDS_PER_COLUMN
    others = ", or take each value as a word (--categorical one-hot)" if may_be_words else ""
    return f"{found}; correct those, say which means a missing value (--na WORD), drop the column{others}"


def _odd_words(values: list[str]) -> list[str]:
    """List the words in a column most of whose different words are numbers; empty where it is one of words.

    What has a comma may be a list of codes: there, all but a quarter are numbers.
    """
    words = [value for value in values if not reads_as_number(value)]
    share = 4 if any(has_comma(value) for value in values) else 2
    return words if share * len(words) < len(values) else []


def dataset_from_table(
    name: str, reading: Reading, spec: TableSpec, own_target: str | None = None, part: str | None = None
) -> Dataset:
    """Turn columns into features and classes.

    Numbers and truth values become features; so do words, one feature ``column=word`` each, where the spec says so.
    Classes are in the order of their numbers, or else of the alphabet.

    Parameters
    ----------
    name : str
        For the data set and in errors.
    reading : Reading
        The columns, with remarks and issues of the reader.
    spec : TableSpec
        The user's options.
    own_target : str, optional
        The target that the source itself marks.
    part : str, optional
        Column that assigns each row to training or testing.

    Raises
    ------
    UsageError
        If there is no target, or a column that is named does not exist.
    DataError
        If values are missing or not usable as they are; with every such column and what can be done.
    """
    unclear, issues = _unclear_names(reading.table, spec)
    asked_for = {spec.target or own_target, part, spec.groups, spec.order_by, spec.sample_weight}
    if not reading.table.num_rows or unclear & asked_for:
        raise DataError(issues_in_words(name, issues))
    reading = reading.without_columns(unclear)
    table = reading.table
    target, dropped = _find_target(name, table, spec, own_target, unclear)
    if part is not None:
        _check_part(name, table, part, target)
    if spec.groups is not None:
        check_column_beside(name, spec.groups, "group", table.column_names, {target, part})
    if spec.order_by is not None:
        check_column_beside(name, spec.order_by, "order", table.column_names, {target, part})
    if spec.sample_weight is not None:
        check_column_beside(name, spec.sample_weight, "weigh", table.column_names, {target, part})
    left_out = {target, part, spec.groups, spec.order_by, spec.sample_weight, *dropped}
    issues += [of_column(*issue) for issue in reading.issues.items()]
    features = table.select([column for column in table.column_names if column not in left_out])
    reading = reading.with_remarks_on_words({*features.column_names, target, part, spec.groups})
    if not features.num_columns and not unclear:
        left = f"no columns are left beside the target '{brief(target)}'"
        issues.append(TableIssue("no columns are left", f"{left}; drop fewer, or give a table with more"))
    table, features = _without_missing(reading, features, target, spec, issues)
    weights, remarks = None, (*reading.remarks, *reading.taken_as_missing)
    if spec.sample_weight is not None:
        weights = row_weights(table.column(spec.sample_weight), spec.sample_weight, issues)
        kept = pa.array(weights > 0)
        table, features, weights = table.filter(kept), features.filter(kept), weights[weights > 0]
        remarks += _left_out(len(kept) - len(weights), spec.sample_weight)
    classes, y = encode_target(target, table.column(target), issues, spec.sample_weight)
    groups = None if spec.groups is None else group_codes(table.column(spec.groups), spec.groups, issues)
    order = None if spec.order_by is None else order_codes(table.column(spec.order_by), spec.order_by, issues)
    clear = [column for column in features.column_names if column not in reading.issues]
    prepared = columns_of(features.select(clear), spec, issues)
    issues += infinite_values(prepared)
    if issues:
        raise DataError(issues_in_words(name, issues))
    remarks += _words_alike(target, classes, y, prepared)
    check_memory_for_table(name, len(y), len(prepared.layout))
    X = prepared.features(np.arange(len(y)))
    feature_names = tuple(feature.name for feature in prepared.layout)
    sources = tuple(prepared.names[feature.column] for feature in prepared.layout)
    preparation = prepared if prepared.has_to_learn else None
    of_table = data_quality_warnings(X, y, feature_names, sources, classes, groups) if all_finite(X) else ()
    split = None if part is None else _split_by(name, table.column(part), y, classes, groups)
    return Dataset(
        name=name,
        X=X,
        y=y,
        feature_names=feature_names,
        class_names=classes,
        sha256=hash_values(X, y, split, groups=groups, order=order, weights=weights, preparation=preparation),
        train_indices=split[0] if split else None,
        test_indices=split[1] if split else None,
        source_columns=None if sources == feature_names else sources,
        groups=groups,
        order=order,
        sample_weight=weights,
        preparation=preparation,
        remarks=(*remarks, *_kept_orders(features, prepared), *of_table),
    )


def _words_alike(target: str, classes: Sequence[str], y: NDArray[np.int64], prepared: Preparation) -> tuple[str, ...]:
    """Warn of classes, and of words of features, that nobody would tell apart."""
    found = {target: alike(classes, y)}
    for name, words, codes in zip(prepared.names, prepared.words, prepared.columns.T, strict=True):
        if words is not None:
            found[name] = alike(words, codes[~np.isnan(codes)].astype(np.intp))
    listed = [f"'{brief(name)}' ({several})" for name, several in found.items() if several]
    remark = (
        f"words that differ by capitals, inner blanks or forms of letters alone count as different: {shown(listed)}; "
        "where they mean the same, write each in one way"
    )
    return (remark,) if listed else ()


def _left_out(number: int, column: str) -> tuple[str, ...]:
    """Say how many rows have no weight."""
    rows = "row has" if number == 1 else "rows have"
    return (f"left out: {number:,} {rows} the weight 0 in '{brief(column)}'",) if number else ()


def _unclear_names(table: pa.Table, spec: TableSpec) -> tuple[set[str], list[TableIssue]]:
    """Find repeated and empty column names; return them with their issues, and that of a table without rows."""
    issues: list[TableIssue] = []
    unclear = {column for column, count in Counter(table.column_names).items() if count > 1 and column}
    if unclear:
        repeated = [f"'{brief(column)}'" for column in dict.fromkeys(table.column_names) if column in unclear]
        text = f"column names occur more than once: {shown(repeated)}; make them distinct"
        issues.append(TableIssue("column names", text))
    unnamed = [str(number) for number, column in enumerate(table.column_names, start=1) if not column]
    if len(unnamed) > 1:
        text = f"columns {shown(unnamed)} have no name; name them, or take them out of the file"
        issues.append(TableIssue("columns without a name", text))
    elif unnamed and "" not in spec.drop:
        text = (
            f"column {unnamed[0]} has no name; name it, or drop it (drop: [''], or --drop '') if it only numbers the "
            "rows"
        )
        issues.append(TableIssue("a column without a name", text))
    if table.num_rows == 0:
        issues.append(TableIssue("no rows", "holds no rows; give a table that has some below its names of columns"))
    if len(unnamed) > 1 or (unnamed and "" not in spec.drop):
        unclear.add("")
    return unclear, issues


def _check_part(name: str, table: pa.Table, part: str, target: str) -> None:
    """Check the column that divides the rows, before any of them is left out."""
    if part not in table.column_names:
        raise UsageError(f"{name}: there is no column '{brief(part)}' to split by; {nearest(part, table.column_names)}")
    if part == target:
        raise UsageError(f"{name}: the target '{brief(part)}' cannot tell the parts apart; name another column")
    try:
        split_by_words(table.column(part).to_pylist())
    except ValueError as error:
        raise DataError(f"{name}: column '{brief(part)}', {error}") from None


def _split_by(
    name: str,
    column: pa.ChunkedArray,
    y: NDArray[np.int64],
    classes: Sequence[str],
    groups: NDArray[np.int64] | None,
) -> GivenSplit:
    split = split_by_words(column.to_pylist())
    try:
        check_parts(*split, y, classes, groups)
    except ValueError as error:
        raise DataError(f"{name}: {error}") from None
    return split


def _find_target(
    name: str, table: pa.Table, spec: TableSpec, own_target: str | None, unclear: set[str]
) -> tuple[str, list[str]]:
    target = spec.target or own_target
    dropped = [column for column in dropped_columns(spec.drop, table.column_names) if column not in unclear]
    if target is None:
        raise UsageError(
            f"{name}: say which column holds the class (target: NAME, or --target NAME); there are: "
            f"{shown(table.column_names)}"
        )
    named = (target, *dropped, *dropped_columns(spec.words, table.column_names))
    unknown = [column for column in dict.fromkeys(named) if column not in table.column_names]
    issues = [
        TableIssue(
            f"column '{brief(column)}'", f"there is no column '{brief(column)}'; {nearest(column, table.column_names)}"
        )
        for column in unknown
    ]
    if target in dropped:
        text = f"the target '{brief(target)}' cannot be dropped as well; leave it in, or name another target"
        issues.append(TableIssue("the target", text))
    if issues:
        raise UsageError(issues_in_words(name, issues))
    return target, dropped


def _without_missing(
    reading: Reading, features: pa.Table, target: str, spec: TableSpec, issues: list[TableIssue]
) -> tuple[pa.Table, pa.Table]:
    """Apply the rule for missing values; NaN counts as missing.

    Where there are issues, the tables that are returned hold the rows whose class is known.
    """
    table = reading.table
    beside = [column for column in (spec.groups, spec.order_by, spec.sample_weight) if column is not None]
    read = dict.fromkeys((target, *beside, *features.column_names))
    holes = {column: missing for column in read if (missing := is_missing(table.column(column))).any()}
    counts = {column: int(missing.sum()) for column, missing in holes.items()}
    if not counts:
        return table, features
    found = "; ".join(
        (shown([f"'{brief(column)}' ({count})" for column, count in counts.items()]), *reading.taken_as_missing)
    )
    complete = pa.array(~np.any(list(holes.values()), axis=0))
    with_class = pa.array(~holes.get(target, np.zeros(table.num_rows, dtype=np.bool_)))
    if spec.missing == "refuse":
        text = (
            f"missing values in {_n_rows(holes)} of {table.num_rows} rows; by column: {found}\n"
            "Drop these rows (missing: drop, or --missing drop), or have the gaps filled by what training rows show "
            "(missing: median, mean, most-frequent or indicator)."
        )
        issues.append(TableIssue("missing values", text))
        return table.filter(with_class), features.filter(with_class)
    if spec.missing == "drop":
        if table.filter(complete).num_rows == 0:
            text = f"every row has a missing value; drop the columns that have most of them, by column: {found}"
            issues.append(TableIssue("missing values", text))
            return table.filter(with_class), features.filter(with_class)
        return table.filter(complete), features.filter(complete)
    if target in counts:
        text = f"the class is missing in {counts[target]} rows; drop them (missing: drop)"
        issues.append(TableIssue("missing classes", text))
    if spec.groups is not None and spec.groups in counts:
        text = (
            f"the group '{brief(spec.groups)}' is missing in {counts[spec.groups]} rows; name one in each, or drop the "
            "rows (missing: drop)"
        )
        issues.append(TableIssue("missing groups", text))
    if spec.order_by is not None and spec.order_by in counts:
        text = (
            f"'{brief(spec.order_by)}', which orders the rows, is missing in {counts[spec.order_by]} rows; fill it in, "
            "or drop the rows (missing: drop)"
        )
        issues.append(TableIssue("missing places in the order", text))
    if spec.sample_weight is not None and spec.sample_weight in counts:
        text = (
            f"the weight '{brief(spec.sample_weight)}' is missing in {counts[spec.sample_weight]} rows; fill it in, or "
            "drop the rows (missing: drop)"
        )
        issues.append(TableIssue("missing weights", text))
    if empty := [column for column in counts if column in features.column_names and holes[column].all()]:
        named = shown([f"'{brief(column)}'" for column in empty])
        text = f"all values are missing in {named}; drop what is empty (drop: COLUMN, or --drop COLUMN)"
        issues.append(TableIssue("empty columns", text))
        features = features.drop_columns(empty)
    return (table.filter(with_class), features.filter(with_class)) if issues else (table, features)


def _n_rows(holes: dict[str, NDArray[np.bool_]]) -> int:
    return int(np.any(list(holes.values()), axis=0).sum())
