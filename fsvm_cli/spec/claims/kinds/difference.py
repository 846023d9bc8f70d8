"""One place on a curve is higher than another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from fsvm_cli.evaluation.statistics import difference_interval
from fsvm_cli.spec.claims.base import Claim, Place
from fsvm_cli.spec.claims.rules import is_negative, is_positive
from fsvm_cli.spec.claims.verdict import Judgement, verdict_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fsvm_cli.spec.claims.findings import Findings


class DifferenceClaim(Claim):
    """One place is higher than another, on the same splits."""

    kind: Literal["difference"]
    higher: Place
    lower: Place

    def places(self) -> Iterator[Place]:
        """Yield both places."""
        yield self.higher
        yield self.lower

    def judge(self, findings: Findings) -> Judgement:
        """Look at the differences on the same splits, with an interval that allows for shared rows."""
        differences = findings.at(self.higher) - findings.at(self.lower)
        found = difference_interval(differences, findings.test_to_train(self.higher))
        rule = "95 % interval of the paired difference, corrected for shared rows, lies above 0"
        verdict = verdict_of(holds=is_positive(found), fails=is_negative(found))
        return Judgement.of_mean(verdict, rule, f"{self.higher} minus {self.lower} (points)", found)
