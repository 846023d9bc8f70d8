"""The training and the test part of a data set: random splits of its rows, and the samples of the two parts."""

from __future__ import annotations

import functools
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import sparse

from fsvm_cli.numerics import read_only

if TYPE_CHECKING:
    from numpy.typing import NDArray

RANDOM_GROUP_ORDERS = 10
"""Random orders of the groups, of which the one is taken that shares the classes out best."""


@dataclass(frozen=True)
class Split:
    """Rows of the two parts.

    Attributes
    ----------
    train, test : ndarray of int
        Row indices, disjoint, in random order.
    """

    train: NDArray[np.intp]
    test: NDArray[np.intp]


def count_rows(part: Fraction | int, n_samples: int) -> int:
    """Turn a part of the data into a number of rows.

    Parameters
    ----------
    part : Fraction or int
        A number of rows, or a fraction of them, rounded down.
    n_samples : int
        Rows of the data set.
    """
    return int(part * n_samples) if isinstance(part, Fraction) else part


def random_split(n_samples: int, n_train: int, n_test: int, rng: np.random.Generator) -> Split:
    """Draw a split without replacement.

    Training parts of different sizes drawn from the same stream are nested, and their test parts overlap as much as
    they can, so that the points of a learning curve are compared on like data.

    Parameters
    ----------
    n_samples : int
        Rows of the data set.
    n_train, n_test : int
        Rows of the two parts, each at least 1, together at most `n_samples`.
    rng : numpy.random.Generator
        The split's own stream.

    Raises
    ------
    ValueError
        If a part would be empty or the parts would overlap.
    """
    _check_sizes(n_samples, n_train, n_test)
    order = rng.permutation(n_samples)
    return Split(train=order[:n_train], test=order[n_samples - n_test :])


def stratified_split(y: NDArray[np.integer], n_train: int, n_test: int, rng: np.random.Generator) -> Split:
    """Draw a split without replacement whose parts have the shares of the classes of all rows, each to about a row.

    The rows of each class, in random order, are spread evenly over the unit interval; the training part is the
    beginning of it, the test part its end. Parts of different sizes are nested as those of `random_split`.

    Parameters
    ----------
    y : ndarray of int, shape (n_samples,)
        Class codes.
    n_train, n_test : int
        Rows of the two parts, each at least 1, together at most `n_samples`.
    rng : numpy.random.Generator
        The split's own stream.

    Raises
    ------
    ValueError
        If a part would be empty or the parts would overlap.
    """
    _check_sizes(len(y), n_train, n_test)
    _, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
    place = np.empty(len(y))
    for code, count in enumerate(counts):
        place[rng.permutation(np.flatnonzero(codes == code))] = (np.arange(count) + rng.random()) / count
    order = np.argsort(place, kind="stable")
    return Split(train=rng.permutation(order[:n_train]), test=rng.permutation(order[len(y) - n_test :]))


def random_group_split(
    y: NDArray[np.integer],
    groups: NDArray[np.integer],
    n_train: int,
    n_test: int,
    rng: np.random.Generator | np.random.RandomState,
) -> Split:
    """Draw a split in which all rows of a group are on one side.

    The groups are put in a random order; the first make up the training part, the last the test part, each with as near
    to its number of rows as whole groups allow. Of ten such orders the one is taken whose training part has the shares
    of the classes nearest to those of all rows, so that small classes are seldom missing from a part. Where the parts
    ask for all rows, no group is left out.

    Parameters
    ----------
    y : ndarray of int, shape (n_samples,)
        Class codes.
    groups : ndarray of int, shape (n_samples,)
        At least two different ones.
    n_train, n_test : int
        Rows of the two parts, each at least 1, together at most `n_samples`.
    rng : numpy.random.Generator or RandomState
        The split's own stream.

    Raises
    ------
    ValueError
        If there is one group only, a part would be empty, or the parts would overlap.
    """
    _, codes, sizes = np.unique(groups, return_inverse=True, return_counts=True)
    if len(sizes) < 2:
        raise ValueError("all rows are of one group; a split needs two groups")
    _check_sizes(len(y), n_train, n_test)
    _, classes = np.unique(y, return_inverse=True)
    by_group = np.zeros((len(sizes), classes.max() + 1))
    np.add.at(by_group, (codes, classes), 1)
    shares = by_group.sum(axis=0) / len(y)
    found = []
    for _ in range(RANDOM_GROUP_ORDERS):
        order = rng.permutation(len(sizes))
        n_first = _nearest_prefix(sizes[order], n_train, len(sizes) - 1)
        in_training = by_group[order[:n_first]].sum(axis=0)
        distance = float(np.square(in_training / in_training.sum() - shares).sum())
        found.append((distance, n_first, order))
    _, n_first, order = min(found, key=lambda each: each[0])
    n_last = len(order) - n_first
    if n_train + n_test < len(y):
        n_last = _nearest_prefix(sizes[order[::-1]], n_test, n_last)
    train, test = (np.flatnonzero(np.isin(codes, part)) for part in (order[:n_first], order[len(order) - n_last :]))
    return Split(train=rng.permutation(train), test=rng.permutation(test))


def _check_sizes(n_samples: int, n_train: int, n_test: int) -> None:
    if n_train < 1 or n_test < 1 or n_train + n_test > n_samples:
        raise ValueError(f"{n_train} training and {n_test} test rows cannot be drawn from {n_samples} rows")


def drawn_split(
    y: NDArray[np.integer],
    groups: NDArray[np.integer] | None,
    n_train: int,
    n_test: int,
    rng: np.random.Generator,
    *,
    stratified: bool = False,
) -> Split:
    """Draw a split by rows, by rows with equal shares of the classes, or by groups where rows belong together.

    Parameters
    ----------
    y : ndarray of int, shape (n_samples,)
        Class codes.
    groups : ndarray of int, shape (n_samples,), or None
    n_train, n_test : int
        Rows of the two parts, each at least 1, together at most `n_samples`.
    rng : numpy.random.Generator
        The split's own stream.
    stratified : bool, optional
        Of no account for groups, whose split shares the classes out as well as groups allow.
    """
    if groups is not None:
        return random_group_split(y, groups, n_train, n_test, rng)
    return stratified_split(y, n_train, n_test, rng) if stratified else random_split(len(y), n_train, n_test, rng)


def _nearest_prefix(sizes: NDArray[np.intp], n_rows: int, most: int) -> int:
    """Count the first groups, 1 to `most`, whose rows are together nearest to a number; of equals the fewest."""
    return 1 + int(np.argmin(np.abs(np.cumsum(sizes[:most]) - n_rows)))


class LabelledRows(NamedTuple):
    """Samples, their classes, and their groups."""

    X: NDArray[np.float64]
    y: NDArray[np.intp]
    groups: NDArray[np.int64] | None


@dataclass(frozen=True, eq=False)
class Parts:
    """The two parts of a split, scaled by statistics of the training part.

    Attributes
    ----------
    X_train, X_test : ndarray, shape (n_rows, n_features)
        Views that cannot be written to, like all here.
    y_train, y_test : ndarray of int, shape (n_rows,)
    groups_train, groups_test : ndarray of int, shape (n_rows,), or None
        Rows with the same number belong together.
    weights_train : ndarray, shape (n_rows,), or None
        How many equal rows each one stands for in training.
    """

    X_train: NDArray[np.float64]
    y_train: NDArray[np.intp]
    X_test: NDArray[np.float64]
    y_test: NDArray[np.intp]
    groups_train: NDArray[np.int64] | None = None
    groups_test: NDArray[np.int64] | None = None
    weights_train: NDArray[np.float64] | None = None

    def __post_init__(self) -> None:
        # What one method writes into its samples, all others would read.
        for each in fields(self):
            object.__setattr__(self, each.name, read_only(getattr(self, each.name)))

    def training_rows(self) -> LabelledRows:
        """Return the training part."""
        return LabelledRows(self.X_train, self.y_train, self.groups_train)

    def all_rows(self) -> LabelledRows:
        """Return both parts as one sample."""
        stack = functools.partial(sparse.vstack, format="csr") if sparse.issparse(self.X_train) else np.vstack
        are_grouped = self.groups_train is not None and self.groups_test is not None
        return LabelledRows(
            stack([self.X_train, self.X_test]),
            np.concatenate([self.y_train, self.y_test]),
            np.concatenate([self.groups_train, self.groups_test]) if are_grouped else None,
        )
