"""When a printed number and what the trials found agree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from scipy.special import ndtri

from fsvm_cli.evaluation.statistics import CONFIDENCE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fsvm_cli.evaluation.statistics import MeanInterval
    from fsvm_cli.spec.claims import NumberClaim, TolerantClaim

Verdict = Literal["reproduced", "differs", "inconclusive", "not comparable"]


@dataclass(frozen=True)
class Judgement:
    """A row of `published.csv`, but for what the claim itself says.

    Attributes
    ----------
    verdict : str
        reproduced, differs, inconclusive, or not comparable.
    rule : str
        By which it came about.
    what : str
        The quantity that was compared.
    reproduced : float
        What the trials give, in per cent, percentage points, features or rank correlation as `what` says.
    sd, ci_low, ci_high : float
        Its standard deviation between trials and its 95 % interval.
    n : int
        Trials.
    """

    verdict: Verdict
    rule: str
    what: str
    reproduced: float = np.nan
    sd: float = np.nan
    n: int = 0
    ci_low: float = np.nan
    ci_high: float = np.nan


def agreement(
    claim: TolerantClaim, found: MeanInterval, published_spread: tuple[float, int], unit: str
) -> tuple[Verdict, str]:
    """Find agreement where the difference of the means, with all its uncertainty, lies within the tolerance.

    Parameters
    ----------
    claim : TolerantClaim
    found : MeanInterval
    published_spread : (float, int)
        Standard deviation of one of the runs that the printed number is the mean of, and how many they were.
    unit : str
        Of the difference.

    Returns
    -------
    verdict : str
    rule : str
    """
    step = 10.0**-claim.decimals
    # The number before printing lay in an interval of one unit: around the print, or above it where the rest was cut.
    offset = 0.5 * step if claim.print == "truncated" else 0.0
    spread, n_published = published_spread
    standard_error = np.sqrt(np.nan_to_num(found.std) ** 2 / found.n + np.nan_to_num(spread) ** 2 / n_published)
    half_width = float(ndtri((1 + CONFIDENCE) / 2) * standard_error + 0.5 * step)
    difference, tolerance = found.mean - (claim.published + offset), claim.tolerance
    verdict: Verdict = "inconclusive"
    if abs(difference) + half_width <= tolerance:
        verdict = "reproduced"
    elif abs(difference) - half_width > tolerance:
        verdict = "differs"
    return verdict, f"difference {difference:+.2f} ± {half_width:.2f} against a tolerance of {tolerance:g} {unit}"


def ordinariness(claim: NumberClaim, values: NDArray[np.float64]) -> tuple[Verdict, str]:
    """Find agreement where the printed number is not among the most extreme of our runs, on either side.

    With so few runs that none would be extreme enough, nothing can differ, and the verdict is inconclusive.

    Parameters
    ----------
    claim : NumberClaim
    values : ndarray, shape (n_trials,)

    Returns
    -------
    verdict : str
    rule : str
    """
    step = 10.0**-claim.decimals
    low = claim.published - (0.0 if claim.print == "truncated" else 0.5 * step)
    n_at_least, n_at_most = np.count_nonzero(values >= low), np.count_nonzero(values <= low + step)
    # The printed run is one more draw from the same distribution, as in a permutation test.
    tail = (min(n_at_least, n_at_most) + 1) / (len(values) + 1)
    verdict: Verdict = "reproduced"
    if tail <= (1 - CONFIDENCE) / 2:
        verdict = "differs"
    elif 1 / (len(values) + 1) > (1 - CONFIDENCE) / 2:
        verdict = "inconclusive"
    position = 100 * np.mean(values < claim.published)
    return verdict, (
        f"{position:.0f} % of our runs lie below the printed one; ordinary is what at least 2.5 % reach on each side"
    )
