"""Claims about numbers of features, and about which features a method selects.

The size of the best subset, alone and beside other rankings; the features above a threshold of the score, by number and
by name; and the features that make up a share of the relevance.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field

from fsvm_cli.evaluation.statistics import mean_interval
from fsvm_cli.ranking.ranks import least_relevant, most_relevant, ranks_of
from fsvm_cli.spec.claims.base import (
    Claim,
    Judgement,
    Metric,
    Nature,
    Place,
    PositiveInt,
    Text,
    TolerantClaim,
    verdict_of,
    verdict_on_bounds,
)
from fsvm_cli.spec.claims.rules import SIZE_RULE, agreement, interval_of_counts, resampled_sizes, size_of_best_subset

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from fsvm_cli.spec.claims.base import Findings


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


class SmallestSubsetClaim(Claim):
    """The best subset of a ranking has no more features than that of any other; its size is that of a count."""

    default_nature: ClassVar[Nature] = "order"

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


class SelectedCountClaim(TolerantClaim):
    """A printed number of features that a method selects by itself."""

    kind: Literal["selected-count"]
    ranking: Text
    threshold: float = Field(description="Score from which on a feature is selected.")

    def rankings(self) -> Iterator[str]:
        """Yield the one ranking."""
        yield self.ranking

    def judge(self, findings: Findings) -> Judgement:
        """Compare the printed number, that of one run, with ours, see `agreement`."""
        counts = findings.of_scores(
            self.ranking,
            lambda scores: np.count_nonzero(scores >= self.threshold, axis=1).astype(float),
            (0, len(findings.feature_names)),
        )
        ruling = agreement(self, counts, "features")
        what = f"features that '{self.ranking}' selects by a score of at least {self.threshold:g}"
        return Judgement.of_number(ruling, what, mean_interval(counts))


class SelectedFeaturesClaim(Claim):
    """Exactly these features are selected, in the one run of the document: it should be nothing unusual in ours."""

    default_nature: ClassVar[Nature] = "order"

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

        def selects_exactly(scores: NDArray[np.float64]) -> NDArray[np.float64]:
            best = ranks_of(scores) <= len(self.features)
            selected = best if self.threshold is None else scores >= self.threshold
            return np.asarray((selected == claimed).all(axis=1), dtype=np.float64)

        found = mean_interval(findings.of_scores(self.ranking, selects_exactly, (0, 1)))
        # The share of our runs is counted, not estimated, and so has no interval.
        verdict = verdict_on_bounds(found.mean, found.mean, at_least=self.at_least)
        how = "as the best ones" if self.threshold is None else f"by a score of at least {self.threshold:g}"
        rule = f"at least {self.at_least:g} of our runs select exactly the {len(self.features)} claimed features"
        what = f"share of runs that select just these {how}, '{self.ranking}'"
        return Judgement.of_mean(verdict, rule, what, found)


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
        """Compare the printed number, that of one run, with ours, see `agreement`."""
        select = most_relevant if self.end == "most" else least_relevant
        n_features = len(findings.feature_names)
        counts = findings.of_scores(
            self.ranking,
            lambda scores: np.array([len(select(row, self.relevance)) for row in scores], dtype=np.float64),
            (1, n_features) if self.end == "most" else (0, n_features - 1),
        )
        values = counts if self.unit == "features" else 100 * counts / n_features
        ruling = agreement(self, values, UNITS[self.unit])
        what = f"{self.end} relevant features of '{self.ranking}' at a relevance of {self.relevance:g}"
        return Judgement.of_number(ruling, f"{what} ({UNITS[self.unit]})", mean_interval(values))
