"""Figures of merit of a classifier's scores: how well they order samples, and how well calibrated probabilities fit."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from fsvm_cli.evaluation.metrics import AUC, AVERAGE_PRECISION, LOG_LOSS, range_of, stated_specificity
from fsvm_cli.evaluation.roc import area_under_roc, limits_of_area
from fsvm_cli.evaluation.statistics import exact_limits

if TYPE_CHECKING:
    from numpy.typing import NDArray

NORMAL_QUANTILE = 1.959963984540054
"""Of 97.5 %."""


def auc(y: NDArray[np.intp], scores: NDArray[np.float64]) -> float:
    """Area under the ROC curve; of several classes the mean over those that occur of each against the rest.

    Parameters
    ----------
    y : ndarray of int, shape (n_samples,)
        Class codes.
    scores : ndarray, shape (n_samples,) or (n_samples, n_classes)
        Larger for the second of two classes; else a column for each class, larger for it.

    Returns
    -------
    float
        NaN where all samples are of one class.

    Notes
    -----
    Source of the mean: F. Provost and P. Domingos, "Well-trained PETs: improving probability estimation trees", CeDER
    Working Paper IS-00-04, New York University, 2000; here each class has the same weight.
    """
    present = np.unique(y)
    if len(present) < 2:
        return math.nan
    if scores.ndim == 1:
        return area_under_roc(scores, y == 1).area
    return float(np.mean([area_under_roc(scores[:, code], y == code).area for code in present]))


def average_precision(is_positive: NDArray[np.bool_], scores: NDArray[np.float64]) -> float:
    """Mean of the precision at each threshold, weighted by the recall that it adds; NaN without a positive sample.

    Parameters
    ----------
    is_positive : ndarray of bool, shape (n_samples,)
    scores : ndarray, shape (n_samples,)
        Larger for the positive class.
    """
    from sklearn.metrics import average_precision_score  # noqa: PLC0415 - slow to import, and seldom needed

    return float(average_precision_score(is_positive, scores)) if is_positive.any() else math.nan


def sensitivity_at(specificity: float, is_positive: NDArray[np.bool_], scores: NDArray[np.float64]) -> float:
    """Share of the positive samples above the lowest threshold that leaves enough of the negative ones below it.

    The threshold is one of these very samples, as that of any point of a ROC curve: a threshold that was chosen on
    other samples would do somewhat worse.

    Parameters
    ----------
    specificity : float
        Share of the negative samples that must not lie above the threshold, above 0 and below 1.
    is_positive : ndarray of bool, shape (n_samples,)
    scores : ndarray, shape (n_samples,)
        Larger for the positive class.

    Returns
    -------
    float
        NaN where there is no sample of a class.
    """
    positive, negative = scores[is_positive], np.sort(scores[~is_positive])[::-1]
    if not (len(positive) and len(negative)):
        return math.nan
    n_above = math.floor((1 - specificity) * len(negative) + 1e-9)  # 0.05 * 20 is 1, but for rounding
    return float(np.mean(positive > negative[n_above]))


def log_losses(y: NDArray[np.intp], probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
    """Negative natural logarithm of the probability of each sample's own class, shape (n_samples,).

    Parameters
    ----------
    y : ndarray of int, shape (n_samples,)
        Class codes.
    probabilities : ndarray, shape (n_samples, n_classes)
        Those of 0 are taken for the smallest that 1 can be told from (2.2e-16), as in scikit-learn.
    """
    own = probabilities[np.arange(len(y)), y]
    losses: NDArray[np.float64] = -np.log(np.clip(own, np.finfo(np.float64).eps, 1.0))
    return losses


def score_metric(
    name: str,
    y: NDArray[np.intp],
    scores: NDArray[np.float64],
    probabilities: NDArray[np.float64] | None,
    positive: int,
) -> float:
    """Compute a figure of merit of scores by its name in configs.

    Parameters
    ----------
    name : str
    y : ndarray of int, shape (n_samples,)
        Class codes.
    scores : ndarray, shape (n_samples,) or (n_samples, n_classes)
        As of `auc`.
    probabilities : ndarray, shape (n_samples, n_classes), or None
        Needed by log-loss alone.
    positive : int
        Code of the positive one of two classes.

    Returns
    -------
    float
        NaN where the classes of the samples leave it undefined.
    """
    if name == AUC:
        return auc(y, scores)
    if name == LOG_LOSS:
        assert probabilities is not None, "log-loss needs calibrated probabilities"
        return float(log_losses(y, probabilities).mean())
    is_positive, towards = y == positive, scores if positive == 1 else -scores
    if name == AVERAGE_PRECISION:
        return average_precision(is_positive, towards)
    specificity = stated_specificity(name)
    assert specificity is not None, name
    return sensitivity_at(specificity, is_positive, towards)


def limits_for_other_samples(
    name: str, value: float, n_per_class: NDArray[np.float64], spread: float
) -> tuple[float, float]:
    """Give 95 % limits of a figure of merit of scores on other samples of the same kind.

    Parameters
    ----------
    name : str
    value : float
    n_per_class : ndarray, shape (n_classes,)
        Independent samples of each class; need not be whole.
    spread : float
        What a sample contributes to the standard error, times the root of the number of samples: for log-loss the
        standard deviation of the losses, for an area of two classes as of `variance_of_area`; NaN if not known.

    Notes
    -----
    For an area under a ROC curve see `limits_of_area`; of several classes, whose mean varies no more than the most
    variable of the areas, the limits are those of the rarest against the rest. For the average precision and the
    sensitivity at a specificity taken are the exact limits of a share of the samples of the rarer class; see K. Boyd,
    K. H. Eng and C. D. Page, "Area under the precision-recall curve: point estimates and confidence intervals", ECML
    PKDD 2013. A mean of losses has the limits of a mean.
    """
    occurring = n_per_class[n_per_class > 0]
    if math.isnan(value) or not len(occurring):
        return math.nan, math.nan
    low, high = range_of(name)
    if name == LOG_LOSS:
        reach = NORMAL_QUANTILE * spread / math.sqrt(occurring.sum())
        return max(value - reach, low), min(value + reach, high)
    if name == AUC and len(occurring) > 1:
        n_rarest, n_all = float(occurring.min()), float(occurring.sum())
        return limits_of_area(value, spread**2 / n_all, n_rarest, n_all - n_rarest)
    limits = exact_limits(np.asarray(value), np.asarray(occurring.min()))
    return float(limits[0]), float(limits[1])
