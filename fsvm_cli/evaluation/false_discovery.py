"""The false discovery rate of a ranking, by controls that are ranked together with the features.

A q-value of a feature is the smallest rate at which it is among the discoveries. Two kinds of controls answer two
questions. Permuted controls are the rows of all features in another order, the same for all: is a feature related to
the class at all? Model-X knockoffs have the features' means and covariances, with each other and with the features, and
no relation to the class beside them: does a feature say what the others do not? Rows are independent in both.

References
----------
- R. F. Barber and E. J. Candès, "Controlling the false discovery rate via knockoffs", Annals of Statistics 43, 2015;
  here barber2015.
- E. Candès, Y. Fan, L. Janson and J. Lv, "Panning for gold: 'model-X' knockoffs for high dimensional controlled
  variable selection", Journal of the Royal Statistical Society B 80, 2018; here candes2018.
- J. R. Gimenez and J. Zou, "Improving the stability of the knockoff procedure: multiple simultaneous knockoffs and
  entropy maximization", International Conference on Artificial Intelligence and Statistics, 2019; here gimenez2019.
- Y. Benjamini and Y. Hochberg, "Controlling the false discovery rate: a practical and powerful approach to multiple
  testing", Journal of the Royal Statistical Society B 57, 1995; here benjamini1995.
- O. Ledoit and M. Wolf, "A well-conditioned estimator for large-dimensional covariance matrices", Journal of
  Multivariate Analysis 88, 2004.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
from scipy.linalg import cho_factor, cho_solve, qr

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Array = NDArray[np.float64]
    Score = Callable[[Array], Array]

Controls = Literal["permuted", "knockoffs"]

N_REPEATS = 10
"""Sets of permuted controls: with p columns, a p-value is no smaller than 1 / (1 + 10 p)."""
N_REPEATS_OF_SHARES = 100
"""The same where columns of one feature and of many are compared, each with its own controls."""
MAX_KNOCKOFF_FEATURES = 1000
"""More would take minutes: each sweep of `entropy_diagonal` takes the cube of their number."""
COLLINEAR = 1e-7
"""A column that is so near to a linear combination of others, in units of its deviation, has no knockoff of its own."""
TIE = 1e-9
"""Scores that differ by less, relative to the larger, are a tie: processors round differently."""
LEAST_SHRINKAGE = 1e-6
"""Of the correlations: of copies of a column, where Ledoit and Wolf shrink by 0, they have no inverse."""
ENTROPY_CHANGE = 1e-9
MAX_SWEEPS = 200


def permuted_q_values(
    X: Array, score: Score, columns: NDArray[np.intp], rng: np.random.Generator, n_repeats: int = N_REPEATS
) -> Array:
    """Return q-values by permuted controls, shape (n_columns,).

    The p-value of a column is the share of the controls that score at least as high in the same fit, and itself, of
    columns with as many features: the best of many scores more. The q-values are those of Benjamini and Hochberg
    (benjamini1995). They hold for the hypothesis that a column is independent of the class, whatever its relation to
    others.

    Parameters
    ----------
    X : (n, d) array
    score : callable
        Scores the features of an (n, 2 d) array, larger is more relevant.
    columns : (d,) array of int
        Column that each feature comes from, 0 to n_columns - 1; a column scores as its best feature.
    rng : numpy.random.Generator
    n_repeats : int, default=10
    """
    n_columns = int(columns.max()) + 1
    sizes = np.bincount(columns)
    alike = [np.flatnonzero(sizes == size) for size in np.unique(sizes)]
    n_alike = np.bincount(sizes)[sizes]
    # As many controls for the columns that few are like, as far as that can be paid.
    n_repeats = max(n_repeats, min(n_repeats * n_columns // int(n_alike.min()), N_REPEATS_OF_SHARES))
    n_above = np.zeros(n_columns)
    for _ in range(n_repeats):
        found = _scores_with(X, X[rng.permutation(len(X))], score, columns, rng)
        of_columns, of_controls = np.split(tied_ranks(np.concatenate(found)), 2)
        for own in alike:
            n_above[own] += len(own) - np.searchsorted(np.sort(of_controls[own]), of_columns[own], side="left")
    p_values = (1 + n_above) / (1 + n_repeats * n_alike)
    order = np.argsort(p_values, kind="stable")
    adjusted = p_values[order] * n_columns / np.arange(1, n_columns + 1)
    q_values = np.empty(n_columns)
    q_values[order] = np.minimum(np.minimum.accumulate(adjusted[::-1])[::-1], 1.0)
    return q_values


def shares_of_controls_beaten(
    X: Array, score: Score, columns: NDArray[np.intp], rng: np.random.Generator, n_repeats: int
) -> Array:
    """Return how often each column scores above its own permuted control in the same fit, shape (n_columns,).

    So columns of one feature and of many can be compared, by any scores: of a column that is independent of the class
    all shares are about as likely, whereas the largest of many scores is larger than that of one.

    Parameters
    ----------
    X, score, columns, rng
        As in `permuted_q_values`.
    n_repeats : int
        Fits, each to other controls.
    """
    n_beaten = np.zeros(int(columns.max()) + 1)
    for _ in range(n_repeats):
        found = _scores_with(X, X[rng.permutation(len(X))], score, columns, rng)
        own, control = np.split(tied_ranks(np.concatenate(found)), 2)
        n_beaten += (1 + np.sign(own - control)) / 2
    return n_beaten / n_repeats


def signed_maximum(own: Array, control: Array) -> Array:
    """Return the larger of the ranks of two scores, with the sign of their difference (barber2015, section 1.2).

    Any scores have ranks.
    """
    own, control = np.split(tied_ranks(np.concatenate([own, control])), 2)
    return np.maximum(own, control) * np.sign(own - control)


def difference(own: Array, control: Array) -> Array:
    """Return the difference of two scores, 0 where they tie: of weights that a penalty has set to 0 (candes2018)."""
    ties = np.abs(own - control) <= TIE * np.maximum(np.abs(own), np.abs(control))
    return np.where(ties, 0.0, own - control)


def knockoff_q_values(
    X: Array,
    score: Score,
    columns: NDArray[np.intp],
    rng: np.random.Generator,
    statistic: Callable[[Array, Array], Array] = signed_maximum,
) -> Array:
    """Return q-values by second-order Gaussian knockoffs, shape (n_columns,).

    q of a column is the smallest (1 + #{W <= -t}) / #{W >= t} over the thresholds t <= W, that of the knockoff+ filter
    (barber2015, eq. 1.9): no column has less than one over the number of discoveries, so that fewer than ten are never
    found at 10 %.

    Parameters
    ----------
    X, score, columns, rng
        As in `permuted_q_values`.
    statistic : callable, default=signed_maximum
        Gives W by the scores of the columns and those of their knockoffs; its sign turns where the two are swapped.

    Raises
    ------
    ValueError
        As `gaussian_knockoffs`.
    """
    return q_values_of_statistics(statistic(*_scores_with(X, gaussian_knockoffs(X, rng), score, columns, rng)))


def q_values_of_statistics(W: Array) -> Array:
    """Return the q-values of knockoff statistics (p,), by the thresholds of the knockoff+ filter (barber2015, eq. 1.9).

    1 for a column that its knockoff beats.
    """
    thresholds = np.unique(np.abs(W[W != 0]))
    negative, positive = np.sort(-W[W < 0]), np.sort(W[W > 0])
    n_negative = len(negative) - np.searchsorted(negative, thresholds, side="left")
    n_positive = len(positive) - np.searchsorted(positive, thresholds, side="left")
    estimates = np.minimum((1 + n_negative) / np.maximum(n_positive, 1), 1.0)
    smallest = np.minimum.accumulate(estimates)
    q_values = np.ones(len(W))
    above = W > 0
    q_values[above] = smallest[np.searchsorted(thresholds, W[above])]
    return q_values


def _scores_with(
    X: Array, controls: Array, score: Score, columns: NDArray[np.intp], rng: np.random.Generator
) -> tuple[Array, Array]:
    """Score features and controls together; return the scores of the columns and of their controls.

    They stand in a random order, since ties may break by it.
    """
    d, n_columns = X.shape[1], int(columns.max()) + 1
    order = rng.permutation(2 * d)
    scores = np.empty(2 * d)
    scores[order] = score(np.hstack([X, controls])[:, order])
    best = np.full(2 * n_columns, -np.inf)
    np.maximum.at(best, np.concatenate([columns, columns + n_columns]), scores)
    return best[:n_columns], best[n_columns:]


def tied_ranks(scores: Array) -> Array:
    """Rank scores from 1, larger is higher; a chain of scores each of which ties with the next has its mean rank."""
    order = np.argsort(scores, kind="stable")
    rising = scores[order]
    width = TIE * np.maximum(np.abs(rising[1:]), np.abs(rising[:-1]))
    with np.errstate(invalid="ignore"):
        apart = np.concatenate([[True], ~(rising[1:] - rising[:-1] <= width)])
    group = np.cumsum(apart) - 1
    places = np.arange(1, len(scores) + 1)
    ranks = np.empty(len(scores))
    ranks[order] = (np.bincount(group, places) / np.bincount(group))[group]
    return ranks


def gaussian_knockoffs(X: Array, rng: np.random.Generator) -> Array:
    """Draw second-order Gaussian knockoffs of the columns of a matrix.

    Given the standardised row z, the knockoff is normal with mean z - z inv(Sigma) S and covariance
    2 S - S inv(Sigma) S (candes2018, section 3, from eq. 3.2); Sigma is the correlation matrix as Ledoit and Wolf
    estimate it, S that of `entropy_diagonal`. It is exact for Gaussian columns of known Sigma; of others means and
    covariances agree, not more.

    Parameters
    ----------
    X : (n, d) array
        The knockoff of a constant column is the column.

    Raises
    ------
    ValueError
        If there are more than `MAX_KNOCKOFF_FEATURES` columns, fewer than three rows, or a column is a linear
        combination of others, which no knockoff can be told from; the message numbers the columns from 0.
    """
    _check_size(X)
    varies = _varying(X)
    if varies.any():
        refuse_collinear(_standardised(X[:, varies]), np.flatnonzero(varies))
    return knockoff_sampler(X)(rng)


def knockoff_sampler(X: Array) -> Callable[[np.random.Generator], Array]:
    """Return what draws knockoffs as `gaussian_knockoffs` does, also of columns that are combinations of others.

    What all draws share is computed once. The knockoff of such a column hardly differs from it, so that no statistic
    tells the two apart.

    Raises
    ------
    ValueError
        If there are more than `MAX_KNOCKOFF_FEATURES` columns, or fewer than three rows.
    """
    _check_size(X)
    varies = _varying(X)
    if not varies.any():
        return lambda rng: X.copy()  # noqa: ARG005 - nothing is left to chance
    from sklearn.covariance import ledoit_wolf  # noqa: PLC0415 - slow to import, and seldom needed

    centre, deviation = X[:, varies].mean(axis=0), X[:, varies].std(axis=0)
    Z = _standardised(X[:, varies])
    correlation, shrinkage = ledoit_wolf(Z, assume_centered=True)
    if shrinkage < LEAST_SHRINKAGE:
        correlation = (1 - LEAST_SHRINKAGE) * correlation + LEAST_SHRINKAGE * np.eye(len(correlation))
    s = entropy_diagonal(correlation)
    weights = cho_solve(cho_factor(correlation), np.diag(s))
    covariance = 2 * np.diag(s) - s[:, None] * weights
    root = np.linalg.cholesky((covariance + covariance.T) / 2 + 1e-12 * np.eye(len(s)))
    mean = Z - Z @ weights

    def draw(rng: np.random.Generator) -> Array:
        knockoffs = X.copy()
        knockoffs[:, varies] = centre + deviation * (mean + rng.standard_normal(Z.shape) @ root.T)
        return knockoffs

    return draw


def _check_size(X: Array) -> None:
    n, d = X.shape
    if d > MAX_KNOCKOFF_FEATURES:
        raise ValueError(f"knockoffs take {MAX_KNOCKOFF_FEATURES:,} columns at most, and there are {d:,}")
    if n < 3:
        raise ValueError(f"knockoffs need three rows or more, and there are {n}")


def _varying(X: Array) -> NDArray[np.bool_]:
    varies: NDArray[np.bool_] = X.min(axis=0) < X.max(axis=0)
    return varies


def _standardised(X: Array) -> Array:
    Z: Array = (X - X.mean(axis=0)) / X.std(axis=0)
    return Z


class CollinearError(ValueError):
    """A column is a linear combination of others.

    Attributes
    ----------
    column : int
    others : tuple of int
        Those with which it is one, the heaviest first.
    """

    def __init__(self, column: int, others: tuple[int, ...]) -> None:
        super().__init__(f"column {column} is a linear combination of {', '.join(map(str, others))}")
        self.column, self.others = column, others


def refuse_collinear(Z: Array, numbers: NDArray[np.intp]) -> None:
    """Refuse standardised columns of which one is a combination of others, or, with few rows, a copy of another.

    Where there are no more rows than columns, every column is a combination of the others by chance; only copies, also
    with the sign changed, are refused.

    Raises
    ------
    CollinearError
        With the numbers of the columns.
    """
    n, d = Z.shape
    if n > d + 1:
        _, R, pivots = qr(Z / np.sqrt(n), mode="economic", pivoting=True)
        rest = np.abs(np.diag(R))
        if rest[-1] > COLLINEAR:
            return
        rank = int(np.count_nonzero(rest > COLLINEAR))
        weights = np.linalg.solve(R[:rank, :rank], R[:rank, rank])
        heaviest = np.argsort(-np.abs(weights), kind="stable")
        others = [int(numbers[pivots[j]]) for j in heaviest.tolist() if abs(weights[j]) > 1e-4 * abs(weights).max()]
        raise CollinearError(int(numbers[pivots[rank]]), tuple(others))
    correlation = np.abs(Z.T @ Z / n) - np.eye(d)
    first, second = np.unravel_index(int(np.argmax(correlation)), correlation.shape)
    if correlation[first, second] > 1 - COLLINEAR:
        raise CollinearError(int(numbers[max(first, second)]), (int(numbers[min(first, second)]),))


def entropy_diagonal(correlation: Array) -> Array:
    """Return the diagonal of S that makes the joint entropy of Gaussian features and knockoffs largest, shape (d,).

    S maximises log det(2 Sigma - S) + log det(S) (gimenez2019, section 4), which is concave. Along one coordinate the
    maximum is s_j = (s_j + 1 / inv(2 Sigma - S)_jj) / 2, by the Schur complement; sweeps over the coordinates converge.

    Parameters
    ----------
    correlation : (d, d) array
        Positive definite, with diagonal 1 or near.
    """
    d = len(correlation)
    s = np.full(d, max(float(np.linalg.eigvalsh(correlation)[0]), 0.0))
    for _ in range(MAX_SWEEPS):
        inverse = np.linalg.inv(2 * correlation - np.diag(s))
        before = s.copy()
        for j in range(d):
            change = (1 / inverse[j, j] - s[j]) / 2
            s[j] += change
            column = inverse[:, j].copy()
            inverse += np.outer(column, column) * (change / (1 - change * column[j]))
        if np.max(np.abs(s - before)) <= ENTROPY_CHANGE:
            break
    return s
