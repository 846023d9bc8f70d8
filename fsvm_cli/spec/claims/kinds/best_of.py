"""A printed number that is the best of several methods."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from fsvm_cli.spec.claims.base import Metric, Place, PositiveInt, Text, TolerantClaim
from fsvm_cli.spec.claims.rules import agreement
from fsvm_cli.spec.claims.verdict import Judgement

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fsvm_cli.spec.claims.findings import Findings


class BestOfClaim(TolerantClaim):
    """A printed number, in per cent, that is the best of several methods."""

    kind: Literal["best-of"]
    labels: Annotated[tuple[Text, ...], Field(min_length=2)] = Field(description="Labels of the methods.")
    features: Literal["all"] | PositiveInt = Field(default="all", description="Number of features or components.")
    metric: Metric = "accuracy"

    def places(self) -> Iterator[Place]:
        """Yield the place of each method."""
        yield from (Place(ranking=label, features=self.features, metric=self.metric) for label in self.labels)

    def judge(self, findings: Findings) -> Judgement:
        """Compare with the method whose mean is best here."""
        best = max(self.places(), key=lambda place: float(findings.at(place).mean()))
        found = findings.estimate(best)
        ruling = agreement(self, found, (found.std, 1), "points")
        return Judgement.of_number(ruling, f"{best} (%), the best of the named", found)
