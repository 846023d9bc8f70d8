"""A printed fact of the problem."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
from pydantic import Field

from fsvm_cli.evaluation.statistics import mean_interval
from fsvm_cli.spec.claims.base import Place, TolerantClaim
from fsvm_cli.spec.claims.findings import Fact, Portion
from fsvm_cli.spec.claims.rules import agreement, ordinariness
from fsvm_cli.spec.claims.verdict import Judgement

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fsvm_cli.spec.claims.findings import Findings

FACT_UNITS: dict[Fact, str] = {
    "n_features": "features",
    "n_classes": "classes",
    "n_train": "rows",
    "n_test": "rows",
    "major-class": "%",
    "class-uncertainty": "bits",
    "classifier-information": "bits",
}


class ProblemClaim(TolerantClaim):
    """A printed fact of the problem: how large it is, how difficult, and how much of it the machine resolves.

    Of the test part: the major class in per cent, the uncertainty of the class and the information of the machine on
    all features in bits; the first two also of the whole set, if the print is. Where there are many runs, the printed
    one should be an ordinary one among them, within the tolerance. What the experiment sets itself is a fact.
    """

    kind: Literal["problem"]
    fact: Fact
    of: Portion = Field(
        default="test part",
        exclude_if=lambda of: of == "test part",
        description="Rows that the major class and the uncertainty of the class are those of.",
    )

    def places(self) -> Iterator[Place]:
        """Yield the machine on all features."""
        yield Place()

    def judge(self, findings: Findings) -> Judgement:
        """Compare a fact that varies with the run as one run among ours, and any other as a number."""
        values, unit = findings.fact(self.fact, self.of), FACT_UNITS[self.fact]
        found = mean_interval(values)
        varies = found.n > 1 and np.ptp(values) > 0
        ruling = ordinariness(self, values, self.tolerance) if varies else agreement(self, found, (0.0, 1), unit)
        if ruling.verdict == "reproduced" and findings.is_set(self.fact):
            rule = "set by the experiment, as in the document: nothing was found out"
            ruling = ruling._replace(verdict="fact", rule=rule)
        of_rows = "" if self.of == "test part" else f", for the {self.of}"
        return Judgement.of_number(ruling._replace(rule=ruling.rule + of_rows), f"{self.fact} ({unit})", found)
