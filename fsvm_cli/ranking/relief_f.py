"""RELIEF-F with Kononenko's class weights, a baseline of infoprop2001, Figure 2."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import numpy as np
from annotated_types import Ge
from numba import njit

from fsvm_cli.ranking.base import Ranker

if TYPE_CHECKING:
    from numpy.typing import NDArray

FEATURES_PER_PASS = 4
"""Features whose differences are added up before the distances are written back: memory is what costs time."""


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


@njit(cache=True, nogil=True)
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
    farthest = np.full((n_classes, n_samples), np.inf)
    distance = np.empty(n_samples)
    for sample in range(n_samples):
        _distances_to_later(columns, sample, distance)
        own = y[sample]
        for other in range(sample + 1, n_samples):
            away, code = distance[other], y[other]
            # Strictly nearer, in the order of the rows: the first of equals stays.
            if away < farthest[code, sample]:
                _insert(other, away, nearest[code, sample], radius[code, sample])
                farthest[code, sample] = radius[code, sample, -1]
                found[code, sample] = min(found[code, sample] + 1, n_neighbors)
            if away < farthest[own, other]:
                _insert(sample, away, nearest[own, other], radius[own, other])
                farthest[own, other] = radius[own, other, -1]
                found[own, other] = min(found[own, other] + 1, n_neighbors)
    return nearest, found


@njit(cache=True, nogil=True)
def _distances_to_later(columns: NDArray[np.float64], sample: int, distance: NDArray[np.float64]) -> None:
    """Fill in the city-block distances of one sample to all that come after it."""
    later = distance[sample + 1 :]
    later[:] = 0.0
    for j in range(0, columns.shape[0], FEATURES_PER_PASS):
        # Slices from here on: indices that may be negative would keep the loop from using vector instructions.
        a, b = columns[j, sample + 1 :], columns[j + 1, sample + 1 :]
        c, d = columns[j + 2, sample + 1 :], columns[j + 3, sample + 1 :]
        own_a, own_b, own_c, own_d = (
            columns[j, sample],
            columns[j + 1, sample],
            columns[j + 2, sample],
            columns[j + 3, sample],
        )
        for i in range(later.size):
            later[i] += (abs(a[i] - own_a) + abs(b[i] - own_b)) + (abs(c[i] - own_c) + abs(d[i] - own_d))


@njit(cache=True, nogil=True)
def _insert(row: int, away: float, nearest: NDArray[np.intp], radius: NDArray[np.float64]) -> None:
    """Put a row where it belongs in a list in ascending distance, whose last entry falls out."""
    rank = radius.size - 1
    while rank > 0 and radius[rank - 1] > away:
        nearest[rank], radius[rank] = nearest[rank - 1], radius[rank - 1]
        rank -= 1
    nearest[rank], radius[rank] = row, away


@njit(cache=True, nogil=True)
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
    for j in range(n_features):
        column = columns[j]
        for sample in range(n_samples):
            for code in range(len(weights)):
                total = 0.0
                for rank in range(found[code, sample]):
                    total += abs(column[nearest[code, sample, rank]] - column[sample])
                scores[j] += weights[y[sample], code] * total / max(found[code, sample], 1)
    return scores
