"""One place on a curve is higher than another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from fsvm_cli.spec.claims.base import Claim, Place
from fsvm_cli.spec.claims.rules import verdict_on_sign
from fsvm_cli.spec.claims.verdict import Judgement

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fsvm_cli.spec.claims.findings import Findings


class DifferenceClaim(Claim):
    """One place is higher than another, on the same trials."""

    kind: Literal["difference"]
    higher: Place
    lower: Place

    def places(self) -> Iterator[Place]:
        """Yield both places."""
        yield self.higher
        yield self.lower

    def judge(self, findings: Findings) -> Judgement:
        """Look at the differences on the same trials; the mean over the splits decides, see `Comparison`."""
        compared = findings.compared(self.higher, self.lower)
        what = f"{self.higher} minus {self.lower} (points)"
        return Judgement.of_comparison(verdict_on_sign, "lies above 0", what, compared)
