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
        One value per trial, n at least 1.
    """
    n = len(values)
    mean = float(np.mean(values))
    if n == 1:
        return MeanInterval(mean, np.nan, np.nan, np.nan, n)
    std = float(np.std(values, ddof=1))
    half_width = float(stdtrit(n - 1, (1 + CONFIDENCE) / 2)) * std / np.sqrt(n)
    return MeanInterval(mean, std, mean - half_width, mean + half_width, n)
