"""A printed number of errors on the test part."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from fsvm_cli.evaluation.statistics import mean_interval
from fsvm_cli.spec.claims.base import Place, PositiveInt, TolerantClaim
from fsvm_cli.spec.claims.rules import agreement
from fsvm_cli.spec.claims.verdict import Judgement

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fsvm_cli.spec.claims.findings import Findings


class ErrorCountClaim(TolerantClaim):
    """A printed mean number of test errors; trials without a classifier do not count."""

    kind: Literal["error-count"]
    at: Place
    published_n: PositiveInt = Field(default=1, description="Number of runs that it is the mean of.")
    published_sd: Annotated[float, Field(ge=0)] | None = Field(default=None, description="Its printed spread.")

    def places(self) -> Iterator[Place]:
        """Yield the one place."""
        yield self.at

    def judge(self, findings: Findings) -> Judgement:
        """Compare the two means, with all their uncertainty."""
        rate = 1.0 - findings.at(self.at.model_copy(update={"metric": "accuracy"})) / 100.0
        found = mean_interval(rate * findings.fact("n_test", "test part"))
        what = f"test errors, '{self.at.ranking}'"
        if found.n == 0:
            return Judgement("inconclusive", "no trial has a classifier", what)
        spread = (found.std if self.published_sd is None else self.published_sd, self.published_n)
        ruling = agreement(self, found, spread, "errors")
        return Judgement.of_number(ruling, what, found)
