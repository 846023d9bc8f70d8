"""Methods compared over several data sets, by their ranks on each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import scipy.stats
from scipy.special import chdtrc

if TYPE_CHECKING:
    from numpy.typing import NDArray

LEVEL = 0.05


@dataclass(frozen=True)
class MeanRanks:
    """How methods rank over data sets.

    Attributes
    ----------
    ranks : ndarray, shape (n_methods,)
        Mean rank of each method; 1 is best, ties share their ranks.
    chi_square : float
        Friedman's statistic, corrected for ties; NaN where all methods are tied on every data set.
    p : float
        Of the hypothesis that no method is better than another.
    critical_difference : float
        Mean ranks that lie further apart than this differ at the level .05 (Nemenyi).
    n_data_sets : int
    """

    ranks: NDArray[np.float64]
    chi_square: float
    p: float
    critical_difference: float
    n_data_sets: int


def ranks_on_each(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rank methods on each data set, a row; 1 for the largest value, ties share their ranks."""
    ranks: NDArray[np.float64] = scipy.stats.rankdata(-values, axis=1)
    return ranks


def mean_ranks(values: NDArray[np.float64]) -> MeanRanks:
    """Friedman's test and Nemenyi's critical difference.

    Parameters
    ----------
    values : ndarray, shape (n_data_sets, n_methods)
        Figure of merit, larger is better; two methods and two data sets at least.

    Raises
    ------
    ValueError
        If there are fewer.

    Notes
    -----
    Source: Demsar, Statistical comparisons of classifiers over multiple data sets, Journal of Machine Learning Research
    7 (2006), section 3.2.
    """
    n, k = values.shape
    if n < 2 or k < 2:
        raise ValueError(f"{n} data sets and {k} methods: ranks are compared over two of each at least")
    of_each = ranks_on_each(values)
    ranks = of_each.mean(axis=0)
    spread = np.sum((of_each - (k + 1) / 2) ** 2) / (n * (k - 1))
    chi_square = n * float(np.sum((ranks - (k + 1) / 2) ** 2)) / spread if spread > 0 else np.nan
    quantile = float(scipy.stats.studentized_range.ppf(1 - LEVEL, k, np.inf)) / np.sqrt(2)
    difference = quantile * float(np.sqrt(k * (k + 1) / (6 * n)))
    return MeanRanks(ranks, chi_square, float(chdtrc(k - 1, chi_square)), difference, n)
