"""A curve falls with every feature that is dropped."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import numpy as np
from scipy.special import ndtri

from fsvm_cli.evaluation.statistics import CONFIDENCE
from fsvm_cli.spec.claims.base import Claim, Metric, Place, Text
from fsvm_cli.spec.claims.rules import is_negative, is_nothing, is_positive
from fsvm_cli.spec.claims.verdict import Judgement, verdict_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fsvm_cli.evaluation.statistics import MeanInterval
    from fsvm_cli.spec.claims.findings import Findings
    from fsvm_cli.spec.claims.verdict import Verdict


class MonotoneClaim(Claim):
    """A curve falls with every feature that is dropped."""

    kind: Literal["monotone"]
    ranking: Text
    part: Literal["train", "test"] = "test"
    metric: Metric = "accuracy"

    def places(self) -> Iterator[Place]:
        """Yield the curve's end."""
        yield Place(ranking=self.ranking, part=self.part, metric=self.metric)

    def judge(self, findings: Findings) -> Judgement:
        """Count a step against the claimed direction where its interval, at 95 % for all steps together, excludes 0."""
        sizes = findings.curve(self.ranking, self.metric, self.part).sizes
        places = [Place(ranking=self.ranking, features=size, metric=self.metric, part=self.part) for size in sizes]
        steps = [findings.compared(larger, smaller) for smaller, larger in itertools.pairwise(places)]
        total = findings.compared(places[-1], places[0])

        def verdict_by(of_total: MeanInterval, of_steps: list[MeanInterval]) -> Verdict:
            rises = any(_rises(step, len(steps)) for step in of_steps)
            return verdict_of(
                holds=is_positive(of_total) and not rises,
                fails=is_negative(of_total) or is_nothing(of_total) or rises,
            )

        found = verdict_by(total.found, [step.found for step in steps])
        new = total.on_new_data
        return replace(
            Judgement.of_mean(
                found,
                f"no step rises significantly as features are dropped ({len(steps)} steps judged together), and the "
                f"whole falls: {total.test} lies above 0",
                f"{self.part} {self.metric}, '{self.ranking}', at {sizes[-1]} minus at {sizes[0]} features (points)",
                total.found,
            ),
            new_data_low=new.low,
            new_data_high=new.high,
            new_data=None if np.isnan(new.low) else verdict_by(new, [step.on_new_data for step in steps]),
        )


def _rises(step: MeanInterval, n_steps: int) -> bool:
    """Whether the curve rises as the feature of a step is dropped, at the level of one of so many comparisons."""
    z = -step.mean / max((step.high - step.mean) / ndtri((1 + CONFIDENCE) / 2), 1e-12)
    return bool(z > ndtri(1 - (1 - CONFIDENCE) / n_steps))
