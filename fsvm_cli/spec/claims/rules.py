"""Rules that several kinds of claims share: agreement with a printed number, signs of means, sizes of best subsets."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtri

from fsvm_cli.evaluation.statistics import CONFIDENCE, mean_interval
from fsvm_cli.spec.claims.base import Ruling, verdict_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fsvm_cli.evaluation.statistics import MeanInterval
    from fsvm_cli.spec.claims.base import NumberClaim, Reading, TolerantClaim, Verdict

QUANTILE = float(ndtri((1 + CONFIDENCE) / 2))
"""Standard errors on either side of a mean."""

MIN_RUNS = math.ceil(2 / (1 - CONFIDENCE) - 1e-9) - 1
"""With fewer of ours, a printed number beyond all of them would not be among the 2.5 % most extreme of all runs."""


def agreement(
    claim: TolerantClaim,
    values: NDArray[np.float64],
    unit: str,
    *,
    published_sd: float | None = None,
    published_n: int = 1,
    digits: int = 2,
) -> Ruling:
    """Compare a printed number with ours, as its own sampling error allows.

    A number of one run is judged by `ordinariness`, unless all of our runs give the same. A mean of several is judged
    by its difference from ours. Where its own error leaves room within the tolerance, the difference, with all of its
    uncertainty, must lie within the tolerance (a test of equivalence). Where its own error takes more than half of the
    tolerance, no number of our trials could show that often enough of a print that is right: then the print must be an
    ordinary mean of as many of our runs, and the tolerance comes on top.

    Parameters
    ----------
    claim : TolerantClaim
    values : ndarray, shape (n_trials,)
        Ours; NaN, of trials that have none, do not count.
    unit : str
        Of the difference.
    published_sd : float, optional
        Standard deviation of one of the runs that the printed number is the mean of; that of ours if left out.
    published_n : int
        How many they were.
    digits : int
        Decimals of the difference in the rule.

    Returns
    -------
    Ruling
    """
    known = values[~np.isnan(values)]
    if not known.size:
        return Ruling("inconclusive", "no trial has a number", (np.inf, -np.inf))
    if published_n == 1 and published_sd is None and np.ptp(known) > 0:
        return ordinariness(claim, known, claim.tolerance)
    found = mean_interval(known)
    half_step = 0.5 * 10.0**-claim.decimals
    # The number before printing lay in an interval of one unit: around the print, or above it where the rest was cut.
    offset = half_step if claim.print == "truncated" else 0.0
    own_sd = np.nan_to_num(found.std)
    own_error = QUANTILE * own_sd / np.sqrt(found.n)
    printed_error = QUANTILE * (own_sd if published_sd is None else published_sd) / np.sqrt(published_n)
    half_width = float(np.hypot(own_error, printed_error) + half_step)
    difference, tolerance = found.mean - (claim.published + offset), claim.tolerance
    if printed_error > 0.5 * (tolerance - half_step):
        allowed = float(tolerance + printed_error + half_step)
        margin = float(allowed - own_error)
        rule = (
            f"difference {difference:+.{digits}f} ± {own_error:.{digits}f}, where ordinary means of {published_n} runs "
            f"lie within {allowed:.{digits}f} {unit}".rstrip()
            + f", of which {tolerance:g} are tolerance"
        )
    else:
        margin = tolerance - half_width
        interval = f"{difference:+.{digits}f} ± {half_width:.{digits}f}"
        rule = f"difference {interval} against a tolerance of {tolerance:g} {unit}".rstrip()
    verdict = verdict_of(holds=abs(difference) <= margin, fails=abs(difference) - half_width > tolerance)
    centre = found.mean - offset
    return Ruling(verdict, rule, (centre - margin, centre + margin))


def ordinariness(claim: NumberClaim, values: NDArray[np.float64], tolerance: float = 0.0) -> Ruling:
    """Find agreement where the printed number is not among the most extreme of our runs, on either side.

    With fewer than `MIN_RUNS` none would be extreme enough: nothing can differ, and the verdict is inconclusive.

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
    too_few = f"; {len(values)} runs are too few, {MIN_RUNS} are needed" if len(values) < MIN_RUNS else ""
    rule = (
        f"{100 * tail:.1f} % of the runs, the printed one among them, lie as far out as it on its rarer side{allowed}; "
        f"ordinary is more than 2.5 %{too_few}"
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


FEWEST_READINGS = 2
"""With fewer, nothing is said about what a source leaves open."""


def verdict_over_readings(answers: Sequence[str]) -> Verdict:
    """Find the verdict on a claim whose source leaves something open, by what is said under each reading of it.

    A claim that agrees under all readings is reproduced, one that does under none differs, and where some agree and
    others do not, what the source does not say decides: it is undecided by the source. A reading that is inconclusive
    itself, or not comparable since machines missed their gap, counts as neither; unless others disagree already, it
    leaves the claim inconclusive.

    Parameters
    ----------
    answers : sequence of str
        Verdicts of the readings, at least `FEWEST_READINGS`.
    """
    n_agreeing = sum(answer in AGREEING for answer in answers)
    n_differing = sum(answer == "differs" for answer in answers)
    if n_agreeing and n_differing:
        return "undecided by the source"
    if n_agreeing == len(answers):
        return "fact" if set(answers) == {"fact"} else "reproduced"
    if n_differing == len(answers):
        return "differs"
    return "not comparable" if set(answers) == {"not comparable"} else "inconclusive"


AGREEING = frozenset({"reproduced", "fact"})
"""Answers of readings under which a claim holds."""


def readings_in_words(readings: Sequence[Reading]) -> str:
    """Say under how many readings a claim agrees, and what is found under each."""
    n_agreeing = sum(each.answer in AGREEING for each in readings)
    each_in_words = "; ".join(
        f"{each.reading}: {each.answer}" + ("" if each.reproduced is None else f" ({each.reproduced:.4g})")
        for each in readings
    )
    return f"agrees in {n_agreeing} of {len(readings)} readings of what the source leaves open ({each_in_words})"


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


EXPERIMENTS_DRAWN = 1000
"""Experiments of several splits that are drawn from ours."""
DECIMALS_OF_MEANS = 9
"""Means of a figure of merit that agree to so many decimals are equal, as they are in exact arithmetic."""


def sizes_of_best_subsets(
    values: NDArray[np.float64],
    sizes: tuple[int, ...],
    rng: np.random.Generator,
    *,
    n_splits: int,
    within_standard_error: bool,
) -> NDArray[np.intp]:
    """Sizes of the best subset in experiments of so many splits; of equally good ones the smallest.

    How these sizes are spread does not depend on how many trials there are, which only tell it the better the more they
    are. Experiments of several splits are drawn from the trials with replacement.

    Parameters
    ----------
    values : ndarray, shape (n_trials, n_sizes)
        Figure of merit, larger is better; NaN beyond the end of a curve, which is no best subset.
    sizes : tuple of int
        Ascending.
    rng : numpy.random.Generator
    n_splits : int
        Splits of an experiment, whose mean curve has the best subset.
    within_standard_error : bool
        Whether a size counts as best whose mean lies within one standard error of the best mean.

    Returns
    -------
    ndarray of int, shape (n_trials,) for a single split, else (EXPERIMENTS_DRAWN,)
    """
    n_trials = len(values)
    alone = np.arange(n_trials)[:, None]
    rows = alone if n_splits == 1 else rng.integers(n_trials, size=(EXPERIMENTS_DRAWN, n_splits))
    found = []
    for drawn in rows:
        # A curve ends with the columns that have a score.
        means = np.nan_to_num(values[drawn].mean(axis=0), nan=-np.inf)
        best = int(np.argmax(means.round(DECIMALS_OF_MEANS)))
        allowed = values[drawn, best].std(ddof=1) / np.sqrt(n_splits) if within_standard_error else 0.0
        near = means.round(DECIMALS_OF_MEANS) >= round(float(means[best] - allowed), DECIMALS_OF_MEANS)
        found.append(sizes[int(np.argmax(near))])
    return np.array(found, dtype=np.intp)


def interval_of_counts(counts: NDArray[np.intp]) -> tuple[float, float]:
    """Range of 95 % of whole numbers, by their quantiles, which are whole numbers too."""
    low, high = np.quantile(counts, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2], method="inverted_cdf")
    return float(low), float(high)


def ordinary_sizes(counts: NDArray[np.intp], sizes: tuple[int, ...], n_trials: int) -> NDArray[np.bool_]:
    """Find the ranges' ends, of sizes, that would be ordinary: which share of the counts is at least, or at most, each.

    Parameters
    ----------
    counts : ndarray of int
        As `sizes_of_best_subsets` gives them.
    sizes : tuple of int
    n_trials : int
        That they come from: the printed run is one more of these.

    Returns
    -------
    ndarray of bool, shape (2, n_sizes)
        Whether more than 2.5 % of all runs are at least as large as a size, and whether as many are at most as large.
    """
    shares = np.array([[np.mean(counts >= size) for size in sizes], [np.mean(counts <= size) for size in sizes]])
    return np.asarray((n_trials * shares + 1) / (n_trials + 1) > (1 - CONFIDENCE) / 2)
