"""An order of rows and columns that hangs on what they hold: not on how a table lists, mirrors or measures it."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from fsvm_cli.numerics import value_ranges

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Keys = NDArray[np.uint64]

ROUNDS = 3
"""Rows get keys from the columns, and columns from the rows, so many times. Two are enough unless columns are their own
mirror images."""
SAME_VALUE = 1e-10
"""Values of a column that differ by no more than this part of its range are one: the order of rows rounds them."""
DIGITS_OF_COPIES = 9


class ContentOrder(NamedTuple):
    """Where rows and columns go, and the columns' directions.

    Attributes
    ----------
    rows, columns : ndarray of int
        Indices into the table. Equal ones keep the order in which they stand.
    signs : ndarray of float, shape (n_features,)
        1, or -1 where a column is to be mirrored, in the order of `columns`.
    """

    rows: NDArray[np.intp]
    columns: NDArray[np.intp]
    signs: NDArray[np.float64]


def content_order(X: Any, y: NDArray[np.intp]) -> ContentOrder:
    """Order rows and columns by content, the same for a table whose rows, columns or classes are listed in another way.

    Only the order of the values within a column counts, so that an offset, a unit or rounding changes nothing, and the
    two directions of a column are told apart by the sums of its keys. Rows and columns refine each other's keys as
    nodes of a graph do in the test of Weisfeiler and Leman; keys are whole numbers, whose sums have no order.

    Parameters
    ----------
    X : ndarray or sparse matrix, shape (n_samples, n_features)
    y : ndarray of int, shape (n_samples,)
        Class codes; which rows have equal ones counts, not what they are.
    """
    by_column, column = _by_column(X)
    row, starts = by_column.indices, by_column.indptr
    place, of_zero, last = _places(by_column, column)
    rising, falling = _mixed(place), _mixed(last[column] - place)
    zero_rising, zero_falling = _mixed(of_zero), _mixed(last - of_zero)
    keys = np.zeros(X.shape[0], dtype=np.uint64)
    for _ in range(ROUNDS):
        of_class = np.zeros(y.max() + 1, dtype=np.uint64)
        np.add.at(of_class, y, _mixed(keys))
        keys = _mixed(keys + _mixed(of_class)[y])
        of_zeros = keys.sum() - _sums(keys[row], starts)
        up = _sums(rising * keys[row], starts) + zero_rising * of_zeros
        down = _sums(falling * keys[row], starts) + zero_falling * of_zeros
        # A constant column says nothing; one that is its own mirror image counts in both directions.
        colour = _mixed(np.minimum(up, down)) * (last > 0)
        rises, falls = up <= down, down <= up
        of_zero_here = zero_rising * rises + zero_falling * falls
        added = np.zeros_like(keys)
        told = rising * rises[column] + falling * falls[column] - of_zero_here[column]
        np.add.at(added, row, told * colour[column])
        keys = _mixed(keys + added + (of_zero_here * colour).sum())
    rows, signs = np.argsort(keys, kind="stable"), np.where(rises, 1.0, -1.0)
    columns = _told_apart(by_column, rows, signs, colour)
    return ContentOrder(rows, columns, signs[columns])


def steps_from_zero(X: Any) -> Any:
    """Replace each value by how many distinct ones of its column lie between it and 0.

    Trees take single precision and split halfway between two values: whole numbers and their halves are not rounded, so
    that units, offsets and the format of the table change no split.

    Parameters
    ----------
    X : ndarray or sparse matrix, shape (n_samples, n_features)

    Returns
    -------
    ndarray or CSC array, shape (n_samples, n_features)
        Negative below 0. A column without zeros counts from its smallest value.
    """
    by_column, column = _by_column(X)
    place, of_zero, _ = _places(by_column, column)
    # Trees take indices of 32 bits.
    indices, starts = by_column.indices.astype(np.int32), by_column.indptr.astype(np.int32)
    steps = sp.csc_array(((place - of_zero[column]).astype(np.float64), indices, starts), shape=X.shape)
    return steps if sp.issparse(X) else steps.toarray()


def _by_column(X: Any) -> tuple[Any, NDArray[np.intp]]:
    """Return the values that are not 0 as a CSC array, and the column of each."""
    by_column = sp.csc_array(X, copy=True)
    by_column.eliminate_zeros()
    by_column.sort_indices()
    return by_column, np.repeat(np.arange(X.shape[1]), np.diff(by_column.indptr))


def _places(by_column: Any, column: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
    """Return the place of each stored value among those of its column, and of each column of 0 and of the last."""
    n_samples, n_features = by_column.shape
    with_zeros = np.flatnonzero(np.diff(by_column.indptr) < n_samples)
    values = np.concatenate([by_column.data, np.zeros(len(with_zeros))])
    columns = np.concatenate([column, with_zeros])
    order = np.lexsort((values, columns))
    ascending, of_column = values[order], columns[order]
    begins = np.diff(of_column, prepend=-1) > 0
    with np.errstate(over="ignore"):
        is_next = np.diff(ascending, prepend=0.0) > SAME_VALUE * value_ranges(by_column)[of_column]
    steps = np.cumsum(is_next & ~begins)
    first, last = np.zeros((2, n_features), dtype=np.intp)
    first[of_column[begins]] = steps[begins]
    np.maximum.at(last, of_column, steps - first[of_column])
    places = np.empty(len(order), dtype=np.intp)
    places[order] = steps - first[of_column]
    of_zero = np.zeros(n_features, dtype=np.intp)
    of_zero[with_zeros] = places[len(column) :]
    return places[: len(column)], of_zero, last


def _sums(values: Keys, starts: NDArray[Any]) -> Keys:
    total = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(values, dtype=np.uint64)])
    return np.asarray(total[starts[1:]] - total[starts[:-1]])


def _mixed(numbers: NDArray[Any]) -> Keys:
    """Make of numbers that are near each other ones that are not, as the generator SplitMix64 does."""
    mixed = numbers.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(mixed ^ (mixed >> np.uint64(31)))


def _told_apart(by_column: Any, rows: NDArray[np.intp], signs: NDArray[np.float64], colour: Keys) -> NDArray[np.intp]:
    """Order the columns by colour, and those whose values have the same order by the values."""
    order = np.argsort(colour, kind="stable")
    begins = np.flatnonzero(np.diff(colour[order], prepend=colour[order][:1] + np.uint64(1)))
    for group in np.split(order, begins[1:]):
        if len(group) > 1:
            values = (by_column[:, group].toarray() * signs[group])[rows]
            contents = (values - values.min(axis=0)).T.tolist()
            group[:] = group[sorted(range(len(group)), key=contents.__getitem__)]
    return order


def copies(X: Any) -> NDArray[np.intp]:
    """Give the columns of a dense or CSC matrix numbers, those that are equal to within rounding the same.

    Parameters
    ----------
    X : ndarray or CSC matrix, shape (n_samples, n_features)

    Returns
    -------
    ndarray of int, shape (n_features,)
    """
    sizes, starts = np.abs(X).max(axis=0), np.arange(X.shape[1] + 1) * X.shape[0]
    if sp.issparse(X):
        sizes, starts, data, rows = sizes.toarray().ravel(), X.indptr, X.data, X.indices
    else:
        data, rows = X.T.ravel(), X[:0, 0]
    spread = np.repeat(np.where(sizes > 0, sizes, 1.0), np.diff(starts))
    # Adding 0 makes 0 of -0.
    rounded = np.round(data / spread, DIGITS_OF_COPIES) + 0.0
    contents = [
        (f"{size:.{DIGITS_OF_COPIES}e}", rounded[a:b].tobytes(), rows[a:b].tobytes())
        for size, (a, b) in zip(sizes.tolist(), itertools.pairwise(starts.tolist()), strict=True)
    ]
    numbers: dict[Any, int] = {}
    return np.array([numbers.setdefault(content, len(numbers)) for content in contents], dtype=np.intp)


def mean_of_copies(values: NDArray[np.float64], numbers: NDArray[np.intp]) -> NDArray[np.float64]:
    """Give columns that are copies, see `copies`, the mean of their values."""
    means: NDArray[np.float64] = (np.bincount(numbers, values) / np.bincount(numbers))[numbers]
    return means


def rows_by_content(
    scores: Callable[..., NDArray[np.float64]], X: Any, y: NDArray[np.intp], n_classes: int
) -> NDArray[np.float64]:
    """Return the scores of a method that draws rows: it gets them in the order of their content."""
    rows = content_order(X, y).rows
    return scores(X[rows], y[rows], n_classes, **_of_rows(scores, rows))


def table_by_content(
    scores: Callable[..., NDArray[np.float64]], X: Any, y: NDArray[np.intp], n_classes: int
) -> NDArray[np.float64]:
    """Return the scores of a method that also draws columns, or goes through them: copies get the same one.

    The method gets rows, columns and classes in the order of content, and columns in its direction.
    """
    rows, columns, signs = content_order(X, y)
    table = X[rows][:, columns]
    table = sp.csr_array(table.multiply(signs)) if sp.issparse(X) else table * signs
    found = np.empty(X.shape[1])
    found[columns] = mean_of_copies(
        scores(table, _by_appearance(y[rows]), n_classes, **_of_rows(scores, rows)),
        copies(sp.csc_array(table) if sp.issparse(X) else table),
    )
    return found


def _of_rows(scores: Callable[..., Any], rows: NDArray[np.intp]) -> dict[str, NDArray[Any]]:
    """Return what the method gets for each row, in the order of the rows."""
    given = {
        name: each[rows] for name, each in getattr(scores, "keywords", {}).items() if name in {"groups", "weights"}
    }
    return given | ({"groups": _by_appearance(given["groups"])} if "groups" in given else {})


def _by_appearance(codes: NDArray[np.intp]) -> NDArray[np.intp]:
    _, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[inverse]
