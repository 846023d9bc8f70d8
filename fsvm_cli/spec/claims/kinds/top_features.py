"""The best features, or the worst, are these."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from fsvm_cli.evaluation.statistics import mean_interval
from fsvm_cli.ranking.ranks import ranks_of
from fsvm_cli.spec.claims.base import Claim, Text
from fsvm_cli.spec.claims.verdict import Judgement, verdict_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fsvm_cli.spec.claims.findings import Findings


class TopFeaturesClaim(Claim):
    """The best features, or the worst, are these."""

    kind: Literal["top-features"]
    ranking: Text
    features: Annotated[tuple[Text, ...], Field(min_length=1)] = Field(description="Names of the features.")
    end: Literal["best", "worst"] = Field(default="best", description="Which features are claimed to be these.")
    at_least: Annotated[float, Field(gt=0, le=1)] = Field(
        description="Mean share of them among as many best (or worst) features of a trial that counts as agreement."
    )

    def rankings(self) -> Iterator[str]:
        """Yield the one ranking."""
        yield self.ranking

    def judge(self, findings: Findings) -> Judgement:
        """Count how many of them are among as many best, or worst, features of each trial."""
        claimed = [name in self.features for name in findings.feature_names]
        scores = findings.scores(self.ranking)
        ranks = ranks_of(scores if self.end == "best" else -scores)
        n_claimed = len(self.features)
        found = mean_interval((ranks[:, claimed] <= n_claimed).sum(axis=1) / n_claimed)
        # A single trial has no interval: its own share decides.
        holds = found.mean >= self.at_least and not found.low < self.at_least
        verdict = verdict_of(holds=holds, fails=found.high < self.at_least)
        end = f"{n_claimed} {self.end}"
        rule = f"a share of at least {self.at_least:g} of the {n_claimed} features among the {end} of a trial"
        what = f"share of the claimed features among the {self.end} of '{self.ranking}'"
        return Judgement.of_mean(verdict, rule, what, found)
