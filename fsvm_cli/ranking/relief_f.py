"""RELIEF-F with Kononenko's class weights, a baseline of infoprop2001, Figure 2."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import numpy as np
from annotated_types import Ge
from numba import njit

from fsvm_cli.ranking.base import Ranker
from fsvm_cli.svm.compiled import ALLOCATING, COMPILED

if TYPE_CHECKING:
    from numpy.typing import NDArray

FEATURES_PER_PASS = SAMPLES_PER_PASS = 4
"""Features whose differences are added up before distances are written back, and samples to which the same features
have differences: memory is what costs time."""
SAME_DISTANCE = 1e-10
"""Distances that differ by no more than this part are one: the order of the features rounds their sums."""
SAMPLES_AT_ONCE = 128
"""Samples of which it is first asked whether any is near enough: few are, and comparisons use vector instructions."""


class ReliefF(Ranker):
    """How much more a feature differs between neighbours of different classes than between those of one class.

    With diff_j(u, v) = |u_j - v_j| / (max_j - min_j), R running over all n samples, H over its k nearest neighbours
    of the same class c(R), and M over its k nearest of each other class c,

        score_j = mean_R [ Σ_{c ≠ c(R)} P̂(c) / (1 - P̂(c(R))) mean_M diff_j(R, M)  -  mean_H diff_j(R, H) ]

    between -1 and 1, about 0 for a feature that says nothing. Neighbours are nearest by Σ_j diff_j. Finds features
    that act together, such as the two of an exclusive or; many irrelevant features blur what is near. O(n² d) for d
    features, compiled.

    Use it where features may act together and no machine is to be trained; not where irrelevant features are many, or
    to drop copies, which all score alike.

    Parameters
    ----------
    n_neighbors : int, default=10
        k, at least 1. A class with fewer other samples than k is averaged over those that it has.
    n_features_to_select : int or None, default=None
        Size of the selected subset; half of the features where None.
    tie_seed : int, default=0
        Breaks ties among features at random.

    Notes
    -----
    Source: Kononenko (1994), whom infoprop2001 cites; every sample is visited, so that nothing is drawn. Of more
    samples at the distance of the k-th neighbour than there are places left, each counts in part, all alike: the mean
    over all ways to choose among them, so that the order of rows decides nothing. Every feature is taken as numerical;
    for values of 0 and 1 that is the same as nominal; turn other nominal features into one of 0 and 1 for each value.
    The package skrebate gives the same scores to 4e-16 where it, too, takes all features as numerical. By default it
    takes those of at most 10 distinct values as nominal, and beside such features lets a numerical difference of more
    than one standard deviation count as 1, and a smaller one as |u_j - v_j| over the range: scores of heart then differ
    by up to .083. The source has no such jump; nominal features are its own, and whether codes are numbers is for the
    user to say. A sample that is alone in its class has no hits; its differences
    to the other classes count. A feature that is constant scores 0.

    See Also
    --------
    Eubafes : Weights by the similarity of all samples.

    References
    ----------
    - infoprop2001: V. Sindhwani, P. Bhattacharya and S. Rakshit, SDM 2001; in full in `Ranker`.
    - I. Kononenko, "Estimating Attributes: Analysis and Extensions of RELIEF", European Conference on Machine
      Learning (ECML), 1994, pages 171-182.

    Examples
    --------
    >>> from fsvm_cli import ReliefF
    >>> ReliefF().fit([[0, 3], [1, 1], [0, 2], [5, 3], [6, 1], [5, 2]], list("aaabbb")).ranking_.tolist()
    [1, 2]
    """

    method = "relief-f"

    n_neighbors: Annotated[int, Ge(1)] = 10

    def _scores(self, X: NDArray[np.float64], y: NDArray[np.intp], n_classes: int) -> NDArray[np.float64]:
        lowest, spread = X.min(axis=0), np.ptp(X, axis=0)
        n_samples, n_features = X.shape
        # Features that are zero everywhere fill up the last group.
        samples = np.zeros((n_samples, -(-n_features // FEATURES_PER_PASS) * FEATURES_PER_PASS))
        np.subtract(X, lowest, out=samples[:, :n_features])
        samples[:, :n_features] /= np.where(spread > 0, spread, 1)
        priors = np.bincount(y, minlength=n_classes) / n_samples
        weights = priors[None, :] / (1 - priors[:, None])
        np.fill_diagonal(weights, -1.0)
        by_class = np.argsort(y, kind="stable")
        starts = np.searchsorted(y[by_class], np.arange(n_classes + 1))
        columns = np.empty(samples.T.shape)
        np.take(samples.T, by_class, axis=1, out=columns, mode="clip")
        # One neighbour more than is asked for tells whether others are as near as the last.
        nearest, radius, found = _nearest_of_each_class(columns, starts, min(self.n_neighbors, n_samples) + 1)
        total = _mean_differences(samples[by_class], starts, weights, nearest, radius, found)[:n_features]
        return np.asarray(total / n_samples, dtype=np.float64)


@njit(**ALLOCATING)
def _nearest_of_each_class(
    columns: NDArray[np.float64], starts: NDArray[np.intp], n_neighbors: int
) -> tuple[NDArray[np.intp], NDArray[np.float64], NDArray[np.intp]]:
    """Find the neighbours of every sample in every class; each distance is computed once, for both of its samples.

    Parameters
    ----------
    columns : ndarray, shape (n_features, n_samples)
        Features scaled to 0 .. 1, a multiple of `FEATURES_PER_PASS`, of samples in the order of their classes.
    starts : ndarray of int, shape (n_classes + 1,)
        Where each class begins, and where the last one ends.
    n_neighbors : int

    Returns
    -------
    nearest : ndarray of int, shape (n_classes, n_samples, n_neighbors)
        Samples in ascending distance.
    radius : ndarray, shape (n_classes, n_samples, n_neighbors)
        Their distances.
    found : ndarray of int, shape (n_classes, n_samples)
        How many there are.
    """
    n_samples, n_classes = columns.shape[1], starts.size - 1
    nearest = np.zeros((n_classes, n_samples, n_neighbors), np.intp)
    radius = np.full((n_classes, n_samples, n_neighbors), np.inf)
    limits = np.full((n_classes, n_samples), np.inf)
    found = np.zeros((n_classes, n_samples), np.intp)
    distances = np.empty((SAMPLES_PER_PASS, n_samples))
    own = 0
    for first in range(0, n_samples, SAMPLES_PER_PASS):
        _distances_from(columns, first, distances)
        for sample in range(first, min(first + SAMPLES_PER_PASS, n_samples)):
            while sample >= starts[own + 1]:
                own += 1
            for code in range(own, n_classes):
                begin, end = max(sample + 1, starts[code]), starts[code + 1]
                away = distances[sample - first]
                _take_neighbors(sample, own, code, begin, end, away, nearest, radius, limits, found)
    return nearest, radius, found


@njit(**COMPILED)
def _distances_from(columns: NDArray[np.float64], first: int, distances: NDArray[np.float64]) -> None:
    """Fill in the city-block distances of some samples, from `first` on, to all from `first` on.

    Four samples and four features at a time: what is loaded serves sixteen differences.
    """
    last = columns.shape[1] - 1
    p, q, r, s = first, min(first + 1, last), min(first + 2, last), min(first + 3, last)
    # Slices from here on: indices that may be negative would keep the loop from using vector instructions.
    to_p, to_q, to_r, to_s = distances[0, first:], distances[1, first:], distances[2, first:], distances[3, first:]
    to_p[:], to_q[:], to_r[:], to_s[:] = 0.0, 0.0, 0.0, 0.0
    for j in range(0, columns.shape[0], FEATURES_PER_PASS):
        a, b, c, d = columns[j], columns[j + 1], columns[j + 2], columns[j + 3]
        a_p, b_p, c_p, d_p = a[p], b[p], c[p], d[p]
        a_q, b_q, c_q, d_q = a[q], b[q], c[q], d[q]
        a_r, b_r, c_r, d_r = a[r], b[r], c[r], d[r]
        a_s, b_s, c_s, d_s = a[s], b[s], c[s], d[s]
        a, b, c, d = a[first:], b[first:], c[first:], d[first:]
        for i in range(to_p.size):
            a_i, b_i, c_i, d_i = a[i], b[i], c[i], d[i]
            to_p[i] += (abs(a_i - a_p) + abs(b_i - b_p)) + (abs(c_i - c_p) + abs(d_i - d_p))
            to_q[i] += (abs(a_i - a_q) + abs(b_i - b_q)) + (abs(c_i - c_q) + abs(d_i - d_q))
            to_r[i] += (abs(a_i - a_r) + abs(b_i - b_r)) + (abs(c_i - c_r) + abs(d_i - d_r))
            to_s[i] += (abs(a_i - a_s) + abs(b_i - b_s)) + (abs(c_i - c_s) + abs(d_i - d_s))


@njit(**COMPILED)
def _take_neighbors(  # noqa: PLR0917
    sample: int,
    own: int,
    code: int,
    begin: int,
    end: int,
    distance: NDArray[np.float64],
    nearest: NDArray[np.intp],
    radius: NDArray[np.float64],
    limits: NDArray[np.float64],
    found: NDArray[np.intp],
) -> None:
    """Take samples of a class as neighbours of one before them, and it as theirs, where they are near enough.

    Parameters
    ----------
    sample, own : int
        The sample, and its class.
    code, begin, end : int
        The class of the others, and where they stand.
    distance : ndarray, shape (n_samples,)
        Of the sample from those that come after it.
    nearest, found
        As of `_nearest_of_each_class`.
    radius : ndarray, shape (n_classes, n_samples, n_neighbors)
        Distances of the neighbours so far.
    limits : ndarray, shape (n_classes, n_samples)
        The last of these.
    """
    for start in range(begin, end, SAMPLES_AT_ONCE):
        stop = min(start + SAMPLES_AT_ONCE, end)
        away, theirs, limit, n_near = distance[start:stop], limits[own, start:stop], limits[code, sample], 0
        for i in range(away.size):
            n_near += (away[i] < limit) | (away[i] < theirs[i])
        if n_near == 0:
            continue
        for other in range(start, stop):
            # Strictly nearer, in the order of the rows: the first of equals stays.
            if distance[other] < limits[code, sample]:
                _insert(nearest[code, sample], radius[code, sample], other, distance[other])
                limits[code, sample] = radius[code, sample, -1]
                found[code, sample] = min(found[code, sample] + 1, radius.shape[2])
            if distance[other] < limits[own, other]:
                _insert(nearest[own, other], radius[own, other], sample, distance[other])
                limits[own, other] = radius[own, other, -1]
                found[own, other] = min(found[own, other] + 1, radius.shape[2])


@njit(**COMPILED)
def _insert(nearest: NDArray[np.intp], radius: NDArray[np.float64], row: int, away: float) -> None:
    """Put a row where it belongs in a list in ascending distance, whose last entry falls out."""
    rank = radius.size - 1
    while rank > 0 and radius[rank - 1] > away:
        nearest[rank] = nearest[rank - 1]
        radius[rank] = radius[rank - 1]
        rank -= 1
    nearest[rank], radius[rank] = row, away


@njit(**ALLOCATING)
def _mean_differences(  # noqa: PLR0917
    samples: NDArray[np.float64],
    starts: NDArray[np.intp],
    weights: NDArray[np.float64],
    nearest: NDArray[np.intp],
    radius: NDArray[np.float64],
    found: NDArray[np.intp],
) -> NDArray[np.float64]:
    """Add up the mean differences of each feature to the neighbours in each class.

    Parameters
    ----------
    samples : ndarray, shape (n_samples, n_features)
        In the order of their classes.
    starts
        As of `_nearest_of_each_class`.
    weights : ndarray, shape (n_classes, n_classes)
        What the neighbours of the class of the column count for a sample of the class of the row.
    nearest, radius, found
        As of `_nearest_of_each_class`, with one neighbour more than counts.

    Returns
    -------
    ndarray, shape (n_features,)
    """
    n_samples, n_features = samples.shape
    n_neighbors = nearest.shape[2] - 1
    scores, total, tied = np.zeros(n_features), np.empty(n_features), np.empty(n_features)
    own = 0
    for sample in range(n_samples):
        while sample >= starts[own + 1]:
            own += 1
        for code in range(len(weights)):
            total[:] = 0.0
            number, away = min(found[code, sample], n_neighbors), radius[code, sample]
            if found[code, sample] > number and away[number] <= away[number - 1] * (1 + SAME_DISTANCE):
                tied[:] = 0.0
                _add_tied(samples, sample, starts[code], starts[code + 1], away[number - 1], number, total, tied)
            else:
                for rank in range(number):
                    _add_differences(samples[nearest[code, sample, rank]], samples[sample], total)
            _add_mean(total, weights[own, code], max(number, 1), scores)
    return scores


@njit(**COMPILED)
def _add_tied(  # noqa: PLR0917
    samples: NDArray[np.float64],
    sample: int,
    begin: int,
    end: int,
    away: float,
    number: int,
    total: NDArray[np.float64],
    tied: NDArray[np.float64],
) -> None:
    """Add the differences to the samples nearer than a distance, and of those at it what fills up their number."""
    n_nearer = n_tied = 0
    for other in range(begin, end):
        distance = 0.0
        for j in range(total.size):
            distance += abs(samples[other, j] - samples[sample, j])
        if other == sample or distance > away * (1 + SAME_DISTANCE):
            continue
        if distance < away * (1 - SAME_DISTANCE):
            n_nearer += 1
            _add_differences(samples[other], samples[sample], total)
        else:
            n_tied += 1
            _add_differences(samples[other], samples[sample], tied)
    for j in range(total.size):
        total[j] += tied[j] * (number - n_nearer) / n_tied


@njit(**COMPILED)
def _add_differences(of_one: NDArray[np.float64], of_other: NDArray[np.float64], total: NDArray[np.float64]) -> None:
    for j in range(total.size):
        total[j] += abs(of_one[j] - of_other[j])


@njit(**COMPILED)
def _add_mean(total: NDArray[np.float64], weight: float, number: int, scores: NDArray[np.float64]) -> None:
    for j in range(total.size):
        scores[j] += weight * total[j] / number
