"""One place on a curve is about as high as another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from fsvm_cli.spec.claims.base import Claim, Place
from fsvm_cli.spec.claims.verdict import Judgement, verdict_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fsvm_cli.spec.claims.findings import Findings


class SimilarClaim(Claim):
    """Two places are about equally high, on the same trials: a test of equivalence."""

    kind: Literal["similar"]
    one: Place
    other: Place
    within: Annotated[float, Field(gt=0)] = Field(description="Points of difference that still count as similar.")

    def places(self) -> Iterator[Place]:
        """Yield both places."""
        yield self.one
        yield self.other

    def judge(self, findings: Findings) -> Judgement:
        """Ask whether the whole interval of the difference is within the points, or outside."""
        found = findings.compared(self.one, self.other).found
        holds = -self.within <= found.low and found.high <= self.within
        fails = found.high < -self.within or found.low > self.within
        return Judgement.of_mean(
            verdict_of(holds=holds, fails=fails),
            f"95 % interval of the difference lies within {self.within:g} points on either side of 0",
            f"{self.one} minus {self.other} (points)",
            found,
        )
