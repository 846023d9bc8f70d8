"""Figures of merit of a classifier: from its confusion matrix, the errors that complement them, and from its scores.

Those from scores are computed in `fsvm_cli.evaluation.score_metrics`; their names, units and directions stand here.
"""

from __future__ import annotations

import functools
import math
import re
from typing import TYPE_CHECKING, NamedTuple

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

F1, AUC, AVERAGE_PRECISION, LOG_LOSS = "f1", "auc", "average-precision", "log-loss"
SENSITIVITY_PATTERN = r"^sensitivity-at-specificity-(0\.\d+)$"
"""Names of the sensitivity at a stated specificity, as sensitivity-at-specificity-0.95."""

NAMED_METRICS = (*METRICS, F1, AUC, AVERAGE_PRECISION, LOG_LOSS)
"""Those that have a single name."""


def f1(confusion: NDArray[np.intp], positive: int) -> NDArray[np.float64]:
    """Harmonic mean of recall and precision of one class, shape (...); 0 where none of its samples is recognised.

    Parameters
    ----------
    confusion : ndarray of int, shape (..., n_classes, n_classes)
        See `confusion_matrix`.
    positive : int
        Code of the class.
    """
    recognised = confusion[..., positive, positive]
    n_of_class, n_predicted = confusion[..., positive, :].sum(axis=-1), confusion[..., positive].sum(axis=-1)
    mean: NDArray[np.float64] = 2 * recognised / np.maximum(n_of_class + n_predicted, 1)
    return mean


def metric_of_counts(name: str, positive: int) -> Callable[[NDArray[np.intp]], NDArray[np.float64]]:
    """Return a figure of merit that a confusion matrix gives; `positive` is the class that f1 is of."""
    return functools.partial(f1, positive=positive) if name == F1 else METRICS[name]


def stated_specificity(name: str) -> float | None:
    """Return the specificity at which a metric is the sensitivity; None for any other metric."""
    found = re.match(SENSITIVITY_PATTERN, name)
    return float(found[1]) if found else None


def needs_scores(name: str) -> bool:
    """Whether a metric is one of the scores of samples, and not of the classes that are predicted alone."""
    return name in {AUC, AVERAGE_PRECISION, LOG_LOSS} or stated_specificity(name) is not None


def has_positive_class(name: str) -> bool:
    """Whether a metric depends on which of two classes is the positive one."""
    return name in {F1, AVERAGE_PRECISION} or stated_specificity(name) is not None


def direction(name: str) -> float:
    """Return 1 for a metric of which larger is better, and -1 for a loss."""
    return -1.0 if name == LOG_LOSS else 1.0


def range_of(name: str) -> tuple[float, float]:
    """Return the lowest and the highest value that a metric can have."""
    if name == LOG_LOSS:
        return 0.0, math.inf
    return (-1.0 if name == "mcc" else 0.0), 1.0


class Unit(NamedTuple):
    """How a figure of merit is written.

    Attributes
    ----------
    factor : float
        What a value is multiplied by.
    symbol : str
    decimals : int
        Written beside an interval for other samples.
    point : str
        A hundredth of the metric, in which differences are told, in the plural.
    """

    factor: float
    symbol: str
    decimals: int
    point: str

    def written(self, value: float) -> str:
        """Write a value in this unit, without its symbol."""
        return f"{self.factor * value:.{self.decimals}f}"


PER_CENT = Unit(100.0, "%", 1, "points")
NATS = Unit(1.0, "nats", 3, "hundredths of a nat")


def unit_of(name: str) -> Unit:
    """Return the unit of a metric: per cent, or nats of a log loss."""
    return NATS if name == LOG_LOSS else PER_CENT


METRIC_TITLES = {name: name.replace("-", " ") for name in NAMED_METRICS} | {
    "rci": "RCI",
    "macro-f1": "macro F1",
    "mcc": "MCC",
    F1: "F1",
    AUC: "AUC",
}
"""What people call them, within a sentence."""


def metric_title(name: str) -> str:
    """Name a metric within a sentence."""
    specificity = stated_specificity(name)
    return METRIC_TITLES[name] if specificity is None else f"sensitivity at {100 * specificity:g} % specificity"
