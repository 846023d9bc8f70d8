"""A printed number that a classifier measures on the training part: a margin, a weight."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from fsvm_cli.evaluation.statistics import mean_interval
from fsvm_cli.spec.claims.base import Place, PositiveInt, Text, TolerantClaim
from fsvm_cli.spec.claims.rules import agreement
from fsvm_cli.spec.claims.verdict import Judgement

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fsvm_cli.spec.claims.findings import Findings


class MeasureClaim(TolerantClaim):
    """A printed mean of what classifiers measure on the training part; trials without a classifier do not count."""

    kind: Literal["measure"]
    at: Place
    measure: Text = Field(description="Name of the measure, as in measures.csv.")
    published_n: PositiveInt = Field(default=1, description="Number of runs that it is the mean of.")
    published_sd: Annotated[float, Field(ge=0)] | None = Field(default=None, description="Its printed spread.")

    def places(self) -> Iterator[Place]:
        """Yield the one place."""
        yield self.at

    def judge(self, findings: Findings) -> Judgement:
        """Compare the two means, with all their uncertainty."""
        found = mean_interval(findings.measure(self.at, self.measure))
        what = f"{self.measure}, '{self.at.ranking}'"
        if found.n == 0:
            return Judgement("inconclusive", "no trial has it", what)
        spread = (found.std if self.published_sd is None else self.published_sd, self.published_n)
        ruling = agreement(self, found, spread, "", digits=self.decimals + 1)
        return Judgement.of_number(ruling, what, found)
