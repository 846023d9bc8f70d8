"""Mutual information of a continuous variable with a class, by Ross's estimator from nearest neighbours.

Mutual information of each feature with the class, the baseline of infoprop2001.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import scipy.sparse as sp
from annotated_types import Ge
from scipy.special import digamma, xlogy
from sklearn.utils import check_random_state

from fsvm_cli.numerics import binary_exponents, value_ranges
from fsvm_cli.ranking.base import Ranker
from fsvm_cli.ranking.content import content_order

if TYPE_CHECKING:
    from numpy.typing import NDArray

RELATIVE_NOISE = 1e-10
"""In units of the mean size of the values, or of their standard deviation where that is larger: makes them distinct."""


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
    x = x + RELATIVE_NOISE * max(1.0, np.abs(x).mean()) * noise
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


MAX_DISCRETE_VALUES = 10
"""Distinct values that a discrete feature has at most."""

MIN_SAMPLES_PER_VALUE = 5
"""On average, for values to be counted; with fewer, frequencies overestimate the information by too much."""

COUNTS, NEIGHBOURS = "counts", "neighbours"


class MutualInformation(Ranker):
    """What each feature by itself says about the class, in bits.

    A feature is discrete where its values repeat: two distinct ones, or up to 10 that have five samples each on
    average. Whether it is coded as 0 and 1, as 3, 6 and 7, or standardised does not matter. With P̂ the relative
    frequency, its

        score_j = Σ_c Σ_v P̂(c, v) log₂(P̂(c, v) / (P̂(c) P̂(v)))

    For any other feature the estimator of Ross (2014) from nearest neighbours, as scikit-learn has it, takes the place
    of the sum; it suits continuous features, needs some hundred samples to tell a weak feature from none, and costs
    O(n log n). Both are at least 0, and take any number of classes as they are. How many features each served is in
    `chosen_`, and which in `diagnostics_`.

    Use it for words in texts, and wherever a feature acts in a way that is neither linear nor monotone; not on few
    samples, nor to drop features that repeat each other.

    Parameters
    ----------
    n_neighbors : int, default=3
        Neighbours that the estimator for continuous features looks at, at least 1: fewer are less biased, more are
        less noisy. Discrete features have no use for it.
    random_state : int, RandomState or None, default=0
        Of the tiny noise that makes the values of continuous features distinct, the same for every feature.
    n_features_to_select : int or None, default=None
        Size of the selected subset; half of the features where None.
    tie_seed : int, default=0
        Breaks ties among features at random.

    Notes
    -----
    Source: infoprop2001, section on Reuters, which ranks words by their average mutual information with the class. A
    feature that is constant scores 0. Where values repeat, samples have no nearest neighbours: of heart's 270 samples
    the slope of the ST segment, standardised, says .111 bits, and the estimator from neighbours makes .026 to .158 of
    it, by its seed. Frequencies of v values and c classes overrate by about (v - 1)(c - 1) / (1.4 n) bits for n
    samples.

    See Also
    --------
    Mifs : Also looks at redundancy.

    References
    ----------
    - infoprop2001: V. Sindhwani, P. Bhattacharya and S. Rakshit, SDM 2001; in full in `Ranker`.
    - B. C. Ross, "Mutual Information between Discrete and Continuous Data Sets", PLoS ONE 9(2), 2014, e87357.

    Examples
    --------
    >>> from fsvm_cli import MutualInformation
    >>> MutualInformation().fit([[0, 3], [1, 1], [0, 2], [5, 3], [6, 1], [5, 2]], list("aaabbb")).ranking_.tolist()
    [1, 2]
    """

    method = "mutual-information"
    accepts_sparse = True
    passed_down = frozenset({"random_state"})

    n_neighbors: Annotated[int, Ge(1)] = 3
    random_state: int | np.random.RandomState | None = 0

    def _scores(self, X: NDArray[np.float64], y: NDArray[np.intp], n_classes: int) -> NDArray[np.float64]:
        occurs = holds_zeros_and_ones(X)
        ranges = value_ranges(X)
        scores = np.zeros(X.shape[1])
        scores[occurs] = occurrence_information(X[:, occurs], y, n_classes)
        # One feature at a time, with noise from the same seed: a score must not depend on the other features.
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        noise = check_random_state(seed).standard_normal(len(y))
        estimator = np.full(X.shape[1], COUNTS, dtype=object)
        for feature in np.flatnonzero(~occurs & (ranges > 0)):
            column: Any = X[:, [feature]]
            column = column.toarray() if sp.issparse(X) else column
            values, codes = np.unique(column, return_inverse=True)
            if is_discrete(len(values), len(y)):
                present = np.eye(len(values))[codes.ravel()]
                scores[feature] = table_information(np.eye(n_classes)[y].T @ present)
            else:
                # In a unit of its own, in which no square is too small for a number; rows and direction by its content.
                rows, _, signs = content_order(column, y)
                away = column.ravel() * signs[0]
                scaled = np.ldexp(away - away.min(), binary_exponents(ranges[feature]))
                scores[feature] = self._from_neighbours(scaled[rows], y[rows], noise)
                estimator[feature] = NEIGHBOURS
        served = {name: int(np.count_nonzero(estimator == name)) for name in (COUNTS, NEIGHBOURS)}
        self.chosen_["estimator"] = ", ".join(f"{name} ({number})" for name, number in served.items() if number)
        self.diagnostics_["estimator"] = {"feature": np.array(self._feature_names()), "estimator": estimator}
        return scores

    def _from_neighbours(self, column: NDArray[np.float64], y: NDArray[np.intp], noise: NDArray[np.float64]) -> float:
        """Estimate for one continuous feature, in bits."""
        if np.bincount(y).max() < 2:
            raise ValueError(f"{self.method} needs a class of two samples or more, to find neighbours in it")
        return neighbour_information(column, y, self.n_neighbors, noise) / float(np.log(2))


def is_discrete(n_values: int, n_samples: int) -> bool:
    """Whether the values of a feature repeat often enough to be counted."""
    return n_values <= 2 or (n_values <= MAX_DISCRETE_VALUES and n_values * MIN_SAMPLES_PER_VALUE <= n_samples)


def holds_zeros_and_ones(X: Any) -> NDArray[np.bool_]:
    """Whether each column of a dense or CSR matrix holds 0 and 1 only, shape (n_features,)."""
    if not sp.issparse(X):
        both: NDArray[np.bool_] = ((X == 0) | (X == 1)).all(axis=0)
        return both
    other = X.indices[(X.data != 0) & (X.data != 1)]
    only: NDArray[np.bool_] = np.bincount(other, minlength=X.shape[1]) == 0
    return only


def occurrence_information(X: NDArray[np.float64], y: NDArray[np.intp], n_classes: int) -> NDArray[np.float64]:
    """Mutual information of features of 0 and 1 with the class, from relative frequencies.

    Parameters
    ----------
    X : ndarray or csr_array, shape (n_samples, n_features)
        Zeros and ones.
    y : ndarray of int, shape (n_samples,)
        Class codes, each of 0 .. n_classes - 1 present.
    n_classes : int

    Returns
    -------
    ndarray, shape (n_features,)
        In bits, between 0 and the entropy of the class.
    """
    members = np.eye(n_classes)[y]
    present = members.T @ X
    return table_information(np.stack([members.sum(axis=0)[:, None] - present, present], axis=-1).swapaxes(0, 1))


def table_information(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Mutual information in tables of counts.

    Parameters
    ----------
    counts : ndarray, shape (..., n_classes, n_values)
        Samples of each class and value; each class has one at least.

    Returns
    -------
    ndarray, shape (...)
        In bits, at least 0.
    """
    joint = counts / counts.sum(axis=(-2, -1), keepdims=True)
    marginals = joint.sum(axis=-2, keepdims=True) * joint.sum(axis=-1, keepdims=True)
    # Where a joint frequency is 0 its term is 0, and the ratio may be 0/0.
    ratio = np.divide(joint, marginals, out=np.ones_like(joint), where=joint > 0)
    information: NDArray[np.float64] = xlogy(joint, ratio).sum(axis=(-2, -1)) / np.log(2)
    return np.maximum(information, 0)
