"""Bootstrap intervals of a figure of merit from a single test part; the .632+ estimate of an error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fsvm_cli.evaluation.statistics import CONFIDENCE

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

N_RESAMPLES = 2000


def bootstrap_interval(
    metric: Callable[[NDArray[np.intp]], NDArray[np.float64]], confusion: NDArray[np.intp], rng: np.random.Generator
) -> tuple[float, float]:
    """Percentile bootstrap of a metric over the samples of one test part.

    Where the source fixes the split there is one confusion matrix and no spread between trials. Drawing its samples
    with replacement estimates how far the metric of these machines may differ on other samples of the same kind; what
    another training part would do remains unknown. For information, which is never negative, the bootstrap inherits the
    upward bias of the estimate from finite samples, about (n_classes - 1)² / (2 n ln 2) bits for n samples.

    Parameters
    ----------
    metric : callable
        A value of `METRICS`.
    confusion : ndarray of int, shape (n_classes, n_classes)
        At least one sample.
    rng : numpy.random.Generator

    Returns
    -------
    low, high : float
        Bounds of the 95 % interval, as fractions.

    Notes
    -----
    Source: Efron and Tibshirani, An introduction to the bootstrap (1993), section 13.3.
    """
    n_samples = int(confusion.sum())
    counts = rng.multinomial(n_samples, confusion.ravel() / n_samples, size=N_RESAMPLES)
    values = metric(counts.reshape(N_RESAMPLES, *confusion.shape))
    low, high = np.quantile(values, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return float(low), float(high)


@dataclass(frozen=True)
class BootstrapInterval:
    """A difference between two classifiers over the samples of one test part.

    Attributes
    ----------
    low, high : float
        Bounds of the 95 % interval.
    p : float
        Two-sided, by the share of draws on the rarer side of 0; NaN where every draw gives 0.
    """

    low: float
    high: float
    p: float


def paired_bootstrap_interval(  # noqa: PLR0917 - two sets of classifiers on the same samples
    metric: Callable[[NDArray[np.intp]], NDArray[np.float64]],
    y: NDArray[np.intp],
    first: NDArray[np.intp],
    second: NDArray[np.intp],
    n_classes: int,
    rng: np.random.Generator,
) -> BootstrapInterval:
    """Percentile bootstrap of the difference of a metric between classifiers on one test part.

    All classifiers see the same drawn samples: where they agree, a draw moves none against another. As with
    `bootstrap_interval`, it describes what these machines would do on other samples, not what another training part
    would.

    Parameters
    ----------
    metric : callable
        A value of `METRICS`.
    y : ndarray of int, shape (n_samples,)
        Class codes, 0 to ``n_classes - 1``.
    first, second : ndarray of int, shape (n_classifiers, n_samples)
        Codes that classifiers assign; the metric is averaged over those of the first, and over those of the second.
    n_classes : int
    rng : numpy.random.Generator

    Returns
    -------
    BootstrapInterval
        Of the first minus the second, as fractions.

    Notes
    -----
    Source: Efron and Tibshirani, An introduction to the bootstrap (1993), section 13.3.
    """
    # Samples on which all say the same are drawn as one pattern.
    patterns, counts = np.unique(np.vstack([y, first, second]), axis=1, return_counts=True)
    drawn = rng.multinomial(len(y), counts / len(y), size=N_RESAMPLES)

    def values(predicted: NDArray[np.intp]) -> NDArray[np.float64]:
        cells = np.eye(n_classes**2, dtype=np.intp)[patterns[0] * n_classes + predicted]
        return metric((drawn @ cells).reshape(N_RESAMPLES, n_classes, n_classes))

    minuends, subtrahends = np.split(patterns[1:], [len(first)])
    differences = np.mean([values(each) for each in minuends], axis=0) - np.mean(
        [values(each) for each in subtrahends], axis=0
    )
    low, high = np.quantile(differences, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    rarer = min(np.count_nonzero(differences <= 0), np.count_nonzero(differences >= 0))
    p = min(2 * (rarer + 1) / (N_RESAMPLES + 1), 1.0) if differences.any() else np.nan
    return BootstrapInterval(float(low), float(high), float(p))


MAX_DRAWS = 1000
"""Attempts to draw a sample of two classes that leaves a row out; a failure takes data with next to no rows."""


def bootstrap_split(
    y: NDArray[np.integer], groups: NDArray[np.integer] | None, rng: np.random.Generator
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Draw a bootstrap sample of the rows to train on; the rows that it leaves out are for testing.

    A sample of a single class, or one that leaves nothing out, is drawn anew.

    Parameters
    ----------
    y : ndarray of int, shape (n_samples,)
        Class codes.
    groups : ndarray of int, shape (n_samples,), or None
        Groups are drawn as a whole, as many as there are; the sample then has about `n_samples` rows.
    rng : numpy.random.Generator
        The sample's own stream.

    Returns
    -------
    train : ndarray of int
        Rows of the sample, ascending, one as often as it was drawn.
    test : ndarray of int
        The rows that are not in it, ascending.

    Raises
    ------
    ValueError
        If no sample has two classes and leaves a row out.
    """
    _, units = np.unique(np.arange(len(y)) if groups is None else groups, return_inverse=True)
    n_units = int(units.max()) + 1
    for _ in range(MAX_DRAWS):
        times = np.bincount(rng.integers(n_units, size=n_units), minlength=n_units)[units]
        train, test = np.repeat(np.arange(len(y)), times), np.flatnonzero(times == 0)
        if len(test) and len(np.unique(y[train])) > 1:
            return train, test
    raise ValueError("no bootstrap sample has rows of two classes and leaves a row out; there are too few rows for it")


def error_of_left_out(wrong: NDArray[np.float64], tested: NDArray[np.intp]) -> NDArray[np.float64]:
    """Leave-one-out bootstrap: the mean over the rows of the error of the machines whose samples lack the row.

    Parameters
    ----------
    wrong : ndarray, shape (..., n_samples)
        How many of these machines misclassify each row.
    tested : ndarray of int, shape (..., n_samples)
        How many there are; rows that are in every sample do not count.

    Returns
    -------
    ndarray, shape (...)
        Between 0 and 1; NaN where there is no machine.

    Notes
    -----
    Source: Efron and Tibshirani, Improvements on cross-validation: the .632+ bootstrap method, JASA 92 (1997),
    equation 17.
    """
    counts = tested > 0
    with np.errstate(invalid="ignore"):
        mean: NDArray[np.float64] = (wrong / np.maximum(tested, 1)).sum(axis=-1) / counts.sum(axis=-1)
    return mean


def no_information_error(confusion: NDArray[np.intp]) -> NDArray[np.float64]:
    """Error of a rule where classes and features are independent, from its confusion matrix on its own rows.

    Parameters
    ----------
    confusion : ndarray of int, shape (..., n_classes, n_classes)
        See `confusion_matrix`; of the rule that all rows trained, on these rows.

    Returns
    -------
    ndarray, shape (...)

    Notes
    -----
    Source: Efron and Tibshirani (1997), equation 27 for any number of classes.
    """
    n = np.maximum(confusion.sum(axis=(-2, -1)), 1)
    agreeing: NDArray[np.float64] = (confusion.sum(axis=-1) * confusion.sum(axis=-2)).sum(axis=-1) / n**2
    return 1.0 - agreeing


def weight_632_plus(
    apparent: NDArray[np.float64], left_out: NDArray[np.float64], no_information: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Weigh the error of left-out rows against that on the rows of training.

    Parameters
    ----------
    apparent : ndarray
        Error of the rule that all rows trained, on these rows.
    left_out : ndarray
        Of `error_of_left_out`.
    no_information : ndarray
        Of `no_information_error`.

    Returns
    -------
    weight : ndarray
        From .632, without overfitting, to 1, where the rule says nothing of rows that it has not seen.
    bounded : ndarray
        The error of left-out rows, at most the error without information. The estimate is
        ``(1 - weight) * apparent + weight * bounded``.

    Notes
    -----
    Source: Efron and Tibshirani (1997), equations 28 to 32.
    """
    bounded = np.minimum(left_out, no_information)
    overfits = (left_out > apparent) & (no_information > apparent)
    excess = np.where(overfits, no_information - apparent, 1.0)
    rate = np.where(overfits, (bounded - apparent) / excess, 0.0)
    return 0.632 / (1.0 - 0.368 * rate), bounded
