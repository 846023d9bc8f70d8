"""Collections: one table of a document that several experiments fill, and claims that compare these experiments."""

from __future__ import annotations

import json
import operator
from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Protocol

import numpy as np
from pydantic import Field, field_validator
from scipy.special import stdtrit

from fsvm_cli.config_io import StrictModel
from fsvm_cli.console import brief
from fsvm_cli.evaluation.statistics import CONFIDENCE, independent_difference, p_value
from fsvm_cli.spec.claims.base import Claim, Comparison, Fixed, Judgement, Nature, verdict_of
from fsvm_cli.spec.claims.rules import verdict_on_sign
from fsvm_cli.spec.schema import Paper, Text
from fsvm_cli.validation_errors import Issue, IssuesError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from fsvm_cli.spec.claims.base import Findings
    from fsvm_cli.spec.config import LoadedConfig
    from fsvm_cli.validation_errors import Location

EXPERIMENTS_KEY = "experiments"
"""Key that only collections have, not experiments."""

NOT_COMPARABLE = "not comparable"


class FoundMean(Protocol):
    """The result of an experiment for a claim about a mean: columns of `published.csv`."""

    reproduced: float
    sd: float
    n: int
    ci_low: float
    ci_high: float
    new_data_low: float
    new_data_high: float
    verdict: str


class FoundElsewhere(StrictModel):
    """A claim of one of the experiments."""

    experiment: Text
    claim: Text

    def __str__(self) -> str:
        return f"{self.claim} of {self.experiment}"


class BetweenClaim(Claim):
    """What every claim of a collection says."""

    default_nature: ClassVar[Nature] = "order"

    @abstractmethod
    def found_elsewhere(self) -> Iterator[tuple[Location, FoundElsewhere]]:
        """Yield the claims of the experiments that this one compares, each after the keys where it is named."""

    def judge(self, findings: Findings) -> Judgement:  # noqa: ARG002 - see `judge_rows`
        """Withhold the judgement, which needs the results of several experiments."""
        return Judgement.withheld("not judged by one experiment", self.claim)

    @abstractmethod
    def judge_rows(self, rows: Sequence[FoundMean]) -> Judgement:
        """Compare what was found about the claims of the experiments, a row for each in their order."""


class SmallerDifferenceClaim(BetweenClaim):
    """One difference is smaller than another, which another experiment found."""

    kind: Literal["smaller-difference"]
    smaller: FoundElsewhere
    larger: FoundElsewhere

    def found_elsewhere(self) -> Iterator[tuple[Location, FoundElsewhere]]:
        """Yield both differences."""
        yield ("smaller",), self.smaller
        yield ("larger",), self.larger

    def judge_rows(self, rows: Sequence[FoundMean]) -> Judgement:
        """Compare the two means, which are of independent trials, by Welch's test."""
        smaller, larger = rows
        what = f"{self.larger} minus {self.smaller} (points)"
        if _is_open(smaller) or _is_open(larger):
            return Judgement.withheld("one of the two differences is not comparable", what)
        found, on_new_data = (
            independent_difference(*((row.reproduced, error(row), int(row.n)) for row in (larger, smaller)))
            for error in (_error_over_splits, _error_on_new_data)
        )
        test = "95 % interval of the difference of the two mean differences over the splits (Welch)"
        compared = Comparison(found, p_value(found), on_new_data, test)
        return Judgement.of_comparison(verdict_on_sign, "lies above 0", what, compared)


class SimilarMeansClaim(BetweenClaim):
    """Two experiments found about the same mean: a test of equivalence."""

    kind: Literal["similar-means"]
    one: FoundElsewhere
    other: FoundElsewhere
    within: Annotated[float, Field(gt=0)] = Field(description="Points of difference that still count as similar.")

    def found_elsewhere(self) -> Iterator[tuple[Location, FoundElsewhere]]:
        """Yield both means."""
        yield ("one",), self.one
        yield ("other",), self.other

    def judge_rows(self, rows: Sequence[FoundMean]) -> Judgement:
        """Ask whether Welch's interval of the difference lies within the points, or outside."""
        what = f"{self.one} minus {self.other} (points)"
        if any(map(_is_open, rows)):
            return Judgement.withheld("one of the two means is not comparable", what)
        found = independent_difference(*((row.reproduced, _error_over_splits(row), int(row.n)) for row in rows))
        verdict = verdict_of(
            holds=-self.within <= found.low and found.high <= self.within,
            fails=found.high < -self.within or found.low > self.within,
        )
        rule = f"95 % interval of the difference (Welch) lies within {self.within:g} points on either side of 0"
        return Judgement.of_mean(verdict, rule, what, found)


class LargestClaim(BetweenClaim):
    """Numbers that some experiments found are larger than those of all others."""

    kind: Literal["largest"]
    largest: Annotated[tuple[FoundElsewhere, ...], Field(min_length=1)] = Field(
        description="Claims about the numbers that are larger."
    )
    others: Annotated[tuple[FoundElsewhere, ...], Field(min_length=1)] = Field(
        description="Claims about the numbers that are smaller."
    )

    def found_elsewhere(self) -> Iterator[tuple[Location, FoundElsewhere]]:
        """Yield those about the larger numbers, then the others."""
        for key, claims in (("largest", self.largest), ("others", self.others)):
            for index, claim in enumerate(claims):
                yield (key, index), claim

    def judge_rows(self, rows: Sequence[FoundMean]) -> Judgement:
        """Ask whether the intervals of the ones lie above those of the others; a number without one stands for it.

        Whether a source printed the numbers does not matter here, nor whether it could be compared with what is found.
        """
        found = np.array([[row.reproduced, row.ci_low, row.ci_high] for row in rows], dtype=np.float64)
        found = np.where(np.isnan(found), found[:, :1], found)
        ours, theirs = found[: len(self.largest)], found[len(self.largest) :]
        what = f"the least of {', '.join(map(str, self.largest))}, minus the most of the others"
        if np.isnan(found).any():
            return Judgement.withheld("an experiment has no number", what)
        numbers = [
            f"{claim.experiment}: {row[0]:.4g}" for (_, claim), row in zip(self.found_elsewhere(), found, strict=True)
        ]
        verdict = verdict_of(
            holds=bool(ours[:, 1].min() > theirs[:, 2].max()), fails=bool(ours[:, 2].min() < theirs[:, 1].max())
        )
        rule = f"95 % intervals lie above those of the others ({'; '.join(numbers)})"
        return Judgement(verdict, rule, what, reproduced=float(ours[:, 0].min() - theirs[:, 0].max()))


AnyBetweenClaim = Annotated[SmallerDifferenceClaim | SimilarMeansClaim | LargestClaim, Field(discriminator="kind")]


def _is_open(row: FoundMean) -> bool:
    """Whether flagged or missing trials leave a mean open; that its source leaves something open does not."""
    noted = getattr(row, "readings", None)  # tables of older versions note none
    readings = json.loads(noted) if isinstance(noted, str) and noted else []
    return row.verdict == NOT_COMPARABLE and (not readings or readings[0]["answer"] == NOT_COMPARABLE)


def _error_over_splits(row: FoundMean) -> float:
    return float(row.sd / np.sqrt(row.n))


def _error_on_new_data(row: FoundMean) -> float:
    half_width = (row.new_data_high - row.new_data_low) / 2
    return float(half_width / stdtrit(row.n - 1, (1 + CONFIDENCE) / 2))


class Collection(StrictModel):
    """Claims of several experiments, side by side."""

    title: Text = Field(description="What the table shows, for headings.")
    paper: Paper | None = Field(default=None, description="What it reproduces, if anything.")
    experiments: tuple[Text, ...] = Field(
        json_schema_extra={"minItems": 1, "uniqueItems": True},
        description="Names of the configs, beside this one or built-in, whose claims are collected, in this order.",
    )
    claims: Text = Field(
        default="*", description="Pattern, as of file names, that the ids of the collected claims match."
    )
    deviations: tuple[Text, ...] = Field(
        default=(), description="Where and why the collection departs from its source."
    )
    fixed: Fixed | None = Field(
        default=None,
        exclude_if=operator.not_,
        description="Whether the rules of the claims were fixed before the figures that they judge were known, or "
        "after; a claim may state its own.",
    )
    expected: tuple[AnyBetweenClaim, ...] = Field(
        default=(),
        exclude_if=operator.not_,
        description="What the source claims of several of the experiments together, and how it is judged.",
    )

    @field_validator("experiments")
    @classmethod
    def _experiments_are_distinct(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        if not names:
            raise ValueError("there is none; list at least one experiment")
        twice = [index for index, name in enumerate(names) if name in names[:index]]
        if twice:
            issues = (
                ((index,), f"the experiment '{brief(names[index])}' is listed twice; list it once") for index in twice
            )
            raise IssuesError(Issue(*issue) for issue in issues)
        return names


@dataclass(frozen=True)
class LoadedCollection:
    """A collection, and its experiments.

    Attributes
    ----------
    name : str
        The file's name without ending; names the folder of the results.
    folder : Path
        Where the file lies.
    collection : Collection
    overrides : dict of str to value
        What options have set over the texts of the experiments, by dotted path.
    members : tuple of LoadedConfig
        In the order of the collection; none where it is read from results.
    """

    name: str
    folder: Path
    collection: Collection
    overrides: dict[str, Any]
    members: tuple[LoadedConfig, ...]
