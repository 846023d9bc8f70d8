"""From a table with named columns to a data set: target, missing values, columns of words."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from fsvm_cli.data.dataset import Dataset, hash_values
from fsvm_cli.data.given_splits import check_parts, split_by_words
from fsvm_cli.data.phrases import nearest, shown
from fsvm_cli.errors import DataError, UsageError
from fsvm_cli.magnitudes import binary_exponents
from fsvm_cli.terminal import brief

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fsvm_cli.data.given_splits import GivenSplit
    from fsvm_cli.data.spec import TableSpec

MAX_CLASSES = 100
CLASSES_BEYOND_DOUBT = 20
MAX_WORDS = 100


def dataset_from_table(
    name: str, table: pa.Table, spec: TableSpec, own_target: str | None = None, part: str | None = None
) -> Dataset:
    """Turn columns into features and classes.

    Numbers and truth values become features; so do words, one feature ``column=word`` each, where the spec says so.
    Classes are in the order of their numbers, or else of the alphabet.

    Parameters
    ----------
    name : str
        For the data set and in errors.
    table : pyarrow.Table
        The columns.
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
        If values are missing or not usable as they are; with the columns and what can be done.
    """
    _check_names(name, table, spec)
    target = _find_target(name, table, spec, own_target)
    if part is not None:
        _check_part(name, table, part, target)
    left_out = {target, part, *spec.drop}
    features = table.select([column for column in table.column_names if column not in left_out])
    table, features = _without_missing(name, table, features, target, spec)
    classes, y = _encode_target(name, target, table.column(target))
    encoded = _encode_features(name, features, spec)
    if not encoded:
        raise DataError(f"{name}: no columns are left beside the target '{brief(target)}'")
    sources, feature_names, columns = zip(*encoded, strict=True)
    X = np.column_stack(columns)
    split = None if part is None else _split_by(name, table.column(part), y, classes)
    return Dataset(
        name=name,
        X=X,
        y=y,
        feature_names=feature_names,
        class_names=classes,
        sha256=hash_values(X, y, split),
        train_indices=split[0] if split else None,
        test_indices=split[1] if split else None,
        source_columns=None if sources == feature_names else sources,
    )


def _check_names(name: str, table: pa.Table, spec: TableSpec) -> None:
    repeated = [f"'{column}'" for column, count in Counter(table.column_names).items() if count > 1]
    if repeated:
        raise DataError(f"{name}: column names stand more than once: {shown(repeated)}; make them distinct")
    if "" in table.column_names and "" not in spec.drop:
        raise DataError(
            f"{name}: column {table.column_names.index('') + 1} has no name; name it, or drop it (drop: [''], or "
            "--drop '') if it only numbers the rows"
        )
    if table.num_rows == 0:
        raise DataError(f"{name}: holds no rows")


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


def _split_by(name: str, column: pa.ChunkedArray, y: NDArray[np.int64], classes: Sequence[str]) -> GivenSplit:
    split = split_by_words(column.to_pylist())
    try:
        check_parts(*split, y, classes)
    except ValueError as error:
        raise DataError(f"{name}: {error}") from None
    return split


def _find_target(name: str, table: pa.Table, spec: TableSpec, own_target: str | None) -> str:
    target = spec.target or own_target
    if target is None:
        raise UsageError(
            f"{name}: say which column holds the class (target: NAME, or --target NAME); there are: "
            f"{shown(table.column_names)}"
        )
    for column in (target, *spec.drop):
        if column not in table.column_names:
            raise UsageError(f"{name}: there is no column '{brief(column)}'; {nearest(column, table.column_names)}")
    if target in spec.drop:
        raise UsageError(f"{name}: the target '{brief(target)}' cannot be dropped as well")
    return target


def _without_missing(
    name: str, table: pa.Table, features: pa.Table, target: str, spec: TableSpec
) -> tuple[pa.Table, pa.Table]:
    """Apply the rule for missing values; NaN counts as missing."""
    holes = {column: _is_missing(table.column(column)) for column in [target, *features.column_names]}
    counts = {column: int(missing.sum()) for column, missing in holes.items() if missing.any()}
    if not counts:
        return table, features
    found = shown([f"'{column}' ({count})" for column, count in counts.items()])
    if spec.missing == "refuse":
        raise DataError(
            f"{name}: missing values in {_n_rows(holes)} of {table.num_rows} rows; by column: {found}\n"
            "Drop these rows (missing: drop, or --missing drop) or put the column's mean (missing: mean)."
        )
    if spec.missing == "drop":
        complete = pa.array(~np.any(list(holes.values()), axis=0))
        table, features = table.filter(complete), features.filter(complete)
        if table.num_rows == 0:
            raise DataError(f"{name}: every row has a missing value; by column: {found}")
        return table, features
    if target in counts:
        raise DataError(f"{name}: the class is missing in {counts[target]} rows; drop them (missing: drop)")
    for column in counts:
        values = features.column(column)
        if not _is_number(values.type) or holes[column].all():
            raise DataError(
                f"{name}: column '{brief(column)}' has missing values and no mean; drop the column or the rows"
            )
        floats = _to_floats(values)
        exponent = binary_exponents(np.nanmax(np.abs(floats)))
        # In such units the sum does not overflow.
        mean = np.ldexp(np.nanmean(np.ldexp(floats, exponent)), -exponent)
        filled = np.where(holes[column], mean, floats)
        features = features.set_column(features.column_names.index(column), column, pa.array(filled))
    return table, features


def _n_rows(holes: dict[str, NDArray[np.bool_]]) -> int:
    return int(np.any(list(holes.values()), axis=0).sum())


def _is_missing(column: pa.ChunkedArray) -> NDArray[np.bool_]:
    return np.asarray(pc.is_null(column, nan_is_null=pa.types.is_floating(column.type)).to_numpy())


def _is_number(kind: pa.DataType) -> bool:
    types = pa.types
    return any(test(kind) for test in (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal))


def _to_floats(column: pa.ChunkedArray) -> NDArray[np.float64]:
    if pa.types.is_boolean(column.type):
        column = column.cast(pa.int8())
    return np.asarray(column.cast(pa.float64(), safe=False).to_numpy(), dtype=np.float64)


def _words(column: pa.ChunkedArray) -> NDArray[np.str_] | None:
    """Give the column's values as words, or None where they are neither words nor coded words."""
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
        return None
    return np.asarray(column.cast(pa.string()).to_pylist(), dtype=np.str_)


def _encode_target(name: str, target: str, column: pa.ChunkedArray) -> tuple[tuple[str, ...], NDArray[np.int64]]:
    if pa.types.is_integer(column.type):
        # As integers, of which floating-point numbers cannot tell all apart.
        values, y = np.unique(column.to_numpy(), return_inverse=True)
        classes = tuple(map(str, values.tolist()))
    elif _is_number(column.type):
        values, y = np.unique(_to_floats(column), return_inverse=True)
        classes = tuple(np.format_float_positional(value, trim="-") for value in values)
    else:
        words = _words(column)
        if words is None:
            raise DataError(f"{name}: the target '{brief(target)}' holds {column.type}, not classes")
        values, y = np.unique(words, return_inverse=True)
        classes = tuple(values.tolist())
    n_classes = len(classes)
    if n_classes > MAX_CLASSES or CLASSES_BEYOND_DOUBT < n_classes > len(column) / 2:
        raise DataError(
            f"{name}: the target '{brief(target)}' has {n_classes} distinct values in {len(column)} rows; "
            "this looks like a measurement, not a class"
        )
    return classes, y.astype(np.int64)


def _encode_features(name: str, features: pa.Table, spec: TableSpec) -> list[tuple[str, str, NDArray[np.float64]]]:
    """List the features: the column that each comes from, its name, its values."""
    encoded: list[tuple[str, str, NDArray[np.float64]]] = []
    refused: list[str] = []
    for column_name, column in zip(features.column_names, features.columns, strict=True):
        if _is_number(column.type):
            numbers = _to_floats(column)
            if pa.types.is_integer(column.type) and len(pc.unique(column)) > len(np.unique(numbers)):
                raise DataError(
                    f"{name}: column '{column_name}' holds integers so large that floating-point numbers cannot tell "
                    "them apart; drop it if it only names the rows, or subtract what they have in common"
                )
            encoded.append((column_name, column_name, numbers))
            continue
        words = _words(column)
        if words is None:
            raise DataError(f"{name}: column '{column_name}' holds {column.type}, not numbers; drop it")
        values, codes = np.unique(words, return_inverse=True)
        odd = _odd_words(values.tolist())
        if len(values) > MAX_WORDS or (odd and spec.categorical == "refuse"):
            n_rows = int(np.isin(values[codes], odd).sum())
            raise DataError(f"{name}: column '{column_name}' holds {_not_numbers(values.tolist(), odd, n_rows)}")
        refused.append(f"'{column_name}' ({shown(values.tolist())})")
        encoded += [
            (column_name, f"{column_name}={value}", (codes == code).astype(np.float64))
            for code, value in enumerate(values.tolist())
        ]
    if refused and spec.categorical == "refuse":
        raise DataError(
            f"{name}: columns of words: {'; '.join(refused[:3])}\n"
            "Turn each word into a feature (categorical: one-hot, or --categorical one-hot), or drop the columns."
        )
    return encoded


def _not_numbers(values: list[str], odd: list[str], n_rows: int) -> str:
    """Say what keeps a column of distinct `values` from being one of numbers, and what can be done."""
    if not odd:
        return f"{len(values)} different words, such as {values[0]!r}; drop it"
    found = f"numbers and, in {n_rows} rows, words: {shown(list(map(repr, odd)))}"
    others = "" if len(values) > MAX_WORDS else ", or take each value as a word (--categorical one-hot)"
    return f"{found}; mend the numbers that are none, drop the column{others}"


def _odd_words(values: list[str]) -> list[str]:
    """List the words in a column most of whose different words are numbers; empty where it is one of words."""
    words = [value for value in values if not _reads_as_number(value)]
    return words if 2 * len(words) < len(values) else []


def _reads_as_number(value: str) -> bool:
    try:
        float(value)
    except ValueError:
        return False
    return True
