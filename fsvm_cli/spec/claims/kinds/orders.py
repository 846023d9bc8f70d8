"""Claims about orders: of places on curves, along a curve, and of the scores of features.

One place, or a mean of several, is higher than another, not lower or about equal, the cells of a table stand in an
order, a curve falls, scores are correlated or follow a given order, and the best or worst features are given ones; also
claims that one experiment alone cannot judge.
"""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field, model_validator
from scipy.special import ndtri

from fsvm_cli.evaluation.statistics import CONFIDENCE, mean_interval, p_value
from fsvm_cli.ranking.ranks import mid_ranks_of, ranks_of
from fsvm_cli.spec.claims.base import (
    Claim,
    Judgement,
    Metric,
    Nature,
    Place,
    PositiveInt,
    Text,
    verdict_of,
    verdict_on_bounds,
)
from fsvm_cli.spec.claims.rules import DECIMALS_OF_MEANS, is_negative, is_nothing, is_positive, verdict_on_sign

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from fsvm_cli.evaluation.statistics import MeanInterval
    from fsvm_cli.spec.claims.base import Findings, Verdict


class DifferenceClaim(Claim):
    """One place is higher than another, on the same trials."""

    default_nature: ClassVar[Nature] = "order"

    kind: Literal["difference"]
    higher: Place
    lower: Place

    def places(self) -> Iterator[Place]:
        """Yield both places."""
        yield self.higher
        yield self.lower

    def judge(self, findings: Findings) -> Judgement:
        """Look at the differences on the same trials; the mean over the splits decides, see `Comparison`."""
        compared = findings.compared(self.higher, self.lower)
        what = f"{self.higher} minus {self.lower} (points)"
        return Judgement.of_comparison(verdict_on_sign, "lies above 0", what, compared)


class MeanDifferenceClaim(Claim):
    """The mean over some compared methods is higher than that over others, on the same trials.

    As that of a kernel over all parameters that are tried.
    """

    default_nature: ClassVar[Nature] = "order"

    kind: Literal["mean-difference"]
    higher: Annotated[tuple[Text, ...], Field(min_length=1)] = Field(description="Labels of the ones.")
    lower: Annotated[tuple[Text, ...], Field(min_length=1)] = Field(description="Labels of the others.")
    metric: Metric = "accuracy"

    def _places_of(self, labels: tuple[str, ...]) -> list[Place]:
        return [Place(ranking=label, metric=self.metric) for label in labels]

    def places(self) -> Iterator[Place]:
        """Yield the place of each compared method."""
        yield from self._places_of(self.higher + self.lower)

    def judge(self, findings: Findings) -> Judgement:
        """Look at the differences of the means on the same trials; the mean over the splits decides."""
        compared = findings.compared_means(self._places_of(self.higher), self._places_of(self.lower))
        what = f"mean {self.metric} of {len(self.higher)} methods minus that of {len(self.lower)} (points)"
        return Judgement.of_comparison(verdict_on_sign, "lies above 0", what, compared)


class PeakDifferenceClaim(Claim):
    """The peak of one curve is higher than that of another, in experiments of several splits each.

    A source that picks the best subset by the curve that it draws compares peaks, which lie above the means of the
    same sizes by what chance adds to the best of many.
    """

    default_nature: ClassVar[Nature] = "order"

    kind: Literal["peak-difference"]
    higher: Text = Field(description="Label of the one.")
    lower: Text = Field(description="Label of the other.")
    splits: PositiveInt = Field(description="Splits of an experiment: so many trials after each other are one.")
    metric: Metric = "accuracy"

    def places(self) -> Iterator[Place]:
        """Yield the ends of both curves."""
        yield from (Place(ranking=label, metric=self.metric) for label in (self.higher, self.lower))

    def _peaks(self, findings: Findings, label: str) -> NDArray[np.float64]:
        values = findings.curve(label, self.metric, "test").values
        whole = values[: len(values) - len(values) % self.splits]
        means = whole.reshape(-1, self.splits, values.shape[1]).mean(axis=1)
        return np.asarray(100 * np.nanmax(means, axis=1).round(DECIMALS_OF_MEANS))

    def judge(self, findings: Findings) -> Judgement:
        """Look at the differences of the peaks of the same experiments."""
        peaks = [self._peaks(findings, label) for label in (self.higher, self.lower)]
        what = f"peak of {self.metric}, '{self.higher}' minus '{self.lower}' (points)"
        if not len(peaks[0]):
            return Judgement("inconclusive", f"fewer than {self.splits} trials", what)
        found = mean_interval(peaks[0] - peaks[1])
        rule = f"95 % interval of the mean difference over experiments of {self.splits} splits lies above 0"
        return Judgement.of_mean(verdict_on_sign(found), rule, what, found)


class NonInferiorityClaim(Claim):
    """One place is not lower than another by more than a margin, on the same trials: a test of non-inferiority.

    That a method does not improve on another is that its error is not lower by what counts as an improvement. A
    difference of 0 bears that out, which a test that it is worse would leave open at any number of trials.
    """

    default_nature: ClassVar[Nature] = "order"

    kind: Literal["non-inferiority"]
    higher: Place
    lower: Place
    margin: Annotated[float, Field(gt=0)] = Field(description="Points by which the first may be lower.")

    def places(self) -> Iterator[Place]:
        """Yield both places."""
        yield self.higher
        yield self.lower

    def judge(self, findings: Findings) -> Judgement:
        """Ask whether the whole interval of the difference lies above minus the margin, or below."""
        compared = findings.compared(self.higher, self.lower)
        found, margin = compared.found, self.margin
        above = replace(found, mean=found.mean + margin, low=found.low + margin, high=found.high + margin)
        compared = compared._replace(p=p_value(above) if found.n > 1 else np.nan)

        def verdict_by(found: MeanInterval) -> Verdict:
            return verdict_of(holds=found.low > -margin, fails=found.high < -margin)

        what = f"{self.higher} minus {self.lower} (points)"
        return Judgement.of_comparison(verdict_by, f"lies above -{margin:g} points", what, compared)


class SimilarClaim(Claim):
    """Two places are about equally high, on the same trials: a test of equivalence."""

    default_nature: ClassVar[Nature] = "order"

    kind: Literal["similar"]
    one: Place
    other: Place
    within: Annotated[float, Field(gt=0)] = Field(description="Points of difference that still count as similar.")

    def places(self) -> Iterator[Place]:
        """Yield both places."""
        yield self.one
        yield self.other

    def judge(self, findings: Findings) -> Judgement:
        """Ask whether the whole interval of the difference is within the points, or outside."""
        found = findings.compared(self.one, self.other).found
        holds = -self.within <= found.low and found.high <= self.within
        fails = found.high < -self.within or found.low > self.within
        return Judgement.of_mean(
            verdict_of(holds=holds, fails=fails),
            f"95 % interval of the difference lies within {self.within:g} points on either side of 0",
            f"{self.one} minus {self.other} (points)",
            found,
        )


class PatternClaim(Claim):
    """The cells of a printed table stand in this order, the highest first, on the same trials.

    Each pair of neighbours may be left open alone; the order of all holds only if each is as printed.
    """

    default_nature: ClassVar[Nature] = "order"

    kind: Literal["pattern"]
    cells: Annotated[tuple[Place, ...], Field(min_length=2)] = Field(description="Places, the highest number first.")

    def places(self) -> Iterator[Place]:
        """Yield the places."""
        yield from self.cells

    def judge(self, findings: Findings) -> Judgement:
        """Find agreement where each cell is above the next; a pair counts against it at 95 % for all pairs together."""
        pairs = list(itertools.pairwise(self.cells))
        compared = [findings.compared(*pair) for pair in pairs]

        def verdict_by(steps: Sequence[MeanInterval]) -> Verdict:
            return verdict_of(
                holds=all(is_positive(step) for step in steps),
                fails=any(is_nothing(step) or _rises(step, len(steps)) for step in steps),
            )

        weakest = min(range(len(pairs)), key=lambda index: compared[index].found.mean)
        higher, lower = pairs[weakest]
        order = " above ".join(map(str, self.cells))
        on_new_data = [each.on_new_data for each in compared]
        is_another = not any(np.isnan(each.low) for each in on_new_data)
        return replace(
            Judgement.of_mean(
                verdict_by([each.found for each in compared]),
                f"each is above the next, by the {compared[0].test}; {order}",
                f"{higher} minus {lower} (points), the least of {len(pairs)} differences",
                compared[weakest].found,
            ),
            new_data_low=on_new_data[weakest].low,
            new_data_high=on_new_data[weakest].high,
            new_data=verdict_by(on_new_data) if is_another else None,
        )


class MonotoneClaim(Claim):
    """A curve falls with every feature that is dropped."""

    default_nature: ClassVar[Nature] = "order"

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


CORRELATION_DECIMALS = 5
"""Decimals of the correlation in a trial, as many as tables have of scores: later digits differ between processors."""


class CorrelationClaim(Claim):
    """The scores of rankings are strongly correlated: Pearson's correlation over the features, in each trial.

    Of more than two rankings the two count whose scores are least correlated in the mean.
    """

    default_nature: ClassVar[Nature] = "order"

    kind: Literal["correlation"]
    between: Annotated[tuple[Text, ...], Field(min_length=2)] = Field(description="Labels of the rankings.")
    of: Literal["scores", "ranks"] = Field(
        default="scores",
        exclude_if=lambda of: of == "scores",
        description="Whether the scores are correlated, or the ranks that they give, as of orders of the features.",
    )
    at_least: Annotated[float, Field(ge=-1, le=1)] = Field(description="Least correlation that counts as agreement.")

    def rankings(self) -> Iterator[str]:
        """Yield the rankings."""
        yield from self.between

    def judge(self, findings: Findings) -> Judgement:
        """Compare the interval of the mean correlation with the least that counts."""
        prepared = np.asarray if self.of == "scores" else mid_ranks_of
        scores = {label: _standardised(prepared(findings.scores(label))) for label in self.between}
        pairs = {
            (one, other): mean_interval(np.mean(scores[one] * scores[other], axis=1).round(CORRELATION_DECIMALS))
            for one, other in itertools.combinations(self.between, 2)
        }
        (one, other), found = min(pairs.items(), key=lambda item: item[1].mean)
        verdict = verdict_on_bounds(found.low, found.high, at_least=self.at_least)
        others = "; ".join(f"'{a}' and '{b}': {each.mean:.2f}" for (a, b), each in pairs.items())
        rule = f"correlation of at least {self.at_least:g} of each two ({others})"
        return Judgement.of_mean(verdict, rule, f"correlation of the {self.of} of '{one}' and '{other}'", found)


def _standardised(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Bring the scores of each trial to mean 0 and variance 1; equal ones to 0."""
    centred = scores - scores.mean(axis=1, keepdims=True)
    spread = centred.std(axis=1, keepdims=True)
    standardised: NDArray[np.float64] = np.divide(centred, spread, out=np.zeros_like(centred), where=spread > 0)
    return standardised


class ScoreOrderClaim(Claim):
    """The scores fall in the order in which the data list the features."""

    default_nature: ClassVar[Nature] = "order"

    kind: Literal["score-order"]
    ranking: Text
    at_least: Annotated[float, Field(gt=0, le=1)] = Field(
        description="Rank correlation between the score and the claimed order that counts as the claimed order."
    )

    def rankings(self) -> Iterator[str]:
        """Yield the one ranking."""
        yield self.ranking

    def judge(self, findings: Findings) -> Judgement:
        """Correlate the ranks of the scores with the claimed order."""
        # scipy.stats takes long to load, and a config is read by commands that judge nothing.
        from scipy.stats import spearmanr  # noqa: PLC0415

        def along_the_list(scores: NDArray[np.float64]) -> NDArray[np.float64]:
            listed = np.arange(scores.shape[1])
            return np.array([-spearmanr(listed, row).statistic for row in scores])

        found = mean_interval(findings.of_scores(self.ranking, along_the_list, (-1, 1)))
        verdict = verdict_on_bounds(found.low, found.high, at_least=self.at_least)
        rule = f"rank correlation of at least {self.at_least:g} with the claimed order"
        return Judgement.of_mean(verdict, rule, f"rank correlation of the scores of '{self.ranking}'", found)


class TopFeaturesClaim(Claim):
    """The best features, or the worst, are these."""

    default_nature: ClassVar[Nature] = "order"

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
        n_claimed = len(self.features)

        def share(scores: NDArray[np.float64]) -> NDArray[np.float64]:
            ranks = ranks_of(scores if self.end == "best" else -scores, findings.priorities(self.ranking))
            return np.asarray((ranks[:, claimed] <= n_claimed).sum(axis=1) / n_claimed)

        found = mean_interval(findings.of_scores(self.ranking, share, (0, 1)))
        # A single trial has no interval: its own share decides.
        holds = found.mean >= self.at_least and not found.low < self.at_least
        verdict = verdict_of(holds=holds, fails=found.high < self.at_least)
        end = f"{n_claimed} {self.end}"
        rule = f"a share of at least {self.at_least:g} of the {n_claimed} features among the {end} of a trial"
        what = f"share of the claimed features among the {self.end} of '{self.ranking}'"
        return Judgement.of_mean(verdict, rule, what, found)


class StatementClaim(Claim):
    """A claim that this experiment alone cannot judge, for the reason in its note."""

    kind: Literal["statement"]

    @model_validator(mode="after")
    def _says_why(self) -> StatementClaim:
        if not self.note:
            raise ValueError("the key 'note' is missing, or empty; write why the statement is not judged here")
        return self

    def judge(self, findings: Findings) -> Judgement:  # noqa: ARG002 - no result decides
        """Withhold the judgement."""
        return Judgement.withheld("not judged by this experiment", self.claim)
