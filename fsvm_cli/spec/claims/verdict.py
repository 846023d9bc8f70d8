"""The verdict on a claim, and what it rests on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from fsvm_cli.evaluation.statistics import MeanInterval
    from fsvm_cli.spec.claims.findings import Comparison

Verdict = Literal["reproduced", "differs", "inconclusive", "not comparable", "fact"]
"""A fact is what the experiment sets itself, as the document does: it agrees, and nothing was found out."""


class Ruling(NamedTuple):
    """What a rule says of a printed number.

    Attributes
    ----------
    verdict : str
    rule : str
        In words.
    accepts : (float, float)
        Printed numbers between these would have been reproduced; the first is the larger where none would have been.
    """

    verdict: Verdict
    rule: str
    accepts: tuple[float, float]


@dataclass(frozen=True)
class Judgement:
    """A row of `published.csv`, but for what the claim itself says.

    Attributes
    ----------
    verdict : str
        reproduced, differs, inconclusive, not comparable, or fact.
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
    p : float
        Two-sided p-value of a difference; NaN for other claims, and where nothing varies.
    p_holm : float
        The same, by Holm's correction for all differences that the experiment tests.
    new_data_low, new_data_high : float
        95 % interval for the question whether it would hold on new data, where that is another question.
    new_data : str or None
        Its answer, as a verdict.
    accepts_low, accepts_high : float
        Printed numbers between these would have been reproduced; NaN for claims about no number.
    """

    verdict: Verdict
    rule: str
    what: str
    reproduced: float = np.nan
    sd: float = np.nan
    n: int = 0
    ci_low: float = np.nan
    ci_high: float = np.nan
    p: float = np.nan
    p_holm: float = np.nan
    new_data_low: float = np.nan
    new_data_high: float = np.nan
    new_data: Verdict | None = None
    accepts_low: float = np.nan
    accepts_high: float = np.nan

    @classmethod
    def of_number(cls, ruling: Ruling, what: str, found: MeanInterval) -> Judgement:
        """Judge a printed number by a mean over trials."""
        low, high = ruling.accepts
        judgement = cls.of_mean(ruling.verdict, ruling.rule, what, found)
        return replace(judgement, accepts_low=low, accepts_high=high)

    @classmethod
    def of_mean(cls, verdict: Verdict, rule: str, what: str, found: MeanInterval) -> Judgement:
        """Judge by a mean over trials."""
        return cls(verdict, rule, what, found.mean, found.std, found.n, found.low, found.high)

    @classmethod
    def of_comparison(
        cls, judge: Callable[[MeanInterval], Verdict], claimed: str, what: str, compared: Comparison
    ) -> Judgement:
        """Judge by a difference on the same trials; `judge` answers either question by the interval for it."""
        new = compared.on_new_data
        judgement = cls.of_mean(judge(compared.found), f"{compared.test} {claimed}", what, compared.found)
        return replace(
            judgement,
            p=compared.p,
            new_data_low=new.low,
            new_data_high=new.high,
            new_data=None if np.isnan(new.low) else judge(new),
        )

    @classmethod
    def withheld(cls, reason: str, what: str) -> Judgement:
        """Say nothing of the document, for want of numbers."""
        return cls("not comparable", reason, what)

    def held_against(self, obstacle: str | None) -> Judgement:
        """Keep the numbers, and say nothing of the document where there is an obstacle."""
        if obstacle is None or self.verdict == "not comparable":
            return self
        return replace(self, verdict="not comparable", rule=obstacle)


def verdict_of(*, holds: bool, fails: bool) -> Verdict:
    """Find the verdict on a claim that the numbers may show to hold or to fail; where neither, they leave it open.

    Comparisons with a number that is not known (NaN) are false, so that what is not known decides nothing.
    """
    if fails:
        return "differs"
    return "reproduced" if holds else "inconclusive"


def verdict_on_bounds(low: float, high: float, *, at_least: float) -> Verdict:
    """Find the verdict on a claim that a quantity is at least so large, by the bounds of its interval."""
    return verdict_of(holds=low >= at_least, fails=high < at_least)
