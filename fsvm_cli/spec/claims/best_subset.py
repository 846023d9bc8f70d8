"""How many features are enough: the size of the best subset, and how sure it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fsvm_cli.evaluation.statistics import CONFIDENCE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

BOOTSTRAP_SAMPLES = 1000
SIZE_RULE = "smallest size within one standard error of the best (bootstrap)"


def size_of_best_subset(values: NDArray[np.float64], sizes: tuple[int, ...]) -> int:
    """Smallest size whose mean lies within one standard error of the best mean.

    Parameters
    ----------
    values : ndarray, shape (n_trials, n_sizes)
        Figure of merit, larger is better.
    sizes : tuple of int
        Ascending.
    """
    means = values.mean(axis=0)
    best = int(np.argmax(means))
    standard_error = values[:, best].std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else 0.0
    return sizes[int(np.argmax(means >= means[best] - standard_error))]


def resampled_sizes(
    curves: Sequence[NDArray[np.float64]], sizes: tuple[int, ...], rng: np.random.Generator
) -> NDArray[np.intp]:
    """Sizes of the best subsets of several rankings, each time on the same trials, drawn with replacement.

    Random splits of one data set share rows, which the draw does not see: the spread is that of repeating the splits,
    not that of another sample of the population.

    Parameters
    ----------
    curves : sequence of ndarray, shape (n_trials, n_sizes)
        Of each ranking on the same trials.
    sizes : tuple of int
    rng : numpy.random.Generator

    Returns
    -------
    ndarray of int, shape (n_samples, n_rankings)
    """
    n_trials = len(curves[0])
    rows = rng.integers(n_trials, size=(BOOTSTRAP_SAMPLES, n_trials))
    return np.array([[size_of_best_subset(values[row], sizes) for values in curves] for row in rows])


def interval_of_counts(counts: NDArray[np.intp]) -> tuple[float, float]:
    """95 % interval of whole numbers, by the quantiles of resampled ones, which are whole numbers too."""
    low, high = np.quantile(counts, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2], method="inverted_cdf")
    return float(low), float(high)
