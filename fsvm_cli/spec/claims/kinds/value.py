"""A printed number."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from fsvm_cli.spec.claims.base import Place, PositiveInt, TolerantClaim
from fsvm_cli.spec.claims.rules import agreement
from fsvm_cli.spec.claims.verdict import Judgement

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fsvm_cli.spec.claims.findings import Findings


class ValueClaim(TolerantClaim):
    """A printed number, in per cent."""

    kind: Literal["value"]
    at: Place
    published_sd: Annotated[float, Field(ge=0)] | None = Field(default=None, description="Its printed spread.")
    published_n: PositiveInt = Field(default=1, description="Number of runs that it is the mean of.")

    def places(self) -> Iterator[Place]:
        """Yield the one place."""
        yield self.at

    def judge(self, findings: Findings) -> Judgement:
        """Compare the two means, with all their uncertainty."""
        found = findings.estimate(self.at)
        spread = (found.std if self.published_sd is None else self.published_sd, self.published_n)
        ruling = agreement(self, found, spread, "points")
        return Judgement.of_number(ruling, f"{self.at} (%)", found)
