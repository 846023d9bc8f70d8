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


def accuracy(confusion: NDArray[np.intp]) -> float:
    """Fraction of the samples that were assigned to their own class."""
    return float(np.trace(confusion) / confusion.sum())


def balanced_accuracy(confusion: NDArray[np.intp]) -> float:
    """Mean over the classes that occur of the fraction of the class that was recognised."""
    n_per_class = confusion.sum(axis=1)
    occurs = n_per_class > 0
    return float(np.mean(np.diag(confusion)[occurs] / n_per_class[occurs]))


METRICS: Mapping[str, Callable[[NDArray[np.intp]], float]] = {
    "accuracy": accuracy,
    "balanced-accuracy": balanced_accuracy,
}
