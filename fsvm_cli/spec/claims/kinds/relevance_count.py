"""A printed number of features that make up a share of the relevance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np
from pydantic import Field

from fsvm_cli.evaluation.statistics import mean_interval
from fsvm_cli.ranking.relevance import least_relevant, most_relevant
from fsvm_cli.spec.claims.base import Text, TolerantClaim
from fsvm_cli.spec.claims.rules import agreement
from fsvm_cli.spec.claims.verdict import Judgement

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fsvm_cli.spec.claims.findings import Findings

UNITS = {"features": "features", "percent": "% of the features"}


class RelevanceCountClaim(TolerantClaim):
    """A printed number of features that make up a share of the relevance, or their part of all features."""

    kind: Literal["relevance-count"]
    ranking: Text
    relevance: Annotated[float, Field(gt=0, lt=1)] = Field(description="The share.")
    end: Literal["most", "least"] = Field(
        default="most", description="Whether the most relevant features are counted, or those that they leave."
    )
    unit: Literal["features", "percent"] = "features"

    def rankings(self) -> Iterator[str]:
        """Yield the one ranking."""
        yield self.ranking

    def judge(self, findings: Findings) -> Judgement:
        """Compare the printed number with the mean of ours, as that of one run."""
        scores = findings.scores(self.ranking)
        select = most_relevant if self.end == "most" else least_relevant
        counts = np.array([len(select(row, self.relevance)) for row in scores], dtype=np.float64)
        found = mean_interval(counts if self.unit == "features" else 100 * counts / scores.shape[1])
        ruling = agreement(self, found, (found.std, 1), UNITS[self.unit])
        what = f"{self.end} relevant features of '{self.ranking}' at a relevance of {self.relevance:g}"
        return Judgement.of_number(ruling, f"{what} ({UNITS[self.unit]})", found)
