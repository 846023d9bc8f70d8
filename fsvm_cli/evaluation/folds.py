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
    caller: str = "cross-validation",
) -> list[Fold]:
    """Divide samples into folds at random, the same share of each class in every one.

    Parameters
    ----------
    y : ndarray of int, shape (n_samples,)
        Class codes.
    folds : int
        At least 2, and at most the number of samples in the smallest class.
    random_state : int, RandomState or None
        Of the division.
    caller : str, default="cross-validation"
        What the folds are for, by which the error begins.

    Returns
    -------
    list of (train, test)
        Rows of all other folds, and those of the fold, ascending.

    Raises
    ------
    ValueError
        If a class has fewer samples than there are folds.
    """
    from sklearn.model_selection import StratifiedKFold  # noqa: PLC0415 - slow to import, and seldom needed

    _check_classes(y, folds, folds, caller)
    return list(StratifiedKFold(folds, shuffle=True, random_state=random_state).split(np.zeros(len(y)), y))


def leave_one_out(y: NDArray[np.intp], *, caller: str = "cross-validation") -> list[Fold]:
    """Give each sample a fold of its own.

    Parameters
    ----------
    y : ndarray of int, shape (n_samples,)
        Class codes.
    caller : str, default="cross-validation"
        What the folds are for, by which the error begins.

    Returns
    -------
    list of (train, test)
        Rows of all other samples, and the one of the sample, by sample.

    Raises
    ------
    ValueError
        If a class has a single sample, and so none to train on where it is left out.
    """
    _check_classes(y, LEAVE_ONE_OUT, 2, caller)
    rows = np.arange(len(y))
    return [(np.delete(rows, i), rows[i : i + 1]) for i in rows]


def _check_classes(y: NDArray[np.intp], folds: int | str, needed: int, caller: str) -> None:
    counts = np.bincount(y)
    smallest = int(counts[counts > 0].min())
    if smallest < needed:
        raise ValueError(
            f"{caller}: folds is {folds}; in the training part the smallest class has {smallest} samples, and "
            f"{needed} are needed"
        )
