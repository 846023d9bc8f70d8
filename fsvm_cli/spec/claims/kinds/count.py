"""How many features are enough."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from fsvm_cli.spec.claims.base import Claim, Metric, Place, PositiveInt, Text
from fsvm_cli.spec.claims.best_subset import SIZE_RULE, interval_of_counts, resampled_sizes, size_of_best_subset
from fsvm_cli.spec.claims.verdict import Judgement, verdict_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fsvm_cli.spec.claims.findings import Findings


class CountClaim(Claim):
    """The size of the best subset: the smallest whose mean lies within one standard error of the best mean."""

    kind: Literal["count"]
    ranking: Text
    published: Annotated[tuple[PositiveInt, ...], Field(min_length=2, max_length=2)] = Field(
        description="Smallest and largest printed number of features."
    )
    tolerance: PositiveInt = Field(description="Difference, in features, that still counts as agreement.")
    metric: Metric = "accuracy"

    def places(self) -> Iterator[Place]:
        """Yield the curve's end."""
        yield Place(ranking=self.ranking, metric=self.metric)

    def judge(self, findings: Findings) -> Judgement:
        """Find agreement where the interval of the size lies within the printed one, widened by the tolerance."""
        sizes, values = findings.curve(self.ranking, self.metric, "test")
        counts = resampled_sizes([values], sizes, findings.stream("bootstrap", self.id))[:, 0]
        low, high = interval_of_counts(counts)
        least, most = self.published[0] - self.tolerance, self.published[1] + self.tolerance
        return Judgement(
            verdict_of(holds=least <= low and high <= most, fails=high < least or low > most),
            f"{SIZE_RULE}; tolerance {self.tolerance} features",
            f"size of the best subset, '{self.ranking}' (features)",
            reproduced=size_of_best_subset(values, sizes),
            sd=float(counts.std(ddof=1)),
            n=len(values),
            ci_low=low,
            ci_high=high,
        )
