"""The base classes of claims, the results of an experiment that they are judged by, and their judgements."""

from __future__ import annotations

import operator
from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, NamedTuple, Protocol, Self

import numpy as np
from pydantic import Field, model_validator

from fsvm_cli.config_io import StrictModel
from fsvm_cli.evaluation.metrics import COMPLEMENTS, METRICS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import pandas as pd
    from numpy.typing import NDArray

    from fsvm_cli.evaluation.statistics import MeanInterval

Fact = Literal[
    "n_features", "n_classes", "n_train", "n_test", "major-class", "class-uncertainty", "classifier-information"
]

Portion = Literal["test part", "whole set"]
"""The rows that a fact is about."""


class Curve(NamedTuple):
    """A figure of merit by number of retained features.

    Attributes
    ----------
    sizes : tuple of int
        Numbers of retained features, ascending.
    values : ndarray, shape (n_trials, n_sizes)
        As fractions.
    """

    sizes: tuple[int, ...]
    values: NDArray[np.float64]


class Comparison(NamedTuple):
    """Two places of curves on the same trials, the first minus the second, in percentage points.

    Attributes
    ----------
    found : MeanInterval
        Of the question that decides: whether the mean over the splits of these data is another, by the paired test over
        the splits; for a single given split, whether these machines differ on other rows, by the paired bootstrap.
    p : float
        Of its test, two-sided; NaN where nothing varies.
    on_new_data : MeanInterval
        Of the other question, whether it would hold on new data: Nadeau and Bengio's correction for shared rows. Bounds
        are NaN for a single split.
    test : str
        The interval that decides, in words.
    """

    found: MeanInterval
    p: float
    on_new_data: MeanInterval
    test: str


class Findings(Protocol):
    """What the complete trials of an experiment found, those of the largest training part where no size is named."""

    @property
    def feature_names(self) -> Sequence[str]:
        """Names of the features."""

    def at(self, place: Place) -> NDArray[np.float64]:
        """Value at a place in each trial, in per cent; the mean over a stretch. Shape (n_trials,)."""

    def estimate(self, place: Place) -> MeanInterval:
        """Mean at a place; of a single given split, with the bootstrap interval over its test rows."""

    def compared(self, higher: Place, lower: Place) -> Comparison:
        """Difference between two places on the same trials."""

    def compared_means(self, higher: Sequence[Place], lower: Sequence[Place]) -> Comparison:
        """Difference between the means over two sets of places on the same trials."""

    def curve(self, ranking: str, metric: str, part: str) -> Curve:
        """Curve of a ranking in each trial."""

    def scores(self, ranking: str) -> NDArray[np.float64]:
        """Scores of the features in each trial, shape (n_trials, n_features)."""

    def priorities(self, ranking: str) -> NDArray[np.intp]:
        """Which of the features that tie comes first in each trial: that of the least number here."""

    def of_scores(
        self,
        ranking: str,
        statistic: Callable[[NDArray[np.float64]], NDArray[np.float64]],
        bounds: tuple[float, float],
    ) -> NDArray[np.float64]:
        """Compute a statistic of the scores of each trial, (n_trials, n_features) to (n_trials,), between bounds."""

    def chosen(self, ranking: str, name: str) -> NDArray[np.float64]:
        """Return a number that was chosen on the training part of each trial where one was, shape (n_chosen,)."""

    def fact(self, fact: Fact, of: Portion) -> NDArray[np.float64]:
        """Value of a fact of the problem: one, or one of each trial."""

    def is_set(self, fact: Fact) -> bool:
        """Whether the config or the generator of the data decides a fact, so that nothing can be found out."""

    def measure(self, place: Place, measure: str) -> NDArray[np.float64]:
        """Measure of the classifiers at a place in each trial; NaN where there is none, or none has it."""

    def recorded(self, record: str, table: str) -> pd.DataFrame | None:
        """Table of a record; None where it is not stored, or has no such table."""

    def stream(self, *purpose: str) -> np.random.Generator:
        """Random stream of the experiment for a purpose."""


Verdict = Literal["reproduced", "differs", "inconclusive", "undecided by the source", "not comparable", "fact"]
"""A fact is what the experiment sets itself, as the document does: it agrees, and nothing was found out.

Undecided by the source is a claim that holds under some readings of what the source leaves open, and under others not.
"""


class Ruling(NamedTuple):
    """Verdict of a rule on a printed number.

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


class Reading(NamedTuple):
    """What one reading of what the source leaves open says about a claim.

    Attributes
    ----------
    reading : str
        What it reads differently, in a few words.
    answer : str
        reproduced, differs, inconclusive or fact, as the rule alone says; not comparable where nothing can be said,
        because machines missed their gap or trials are missing.
    reproduced : float or None
        What its trials give; None where they give nothing.
    new_data : str or None
        Its answer to the question whether a difference would hold on new data.
    """

    reading: str
    answer: str
    reproduced: float | None = None
    new_data: str | None = None


@dataclass(frozen=True)
class Judgement:
    """A row of `published.csv`, without the columns of the claim itself.

    Attributes
    ----------
    verdict : str
        reproduced, differs, inconclusive, undecided by the source, not comparable, or fact.
    rule : str
        By which it came about.
    what : str
        The quantity that was compared.
    reproduced : float
        Result of the trials, in the unit that `what` states: per cent, percentage points, features, or none.
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
    readings : tuple of Reading
        What the rule alone says under each reading of what the source leaves open that this experiment tries, its own
        first; none where it declares none.
    answer : str or None
        What the rule says by itself, where the verdict was withheld.
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
    readings: tuple[Reading, ...] = ()
    answer: Verdict | None = None

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
        """Return 'not comparable' with its reason, where there are no numbers."""
        return cls("not comparable", reason, what)

    def held_against(self, obstacle: str | None) -> Judgement:
        """Keep the numbers and the answer, with the verdict 'not comparable' if there is an obstacle."""
        if obstacle is None or self.verdict == "not comparable":
            return self
        return replace(self, verdict="not comparable", rule=obstacle, answer=self.verdict)


def verdict_of(*, holds: bool, fails: bool) -> Verdict:
    """Return the verdict on a claim that holds, fails, or neither: 'inconclusive'.

    Comparisons with NaN are false, so that an unknown number decides nothing.
    """
    if fails:
        return "differs"
    return "reproduced" if holds else "inconclusive"


def verdict_on_bounds(low: float, high: float, *, at_least: float) -> Verdict:
    """Return the verdict on a claim that a quantity is at least a number, by the bounds of its interval."""
    return verdict_of(holds=low >= at_least, fails=high < at_least)


PositiveInt = Annotated[int, Field(ge=1)]
Text = Annotated[str, Field(min_length=1)]
Metric = Literal[*METRICS]  # type: ignore[valid-type]
Fixed = Literal["before", "after"]
"""Whether the rule of a claim was fixed before its figure was known, or after."""
Nature = Literal["finding", "order", "arithmetic", "fact", "repeat"]
"""What a claim is about.

A number that a method gives; what comes first, or is alike; what a document computes from numbers that it prints; the
data, or what the experiment sets; what another claim says already. Findings and orders are counted.
"""


class Place(StrictModel):
    """A place on a curve, or the mean over a stretch of it."""

    ranking: Text = Field(
        default="all features", description="Label of the ranking; at all features every ranking has the same machine."
    )
    features: Literal["all"] | PositiveInt | Annotated[tuple[PositiveInt, ...], Field(min_length=2, max_length=2)] = (
        Field(default="all", description="Number of retained features; [low, high] for the mean over a range.")
    )
    metric: Literal[*METRICS, *COMPLEMENTS] = Field(  # type: ignore[valid-type]
        default="accuracy", description="Figure of merit; 'error' is what accuracy leaves of 100 %."
    )
    part: Literal["train", "test"] = "test"
    train_size: PositiveInt | None = Field(default=None, description="Training rows, where there are several sizes.")
    reached_by: Text | None = Field(
        default=None,
        exclude_if=operator.not_,
        description="Label of a kpd ranking: of a range of 'features', in each trial, only the numbers count that its "
        "descent passed or ended at.",
    )

    @model_validator(mode="after")
    def _reaches_into_a_range(self) -> Self:
        if self.reached_by is not None and not isinstance(self.features, tuple):
            raise ValueError("'reached_by' is about a range of 'features'; write one as [low, high], or leave it out")
        return self

    def __str__(self) -> str:
        if isinstance(self.features, tuple):
            where = f"{self.features[0]} to {self.features[1]} features"
            where += "" if self.reached_by is None else f" reached by '{self.reached_by}'"
        else:
            where = "all features" if self.features == "all" else f"{self.features} features"
        of_ranking = f"'{self.ranking}' at " if self.ranking != "all features" else ""
        when = "" if self.train_size is None else f", {self.train_size} training rows"
        return f"{self.part} {self.metric}, {of_ranking}{where}{when}"

    @property
    def computed(self) -> str:
        """The figure of merit that the one at this place is computed from."""
        return COMPLEMENTS.get(self.metric, self.metric)

    @property
    def is_error(self) -> bool:
        """Whether the figure of merit is 1 minus the one that it is computed from."""
        return self.metric in COMPLEMENTS


class Claim(StrictModel):
    """Common fields of all claims."""

    id: Text = Field(description="Identifier of the published value or claim.")
    claim: Text = Field(description="The claim in one sentence.")
    where: Text = Field(description="Where the document prints it.")
    note: str = Field(default="", description="Remark for readers of the verdict.")
    unstated: str = Field(
        default="",
        exclude_if=operator.not_,
        description="What the source leaves open and the number depends on: it is shown beside ours, and nothing is "
        "said about the source.",
    )
    reading: Text | None = Field(
        default=None,
        exclude_if=operator.not_,
        description="What the labels that the claim speaks of read into what 'unstated' names, where that is not the "
        "reading of the experiment.",
    )
    readings: dict[Text, Annotated[tuple[Text, ...], Field(min_length=1)]] = Field(
        default={},
        exclude_if=operator.not_,
        description="Other readings of what 'unstated' names: by the label that the claim speaks of, the labels that "
        "take its place, one after the other. The claim is decided over all of them.",
    )
    part_of: Text | None = Field(
        default=None,
        exclude_if=operator.not_,
        description="Identifier of the published claim of which this is a part; the scorecard has one row for it.",
    )
    fixed: Fixed | None = Field(
        default=None,
        exclude_if=operator.not_,
        description="Whether the rule was fixed before the figure that it judges was known, or after; that of the "
        "experiment if left out.",
    )
    nature: Nature | None = Field(
        default=None,
        exclude_if=operator.not_,
        description="What the claim is about, where its kind does not tell: a finding about a method, an order, "
        "arithmetic of printed numbers, or a fact of the data.",
    )
    repeats: Text | None = Field(
        default=None,
        exclude_if=operator.not_,
        description="Identifier of the claim that this one repeats: one number in two tables, or in two units.",
    )

    default_nature: ClassVar[Nature] = "finding"

    @model_validator(mode="after")
    def _repeats_something(self) -> Claim:
        if self.nature == "repeat":
            raise ValueError(
                "'nature: repeat' does not say what is repeated; write 'repeats' with the claim's id instead"
            )
        if self.nature and self.repeats:
            raise ValueError("a claim that repeats another one has no nature of its own; take out 'nature'")
        return self

    @property
    def effective_nature(self) -> Nature:
        """What the claim is about, by its kind where it does not say so itself."""
        return "repeat" if self.repeats else self.nature or self.default_nature

    def places(self) -> Iterator[Place]:
        """Yield the places on curves that the claim is about."""
        yield from ()

    def rankings(self) -> Iterator[str]:
        """Yield the labels of the rankings that the claim is about."""
        yield from (place.ranking for place in self.places())

    def other_readings(self) -> Iterator[tuple[str, Claim]]:
        """Yield the claim as it is under each of the other `readings`, after the label that stands for the reading."""
        for label, others in self.readings.items():
            for other in others:
                yield other, self.relabelled({label: other})

    def relabelled(self, labels: Mapping[str, str]) -> Self:
        """Put other labels in the place of some, all at once, wherever the claim names rankings."""
        return type(self).model_validate(_relabelled(self.model_dump(exclude={"readings"}), labels))

    @abstractmethod
    def judge(self, findings: Findings) -> Judgement:
        """Compare the claim with the findings, which cover all its places and rankings."""


_NAMES_RANKINGS = frozenset({"ranking", "reached_by", "higher", "lower", "labels", "between", "others", "settings"})


def _relabelled(content: Any, labels: Mapping[str, str], *, names: bool = False) -> Any:
    """Put other labels in the place of some, wherever a claim names rankings; subsets keep what follows a comma."""
    if isinstance(content, dict):
        return {key: _relabelled(value, labels, names=key in _NAMES_RANKINGS) for key, value in content.items()}
    if isinstance(content, tuple):
        return tuple(_relabelled(value, labels, names=names) for value in content)
    if names and isinstance(content, str):
        for label, other in labels.items():
            if content == label or content.startswith(f"{label}, "):
                return other + content.removeprefix(label)
    return content


class NumberClaim(Claim):
    """A printed number, in per cent where nothing else is said."""

    published: float = Field(description="The number as it is printed.")
    decimals: Annotated[int, Field(ge=0, le=6)] = Field(default=2, description="Decimals of the print.")
    print: Literal["rounded", "truncated"] = Field(default="rounded", description="How the print drops the rest.")


class TolerantClaim(NumberClaim):
    """A printed number that ours should come near to."""

    tolerance: Annotated[float, Field(gt=0)] = Field(
        description="Difference that still counts as agreement, in the unit of the number; points for per cents."
    )

    @model_validator(mode="after")
    def _tolerance_allows_for_rounding(self) -> Self:
        half_step = 0.5 * 10.0**-self.decimals
        if self.tolerance < half_step * (1 - 1e-9):
            raise ValueError(
                f"the tolerance {self.tolerance:g} is less than half of the last printed digit, so that no number of "
                f"trials could show agreement; write at least {half_step:g}, or the number of decimals that is printed"
            )
        return self
