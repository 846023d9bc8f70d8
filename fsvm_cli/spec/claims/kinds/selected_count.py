"""How many features a method selects by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
from pydantic import Field

from fsvm_cli.evaluation.statistics import mean_interval
from fsvm_cli.spec.claims.base import Text, TolerantClaim
from fsvm_cli.spec.claims.rules import agreement
from fsvm_cli.spec.claims.verdict import Judgement

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fsvm_cli.spec.claims.findings import Findings


class SelectedCountClaim(TolerantClaim):
    """A printed number of features that a method selects by itself."""

    kind: Literal["selected-count"]
    ranking: Text
    threshold: float = Field(description="Score from which on a feature is selected.")

    def rankings(self) -> Iterator[str]:
        """Yield the one ranking."""
        yield self.ranking

    def judge(self, findings: Findings) -> Judgement:
        """Compare the printed number with the mean of ours, as that of one run."""
        scores = findings.scores(self.ranking)
        found = mean_interval(np.count_nonzero(scores >= self.threshold, axis=1).astype(float))
        ruling = agreement(self, found, (found.std, 1), "features")
        what = f"features that '{self.ranking}' selects by a score of at least {self.threshold:g}"
        return Judgement.of_number(ruling, what, found)
