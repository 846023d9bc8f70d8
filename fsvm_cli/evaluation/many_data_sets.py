"""Comparison of methods over several data sets: by ranks, and in pairs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Literal

import numpy as np
import scipy.stats
from scipy.special import chdtrc

from fsvm_cli.evaluation.statistics import Equivalence, holm

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


PRIOR_STRENGTH = 0.5
"""Weight of the pseudo-observation 0, beside 1 of each data set."""
N_DRAWS = 20_000
"""Of the posterior: a probability of .95 then has a standard error of .0015."""
DRAW_SEED = 0


def signed_rank_chances(differences: NDArray[np.float64], margin: float) -> Equivalence:
    """Bayesian signed-rank test of the differences between two methods, one on each of several data sets.

    Parameters
    ----------
    differences : ndarray, shape (n_data_sets,)
        First method minus second, larger is better for the first.
    margin : float
        Differences of at most this size make no difference in practice: half the width of the region, not negative.

    Returns
    -------
    Equivalence
        Probabilities that on a further data set of the kind the first is most likely worse by more than the margin,
        within it, or better by more. By Monte Carlo with fixed draws: the same each time.

    Notes
    -----
    Source: Benavoli, Corani, Demsar and Zaffalon, Time for a change: a tutorial for comparing multiple classifiers
    through Bayesian analysis, Journal of Machine Learning Research 18 (2017), section 4.2. The distribution of the
    differences has a Dirichlet process for its prior, of strength 1/2 at 0. With weights w, a draw of its posterior,
    the mean of two of the differences is above the margin with probability Σ_ij w_i w_j [z_i + z_j > 2 margin]; the
    chances are how often each of the three probabilities is the largest. A mean that lies on the edge of the region
    counts half on either side.
    """
    values = np.concatenate([[0.0], differences])
    sums = values[:, None] + values
    # Means that are equal to the margin but for rounding are equal.
    edge = 2 * margin
    width = 1e-12 * max(edge, float(np.abs(sums).max()))
    weights = _posterior_weights(len(values))
    lower, higher = (
        np.einsum("ij,ij->i", weights @ (0.5 * (side > edge + width) + 0.5 * (side >= edge - width)), weights)
        for side in (-sums, sums)
    )
    if margin == 0:
        wins = np.array([np.mean(lower > higher), 0.0, np.mean(higher > lower)])
        ties = np.mean(lower == higher)
        return Equivalence(float(wins[0] + ties / 2), 0.0, float(wins[2] + ties / 2))
    winners = np.argmax([1 - lower - higher, lower, higher], axis=0)
    equivalent, below, above = np.bincount(winners, minlength=3) / len(weights)
    return Equivalence(float(below), float(equivalent), float(above))


@cache
def _posterior_weights(n: int) -> NDArray[np.float64]:
    """Draw weights of the pseudo-observation and of n - 1 data sets, shape (`N_DRAWS`, n)."""
    strengths = np.ones(n)
    strengths[0] = PRIOR_STRENGTH
    return np.random.default_rng(DRAW_SEED).dirichlet(strengths, N_DRAWS)


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


PostHoc = Literal["Wilcoxon, Holm", "Nemenyi", "none"]


@dataclass(frozen=True)
class PairsApart:
    """Which pairs of methods differ, by the test that the number of data sets supports.

    Attributes
    ----------
    p, p_holm : ndarray, shape (n_methods, n_methods)
        Of Wilcoxon's signed-rank test, and by Holm over all pairs; symmetric, NaN on the diagonal.
    differ : ndarray of bool, shape (n_methods, n_methods)
        Symmetric. No pair where Friedman's test finds no difference at all.
    test : {"Wilcoxon, Holm", "Nemenyi", "none"}
        Which test decided; "none" where Friedman's left nothing to decide.
    """

    p: NDArray[np.float64]
    p_holm: NDArray[np.float64]
    differ: NDArray[np.bool_]
    test: PostHoc


def supports_pairs(n_data_sets: int, n_pairs: int) -> bool:
    """Whether Wilcoxon's test of a pair can be significant beside so many others.

    Its least attainable p-value over n data sets is 2^(1 - n), and Holm asks level / n_pairs of the first.
    """
    return bool(2.0 ** (1 - n_data_sets) * n_pairs <= SIGNIFICANCE_LEVEL)


def pairs_apart(values: NDArray[np.float64], found: MeanRanks) -> PairsApart:
    """Test all pairs of methods after Friedman's test.

    Parameters
    ----------
    values : ndarray, shape (n_data_sets, n_methods)
        Figure of merit, larger is better.
    found : MeanRanks
        Of the same values.

    Notes
    -----
    Benavoli, Corani and Mangili, Should we really use post-hoc tests based on mean-ranks?, Journal of Machine Learning
    Research 17 (2016): whether two methods differ by Nemenyi's test depends on which others are compared, whereas
    Wilcoxon's looks at the two alone. But over few data sets its p-values cannot come below what so many pairs ask for
    (`supports_pairs`): there the test is Nemenyi's.
    """
    n_data_sets, k = values.shape
    first, second = np.triu_indices(k, 1)
    p_values = np.array([signed_rank_p_value(values[:, i] - values[:, j]) for i, j in zip(first, second, strict=True)])
    p, p_holm = np.full((2, k, k), np.nan)
    for matrix, of_pairs in ((p, p_values), (p_holm, holm(p_values))):
        matrix[first, second] = matrix[second, first] = of_pairs
    test: PostHoc
    if not found.p < SIGNIFICANCE_LEVEL:
        return PairsApart(p, p_holm, np.zeros((k, k), dtype=bool), "none")
    if supports_pairs(n_data_sets, len(first)):
        differ, test = p_holm < SIGNIFICANCE_LEVEL, "Wilcoxon, Holm"
    else:
        differ, test = np.abs(found.ranks[:, None] - found.ranks) > found.critical_difference, "Nemenyi"
    return PairsApart(p, p_holm, differ, test)
