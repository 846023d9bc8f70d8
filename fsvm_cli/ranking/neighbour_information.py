"""Mutual information of a continuous variable with a class, by Ross's estimator from nearest neighbours."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import digamma

if TYPE_CHECKING:
    from numpy.typing import NDArray

NOISE = 1e-10
"""Of the mean size of the values, or of their standard deviation where that is larger: makes values distinct."""


def neighbour_information(
    values: NDArray[np.float64], y: NDArray[np.intp], n_neighbors: int, noise: NDArray[np.float64]
) -> float:
    """Estimate the mutual information, in nats, at least 0; O(n log n) by sorting.

    With N samples in all, N_i of the class of sample i, k neighbours (fewer in a class of fewer samples), and m_i the
    number of samples, itself included, that are nearer to sample i than its k-th neighbour of the same class, it is

        ψ(N) + mean ψ(k) - mean ψ(N_i) - mean ψ(m_i).

    Samples that are alone in their class do not take part.

    Parameters
    ----------
    values : ndarray, shape (n_samples,)
        Not all equal.
    y : ndarray of int, shape (n_samples,)
        Class codes; a class has two samples at least.
    n_neighbors : int
        k, at least 1.
    noise : ndarray, shape (n_samples,)
        Standard normal.

    Notes
    -----
    Source: B. C. Ross, "Mutual Information between Discrete and Continuous Data Sets", PLoS ONE 9(2), 2014, e87357,
    equation 2, with the strict inequality of scikit-learn's `mutual_info_classif`, whose noise this is, too. That
    searches trees, in so many steps for each feature that hundreds of samples take it over ten times as long.
    """
    x = values / values.std()
    x = x + NOISE * max(1.0, np.abs(x).mean()) * noise
    counts = np.bincount(y)[y]
    x, y, counts = x[counts > 1], y[counts > 1], counts[counts > 1]
    k = np.minimum(n_neighbors, counts - 1)
    radius = np.empty(len(x))
    for code in np.unique(y):
        own = np.flatnonzero(y == code)
        ascending = own[np.argsort(x[own])]
        radius[ascending] = np.nextafter(_distance_of_neighbour(x[ascending], int(k[ascending[0]])), 0)
    nearer = _number_within(np.sort(x), x, radius)
    estimate = digamma(len(x)) + digamma(k).mean() - digamma(counts).mean() - digamma(nearer).mean()
    return max(0.0, float(estimate))


def _distance_of_neighbour(ascending: NDArray[np.float64], k: int) -> NDArray[np.float64]:
    """Give each value's distance to the k-th nearest other: the least reach of k + 1 neighbours in a row around it."""
    n = len(ascending)
    least = np.full(n, np.inf)
    for place in range(k + 1):
        inner = slice(place, n - k + place)
        reach = np.maximum(ascending[inner] - ascending[: n - k], ascending[k:] - ascending[inner])
        least[inner] = np.minimum(least[inner], reach)
    return least


def _number_within(
    ascending: NDArray[np.float64], centres: NDArray[np.float64], radius: NDArray[np.float64]
) -> NDArray[np.intp]:
    """Count the values at most a radius away from each centre, which is one of them."""
    padded = np.concatenate([[-np.inf], ascending, [np.inf]])
    first = np.searchsorted(ascending, centres - radius, side="left") + 1
    behind = np.searchsorted(ascending, centres + radius, side="right") + 1
    # The sums were rounded; distances decide, as rounded as those that the radius was found with.
    while (steps := (centres - padded[first - 1] <= radius) * 1 - (centres - padded[first] > radius)).any():
        first -= steps
    while (steps := (padded[behind] - centres <= radius) * 1 - (padded[behind - 1] - centres > radius)).any():
        behind += steps
    return behind - first
