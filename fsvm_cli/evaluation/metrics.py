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


def macro_f1(confusion: NDArray[np.intp]) -> NDArray[np.float64]:
    """Mean, over the classes that occur, of the harmonic mean of recall and precision, shape (...).

    A class that occurs and is never predicted counts 0, one that is predicted and does not occur is left out. See
    `confusion_matrix`.
    """
    n_per_class, n_predicted = confusion.sum(axis=-1), confusion.sum(axis=-2)
    f1 = 2 * np.diagonal(confusion, axis1=-2, axis2=-1) / np.maximum(n_per_class + n_predicted, 1)
    occurs = n_per_class > 0
    mean: NDArray[np.float64] = np.where(occurs, f1, 0.0).sum(axis=-1) / np.count_nonzero(occurs, axis=-1)
    return mean


def mcc(confusion: NDArray[np.intp]) -> NDArray[np.float64]:
    """Matthews' correlation of classes and predictions, in -1 .. 1, shape (...); of several classes Gorodkin's R_K.

    0 where all samples are of one class, or assigned to one. See `confusion_matrix`.

    References
    ----------
    - J. Gorodkin, "Comparing two K-category assignments by a K-category correlation coefficient", Computational Biology
      and Chemistry 28, 2004.
    """
    counts = confusion.astype(np.float64)
    n = counts.sum(axis=(-2, -1))
    n_per_class, n_predicted = counts.sum(axis=-1), counts.sum(axis=-2)
    covariance = n * np.trace(counts, axis1=-2, axis2=-1) - (n_per_class * n_predicted).sum(axis=-1)
    of_classes, of_predictions = (n**2 - (each**2).sum(axis=-1) for each in (n_per_class, n_predicted))
    spread = np.sqrt(of_classes * of_predictions)
    correlation: NDArray[np.float64] = np.where(spread > 0, covariance / np.where(spread > 0, spread, 1.0), 0.0)
    return correlation


METRICS: Mapping[str, Callable[[NDArray[np.intp]], NDArray[np.float64]]] = {
    "accuracy": accuracy,
    "balanced-accuracy": balanced_accuracy,
    "rci": relative_classifier_information,
    "macro-f1": macro_f1,
    "mcc": mcc,
}
"""All are at most 1, larger is better; tables and figures show them in per cent. None but mcc is below 0."""

METRIC_TITLES = {name: name.replace("-", " ") for name in METRICS} | {
    "rci": "RCI",
    "macro-f1": "macro F1",
    "mcc": "MCC",
}
"""What people call them, within a sentence."""
