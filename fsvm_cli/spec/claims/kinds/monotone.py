"""A curve falls with every feature that is dropped."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
from scipy.special import ndtri

from fsvm_cli.evaluation.statistics import CONFIDENCE, difference_interval
from fsvm_cli.spec.claims.base import Claim, Metric, Place, Text
from fsvm_cli.spec.claims.rules import is_negative, is_positive
from fsvm_cli.spec.claims.verdict import Judgement, verdict_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fsvm_cli.evaluation.statistics import MeanInterval
    from fsvm_cli.spec.claims.findings import Findings


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
        sizes, values = findings.curve(self.ranking, self.metric, self.part)
        (end,) = self.places()
        test_to_train = findings.test_to_train(end)
        steps = np.diff(100 * values, axis=1)
        rises = any(_rises(difference_interval(step, test_to_train), steps.shape[1]) for step in steps.T)
        total = difference_interval(steps.sum(axis=1), test_to_train)
        verdict = verdict_of(holds=is_positive(total) and not rises, fails=is_negative(total) or rises)
        steps_in_words = f"{steps.shape[1]} steps judged together"
        rule = f"no step rises significantly as features are dropped ({steps_in_words}), and the whole falls"
        what = f"{self.part} {self.metric}, '{self.ranking}', at {sizes[-1]} minus at {sizes[0]} features (points)"
        return Judgement.of_mean(verdict, rule, what, total)


def _rises(step: MeanInterval, n_steps: int) -> bool:
    """Whether the curve rises as the feature of a step is dropped, at the level of one of so many comparisons."""
    z = -step.mean / max((step.high - step.mean) / ndtri((1 + CONFIDENCE) / 2), 1e-12)
    return bool(z > ndtri(1 - (1 - CONFIDENCE) / n_steps))
