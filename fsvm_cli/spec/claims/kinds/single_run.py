"""A printed number that comes from one random run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from fsvm_cli.spec.claims.base import NumberClaim, Place
from fsvm_cli.spec.claims.rules import ordinariness
from fsvm_cli.spec.claims.verdict import Judgement

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fsvm_cli.spec.claims.findings import Findings


class SingleRunClaim(NumberClaim):
    """A printed number, in per cent, that comes from one random run: it should be an ordinary one among ours."""

    kind: Literal["single-run"]
    at: Place

    def places(self) -> Iterator[Place]:
        """Yield the one place."""
        yield self.at

    def judge(self, findings: Findings) -> Judgement:
        """Ask whether the printed number would be an ordinary one among our runs."""
        ruling = ordinariness(self, findings.at(self.at))
        return Judgement.of_number(ruling, f"{self.at} (%)", findings.estimate(self.at))
