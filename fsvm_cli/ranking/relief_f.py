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

    Notes
    -----
    Source: Kononenko (1994), whom infoprop2001 cites; every sample is visited, so that nothing is drawn. Of neighbours
    at the same distance the one that comes first in the data counts as nearer. Every feature is taken as numerical;
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
        columns = np.zeros((-(-n_features // FEATURES_PER_PASS) * FEATURES_PER_PASS, n_samples))
        columns[:n_features] = ((X - lowest) / np.where(spread > 0, spread, 1)).T
        priors = np.bincount(y, minlength=n_classes) / n_samples
        weights = priors[None, :] / (1 - priors[:, None])
        np.fill_diagonal(weights, -1.0)
        nearest, found = _nearest_of_each_class(columns, y, n_classes, min(self.n_neighbors, n_samples))
        scores: NDArray[np.float64] = _mean_differences(columns, y, weights, nearest, found)[:n_features] / n_samples
        return scores


@njit(**ALLOCATING)
def _nearest_of_each_class(
    columns: NDArray[np.float64], y: NDArray[np.intp], n_classes: int, n_neighbors: int
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Find the neighbours of every sample in every class; each distance is computed once, for both of its samples.

    Parameters
    ----------
    columns : ndarray, shape (n_features, n_samples)
        Features scaled to 0 .. 1; a multiple of `FEATURES_PER_PASS`.
    y : ndarray of int, shape (n_samples,)
        Class codes.
    n_classes, n_neighbors : int

    Returns
    -------
    nearest : ndarray of int, shape (n_classes, n_samples, n_neighbors)
        Rows in ascending distance.
    found : ndarray of int, shape (n_classes, n_samples)
        How many there are.
    """
    n_samples = columns.shape[1]
    nearest = np.empty((n_classes, n_samples, n_neighbors), np.intp)
    radius = np.full((n_classes, n_samples, n_neighbors), np.inf)
    found = np.zeros((n_classes, n_samples), np.intp)
    distances = np.empty((SAMPLES_PER_PASS, n_samples))
    for first in range(0, n_samples, SAMPLES_PER_PASS):
        _distances_from(columns, first, distances)
        for sample in range(first, min(first + SAMPLES_PER_PASS, n_samples)):
            _take_neighbors(sample, distances[sample - first], y, nearest, radius, found)
    return nearest, found


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
    distance: NDArray[np.float64],
    y: NDArray[np.intp],
    nearest: NDArray[np.intp],
    radius: NDArray[np.float64],
    found: NDArray[np.intp],
) -> None:
    """Take the samples after one as its neighbours, and it as theirs, where they are near enough."""
    own, last = y[sample], radius.shape[2] - 1
    for other in range(sample + 1, distance.size):
        away, code = distance[other], y[other]
        # Strictly nearer, in the order of the rows: the first of equals stays.
        if away < radius[code, sample, last]:
            _insert(nearest, radius, found, code, sample, other, away)
        if away < radius[own, other, last]:
            _insert(nearest, radius, found, own, other, sample, away)


@njit(**COMPILED)
def _insert(  # noqa: PLR0917
    nearest: NDArray[np.intp],
    radius: NDArray[np.float64],
    found: NDArray[np.intp],
    code: int,
    sample: int,
    row: int,
    away: float,
) -> None:
    """Put a row where it belongs in a list in ascending distance, whose last entry falls out."""
    rank = radius.shape[2] - 1
    while rank > 0 and radius[code, sample, rank - 1] > away:
        nearest[code, sample, rank] = nearest[code, sample, rank - 1]
        radius[code, sample, rank] = radius[code, sample, rank - 1]
        rank -= 1
    nearest[code, sample, rank], radius[code, sample, rank] = row, away
    found[code, sample] = min(found[code, sample] + 1, radius.shape[2])


@njit(**ALLOCATING)
def _mean_differences(
    columns: NDArray[np.float64],
    y: NDArray[np.intp],
    weights: NDArray[np.float64],
    nearest: NDArray[np.intp],
    found: NDArray[np.intp],
) -> NDArray[np.float64]:
    """Add up the mean differences of each feature to the neighbours in each class.

    Parameters
    ----------
    columns, y, nearest, found
        As in `_nearest_of_each_class`.
    weights : ndarray, shape (n_classes, n_classes)
        What the neighbours of the class of the column count for a sample of the class of the row.

    Returns
    -------
    ndarray, shape (n_features,)
    """
    n_features, n_samples = columns.shape
    scores = np.zeros(n_features)
    for j in range(0, n_features, FEATURES_PER_PASS):
        a, b, c, d = columns[j], columns[j + 1], columns[j + 2], columns[j + 3]
        score_a, score_b, score_c, score_d = 0.0, 0.0, 0.0, 0.0
        for sample in range(n_samples):
            own_a, own_b, own_c, own_d = a[sample], b[sample], c[sample], d[sample]
            for code in range(len(weights)):
                total_a, total_b, total_c, total_d = 0.0, 0.0, 0.0, 0.0
                for rank in range(found[code, sample]):
                    row = nearest[code, sample, rank]
                    total_a += abs(a[row] - own_a)
                    total_b += abs(b[row] - own_b)
                    total_c += abs(c[row] - own_c)
                    total_d += abs(d[row] - own_d)
                weight, number = weights[y[sample], code], max(found[code, sample], 1)
                score_a += weight * total_a / number
                score_b += weight * total_b / number
                score_c += weight * total_c / number
                score_d += weight * total_d / number
        scores[j], scores[j + 1], scores[j + 2], scores[j + 3] = score_a, score_b, score_c, score_d
    return scores
