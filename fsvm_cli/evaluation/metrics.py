"""Figures of merit of a classifier, computed from its confusion matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray


def confusion_matrix(y: NDArray[np.intp], predicted: NDArray[np.intp], n_classes: int) -> NDArray[np.intp]:
    """Count the samples of each class (rows) by the class that they were assigned to (columns).

    Parameters
    ----------
    y, predicted : ndarray of int, shape (n_samples,)
        Class codes, 0 to ``n_classes - 1``.
    n_classes : int
        Classes of the data set, whether or not each occurs in `y`.
    """
    return np.bincount(y * n_classes + predicted, minlength=n_classes**2).reshape(n_classes, n_classes)


def accuracy(confusion: NDArray[np.intp]) -> NDArray[np.float64]:
    """Fraction of the samples that were assigned to their own class.

    Parameters
    ----------
    confusion : ndarray of int, shape (..., n_classes, n_classes)

    Returns
    -------
    ndarray, shape (...)
    """
    fraction: NDArray[np.float64] = np.trace(confusion, axis1=-2, axis2=-1) / confusion.sum(axis=(-2, -1))
    return fraction


def balanced_accuracy(confusion: NDArray[np.intp]) -> NDArray[np.float64]:
    """Mean, over the classes that occur, of the fraction of the class that was recognised.

    Parameters
    ----------
    confusion : ndarray of int, shape (..., n_classes, n_classes)

    Returns
    -------
    ndarray, shape (...)
    """
    n_per_class = confusion.sum(axis=-1)
    recognised = np.diagonal(confusion, axis1=-2, axis2=-1) / np.maximum(n_per_class, 1)
    mean: NDArray[np.float64] = recognised.sum(axis=-1) / np.count_nonzero(n_per_class, axis=-1)
    return mean


METRICS: Mapping[str, Callable[[NDArray[np.intp]], NDArray[np.float64]]] = {
    "accuracy": accuracy,
    "balanced-accuracy": balanced_accuracy,
}
