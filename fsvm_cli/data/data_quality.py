"""Data-quality warnings: columns and rows of a table that should be looked at before its features are ranked."""

from __future__ import annotations

import math
import shlex
from collections import Counter, defaultdict
from typing import TYPE_CHECKING

import numpy as np

from fsvm_cli.console import brief
from fsvm_cli.data.messages import shown
from fsvm_cli.numerics import row_blocks

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

MIN_ROWS = 10
"""Smaller tables get no warnings: what is unusual in them is so by chance."""
USUAL_FOLDS = 5
MAX_RANGE_PER_ROW = 1.1
"""Range of a row number, divided by the number of rows: some rows may have been removed."""
MIN_GROUPS = 10
"""Fewer distinct values are not reported as possible groups."""
CODES_FOR_MISSING = tuple(
    sign * digit * ones for ones in (11, 111, 1111, 11111) for digit in (8, 9) for sign in (1, -1)
)
"""Numbers that stand for a missing value in many tables, such as -999 and 99; with 9 and -9."""
NEARLY_SEPARATING_AREA = 0.975
"""Area under the receiver operating characteristic of one column, for a class against the rest, from which on it is a
suspect."""
MAX_NEAR_SEPARATORS = 3
"""Where more columns than these, and than a twentieth, nearly separate the classes, they are measurements."""
MAX_IDENTIFIERS = 3
"""Where more columns than these hold another whole number in every row, only those count that do not by chance."""
MAX_CHANCE_PROBABILITY = 0.05
"""Familywise, over all columns: the probability that a column independent of the classes separates them."""


def data_quality_warnings(  # noqa: PLR0917 - the parts of a data set
    X: NDArray[np.float64],
    y: NDArray[np.int64],
    feature_names: Sequence[str],
    source_columns: Sequence[str],
    class_names: Sequence[str],
    groups: NDArray[np.int64] | None = None,
) -> tuple[str, ...]:
    """Return warnings about columns and rows to check before features are ranked, each with a remedy.

    Parameters
    ----------
    X : ndarray, shape (n_samples, n_features)
    y : ndarray of int, shape (n_samples,)
        Class codes.
    feature_names : sequence of str
    source_columns : sequence of str
        For each feature, the column that it comes from; a column of words is several features.
    class_names : sequence of str
    groups : ndarray of int, shape (n_samples,), optional
        Rows that belong together may repeat: they stay together.

    Returns
    -------
    tuple of str
        One line for each kind of warning.
    """
    if len(y) < MIN_ROWS:
        return ()
    names, columns = _with_words_as_codes(X, feature_names, source_columns)
    least, most = columns.min(axis=0), columns.max(axis=0)
    constant = least == most
    numbering, identifying = _identifiers(columns, least, most, constant)
    renaming, separating = _class_separators(columns, y, len(class_names))
    separating &= ~numbering
    identifying &= ~(renaming | separating)
    told = constant | numbering | renaming | separating
    areas = _areas(columns, y, len(class_names), ~told)
    grouping = _group_numbers(columns, y, ~(constant | numbering | identifying | renaming | separating))
    found = (
        ("numbers the rows", numbering, "if the rows are sorted by class, it tells the class; drop it"),
        ("the class under another name", renaming, "drop it"),
        ("alone separates the classes perfectly", separating, "drop it if it is known only when the class is"),
        ("another whole number in every row", identifying, "drop it if it names the rows"),
    )
    lines = [_about(what, [names[j] for j in np.flatnonzero(which).tolist()], remedy) for what, which, remedy in found]
    lines += [_about_areas(names, areas), _about_codes_for_missing(names, columns, ~constant)]
    lines.append(_about_groups([names[j] for j in np.flatnonzero(grouping).tolist()]))
    lines.append(_about_repeated_columns(names, columns, ~constant & ~renaming))
    if constant.any():
        lines.append(constant_features([names[j] for j in np.flatnonzero(constant).tolist()]))
    lines += [_about_classes(y, class_names), _about_repeated_rows(X, y, groups)]
    return tuple(line for line in lines if line)


def constant_features(names: Sequence[str]) -> str:
    """Return the warning about constant features."""
    return f"constant, and so without information: {shown(names)}"


def _with_words_as_codes(
    X: NDArray[np.float64], feature_names: Sequence[str], source_columns: Sequence[str]
) -> tuple[list[str], NDArray[np.float64]]:
    """Replace the one-hot features of each column of words by one column of codes."""
    if tuple(feature_names) == tuple(source_columns):
        return list(feature_names), X
    features: dict[str, list[int]] = defaultdict(list)
    for feature, column in enumerate(source_columns):
        features[column].append(feature)
    is_number = [source_columns[own[0]] == feature_names[own[0]] for own in features.values()]
    columns = [
        X[:, own[0]] if number else X[:, own].argmax(axis=1).astype(np.float64)
        for own, number in zip(features.values(), is_number, strict=True)
    ]
    return list(features), np.column_stack(columns)


def _identifiers(
    columns: NDArray[np.float64], least: NDArray[np.float64], most: NDArray[np.float64], constant: NDArray[np.bool_]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Find the columns that number the rows, in any order, and others of different whole numbers.

    Where most columns hold different whole numbers, they are measurements.
    """
    n_rows, n_columns = columns.shape
    numbering, identifying = np.zeros(n_columns, dtype=np.bool_), np.zeros(n_columns, dtype=np.bool_)
    with np.errstate(over="ignore"):  # an infinite range is a large one
        ranges = most - least
    for j in np.flatnonzero(~constant & (ranges >= n_rows - 1)):
        values = columns[:, j]
        if (values[:100] == np.rint(values[:100])).all() and (values == np.rint(values)).all():
            identifying[j] = np.unique(values).size == n_rows
            numbering[j] = identifying[j] and ranges[j] <= MAX_RANGE_PER_ROW * n_rows
    is_one = identifying & ~numbering
    if 2 * is_one.sum() > n_columns > 2:
        is_one[:] = False
    elif is_one.sum() > MAX_IDENTIFIERS:
        # The probability that as many draws from so wide a range all differ is below exp(-n (n - 1) / 2 / range).
        log_chance = math.log(n_columns) - n_rows * (n_rows - 1) / 2 / (ranges + 1)
        is_one &= log_chance <= math.log(MAX_CHANCE_PROBABILITY)
    return numbering, is_one


def _class_separators(
    columns: NDArray[np.float64], y: NDArray[np.int64], n_classes: int
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Find the columns that are the class under another name, and those whose thresholds separate all classes."""
    least, most = (np.full((n_classes, columns.shape[1]), limit) for limit in (np.inf, -np.inf))
    for rows in row_blocks(*columns.shape):
        for code in np.unique(y[rows]):
            own = columns[rows][y[rows] == code]
            least[code], most[code] = np.minimum(least[code], own.min(axis=0)), np.maximum(most[code], own.max(axis=0))
    order = np.argsort(least, axis=0, kind="stable")
    ends, begins = np.take_along_axis(most, order, axis=0)[:-1], np.take_along_axis(least, order, axis=0)[1:]
    separating = (ends < begins).all(axis=0)
    renaming = separating & (least == most).all(axis=0)
    # Of all assignments of the rows to classes of these sizes, n_classes! have each class in one block.
    log_ways = math.lgamma(len(y) + 1) - sum(math.lgamma(count + 1) for count in np.bincount(y))
    log_chance = math.log(columns.shape[1]) + math.lgamma(n_classes + 1) - log_ways
    beyond_chance = log_chance <= math.log(MAX_CHANCE_PROBABILITY)
    return renaming, separating & ~renaming & beyond_chance


def _areas(
    columns: NDArray[np.float64], y: NDArray[np.int64], n_classes: int, considered: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Return the largest area under the ROC of each column, of any class against the rest; 0 where it may be chance.

    The bound is Hoeffding's for the statistic of Mann and Whitney, which takes the smaller class for the number of
    independent pairs: exp(-2 m (A - 1/2)^2), for all columns, classes and both directions.
    """
    n_rows, n_columns = columns.shape
    areas = np.zeros(n_columns)
    counts = np.bincount(y, minlength=n_classes)
    n_tests = 2 * n_columns * (n_classes if n_classes > 2 else 1)
    for j in np.flatnonzero(considered):
        _, places, n_equal = np.unique(columns[:, j], return_inverse=True, return_counts=True)
        ranks = (np.cumsum(n_equal) - (n_equal - 1) / 2)[places]  # of equal values the mean, counted from 1
        for code in range(n_classes if n_classes > 2 else 1):
            n_own, n_other = int(counts[code]), n_rows - int(counts[code])
            if n_own == 0 or n_other == 0:
                continue
            area = (ranks[y == code].sum() - n_own * (n_own + 1) / 2) / (n_own * n_other)
            area = max(area, 1 - area)
            log_chance = math.log(n_tests) - 2 * min(n_own, n_other) * (area - 0.5) ** 2
            if log_chance <= math.log(MAX_CHANCE_PROBABILITY):
                areas[j] = max(areas[j], area)
    return areas


def _group_numbers(
    columns: NDArray[np.float64], y: NDArray[np.int64], considered: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Find the columns of whole numbers that repeat, each in rows of one class, as those of patients do."""
    n_rows, n_columns = columns.shape
    found = np.zeros(n_columns, dtype=np.bool_)
    log_shares = np.log(np.bincount(y) / n_rows)
    for j in np.flatnonzero(considered):
        values = columns[:, j]
        if (values[:100] != np.rint(values[:100])).any() or (values != np.rint(values)).any():
            continue
        distinct, group = np.unique(values, return_inverse=True)
        if not MIN_GROUPS <= len(distinct) <= n_rows / 2:
            continue
        class_of_group = np.zeros(len(distinct), dtype=np.int64)
        class_of_group[group] = y
        if (class_of_group[group] == y).all():
            # The probability that the rows of each value have one common class, if classes are drawn independently.
            log_chances = np.logaddexp.reduce(np.bincount(group)[:, None] * log_shares, axis=1)
            found[j] = math.log(n_columns) + log_chances.sum() <= math.log(MAX_CHANCE_PROBABILITY)
    return found


def _about_groups(names: Sequence[str]) -> str:
    if not names:
        return ""
    option = f" (groups: {brief(names[0])}, or --groups {shlex.quote(brief(names[0]))})"
    return (
        f"suspect, each value is in rows of one class alone: {shown([_quoted(name) for name in names])}; where it "
        "tells which rows belong together, such as those of a patient, name it"
        f"{option}: random splits have them on both sides"
    )


def _about_areas(names: Sequence[str], areas: NDArray[np.float64]) -> str:
    near = np.flatnonzero(areas >= NEARLY_SEPARATING_AREA)
    if not len(near) or len(near) > max(MAX_NEAR_SEPARATORS, len(names) / 20):
        return ""
    listed = [f"{_quoted(names[j])} (AUC {math.floor(1e4 * areas[j]) / 1e4:.4g})" for j in near.tolist()]
    return f"suspect, alone nearly separates a class: {shown(listed)}; drop it if it is known only when the class is"


def _about_codes_for_missing(names: Sequence[str], columns: NDArray[np.float64], considered: NDArray[np.bool_]) -> str:
    """Find numbers such as -999 that lie farther from all others than these from each other."""
    found = []
    for j in np.flatnonzero(considered).tolist():
        values = columns[:, j]
        for end in (float(values.min()), float(values.max())):
            if end not in CODES_FOR_MISSING and abs(end) != 9:
                continue
            others = values[values != end]
            if np.abs(others - end).min() > others.max() - others.min():
                found.append((j, end, int(np.sum(values == end))))
    if not found:
        return ""
    listed = [f"{_quoted(names[j])} ({end:g} in {count} rows)" for j, end, count in found]
    codes = sorted({f"{end:g}" for _, end, _ in found})
    return (
        f"suspect, far from all other numbers, as codes for a missing value are: {shown(listed)}; where it is one, say "
        f"so (na: {codes[0]}, or --na {codes[0]}), and what is to be done (missing: median)"
    )


def _about(what: str, names: Sequence[str], remedy: str) -> str:
    if not names:
        return ""
    is_short = len(names) <= 3 and not any("," in name for name in names)
    option = f" (--drop {shlex.quote(brief(','.join(names)))})" if is_short else ""
    return f"suspect, {what}: {shown([_quoted(name) for name in names])}; {remedy}{option}"


def _quoted(name: str) -> str:
    return f"'{brief(name)}'"


def _about_repeated_columns(names: Sequence[str], columns: NDArray[np.float64], considered: NDArray[np.bool_]) -> str:
    first: dict[int, list[int]] = defaultdict(list)
    pairs = []
    for j in np.flatnonzero(considered).tolist():
        alike = first[hash((columns[:, j] + 0.0).tobytes())]
        same = next((i for i in alike if np.array_equal(columns[:, i], columns[:, j])), None)
        if same is None:
            alike.append(j)
        else:
            pairs.append(f"{_quoted(names[j])} is {_quoted(names[same])}")
    return f"suspect, columns that repeat another: {shown(pairs)}; keep one of each" if pairs else ""


def _about_classes(y: NDArray[np.int64], class_names: Sequence[str]) -> str:
    counts = np.bincount(y, minlength=len(class_names)).tolist()
    small = [
        f"{_quoted(name)} ({count})" for name, count in zip(class_names, counts, strict=True) if count < USUAL_FOLDS
    ]
    if not small:
        return ""
    return (
        f"classes of fewer than {USUAL_FOLDS} rows: {shown(small)}; {USUAL_FOLDS} folds are more, and a split can "
        "leave a part without them: put them together with others, or leave them out"
    )


def _about_repeated_rows(X: NDArray[np.float64], y: NDArray[np.int64], groups: NDArray[np.int64] | None) -> str:
    """Count rows that repeat an earlier one of another group, and those of them that have another class."""
    hashes = np.fromiter(_hashes(X), dtype=np.int64, count=len(y))
    _, alike, n_alike = np.unique(hashes, return_inverse=True, return_counts=True)
    repeated = np.flatnonzero(n_alike[alike] > 1)
    classes: dict[int, Counter[int]] = defaultdict(Counter)
    seen = set()
    of_group = repeated if groups is None else groups[repeated]
    for row, group, code in zip(alike[repeated].tolist(), of_group.tolist(), y[repeated].tolist(), strict=True):
        if (row, group) not in seen:
            seen.add((row, group))
            classes[row][code] += 1
    n_repeated = len(seen) - len(classes)
    if not n_repeated:
        return ""
    n_contrary = sum(counts.total() - max(counts.values()) for counts in classes.values())
    contrary = f", {n_contrary} of them with another class" if n_contrary else ""
    remedy = (
        "keep one, or name the column that tells the cases apart (groups: COLUMN, or --groups COLUMN)"
        if groups is None
        else "keep one, or give them one group"
    )
    return (
        f"{n_repeated} rows repeat an earlier row{contrary}; where they are the same case, {remedy}: random splits "
        "have the case on both sides, and accuracy is too high"
    )


def _hashes(X: NDArray[np.float64]) -> Iterator[int]:
    for rows in row_blocks(*X.shape):
        yield from (hash(row.tobytes()) for row in X[rows] + 0.0)
