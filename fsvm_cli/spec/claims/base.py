"""What every claim says, and what many do: a place on a curve, a printed number."""

from __future__ import annotations

import operator
from abc import abstractmethod
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from fsvm_cli.documents import StrictModel
from fsvm_cli.evaluation.complements import COMPLEMENTS
from fsvm_cli.evaluation.metrics import METRICS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fsvm_cli.spec.claims.findings import Findings
    from fsvm_cli.spec.claims.verdict import Judgement

PositiveInt = Annotated[int, Field(ge=1)]
Text = Annotated[str, Field(min_length=1)]
Metric = Literal[*METRICS]  # type: ignore[valid-type]
Fixed = Literal["before", "after"]
"""Whether the rule of a claim was fixed before its figure was known, or after."""


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

    def __str__(self) -> str:
        if isinstance(self.features, tuple):
            where = f"{self.features[0]} to {self.features[1]} features"
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
    """What every claim says."""

    id: Text = Field(description="Identifier of the published value or claim.")
    claim: Text = Field(description="The claim in one sentence.")
    where: Text = Field(description="Where the document prints it.")
    note: str = Field(default="", description="What a reader of the verdict should know.")
    unstated: str = Field(
        default="",
        exclude_if=operator.not_,
        description="What the source leaves open and the number depends on: it is shown beside ours, and nothing is "
        "said about the source.",
    )
    part_of: Text | None = Field(
        default=None,
        exclude_if=operator.not_,
        description="Identifier of the published claim of which this is a part; the scorecard has one row for it.",
    )
    fixed: Fixed | None = Field(
        default=None,
        exclude_if=operator.not_,
        description="Whether the rule was fixed before anybody knew the figure that it judges, or after; that of the "
        "experiment if left out.",
    )

    def places(self) -> Iterator[Place]:
        """Yield the places on curves that the claim speaks of."""
        yield from ()

    def rankings(self) -> Iterator[str]:
        """Yield the labels of the rankings that the claim speaks of."""
        yield from (place.ranking for place in self.places())

    @abstractmethod
    def judge(self, findings: Findings) -> Judgement:
        """Compare the claim with what was found, which covers all that the claim speaks of."""


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
