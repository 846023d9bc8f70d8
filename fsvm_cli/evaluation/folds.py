"""Folds of cross-validation inside a training part."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Fold = tuple[NDArray[np.intp], NDArray[np.intp]]

LEAVE_ONE_OUT: Literal["leave-one-out"] = "leave-one-out"
"""What configs write in place of a number of folds."""


def stratified_folds(
    y: NDArray[np.intp],
    folds: int,
    random_state: int | np.random.RandomState | None,
    *,
    groups: NDArray[np.intp] | None = None,
    caller: str = "cross-validation",
) -> list[Fold]:
    """Divide samples into folds at random, the same share of each class in every one.

    Samples of one group stay in one fold; the shares are then as equal as the groups allow.

    Parameters
    ----------
    y : ndarray of int, shape (n_samples,)
        Class codes.
    folds : int
        At least 2, and at most the number of samples in the smallest class.
    random_state : int, RandomState or None
        Of the division.
    groups : ndarray of int, shape (n_samples,), optional
        At least as many groups as folds.
    caller : str, default="cross-validation"
        What the folds are for, by which the error begins.

    Returns
    -------
    list of (train, test)
        Rows of all other folds, and those of the fold, ascending.

    Raises
    ------
    ValueError
        If a class has fewer samples than there are folds, there are fewer groups, or a fold holds all groups of a
        class.
    """
    from sklearn.model_selection import (  # noqa: PLC0415 - slow to import, and seldom needed
        StratifiedGroupKFold,
        StratifiedKFold,
    )

    _check_classes(y, folds, folds, caller)
    if groups is None:
        return list(StratifiedKFold(folds, shuffle=True, random_state=random_state).split(np.zeros(len(y)), y))
    _check_groups(groups, folds, folds, caller)
    divided = StratifiedGroupKFold(folds, shuffle=True, random_state=random_state).split(np.zeros(len(y)), y, groups)
    return _with_all_classes(list(divided), y, folds, caller)


def leave_one_out(
    y: NDArray[np.intp], *, groups: NDArray[np.intp] | None = None, caller: str = "cross-validation"
) -> list[Fold]:
    """Give each sample a fold of its own, or each group.

    Parameters
    ----------
    y : ndarray of int, shape (n_samples,)
        Class codes.
    groups : ndarray of int, shape (n_samples,), optional
        At least two.
    caller : str, default="cross-validation"
        What the folds are for, by which the error begins.

    Returns
    -------
    list of (train, test)
        Rows of all other samples, and the one of the sample, by sample; or those of the group, by group.

    Raises
    ------
    ValueError
        If a class has a single sample or group, and so none to train on where it is left out.
    """
    _check_classes(y, LEAVE_ONE_OUT, 2, caller)
    rows = np.arange(len(y))
    if groups is not None:
        _check_groups(groups, LEAVE_ONE_OUT, 2, caller)
        by_group = [(rows[groups != group], rows[groups == group]) for group in np.unique(groups)]
        return _with_all_classes(by_group, y, LEAVE_ONE_OUT, caller)
    return [(np.delete(rows, i), rows[i : i + 1]) for i in rows]


def _check_classes(y: NDArray[np.intp], folds: int | str, needed: int, caller: str) -> None:
    counts = np.bincount(y)
    smallest = int(counts[counts > 0].min())
    if smallest < needed:
        raise ValueError(
            f"{caller}: folds is {folds}; in the training part the smallest class has {smallest} samples, and "
            f"{needed} are needed"
        )


def _check_groups(groups: NDArray[np.intp], folds: int | str, needed: int, caller: str) -> None:
    n_groups = len(np.unique(groups))
    if n_groups < needed:
        raise ValueError(
            f"{caller}: folds is {folds}; the training part has {n_groups} groups, and {needed} are needed"
        )


def _with_all_classes(divided: list[Fold], y: NDArray[np.intp], folds: int | str, caller: str) -> list[Fold]:
    n_classes = len(np.unique(y))
    if any(len(np.unique(y[train])) < n_classes for train, _ in divided):
        raise ValueError(
            f"{caller}: folds is {folds}; a fold holds all groups of a class, and leaves none to train on; a class "
            "needs rows in more groups"
        )
    return divided
