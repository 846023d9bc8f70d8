"""One ranking needs no more features than others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from fsvm_cli.spec.claims.base import Claim, Metric, Place, Text
from fsvm_cli.spec.claims.best_subset import SIZE_RULE, interval_of_counts, resampled_sizes, size_of_best_subset
from fsvm_cli.spec.claims.verdict import Judgement, verdict_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fsvm_cli.spec.claims.findings import Findings


class SmallestSubsetClaim(Claim):
    """The best subset of a ranking has no more features than that of any other; its size is that of a count."""

    kind: Literal["smallest-subset"]
    ranking: Text
    others: Annotated[tuple[Text, ...], Field(min_length=1)] = Field(description="Labels of the rankings beside it.")
    metric: Metric = "accuracy"

    def places(self) -> Iterator[Place]:
        """Yield the ends of the curves, the ranking's own first."""
        yield from (Place(ranking=label, metric=self.metric) for label in (self.ranking, *self.others))

    def judge(self, findings: Findings) -> Judgement:
        """Find agreement where the best subset, draw after draw, is no larger than the smallest of the others'."""
        curves = [findings.curve(label, self.metric, "test") for label in self.rankings()]
        sizes, values = curves[0].sizes, [curve.values for curve in curves]
        counts = resampled_sizes(values, sizes, findings.stream("bootstrap", self.id))
        excess = counts[:, 0] - counts[:, 1:].min(axis=1)
        low, high = interval_of_counts(excess)
        own, *others = (size_of_best_subset(each, sizes) for each in values)
        rivals = " and ".join(f"'{label}' ({size})" for label, size in zip(self.others, others, strict=True))
        return Judgement(
            verdict_of(holds=high <= 0, fails=low > 0),
            f"95 % interval of the difference of sizes on the same trials lies at 0 or below; {SIZE_RULE}",
            f"size of the best subset, '{self.ranking}' ({own}) minus the smallest of {rivals} (features)",
            reproduced=own - min(others),
            sd=float(excess.std(ddof=1)),
            n=len(values[0]),
            ci_low=low,
            ci_high=high,
        )
