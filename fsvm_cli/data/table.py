"""From a table with named columns to a data set: target, missing values, columns of words."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from fsvm_cli.data.dataset import Dataset, hash_values
from fsvm_cli.data.given_splits import check_parts, split_by_words
from fsvm_cli.data.groups import check_group_column, group_codes
from fsvm_cli.data.phrases import nearest, shown
from fsvm_cli.data.readers.user_tables import dropped_columns
from fsvm_cli.data.room import check_room_for_table
from fsvm_cli.data.suspects import suspects
from fsvm_cli.data.table_columns import columns_of, encode_target, infinite_values, is_missing
from fsvm_cli.data.table_mistakes import Mistake, of_column, told
from fsvm_cli.errors import DataError, UsageError
from fsvm_cli.row_blocks import all_finite
from fsvm_cli.terminal import brief

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fsvm_cli.data.given_splits import GivenSplit
    from fsvm_cli.data.readers.numbers import Reading
    from fsvm_cli.data.spec import TableSpec


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
        The columns, and what is known of them.
    spec : TableSpec
        What the user says of them.
    own_target : str, optional
        The target that the source itself marks.
    part : str, optional
        Column that says of each row whether it is for training or testing.

    Raises
    ------
    UsageError
        If there is no target, or a column that is named does not exist.
    DataError
        If values are missing or not usable as they are; with every such column and what can be done.
    """
    unclear, mistakes = _unclear_names(reading.table, spec)
    asked_for = {spec.target or own_target, part, spec.groups}
    if not reading.table.num_rows or unclear & asked_for:
        raise DataError(told(name, mistakes))
    reading = reading.without_columns(unclear)
    table = reading.table
    target, dropped = _find_target(name, table, spec, own_target, unclear)
    if part is not None:
        _check_part(name, table, part, target)
    if spec.groups is not None:
        check_group_column(name, spec.groups, table.column_names, {target, part})
    left_out = {target, part, spec.groups, *dropped}
    mistakes += [of_column(*mistake) for mistake in reading.mistakes.items()]
    features = table.select([column for column in table.column_names if column not in left_out])
    if not features.num_columns and not unclear:
        left = f"no columns are left beside the target '{brief(target)}'"
        mistakes.append(Mistake("no columns are left", f"{left}; drop fewer, or give a table with more"))
    table, features = _without_missing(reading, features, target, spec, mistakes)
    classes, y = encode_target(target, table.column(target), mistakes)
    groups = None if spec.groups is None else group_codes(table.column(spec.groups), spec.groups, mistakes)
    clear = [column for column in features.column_names if column not in reading.mistakes]
    prepared = columns_of(features.select(clear), spec, mistakes)
    mistakes += infinite_values(prepared)
    if mistakes:
        raise DataError(told(name, mistakes))
    check_room_for_table(name, len(y), len(prepared.layout))
    X = prepared.features(np.arange(len(y)))
    feature_names = tuple(feature.name for feature in prepared.layout)
    sources = tuple(prepared.names[feature.column] for feature in prepared.layout)
    preparation = prepared if prepared.has_to_learn else None
    of_table = suspects(X, y, feature_names, sources, classes, groups) if all_finite(X) else ()
    split = None if part is None else _split_by(name, table.column(part), y, classes, groups)
    return Dataset(
        name=name,
        X=X,
        y=y,
        feature_names=feature_names,
        class_names=classes,
        sha256=hash_values(X, y, split, groups=groups, preparation=preparation),
        train_indices=split[0] if split else None,
        test_indices=split[1] if split else None,
        source_columns=None if sources == feature_names else sources,
        groups=groups,
        preparation=preparation,
        remarks=(*reading.remarks, *reading.taken_as_missing, *of_table),
    )


def _unclear_names(table: pa.Table, spec: TableSpec) -> tuple[set[str], list[Mistake]]:
    """Find the names that are not that of one column, and say what to do about them; or about a table without rows."""
    mistakes: list[Mistake] = []
    unclear = {column for column, count in Counter(table.column_names).items() if count > 1 and column}
    if unclear:
        repeated = [f"'{brief(column)}'" for column in dict.fromkeys(table.column_names) if column in unclear]
        text = f"column names stand more than once: {shown(repeated)}; make them distinct"
        mistakes.append(Mistake("column names", text))
    unnamed = [str(number) for number, column in enumerate(table.column_names, start=1) if not column]
    if len(unnamed) > 1:
        text = f"columns {shown(unnamed)} have no name; name them, or take them out of the file"
        mistakes.append(Mistake("columns without a name", text))
    elif unnamed and "" not in spec.drop:
        text = (
            f"column {unnamed[0]} has no name; name it, or drop it (drop: [''], or --drop '') if it only numbers the "
            "rows"
        )
        mistakes.append(Mistake("a column without a name", text))
    if table.num_rows == 0:
        mistakes.append(Mistake("no rows", "holds no rows; give a table that has some below its names of columns"))
    if len(unnamed) > 1 or (unnamed and "" not in spec.drop):
        unclear.add("")
    return unclear, mistakes


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
    unknown = [column for column in (target, *dropped) if column not in table.column_names]
    mistakes = [
        Mistake(
            f"column '{brief(column)}'", f"there is no column '{brief(column)}'; {nearest(column, table.column_names)}"
        )
        for column in unknown
    ]
    if target in dropped:
        text = f"the target '{brief(target)}' cannot be dropped as well; leave it in, or name another target"
        mistakes.append(Mistake("the target", text))
    if mistakes:
        raise UsageError(told(name, mistakes))
    return target, dropped


def _without_missing(
    reading: Reading, features: pa.Table, target: str, spec: TableSpec, mistakes: list[Mistake]
) -> tuple[pa.Table, pa.Table]:
    """Apply the rule for missing values; NaN counts as missing.

    Where there is a mistake, what is returned holds the rows whose class is known.
    """
    table = reading.table
    of_groups = [] if spec.groups is None else [spec.groups]
    read = (target, *of_groups, *features.column_names)
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
        mistakes.append(Mistake("missing values", text))
        return table.filter(with_class), features.filter(with_class)
    if spec.missing == "drop":
        if table.filter(complete).num_rows == 0:
            text = f"every row has a missing value; drop the columns that have most of them, by column: {found}"
            mistakes.append(Mistake("missing values", text))
            return table.filter(with_class), features.filter(with_class)
        return table.filter(complete), features.filter(complete)
    if target in counts:
        text = f"the class is missing in {counts[target]} rows; drop them (missing: drop)"
        mistakes.append(Mistake("missing classes", text))
    if spec.groups is not None and spec.groups in counts:
        text = (
            f"the group '{brief(spec.groups)}' is missing in {counts[spec.groups]} rows; name one in each, or drop the "
            "rows (missing: drop)"
        )
        mistakes.append(Mistake("missing groups", text))
    if empty := [column for column in counts if column in features.column_names and holes[column].all()]:
        named = shown([f"'{brief(column)}'" for column in empty])
        text = f"all values are missing in {named}; drop what is empty (drop: COLUMN, or --drop COLUMN)"
        mistakes.append(Mistake("empty columns", text))
        features = features.drop_columns(empty)
    return (table.filter(with_class), features.filter(with_class)) if mistakes else (table, features)


def _n_rows(holes: dict[str, NDArray[np.bool_]]) -> int:
    return int(np.any(list(holes.values()), axis=0).sum())
