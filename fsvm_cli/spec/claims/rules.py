"""Rules that several kinds of claims share: agreement with a printed number, signs of means, sizes of best subsets."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtri

from fsvm_cli.evaluation.statistics import CONFIDENCE
from fsvm_cli.spec.claims.base import Ruling, verdict_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fsvm_cli.evaluation.statistics import MeanInterval
    from fsvm_cli.spec.claims.base import NumberClaim, TolerantClaim, Verdict


def agreement(
    claim: TolerantClaim, found: MeanInterval, published_spread: tuple[float, int], unit: str, *, digits: int = 2
) -> Ruling:
    """Find agreement where the difference of the means, with all its uncertainty, lies within the tolerance.

    Parameters
    ----------
    claim : TolerantClaim
    found : MeanInterval
    published_spread : (float, int)
        Standard deviation of one of the runs that the printed number is the mean of, and how many they were.
    unit : str
        Of the difference.
    digits : int
        Decimals of the difference in the rule.

    Returns
    -------
    Ruling
    """
    step = 10.0**-claim.decimals
    # The number before printing lay in an interval of one unit: around the print, or above it where the rest was cut.
    offset = 0.5 * step if claim.print == "truncated" else 0.0
    spread, n_published = published_spread
    standard_error = np.sqrt(np.nan_to_num(found.std) ** 2 / found.n + np.nan_to_num(spread) ** 2 / n_published)
    half_width = float(ndtri((1 + CONFIDENCE) / 2) * standard_error + 0.5 * step)
    difference, tolerance = found.mean - (claim.published + offset), claim.tolerance
    verdict = verdict_of(
        holds=abs(difference) + half_width <= tolerance, fails=abs(difference) - half_width > tolerance
    )
    interval = f"{difference:+.{digits}f} ± {half_width:.{digits}f}"
    margin, centre = tolerance - half_width, found.mean - offset
    rule = f"difference {interval} against a tolerance of {tolerance:g} {unit}".rstrip()
    return Ruling(verdict, rule, (centre - margin, centre + margin))


def ordinariness(claim: NumberClaim, values: NDArray[np.float64], tolerance: float = 0.0) -> Ruling:
    """Find agreement where the printed number is not among the most extreme of our runs, on either side.

    With so few runs that none would be extreme enough, nothing can differ, and the verdict is inconclusive.

    Parameters
    ----------
    claim : NumberClaim
    values : ndarray, shape (n_trials,)
    tolerance : float
        Of the printed number on either side, beside its rounding, in the unit of the number.

    Returns
    -------
    Ruling
    """
    step = 10.0**-claim.decimals
    low = claim.published - (0.0 if claim.print == "truncated" else 0.5 * step)
    n_at_least = np.count_nonzero(values >= low - tolerance)
    n_at_most = np.count_nonzero(values <= low + step + tolerance)
    # The printed run is one more draw from the same distribution, as in a permutation test.
    tail = (min(n_at_least, n_at_most) + 1) / (len(values) + 1)
    extreme = (1 - CONFIDENCE) / 2
    verdict = verdict_of(holds=1 / (len(values) + 1) <= extreme, fails=bool(tail <= extreme))
    allowed = f", with a tolerance of {tolerance:g}" if tolerance else ""
    rule = (
        f"{100 * tail:.1f} % of the runs, the printed one among them, lie as far out as it on its rarer side{allowed}; "
        "ordinary is more than 2.5 %"
    )
    return Ruling(verdict, rule, _ordinary_numbers(claim, values, tolerance, extreme))


def _ordinary_numbers(
    claim: NumberClaim, values: NDArray[np.float64], tolerance: float, extreme: float
) -> tuple[float, float]:
    """Find the printed numbers that would be ordinary: enough runs, of those here, must lie on either side of them."""
    n_beside = int(np.floor(extreme * (len(values) + 1)))  # with the printed run itself, more than the extreme share
    ascending = np.sort(values[~np.isnan(values)])
    if n_beside == 0 or len(ascending) < n_beside:
        return np.inf, -np.inf
    step = 10.0**-claim.decimals
    offset = 0.0 if claim.print == "truncated" else 0.5 * step
    return (
        float(ascending[n_beside - 1]) - step - tolerance + offset,
        float(ascending[-n_beside]) + tolerance + offset,
    )


def is_positive(found: MeanInterval) -> bool:
    """Whether a mean is above 0 by its interval, or by its sign where nothing varies."""
    return found.low > 0 or found.low == found.mean == found.high > 0


def is_negative(found: MeanInterval) -> bool:
    """Whether a mean is below 0 by its interval."""
    return found.high < 0


def is_nothing(found: MeanInterval) -> bool:
    """Whether a difference is exactly 0 in every trial, or for every sample."""
    return found.low == found.mean == found.high == 0


def verdict_on_sign(found: MeanInterval) -> Verdict:
    """Find the verdict on a claim that a difference is positive; one that is 0 throughout is not."""
    return verdict_of(holds=is_positive(found), fails=is_negative(found) or is_nothing(found))


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
