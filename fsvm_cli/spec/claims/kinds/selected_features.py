"""Exactly these features are selected."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np
from pydantic import Field

from fsvm_cli.evaluation.statistics import mean_interval
from fsvm_cli.ranking.ranks import ranks_of
from fsvm_cli.spec.claims.base import Claim, Text
from fsvm_cli.spec.claims.verdict import Judgement, verdict_on_bounds

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fsvm_cli.spec.claims.findings import Findings


class SelectedFeaturesClaim(Claim):
    """Exactly these features are selected, in the one run of the document: it should be nothing unusual in ours."""

    kind: Literal["selected-features"]
    ranking: Text
    features: Annotated[tuple[Text, ...], Field(min_length=1)] = Field(description="Names of the features.")
    threshold: float | None = Field(
        default=None, description="Score from which on a feature is selected; as many best ones as named if left out."
    )
    at_least: Annotated[float, Field(gt=0, lt=1)] = Field(
        default=0.05, description="Share of our runs that selects exactly these and counts as nothing unusual."
    )

    def rankings(self) -> Iterator[str]:
        """Yield the one ranking."""
        yield self.ranking

    def judge(self, findings: Findings) -> Judgement:
        """Count the runs that select exactly these."""
        claimed = np.array([name in self.features for name in findings.feature_names])
        scores = findings.scores(self.ranking)
        best = ranks_of(scores) <= len(self.features)
        selected = best if self.threshold is None else scores >= self.threshold
        found = mean_interval((selected == claimed).all(axis=1).astype(float))
        # A share of our runs is counted, not estimated: it is as large as is asked for, or it is not.
        verdict = verdict_on_bounds(found.mean, found.mean, at_least=self.at_least)
        how = "as the best ones" if self.threshold is None else f"by a score of at least {self.threshold:g}"
        rule = f"at least {self.at_least:g} of our runs select exactly the {len(self.features)} claimed features"
        what = f"share of runs that select just these {how}, '{self.ranking}'"
        return Judgement.of_mean(verdict, rule, what, found)
