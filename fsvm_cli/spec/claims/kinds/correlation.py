"""How alike the scores of rankings are."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np
from pydantic import Field

from fsvm_cli.evaluation.statistics import mean_interval
from fsvm_cli.spec.claims.base import Claim, Text
from fsvm_cli.spec.claims.verdict import Judgement, verdict_on_bounds

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from fsvm_cli.spec.claims.findings import Findings


DECIMALS = 5
"""Of the correlation in a trial, as many as tables have of scores: what follows is another on another processor."""


class CorrelationClaim(Claim):
    """The scores of rankings are strongly correlated: Pearson's correlation over the features, in each trial.

    Of more than two rankings the two count whose scores are least correlated in the mean.
    """

    kind: Literal["correlation"]
    between: Annotated[tuple[Text, ...], Field(min_length=2)] = Field(description="Labels of the rankings.")
    at_least: Annotated[float, Field(ge=-1, le=1)] = Field(description="Least correlation that counts as agreement.")

    def rankings(self) -> Iterator[str]:
        """Yield the rankings."""
        yield from self.between

    def judge(self, findings: Findings) -> Judgement:
        """Compare the interval of the mean correlation with the least that counts."""
        scores = {label: _standardised(findings.scores(label)) for label in self.between}
        pairs = {
            (one, other): mean_interval(np.mean(scores[one] * scores[other], axis=1).round(DECIMALS))
            for one, other in itertools.combinations(self.between, 2)
        }
        (one, other), found = min(pairs.items(), key=lambda item: item[1].mean)
        verdict = verdict_on_bounds(found.low, found.high, at_least=self.at_least)
        others = "; ".join(f"'{a}' and '{b}': {each.mean:.2f}" for (a, b), each in pairs.items())
        rule = f"correlation of at least {self.at_least:g} of each two ({others})"
        return Judgement.of_mean(verdict, rule, f"correlation of the scores of '{one}' and '{other}'", found)


def _standardised(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Bring the scores of each trial to mean 0 and variance 1; equal ones to 0."""
    centred = scores - scores.mean(axis=1, keepdims=True)
    spread = centred.std(axis=1, keepdims=True)
    standardised: NDArray[np.float64] = np.divide(centred, spread, out=np.zeros_like(centred), where=spread > 0)
    return standardised
