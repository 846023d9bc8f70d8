"""Means over trials with their uncertainty, and the probability that one of two methods is better by a margin."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import betaincinv, stdtr, stdtrit

if TYPE_CHECKING:
    from numpy.typing import NDArray

CONFIDENCE = 0.95
MIN_SHARED_VARIANCE = 0.1
"""Of the variance of differences from random orders: the least that counts as due to the rows that splits share."""
MIN_SPLITS = 3
"""Of the same rows: the spread of two says too little for a test about new data."""
NO_SPREAD = 1e-6
"""Of what one row changes: a spread below it is rounding."""


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


def mean_interval(values: NDArray[np.float64], row: float = 0.0) -> MeanInterval:
    """Mean of independent repetitions, with Student's 95 % interval.

    The interval is that of the Monte Carlo mean: where the trials are random splits of one data set, it says how far
    the mean over all splits of these data may lie, not how a classifier would do on new data.

    Parameters
    ----------
    values : ndarray, shape (n,)
        One value per trial, n at least 1. Trials without a value (NaN), in which there is no classifier, do not count:
        the interval's `n` is that of the others, and all is NaN where there is none.
    row : float
        What one row of the test part changes a value by: where all values are equal, their spread is taken as that, and
        the interval is no narrower.
    """
    values = values[~np.isnan(values)]
    n = len(values)
    if n == 0:
        return MeanInterval(np.nan, np.nan, np.nan, np.nan, 0)
    mean = float(np.mean(values))
    if n == 1:
        return MeanInterval(mean, np.nan, np.nan, np.nan, n)
    std = float(np.std(values, ddof=1))
    spread = _spread(std, row)
    half_width = float(stdtrit(n - 1, (1 + CONFIDENCE) / 2)) * spread / np.sqrt(n)
    if spread > std:
        half_width = max(half_width, row / 2)
    return MeanInterval(mean, std, mean - half_width, mean + half_width, n)


def _spread(std: float, row: float) -> float:
    """Return the standard deviation of one trial, or what a row changes where none was seen."""
    return std if std > NO_SPREAD * row else row


def difference_interval(differences: NDArray[np.float64], test_to_train: float, row: float = 0.0) -> MeanInterval:
    """Mean difference between two curves on the same splits, with an interval for what new data would show.

    Random splits of one data set share rows, so their differences are correlated. `mean_interval` says how far the mean
    over all splits of these data may lie; for a statement about other samples of the population it is far too narrow.
    Nadeau and Bengio (2003) replace the variance factor 1/n by 1/n + n_test/n_train. `docs/verdicts.md` says which of
    the two decides what.

    Parameters
    ----------
    differences : ndarray, shape (n,)
        One per split.
    test_to_train : float
        Rows of the test part over rows of the training part; 0 where every trial draws new data.
    row : float
        As in `mean_interval`.

    Returns
    -------
    MeanInterval
        The corrected resampled 95 % interval, with bounds of NaN for fewer than `MIN_SPLITS` of the same rows; its
        `std` is that of one difference.
    """
    plain = mean_interval(differences, row)
    if test_to_train > 0 and plain.n < MIN_SPLITS:
        return MeanInterval(plain.mean, plain.std, np.nan, np.nan, plain.n)
    widening = np.sqrt(1 + plain.n * test_to_train)
    half_width = (plain.high - plain.mean) * widening
    return MeanInterval(plain.mean, plain.std, plain.mean - half_width, plain.mean + half_width, plain.n)


def standard_error(differences: NDArray[np.float64], test_to_train: float) -> NDArray[np.float64]:
    """Give the standard error of mean differences on the same splits, for new data; as in `difference_interval`.

    Parameters
    ----------
    differences : ndarray, shape (n_splits, ...)
        At least two splits.
    test_to_train : float
        As in `difference_interval`.

    Returns
    -------
    ndarray, shape (...)
    """
    error: NDArray[np.float64] = differences.std(axis=0, ddof=1) * np.sqrt(1 / len(differences) + test_to_train)
    return error


def exact_limits(share: NDArray[np.float64], n: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Give the exact 95 % limits of the probability of a success.

    A row that is tested several times, and recognised in a part of them, counts as this part of a success: the mean
    over rows varies no more than that of rows with one outcome of the same mean.

    Parameters
    ----------
    share : ndarray, shape (...)
        Successes as a share of `n`.
    n : ndarray, shape (...)
        Independent rows, above 0; need not be whole.

    Returns
    -------
    low, high : ndarray, shape (...)

    Notes
    -----
    Source: Clopper and Pearson, The use of confidence or fiducial limits illustrated in the case of the binomial,
    Biometrika 26 (1934).
    """
    tail = (1 - CONFIDENCE) / 2
    found, missed = share * n, np.maximum((1 - share) * n, 0.0)
    low = np.where(found > 0, betaincinv(np.maximum(found, 1e-300), missed + 1, tail), 0.0)
    high = np.where(missed > 0, betaincinv(found + 1, np.maximum(missed, 1e-300), 1 - tail), 1.0)
    return low, high


def limits_of_mean(share: NDArray[np.float64], n: NDArray[np.float64]) -> tuple[float, float]:
    """Give 95 % limits of the mean of several probabilities, from the exact limits of each.

    Parameters
    ----------
    share : ndarray, shape (n_shares,)
        Successes as shares of `n`.
    n : ndarray, shape (n_shares,)
        Independent rows of each, above 0.

    Notes
    -----
    Source: Zou and Donner, Construction of confidence limits about effect measures: a general approach, Statistics in
    Medicine 27 (2008): squares of the distances from the single limits add up as variances do.
    """
    low, high = exact_limits(share, n)
    mean, n_shares = float(share.mean()), len(share)
    below = float(np.sqrt(np.square(share - low).sum())) / n_shares
    above = float(np.sqrt(np.square(high - share).sum())) / n_shares
    return max(mean - below, 0.0), min(mean + above, 1.0)


def excess_over_random(
    curve: NDArray[np.float64], orders: NDArray[np.float64], test_to_train: float, row: float
) -> tuple[MeanInterval, float]:
    """Test whether a ranking is better than random orders of the features, of which each split has several.

    What one order differs from another by chance is new on every split. Its variance is split off from that which the
    rows shared by splits correlate, since only the latter does not fall with the number of splits.

    Parameters
    ----------
    curve : ndarray, shape (n_splits,)
        The ranking's mean over the sizes of subsets.
    orders : ndarray, shape (n_splits, n_orders)
        The same of random orders; at least two splits.
    test_to_train : float
        As in `difference_interval`.
    row : float
        > 0, as in `mean_interval`.

    Returns
    -------
    MeanInterval
        Of the ranking minus the mean of the orders, for new data; its `std` is that of one difference.
    float
        One-sided p-value; NaN, as the bounds, for fewer than `MIN_SPLITS` of the same rows.
    """
    n, n_orders = orders.shape
    differences = curve - orders.mean(axis=1)
    mean, std = float(differences.mean()), float(differences.std(ddof=1))
    if test_to_train > 0 and n < MIN_SPLITS:
        return MeanInterval(mean, std, np.nan, np.nan, n), np.nan
    variance = _spread(std, row) ** 2
    of_orders = float(orders.var(axis=1, ddof=1).mean()) if n_orders > 1 else 0.0
    shared = max(variance - of_orders / n_orders, MIN_SHARED_VARIANCE * variance)
    error = float(np.sqrt(shared * (1 / n + test_to_train) + of_orders / (n_orders * n)))
    half_width = float(stdtrit(n - 1, (1 + CONFIDENCE) / 2)) * error
    return MeanInterval(mean, std, mean - half_width, mean + half_width, n), float(stdtr(n - 1, -mean / error))


def p_value(found: MeanInterval) -> float:
    """Two-sided p-value of Student's test that a mean is 0, from its interval, plain or corrected.

    NaN where there is no test: for a single trial, too few splits, and where every trial gives exactly 0 of what does
    not come from rows.
    """
    standard_error = (found.high - found.mean) / float(stdtrit(max(found.n - 1, 1), (1 + CONFIDENCE) / 2))
    if standard_error > 0:
        return float(2 * stdtr(found.n - 1, -abs(found.mean) / standard_error))
    return 0.0 if standard_error == 0 and found.mean != 0 else np.nan


def holm(p_values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Adjust p-values for multiple tests by Holm's method, which limits the family-wise error rate.

    Parameters
    ----------
    p_values : ndarray, shape (n_tests,)
        NaN stands for what was not tested, and stays.

    Returns
    -------
    ndarray, shape (n_tests,)
        Each is at most 1, and in the order of the plain ones.

    Notes
    -----
    Source: Holm, A simple sequentially rejective multiple test procedure, Scandinavian Journal of Statistics 6 (1979).
    """
    adjusted = np.full(len(p_values), np.nan)
    ascending = np.argsort(p_values, kind="stable")[: np.count_nonzero(~np.isnan(p_values))]
    n_left = len(ascending) - np.arange(len(ascending))
    adjusted[ascending] = np.minimum(np.maximum.accumulate(n_left * p_values[ascending]), 1.0)
    return adjusted


def independent_difference(first: tuple[float, float, int], second: tuple[float, float, int]) -> MeanInterval:
    """Difference of two means over trials that are independent, with Welch's 95 % interval.

    Parameters
    ----------
    first, second : (float, float, int)
        Mean, standard error of the mean, and number of trials, at least 2. The second is subtracted.

    Returns
    -------
    MeanInterval
        Its `std` is NaN: no trial has a difference; its `n` is the smaller number of trials.

    Notes
    -----
    Source: Welch, The generalization of Student's problem, Biometrika 34 (1947).
    """
    (mean, error, n), (subtracted, other_error, other_n) = first, second
    variance = error**2 + other_error**2
    difference = mean - subtracted
    if variance == 0:
        return MeanInterval(difference, np.nan, difference, difference, min(n, other_n))
    freedom = variance**2 / (error**4 / (n - 1) + other_error**4 / (other_n - 1))
    half_width = float(stdtrit(freedom, (1 + CONFIDENCE) / 2)) * float(np.sqrt(variance))
    return MeanInterval(difference, np.nan, difference - half_width, difference + half_width, min(n, other_n))


class Equivalence(NamedTuple):
    """Posterior probabilities; they sum to 1.

    Attributes
    ----------
    lower, equivalent, higher : float
        That the mean difference lies below the region of practical equivalence, inside it, or above it.
    """

    lower: float
    equivalent: float
    higher: float


def practical_equivalence(
    differences: NDArray[np.float64], test_to_train: float, margin: float, row: float
) -> Equivalence:
    """Bayesian correlated t-test of the mean difference between two methods on the same splits.

    Parameters
    ----------
    differences : ndarray, shape (n,)
        One per split, n at least 2.
    test_to_train : float
        Rows of the test part over rows of the training part; 0 where every trial draws new data.
    margin : float
        Differences of at most this size make no difference in practice: half the width of the region, not negative.
    row : float
        > 0, as in `mean_interval`.

    Notes
    -----
    Source: Corani and Benavoli, A Bayesian approach for comparing cross-validated algorithms on multiple data sets,
    Machine Learning 100 (2015), equation 7: the posterior of the mean is Student's distribution with n - 1 degrees of
    freedom, centred at the mean difference, with the variance of Nadeau and Bengio's test.
    """
    n = len(differences)
    mean = float(np.mean(differences))
    scale = _spread(float(np.std(differences, ddof=1)), row) * float(np.sqrt(1 / n + test_to_train))
    lower = float(stdtr(n - 1, (-margin - mean) / scale))
    higher = float(stdtr(n - 1, (mean - margin) / scale))
    return Equivalence(lower, max(1.0 - lower - higher, 0.0), higher)
