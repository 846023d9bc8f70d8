"""Figures of merit of a classifier, computed from its confusion matrix, and the errors that complement them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from fsvm_cli.numerics import relative_classifier_information

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

COMPLEMENTS: Mapping[str, str] = {"error": "accuracy", "balanced-error": "balanced-accuracy"}
"""The figure of merit that each is computed from."""

COMPLEMENT_OF: Mapping[str, str] = {metric: error for error, metric in COMPLEMENTS.items()}


def confusion_matrix(y: NDArray[np.intp], predicted: NDArray[np.intp], n_classes: int) -> NDArray[np.intp]:
    """Count the samples of each class (rows) by the class that they were assigned to (columns).

    Parameters
    ----------
    y : ndarray of int, shape (n_samples,)
        Class codes, 0 to ``n_classes - 1``.
    predicted : ndarray of int, shape (..., n_samples)
        The same, of one or more classifiers.
    n_classes : int
        Classes of the data set, whether or not each occurs in `y`.

    Returns
    -------
    ndarray of int, shape (..., n_classes, n_classes)
    """
    leading = predicted.shape[:-1]
    n_matrices, n_cells = math.prod(leading), n_classes**2
    cells = (y * n_classes + predicted).reshape(n_matrices, -1) + n_cells * np.arange(n_matrices)[:, None]
    counts = np.bincount(cells.ravel(), minlength=n_matrices * n_cells)
    return counts.reshape(*leading, n_classes, n_classes)


def accuracy(confusion: NDArray[np.intp]) -> NDArray[np.float64]:
    """Fraction of the samples that were assigned to their own class, shape (...); see `confusion_matrix`."""
    fraction: NDArray[np.float64] = np.trace(confusion, axis1=-2, axis2=-1) / confusion.sum(axis=(-2, -1))
    return fraction


def balanced_accuracy(confusion: NDArray[np.intp]) -> NDArray[np.float64]:
    """Mean, over the classes that occur, of the fraction that was recognised, shape (...); see `confusion_matrix`."""
    n_per_class = confusion.sum(axis=-1)
    recognised = np.diagonal(confusion, axis1=-2, axis2=-1) / np.maximum(n_per_class, 1)
    mean: NDArray[np.float64] = recognised.sum(axis=-1) / np.count_nonzero(n_per_class, axis=-1)
    return mean


METRICS: Mapping[str, Callable[[NDArray[np.intp]], NDArray[np.float64]]] = {
    "accuracy": accuracy,
    "balanced-accuracy": balanced_accuracy,
    "rci": relative_classifier_information,
}
"""All are fractions, larger is better; tables and figures show them in per cent."""

METRIC_TITLES = {name: name.replace("-", " ") for name in METRICS} | {"rci": "RCI"}
"""What people call them, within a sentence."""
