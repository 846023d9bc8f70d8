"""Splits that come with data, listed in a file or given by a column, and groups of rows that stay together."""

from __future__ import annotations

import math
from datetime import datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from fsvm_cli.console import brief
from fsvm_cli.data.messages import nearest, of_column
from fsvm_cli.data.readers.words import alike
from fsvm_cli.data.table_memory import check_memory_for_text
from fsvm_cli.errors import DataError, UsageError
from fsvm_cli.files import special_kind

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from pathlib import Path

    import pyarrow as pa
    from numpy.typing import NDArray

    from fsvm_cli.data.dataset import Dataset
    from fsvm_cli.data.messages import TableIssue


def check_column_beside(
    name: str, column: str, purpose: str, columns: Collection[str], taken: Collection[str | None]
) -> None:
    """Check that a column can hold groups, or the order or the weights of the rows.

    Parameters
    ----------
    name : str
        Of the data set, for the message.
    column : str
    purpose : {"group", "order", "weigh"}
        What it does to the rows.
    columns : collection of str
        Those of the table.
    taken : collection of str or None
        Columns with another role: the target, the column that splits the rows.

    Raises
    ------
    UsageError
        If there is no such column, or it has another role.
    """
    if column not in columns:
        raise UsageError(f"{name}: there is no column '{brief(column)}' to {purpose} by; {nearest(column, [*columns])}")
    if column in taken:
        raise UsageError(
            f"{name}: the column '{brief(column)}' is the target, or tells training from test rows; "
            f"{'groups need a column of their own' if purpose == 'group' else 'the order needs a column of its own'}"
        )


def group_codes(column: pa.ChunkedArray, name: str, issues: list[TableIssue]) -> NDArray[np.int64]:
    """Return a number for each row: that of its group, in order of appearance.

    Parameters
    ----------
    column : pyarrow.ChunkedArray
        No value of it missing.
    name : str
        Of the column.
    issues : list of TableIssue
        Gets one more where all rows are of one group, or nobody would tell the names of two apart.
    """
    coded = column.combine_chunks().dictionary_encode()
    codes = np.asarray(coded.indices.fill_null(-1).to_numpy(), dtype=np.int64)
    if several := alike([str(word) for word in coded.dictionary.to_pylist()], codes[codes >= 0]):
        what = (
            f"names groups that differ by capitals, inner blanks or forms of letters alone: {several}; write each in "
            "one way, so that its rows stay together, or number the groups where they are different ones"
        )
        issues.append(of_column(name, what))
    if codes.max(initial=0) == 0:
        what = (
            "holds a single group; rows of one group stay together, so that a split needs two: name another column "
            "(groups: COLUMN), or leave the groups out"
        )
        issues.append(of_column(name, what))
    return codes


def order_codes(column: pa.ChunkedArray, name: str, issues: list[TableIssue]) -> NDArray[np.int64]:
    """Return the place of each row in the order of a column, from 0; rows of equal values have the same place.

    Parameters
    ----------
    column : pyarrow.ChunkedArray
        Numbers, dates, times, or words that are all numbers, all dates as 2024-01-31 (with a time, too), or all as
        31.01.2024; no value of it missing.
    name : str
        Of the column.
    issues : list of TableIssue
        Gets one more where the values have no order.
    """
    values = column.to_pylist()
    if any(isinstance(value, str) for value in values):
        values = next((read for parse in PARSERS if (read := _all_parsed(values, parse)) is not None), [])
    try:
        ascending = sorted(set(values))
    except TypeError:  # such as times with and without a zone
        ascending = []
    if not ascending and len(column):
        what = "orders no rows: write all values as numbers, or all as dates like 2024-01-31 or 31.01.2024"
        issues.append(of_column(name, what))
        return np.zeros(len(column), dtype=np.int64)
    if len(ascending) == 1:
        issues.append(of_column(name, "orders no rows: all values are the same"))
    places = {value: place for place, value in enumerate(ascending)}
    return np.array([places[value] for value in values], dtype=np.int64)


def row_weights(column: pa.ChunkedArray, name: str, issues: list[TableIssue]) -> NDArray[np.float64]:
    """Return the weight of each row.

    Parameters
    ----------
    column : pyarrow.ChunkedArray
        No value of it missing.
    name : str
        Of the column.
    issues : list of TableIssue
        Gets one more where the values are no finite numbers >= 0, or all are 0. All weights are 1 then.
    """
    wanted = "write a number >= 0 in each row, and above 0 in some"
    try:
        weights = np.array([float(value) for value in column.to_pylist()], dtype=np.float64)
    except (TypeError, ValueError):
        issues.append(of_column(name, f"weighs no rows, since it holds no numbers: {wanted}"))
        return np.ones(len(column))
    if not (np.isfinite(weights).all() and (weights >= 0).all()):
        issues.append(of_column(name, f"weighs no rows, since a value is negative or infinite: {wanted}"))
        return np.ones(len(column))
    if len(column) and not weights.any():
        issues.append(of_column(name, f"weighs no rows, since all values are 0: {wanted}"))
        return np.ones(len(column))
    return weights


def _number(word: str) -> float:
    number = float(word)
    if not math.isfinite(number):
        raise ValueError(word)
    return number


def _day_first(word: str) -> datetime:
    return datetime.strptime(word, "%d.%m.%Y")


PARSERS: tuple[Callable[[str], Any], ...] = (_number, datetime.fromisoformat, _day_first)


def _all_parsed(values: Sequence[Any], parse: Callable[[str], Any]) -> list[Any] | None:
    try:
        return [parse(str(value).strip()) for value in values]
    except ValueError:
        return None


def splits_in_order(
    order: NDArray[np.int64], groups: NDArray[np.int64] | None, n_splits: int
) -> tuple[GivenSplit, ...]:
    """Divide ordered rows so that each test part comes after its training part, as with time.

    The rows are put in order, and the last of them divided into as many test parts as there are splits, one after the
    other and, with the rows before the first, of nearly the same size. All earlier rows are for training; not those of
    the same place in the order as a row for testing, nor those of a group that has one.

    Parameters
    ----------
    order : ndarray of int, shape (n_samples,)
        Place of each row; `order_codes`.
    groups : ndarray of int, shape (n_samples,), or None
    n_splits : int

    Returns
    -------
    tuple of (train, test)
        Row indices in their order.

    Raises
    ------
    ValueError
        If there are fewer rows than parts.
    """
    rows, size = np.argsort(order, kind="stable"), len(order) // (n_splits + 1)
    if not size:
        raise ValueError(
            f"{n_splits} splits in order need {n_splits + 1} rows, and there are {len(order)}; write fewer"
        )
    splits = []
    for begin in range(len(rows) - n_splits * size, len(rows), size):
        test, train = rows[begin : begin + size], rows[:begin]
        train = train[order[train] < order[test].min()]
        splits.append((train if groups is None else train[~np.isin(groups[train], groups[test])], test))
    return tuple(splits)


def check_apart(groups: NDArray[np.int64], train: NDArray[np.int64], test: NDArray[np.int64]) -> None:
    """Raise a ValueError where rows of one group are in both parts of a split that the source gives."""
    if both := np.intersect1d(groups[train], groups[test]).tolist():
        here, there = (part[groups[part] == both[0]][0] + 1 for part in (train, test))
        raise ValueError(
            f"row {here} is for training and row {there}, of the same group, for testing; put a group on one side, or "
            "leave the groups out"
        )


if TYPE_CHECKING:
    GivenSplit = tuple[NDArray[np.int64], NDArray[np.int64]]

PART_NAMES = ("train", "test")
PART_SEPARATOR = "|"


def read_splits(path: Path, dataset: Dataset, first_row: int) -> tuple[GivenSplit, ...]:
    """Read a file of splits, one a line: numbers of the training rows, and behind a ``|`` those of the test rows.

    Numbers are separated by blanks or commas. Without a ``|`` all other rows are for testing. Empty lines do not count.

    Parameters
    ----------
    path : Path
    dataset : Dataset
        Whose rows are meant.
    first_row : {0, 1}
        Number of the first row.

    Returns
    -------
    tuple of (train, test)
        Row indices from 0, in the order of the file.

    Raises
    ------
    UsageError
        If there is no memory for the file.
    DataError
        If the file cannot be read, or a line is no split of these rows; with the line.
    """
    if kind := special_kind(path):
        raise DataError(f"{brief(str(path))}: is {kind}, not a file; save the splits in a file, and name that")
    try:
        check_memory_for_text(path)
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is no text"
        raise DataError(f"{brief(str(path))}: cannot be read ({reason}); check its path") from error
    splits = []
    for number, line in enumerate(lines, start=1):
        if line.strip():
            try:
                splits.append(_split(line, dataset.n_samples, first_row))
                check_parts(*splits[-1], dataset.y, dataset.class_names, dataset.groups)
            except ValueError as error:
                raise DataError(f"{path}:{number}: {error}") from None
    if not splits:
        raise DataError(f"{path}: holds no splits; write the numbers of the training rows of each in a line")
    return tuple(splits)


def _split(line: str, n_samples: int, first_row: int) -> GivenSplit:
    """Parse a line; a ValueError describes its error."""
    written = line.split(PART_SEPARATOR)
    if len(written) > len(PART_NAMES):
        raise ValueError(f"more than one '{PART_SEPARATOR}'; write one between training and test rows")
    parts = [_rows(part, n_samples, first_row) for part in written]
    train = parts[0]
    test = parts[1] if len(parts) == len(PART_NAMES) else np.setdiff1d(np.arange(n_samples), train)
    if both := np.intersect1d(train, test).tolist():
        raise ValueError(f"row {both[0] + first_row} is in both parts; leave it out of one")
    return train, test


def _rows(part: str, n_samples: int, first_row: int) -> NDArray[np.int64]:
    rows = []
    for word in part.replace(",", " ").split():
        # int() accepts digits of other scripts and rejects very long numbers.
        if not (word.isascii() and word.isdigit() and len(word) < 16):
            raise ValueError(f"'{brief(word)}' is no number of a row; write whole numbers, with blanks between them")
        rows.append(int(word) - first_row)
    for row in rows:
        if not 0 <= row < n_samples:
            remedy = "; count from 1, or say that the file counts from 0 (first_row: 0)" if row == -1 else ""
            last = n_samples - 1 + first_row
            raise ValueError(f"there is no row {row + first_row}; the data have {first_row} to {last}{remedy}")
    found = np.array(rows, dtype=np.int64)
    values, counts = np.unique(found, return_counts=True)
    if (counts > 1).any():
        raise ValueError(f"row {values[counts > 1][0] + first_row} stands twice; write it once")
    return found


def check_parts(
    train: NDArray[np.int64],
    test: NDArray[np.int64],
    y: NDArray[np.int64],
    class_names: Sequence[str],
    groups: NDArray[np.int64] | None = None,
) -> None:
    """Raise a ValueError where no machine can be trained on one part, or nothing be tested on the other.

    So do groups that have rows in both.
    """
    if not len(test):
        raise ValueError("no row is left for testing; leave some out of the training rows")
    classes = np.unique(y[train])
    if len(classes) < 2:
        of_class = f" are all of class '{brief(class_names[classes[0]])}'" if len(classes) else " are none"
        raise ValueError(f"the training rows{of_class}; put rows of two classes there, as a machine needs")
    if groups is not None:
        check_apart(groups, train, test)


def split_by_words(words: Sequence[object]) -> GivenSplit:
    """Divide rows by the words ``train`` and ``test``, ignoring case.

    Raises
    ------
    ValueError
        With the first row, from 1, that holds any other value.
    """
    lowered = [str(word).strip().lower() for word in words]
    for row, word in enumerate(lowered, start=1):
        if word not in PART_NAMES:
            found = "is empty" if words[row - 1] is None else f"says '{brief(str(words[row - 1]))}'"
            raise ValueError(f"row {row} {found}; write train or test")
    in_training = np.array([word == PART_NAMES[0] for word in lowered], dtype=bool)
    return np.flatnonzero(in_training), np.flatnonzero(~in_training)
