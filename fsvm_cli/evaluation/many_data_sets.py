"""Comparison of methods over several data sets: by ranks, in pairs, and as guidance for new data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import scipy.stats
from scipy.special import chdtrc

if TYPE_CHECKING:
    from numpy.typing import NDArray


def signed_rank_p_value(differences: NDArray[np.float64]) -> float:
    """Wilcoxon's signed-rank test that differences lie about 0 evenly, two-sided.

    Parameters
    ----------
    differences : ndarray, shape (n_data_sets,)

    Returns
    -------
    float
        Exact for few data sets without ties; NaN where all differences are 0.

    Notes
    -----
    Source: Demsar (2006), section 3.1.3; the test is scipy's.
    """
    from scipy.stats import wilcoxon  # noqa: PLC0415 - slow to import

    if not np.any(differences):
        return float("nan")
    return float(wilcoxon(differences).pvalue)


SIGNIFICANCE_LEVEL = 0.05


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
    quantile = float(scipy.stats.studentized_range.ppf(1 - SIGNIFICANCE_LEVEL, k, np.inf)) / np.sqrt(2)
    difference = quantile * float(np.sqrt(k * (k + 1) / (6 * n)))
    return MeanRanks(ranks, chi_square, float(chdtrc(k - 1, chi_square)), difference, n)


N_NEIGHBOURS = 3
"""Fixed before the first comparison, as small as lets one odd data set be outvoted."""


@dataclass(frozen=True)
class Guidance:
    """Ways to choose a method, tried on data sets that were left out one at a time.

    A loss is the figure of merit of the best method on a data set less that of the method that was chosen for it; of
    several methods that are chosen alike, the mean.

    Attributes
    ----------
    overall_losses : ndarray, shape (n_data_sets,)
        Where each data set's method is that of best mean rank over the others.
    alike_losses : ndarray, shape (n_data_sets,)
        Where it is that of best mean rank over the `N_NEIGHBOURS` others that are most alike.
    random_losses : ndarray, shape (n_data_sets,)
        The mean over all methods.
    p : float
        Of Wilcoxon's signed-rank test between the first two.
    """

    overall_losses: NDArray[np.float64]
    alike_losses: NDArray[np.float64]
    random_losses: NDArray[np.float64]
    p: float


def guidance(values: NDArray[np.float64], descriptions: NDArray[np.float64]) -> Guidance:
    """Try ways to choose a method on each data set, without having seen it.

    Parameters
    ----------
    values : ndarray, shape (n_data_sets, n_methods)
        Figure of merit, larger is better.
    descriptions : ndarray, shape (n_data_sets, n_properties)
        What is known of data before any method is tried; data sets are alike where these are near each other, in units
        of their standard deviations.

    Raises
    ------
    ValueError
        If the data sets are no more than the neighbours that each is to have.
    """
    n_data_sets = len(values)
    if n_data_sets <= N_NEIGHBOURS:
        raise ValueError(f"{n_data_sets} data sets: each is to have {N_NEIGHBOURS} others")
    ranks = ranks_on_each(values)
    apart = _distances(descriptions)
    others = [np.flatnonzero(np.arange(n_data_sets) != left_out) for left_out in range(n_data_sets)]
    nearest = [
        rest[np.argsort(apart[left_out, rest], kind="stable")[:N_NEIGHBOURS]] for left_out, rest in enumerate(others)
    ]
    losses = values.max(axis=1, keepdims=True) - values
    overall, alike = (
        np.array([losses[left_out, _best(ranks[seen])].mean() for left_out, seen in enumerate(of_each)])
        for of_each in (others, nearest)
    )
    return Guidance(overall, alike, losses.mean(axis=1), signed_rank_p_value(overall - alike))


def _best(ranks: NDArray[np.float64]) -> NDArray[np.intp]:
    # Ranks are halves: their sums are exact, and so are ties.
    sums = ranks.sum(axis=0)
    return np.flatnonzero(sums == sums.min())


def _distances(descriptions: NDArray[np.float64]) -> NDArray[np.float64]:
    spreads = descriptions.std(axis=0)
    units = (descriptions - descriptions.mean(axis=0)) / np.where(spreads > 0, spreads, 1.0)
    distances: NDArray[np.float64] = np.linalg.norm(units[:, None] - units, axis=2)
    return distances
