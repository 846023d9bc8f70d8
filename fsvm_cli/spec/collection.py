"""Collections: one table of a document that several experiments fill, and claims that compare these experiments."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np
from pydantic import Field, field_validator
from scipy.special import stdtrit

from fsvm_cli.config_io import StrictModel
from fsvm_cli.console import brief
from fsvm_cli.evaluation.statistics import CONFIDENCE, independent_difference, p_value
from fsvm_cli.spec.claims.base import Claim, Comparison, Fixed, Judgement
from fsvm_cli.spec.claims.rules import verdict_on_sign
from fsvm_cli.spec.schema import Paper, Text
from fsvm_cli.validation_errors import Issue, IssuesError

if TYPE_CHECKING:
    from pathlib import Path

    from fsvm_cli.spec.claims.base import Findings
    from fsvm_cli.spec.config import LoadedConfig

EXPERIMENTS_KEY = "experiments"
"""Key that only collections have, not experiments."""

NOT_COMPARABLE = "not comparable"


class FoundMean(Protocol):
    """The result of an experiment for a claim about a mean: columns of `published.csv`."""

    reproduced: float
    sd: float
    n: int
    new_data_low: float
    new_data_high: float
    verdict: str


class FoundElsewhere(StrictModel):
    """A claim of one of the experiments."""

    experiment: Text
    claim: Text

    def __str__(self) -> str:
        return f"{self.claim} of {self.experiment}"


class SmallerDifferenceClaim(Claim):
    """One difference is smaller than another, which another experiment found."""

    kind: Literal["smaller-difference"]
    smaller: FoundElsewhere
    larger: FoundElsewhere

    def judge(self, findings: Findings) -> Judgement:  # noqa: ARG002 - see `judge_rows`
        """Withhold the judgement, which needs the results of two experiments."""
        return Judgement.withheld("not judged by one experiment", self.claim)

    def judge_rows(self, smaller: FoundMean, larger: FoundMean) -> Judgement:
        """Compare the two means, which are of independent trials, by Welch's test."""
        what = f"{self.larger} minus {self.smaller} (points)"
        if NOT_COMPARABLE in {smaller.verdict, larger.verdict}:
            return Judgement.withheld("one of the two differences is not comparable", what)
        found, on_new_data = (
            independent_difference(*((row.reproduced, error(row), int(row.n)) for row in (larger, smaller)))
            for error in (_error_over_splits, _error_on_new_data)
        )
        test = "95 % interval of the difference of the two mean differences over the splits (Welch)"
        compared = Comparison(found, p_value(found), on_new_data, test)
        return Judgement.of_comparison(verdict_on_sign, "lies above 0", what, compared)


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
        description="Names of the configs, beside this one or shipped, whose claims are collected, in this order.",
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
    expected: tuple[SmallerDifferenceClaim, ...] = Field(
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
