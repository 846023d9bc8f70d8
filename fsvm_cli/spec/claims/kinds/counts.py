"""Claims about numbers of features, and about which features a method selects.

The size of the best subset, alone and beside other rankings; the features above a threshold of the score, by number and
by name; and the features that make up a share of the relevance.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field, model_validator

from fsvm_cli.config_io import StrictModel
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
from fsvm_cli.spec.claims.rules import (
    MIN_RUNS,
    agreement,
    interval_of_counts,
    ordinary_sizes,
    sizes_of_best_subsets,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from fsvm_cli.spec.claims.base import Findings


class SizeRule(StrictModel):
    """How a source may have picked the size of its best subset."""

    splits: PositiveInt = Field(default=1, description="Splits whose mean curve it looked at, as 10 of ten folds.")
    within_standard_error: bool = Field(
        default=False, description="Whether it took the smallest size within one standard error of the best."
    )

    @model_validator(mode="after")
    def _has_a_standard_error(self) -> SizeRule:
        if self.within_standard_error and self.splits == 1:
            raise ValueError("a single split has no standard error; write 2 'splits' or more, or leave it out")
        return self

    def __str__(self) -> str:
        near = "the smallest within one standard error of the best" if self.within_standard_error else "the best"
        return f"{near} of one split" if self.splits == 1 else f"{near} of the mean over {self.splits} splits"


class CountClaim(Claim):
    """The printed size of the best subset of one experiment: it should be an ordinary one among those of ours.

    A printed size says neither over how many splits nor by which rule it was picked. Of each `rule` the sizes of many
    experiments are found, and more than 2.5 % of them must lie at least as far out as the printed one on its side. What
    is ordinary does not depend on how many trials there are; with fewer than `MIN_RUNS` nothing is decided.
    """

    kind: Literal["count"]
    ranking: Text
    published: Annotated[tuple[PositiveInt, ...], Field(min_length=2, max_length=2)] = Field(
        description="Smallest and largest printed number of features."
    )
    rules: Annotated[tuple[SizeRule, ...], Field(min_length=1)] = Field(
        default=(SizeRule(),),
        description="Rules by which the source may have picked the size. Where it does not say, which stands under "
        "'unstated', each is a reading.",
    )
    metric: Metric = "accuracy"

    @model_validator(mode="after")
    def _several_rules_are_readings(self) -> CountClaim:
        if len(self.rules) > 1 and not self.unstated:
            raise ValueError("several 'rules' are readings of what the source leaves open; say so under 'unstated'")
        return self

    def places(self) -> Iterator[Place]:
        """Yield the curve's end."""
        yield Place(ranking=self.ranking, metric=self.metric)

    def other_readings(self) -> Iterator[tuple[str, Claim]]:
        """Yield the claim by each of the other rules, too."""
        yield from super().other_readings()
        for rule in self.rules[1:]:
            yield str(rule), self.model_copy(update={"rules": (rule,), "readings": {}})

    def judge(self, findings: Findings) -> Judgement:
        """Ask whether the printed size is an ordinary one by the first rule, and tell which sizes are not."""
        sizes, values = findings.curve(self.ranking, self.metric, "test")
        rule, n_trials = self.rules[0], len(values)
        counts = sizes_of_best_subsets(
            values,
            sizes,
            findings.stream("bootstrap", self.id),
            n_splits=rule.splits,
            within_standard_error=rule.within_standard_error,
        )
        at_least, at_most = ordinary_sizes(counts, sizes, n_trials)
        least, most = np.searchsorted(sizes, self.published[0]), np.searchsorted(sizes, self.published[1], "right") - 1
        is_ordinary = bool(at_least[least] and at_most[most])
        accepted = [size for size, both in zip(sizes, at_least & at_most, strict=True) if both]
        enough = n_trials >= MIN_RUNS
        low, high = interval_of_counts(counts)
        too_few = "" if enough else f"; {n_trials} trials are too few, {MIN_RUNS} are needed"
        return Judgement(
            verdict_of(holds=enough and is_ordinary, fails=enough and not is_ordinary),
            f"size of {rule}; more than 2.5 % of such sizes lie as far out as the printed one on its side; of the "
            f"{len(sizes)} sizes that could be printed, {len(sizes) - len(accepted)} would differ{too_few}",
            f"size of the best subset, '{self.ranking}' (features)",
            reproduced=float(np.quantile(counts, 0.5, method="inverted_cdf")),
            sd=float(counts.std(ddof=1)) if len(counts) > 1 else np.nan,
            n=n_trials,
            ci_low=low,
            ci_high=high,
            accepts_low=float(min(accepted)) if enough else np.inf,
            accepts_high=float(max(accepted)) if enough else -np.inf,
        )


class SmallestSubsetClaim(Claim):
    """The best subset of a ranking has, in the mean over the splits, no more features than that of any other."""

    default_nature: ClassVar[Nature] = "order"

    kind: Literal["smallest-subset"]
    ranking: Text
    others: Annotated[tuple[Text, ...], Field(min_length=1)] = Field(description="Labels of the rankings beside it.")
    metric: Metric = "accuracy"

    def places(self) -> Iterator[Place]:
        """Yield the ends of the curves, the ranking's own first."""
        yield from (Place(ranking=label, metric=self.metric) for label in (self.ranking, *self.others))

    def judge(self, findings: Findings) -> Judgement:
        """Find agreement where the mean difference of sizes on the same splits lies at 0 or below for each other."""
        stream = findings.stream("bootstrap", self.id)
        counts = {}
        for label in self.rankings():
            sizes, values = findings.curve(label, self.metric, "test")
            counts[label] = sizes_of_best_subsets(values, sizes, stream, n_splits=1, within_standard_error=False)
        own = counts.pop(self.ranking)
        excess = {label: mean_interval((own - other).astype(np.float64)) for label, other in counts.items()}
        worst = max(excess, key=lambda label: excess[label].mean)
        return Judgement.of_mean(
            verdict_of(
                holds=all(each.high <= 0 for each in excess.values()),
                fails=any(each.low > 0 for each in excess.values()),
            ),
            "95 % interval of the mean difference of the sizes of the best subset of each split lies at 0 or below",
            f"size of the best subset, '{self.ranking}' minus '{worst}' (features)",
            excess[worst],
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
            best = ranks_of(scores, findings.priorities(self.ranking)) <= len(self.features)
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
