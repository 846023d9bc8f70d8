"""How many features are enough: the size of the best subset, and how sure it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fsvm_cli.evaluation.statistics import CONFIDENCE
from fsvm_cli.report.rules import Judgement, Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fsvm_cli.spec.claims import CountClaim, SmallestSubsetClaim

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


def judge_size(
    claim: CountClaim, curves: Sequence[NDArray[np.float64]], sizes: tuple[int, ...], rng: np.random.Generator
) -> Judgement:
    """Find agreement where the interval of the size lies within the printed one, widened by the tolerance."""
    counts = resampled_sizes(curves, sizes, rng)[:, 0]
    low, high = _interval(counts)
    least, most = claim.published[0] - claim.tolerance, claim.published[1] + claim.tolerance
    verdict: Verdict = "inconclusive"
    if least <= low and high <= most:
        verdict = "reproduced"
    elif high < least or low > most:
        verdict = "differs"
    return Judgement(
        verdict,
        f"{SIZE_RULE}; tolerance {claim.tolerance} features",
        f"size of the best subset, '{claim.ranking}' (features)",
        reproduced=size_of_best_subset(curves[0], sizes),
        sd=float(counts.std(ddof=1)),
        n=len(curves[0]),
        ci_low=low,
        ci_high=high,
    )


def judge_excess(
    claim: SmallestSubsetClaim, curves: Sequence[NDArray[np.float64]], sizes: tuple[int, ...], rng: np.random.Generator
) -> Judgement:
    """Find agreement where a ranking's best subset, draw after draw, is no larger than the smallest of its rivals'.

    Parameters
    ----------
    claim : SmallestSubsetClaim
    curves : sequence of ndarray, shape (n_trials, n_sizes)
        Of the ranking itself, then of its rivals.
    sizes : tuple of int
    rng : numpy.random.Generator
    """
    counts = resampled_sizes(curves, sizes, rng)
    excess = counts[:, 0] - counts[:, 1:].min(axis=1)
    low, high = _interval(excess)
    verdict: Verdict = "inconclusive"
    if high <= 0:
        verdict = "reproduced"
    elif low > 0:
        verdict = "differs"
    own, *others = (size_of_best_subset(values, sizes) for values in curves)
    rivals = " and ".join(f"'{label}' ({size})" for label, size in zip(claim.others, others, strict=True))
    return Judgement(
        verdict,
        f"95 % interval of the difference of sizes on the same trials lies at 0 or below; {SIZE_RULE}",
        f"size of the best subset, '{claim.ranking}' ({own}) minus the smallest of {rivals} (features)",
        reproduced=own - min(others),
        sd=float(excess.std(ddof=1)),
        n=len(curves[0]),
        ci_low=low,
        ci_high=high,
    )


def _interval(counts: NDArray[np.intp]) -> tuple[float, float]:
    low, high = np.quantile(counts, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2], method="inverted_cdf")
    return float(low), float(high)
