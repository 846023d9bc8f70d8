"""The scores fall in the order in which the data list the features."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np
from pydantic import Field

from fsvm_cli.evaluation.statistics import mean_interval
from fsvm_cli.spec.claims.base import Claim, Text
from fsvm_cli.spec.claims.verdict import Judgement, verdict_on_bounds

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fsvm_cli.spec.claims.findings import Findings


class ScoreOrderClaim(Claim):
    """The scores fall in the order in which the data list the features."""

    kind: Literal["score-order"]
    ranking: Text
    at_least: Annotated[float, Field(gt=0, le=1)] = Field(
        description="Rank correlation between the score and the claimed order that counts as the claimed order."
    )

    def rankings(self) -> Iterator[str]:
        """Yield the one ranking."""
        yield self.ranking

    def judge(self, findings: Findings) -> Judgement:
        """Correlate the ranks of the scores with the claimed order."""
        # scipy.stats takes long to load, and a config is read by commands that judge nothing.
        from scipy.stats import spearmanr  # noqa: PLC0415

        scores = findings.scores(self.ranking)
        listed = np.arange(scores.shape[1])
        found = mean_interval(np.array([-spearmanr(listed, row).statistic for row in scores]))
        verdict = verdict_on_bounds(found.low, found.high, at_least=self.at_least)
        rule = f"rank correlation of at least {self.at_least:g} with the claimed order"
        return Judgement.of_mean(verdict, rule, f"rank correlation of the scores of '{self.ranking}'", found)
