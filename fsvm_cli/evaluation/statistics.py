"""Means over trials, and how uncertain they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import stdtrit

if TYPE_CHECKING:
    from numpy.typing import NDArray

CONFIDENCE = 0.95


@dataclass(frozen=True)
class MeanInterval:
    """A mean over trials with its confidence interval.

    Attributes
    ----------
    mean : float
    std : float
        Standard deviation of one trial (divisor n - 1); NaN for a single trial.
    low, high : float
        Bounds of the interval; NaN for a single trial.
    n : int
        Number of trials.
    """

    mean: float
    std: float
    low: float
    high: float
    n: int


def mean_interval(values: NDArray[np.float64]) -> MeanInterval:
    """Mean of independent repetitions, with Student's 95 % interval.

    The interval is that of the Monte Carlo mean: where the trials are random splits of one data set, it says how far
    the mean over all splits of these data may lie, not how a classifier would do on new data.

    Parameters
    ----------
    values : ndarray, shape (n,)
        One value per trial, n at least 1. Trials without a value (NaN), in which there is no classifier, do not count:
        the interval's `n` is that of the others, and all is NaN where there is none.
    """
    values = values[~np.isnan(values)]
    n = len(values)
    if n == 0:
        return MeanInterval(np.nan, np.nan, np.nan, np.nan, 0)
    mean = float(np.mean(values))
    if n == 1:
        return MeanInterval(mean, np.nan, np.nan, np.nan, n)
    std = float(np.std(values, ddof=1))
    half_width = float(stdtrit(n - 1, (1 + CONFIDENCE) / 2)) * std / np.sqrt(n)
    return MeanInterval(mean, std, mean - half_width, mean + half_width, n)


def difference_interval(differences: NDArray[np.float64], test_to_train: float) -> MeanInterval:
    """Mean difference between two curves on the same splits, with an interval that allows for shared rows.

    Random splits of one data set share rows, so their differences are correlated, and the plain interval is far too
    narrow for a statement about the methods. Nadeau and Bengio (2003) replace the variance factor 1/n by
    1/n + n_test/n_train.

    Parameters
    ----------
    differences : ndarray, shape (n,)
        One per split.
    test_to_train : float
        Rows of the test part over rows of the training part; 0 where every trial draws new data.

    Returns
    -------
    MeanInterval
        The corrected resampled 95 % interval; its `std` is that of one difference.
    """
    plain = mean_interval(differences)
    widening = np.sqrt(1 + plain.n * test_to_train)
    half_width = (plain.high - plain.mean) * widening
    return MeanInterval(plain.mean, plain.std, plain.mean - half_width, plain.mean + half_width, plain.n)
