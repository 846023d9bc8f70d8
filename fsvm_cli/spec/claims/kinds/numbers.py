"""Claims about printed numbers.

Means, single runs, gains, the best of several methods, counts of test errors, measures of classifiers, facts of the
problem, hyperparameters that a method selects, numbers and gains within a range over several settings, and figures of a
printed confusion matrix.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field, model_validator

from fsvm_cli.evaluation.metrics import accuracy
from fsvm_cli.evaluation.statistics import mean_interval
from fsvm_cli.numerics import class_uncertainty, classifier_information
from fsvm_cli.spec.claims.base import (
    Fact,
    Judgement,
    Metric,
    Nature,
    NumberClaim,
    Place,
    Portion,
    PositiveInt,
    Text,
    TolerantClaim,
    verdict_of,
)
from fsvm_cli.spec.claims.rules import agreement, ordinariness

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from fsvm_cli.evaluation.statistics import MeanInterval
    from fsvm_cli.spec.claims.base import Findings


class ValueClaim(TolerantClaim):
    """A printed number, in per cent."""

    kind: Literal["value"]
    at: Place
    published_sd: Annotated[float, Field(ge=0)] | None = Field(default=None, description="Its printed spread.")
    published_n: PositiveInt = Field(default=1, description="Number of runs that it is the mean of.")

    def places(self) -> Iterator[Place]:
        """Yield the one place."""
        yield self.at

    def judge(self, findings: Findings) -> Judgement:
        """Compare the two means, or the printed run with ours, see `agreement`."""
        ruling = agreement(
            self, findings.at(self.at), "points", published_sd=self.published_sd, published_n=self.published_n
        )
        return Judgement.of_number(ruling, f"{self.at} (%)", findings.estimate(self.at))


class SingleRunClaim(NumberClaim):
    """A printed number, in per cent, that comes from one random run: it should be an ordinary one among ours."""

    kind: Literal["single-run"]
    at: Place

    def places(self) -> Iterator[Place]:
        """Yield the one place."""
        yield self.at

    def judge(self, findings: Findings) -> Judgement:
        """Ask whether the printed number would be an ordinary one among our runs."""
        ruling = ordinariness(self, findings.at(self.at))
        return Judgement.of_number(ruling, f"{self.at} (%)", findings.estimate(self.at))


class GainClaim(TolerantClaim):
    """A printed gain, in points: what one printed number is above another, on the same trials.

    Two numbers may each be met by some setting, and their difference by none. The tolerance is that of the difference;
    whichever way the two prints drop their rests, they cancel in the mean.
    """

    kind: Literal["gain"]
    higher: Place = Field(description="Place whose printed number is the minuend; a printed loss has a gain below 0.")
    lower: Place
    print: Literal["rounded"] = Field(default="rounded", description="A difference of prints has no rest to drop.")
    published_n: PositiveInt = Field(default=1, description="Number of runs that the two numbers are means of.")

    def places(self) -> Iterator[Place]:
        """Yield both places."""
        yield self.higher
        yield self.lower

    def judge(self, findings: Findings) -> Judgement:
        """Compare the printed difference with the differences on the same trials."""
        compared = findings.compared(self.higher, self.lower)
        differences = findings.at(self.higher) - findings.at(self.lower)
        ruling = agreement(self, differences, "points", published_n=self.published_n)
        return Judgement.of_number(ruling, f"{self.higher} minus {self.lower} (points)", compared.found)


class BestOfClaim(TolerantClaim):
    """A printed number, in per cent, that is the best of several methods in one run."""

    kind: Literal["best-of"]
    labels: Annotated[tuple[Text, ...], Field(min_length=2)] = Field(description="Labels of the methods.")
    features: Literal["all"] | PositiveInt = Field(default="all", description="Number of features or components.")
    metric: Metric = "accuracy"

    def places(self) -> Iterator[Place]:
        """Yield the place of each method."""
        yield from (Place(ranking=label, features=self.features, metric=self.metric) for label in self.labels)

    def judge(self, findings: Findings) -> Judgement:
        """Compare with the best of the methods in each of our runs, and show the one whose mean is best."""
        values = {place: findings.at(place) for place in self.places()}
        best = max(values, key=lambda place: float(values[place].mean()))
        ruling = agreement(self, np.max(list(values.values()), axis=0), "points")
        return Judgement.of_number(ruling, f"{best} (%), the best of the named", findings.estimate(best))


class ErrorCountClaim(TolerantClaim):
    """A printed mean number of test errors; trials without a classifier do not count."""

    kind: Literal["error-count"]
    at: Place
    published_n: PositiveInt = Field(default=1, description="Number of runs that it is the mean of.")
    published_sd: Annotated[float, Field(ge=0)] | None = Field(default=None, description="Its printed spread.")

    def places(self) -> Iterator[Place]:
        """Yield the one place."""
        yield self.at

    def judge(self, findings: Findings) -> Judgement:
        """Compare the two means, or the printed run with ours, see `agreement`."""
        rate = 1.0 - findings.at(self.at.model_copy(update={"metric": "accuracy"})) / 100.0
        errors = rate * findings.fact("n_test", "test part")
        found = mean_interval(errors)
        what = f"test errors, '{self.at.ranking}'"
        if found.n == 0:
            return Judgement("inconclusive", "no trial has a classifier", what)
        ruling = agreement(self, errors, "errors", published_sd=self.published_sd, published_n=self.published_n)
        return Judgement.of_number(ruling, what, found)


class MeasureClaim(TolerantClaim):
    """A printed mean of what classifiers measure on the training part; trials without a classifier do not count."""

    kind: Literal["measure"]
    at: Place
    measure: Text = Field(description="Name of the measure, as in measures.csv.")
    published_n: PositiveInt = Field(default=1, description="Number of runs that it is the mean of.")
    published_sd: Annotated[float, Field(ge=0)] | None = Field(default=None, description="Its printed spread.")

    def places(self) -> Iterator[Place]:
        """Yield the one place."""
        yield self.at

    def judge(self, findings: Findings) -> Judgement:
        """Compare the two means, or the printed run with ours, see `agreement`."""
        values = findings.measure(self.at, self.measure)
        found = mean_interval(values)
        what = f"{self.measure}, '{self.at.ranking}'"
        if found.n == 0:
            return Judgement("inconclusive", "no trial has it", what)
        sd, n, digits = self.published_sd, self.published_n, self.decimals + 1
        ruling = agreement(self, values, "", published_sd=sd, published_n=n, digits=digits)
        return Judgement.of_number(ruling, what, found)


FACT_UNITS: dict[Fact, str] = {
    "n_features": "features",
    "n_classes": "classes",
    "n_train": "rows",
    "n_test": "rows",
    "major-class": "%",
    "class-uncertainty": "bits",
    "classifier-information": "bits",
}


class ProblemClaim(TolerantClaim):
    """A printed fact of the problem: how large it is, how difficult, and how much of it the machine resolves.

    Of the test part: the major class in per cent, the uncertainty of the class and the information of the machine on
    all features in bits; the first two also of the whole set, if the print is. Where there are many runs, the printed
    one should be an ordinary one among them, within the tolerance. What the experiment sets itself is a fact.
    """

    kind: Literal["problem"]
    fact: Fact
    of: Portion = Field(
        default="test part",
        exclude_if=lambda of: of == "test part",
        description="Rows that the major class and the uncertainty of the class are those of.",
    )

    @property
    def effective_nature(self) -> Nature:
        """What the claim is about: the data and their parts, or what the machine tells."""
        if self.nature or self.repeats or self.fact == "classifier-information":
            return super().effective_nature
        return "fact"

    def places(self) -> Iterator[Place]:
        """Yield the machine on all features."""
        yield Place()

    def judge(self, findings: Findings) -> Judgement:
        """Compare a fact that varies with the run as one run among ours, and any other as a number."""
        values, unit = findings.fact(self.fact, self.of), FACT_UNITS[self.fact]
        ruling = agreement(self, values, unit)
        if ruling.verdict == "reproduced" and findings.is_set(self.fact):
            rule = "set by the experiment, as in the document: nothing was found out"
            ruling = ruling._replace(verdict="fact", rule=rule)
        of_rows = "" if self.of == "test part" else f", for the {self.of}"
        ruling = ruling._replace(rule=ruling.rule + of_rows)
        return Judgement.of_number(ruling, f"{self.fact} ({unit})", mean_interval(values))


class ChosenNumberClaim(NumberClaim):
    """A printed number of one run, such as that of the features active when a descent ends.

    Where the source leaves the settings open, several are named, and all of them are shown: one under which the number
    is an ordinary one is enough, and none must be for a difference.
    """

    kind: Literal["chosen-number"]
    settings: Annotated[tuple[Text, ...], Field(min_length=1)] = Field(
        description="Labels of the rankings, one for each of the settings that the source leaves open."
    )
    parameter: Text = Field(description="What the method chooses, by its name in chosen.csv.")

    def rankings(self) -> Iterator[str]:
        """Yield the rankings."""
        yield from self.settings

    def judge(self, findings: Findings) -> Judgement:
        """Ask under which settings the printed number is an ordinary one, and show the nearest of them."""
        values = {label: findings.chosen(label, self.parameter) for label in self.settings}
        values = {label: found for label, found in values.items() if len(found)}
        what = f"{self.parameter}, settings {', '.join(self.settings)}"
        if not values:
            return Judgement.withheld("no trial chose one", what)
        verdicts = {label: ordinariness(self, found).verdict for label, found in values.items()}
        ordinary = [label for label, verdict in verdicts.items() if verdict == "reproduced"]
        verdict = verdict_of(holds=bool(ordinary), fails=set(verdicts.values()) == {"differs"})
        ranges = [f"{label}: {found.min():g} to {found.max():g}" for label, found in values.items()]
        nearest = min(values, key=lambda label: abs(values[label].mean() - self.published))
        rule = (
            f"ordinary among the runs of {len(ordinary)} of {len(values)} settings ({'; '.join(ranges)}); one is enough"
        )
        return Judgement.of_mean(verdict, rule, f"{self.parameter}, '{nearest}'", mean_interval(values[nearest]))


class WithinRangeClaim(TolerantClaim):
    """A printed number, in per cent, beside those of all settings that are tried, whichever come nearest.

    Among so many numbers one is near whatever is printed: a number within their range is explained by no setting, and
    is inconclusive. One outside the range, widened by the tolerance and by the intervals at its ends, differs under all
    of them.
    """

    kind: Literal["within-range"]
    labels: Annotated[tuple[Text, ...], Field(min_length=2)] = Field(description="Labels of the settings.")
    features: Literal["all"] | PositiveInt = Field(default="all", description="Number of features.")
    metric: Metric = "accuracy"

    def places(self) -> Iterator[Place]:
        """Yield the place of each setting."""
        yield from (Place(ranking=label, features=self.features, metric=self.metric) for label in self.labels)

    def judge(self, findings: Findings) -> Judgement:
        """Ask whether the printed number lies outside of all that was found, and show the nearest."""
        found = {place.ranking: findings.estimate(place) for place in self.places()}
        where = Place(features=self.features, metric=self.metric)
        return _judged_by_range(self, found, lambda label: f"{where.model_copy(update={'ranking': label})} (%)")


class GainWithinRangeClaim(TolerantClaim):
    """A printed gain, in points, beside those of all settings that are tried; judged as a number `within-range` is.

    Each of two numbers may lie within the range of all settings, and their difference outside of it: then no setting
    gives both.
    """

    kind: Literal["gain-within-range"]
    labels: Annotated[tuple[Text, ...], Field(min_length=2)] = Field(description="Labels of the settings.")
    features: PositiveInt = Field(description="Number of features whose printed number is the minuend.")
    over: Literal["all"] | PositiveInt = Field(default="all", description="Number of features of the subtrahend.")
    metric: Metric = "accuracy"
    print: Literal["rounded"] = Field(default="rounded", description="A difference of prints has no rest to drop.")

    def _ends(self, label: str) -> tuple[Place, Place]:
        higher, lower = (
            Place(ranking=label, features=features, metric=self.metric) for features in (self.features, self.over)
        )
        return higher, lower

    def places(self) -> Iterator[Place]:
        """Yield both places of each setting."""
        for label in self.labels:
            yield from self._ends(label)

    def judge(self, findings: Findings) -> Judgement:
        """Ask whether the printed gain lies outside of all that was found, and show the nearest."""
        found = {label: findings.compared(*self._ends(label)).found for label in self.labels}
        return _judged_by_range(self, found, lambda label: "{} minus {} (points)".format(*self._ends(label)))


def _judged_by_range(claim: TolerantClaim, found: Mapping[str, MeanInterval], what: Callable[[str], str]) -> Judgement:
    """Judge a printed number by the range of what settings give; `what` says what a setting's number is."""
    least = min(float(np.nanmin([each.mean, each.low])) for each in found.values())
    most = max(float(np.nanmax([each.mean, each.high])) for each in found.values())
    step = 10.0**-claim.decimals
    lowest = claim.published - (0.0 if claim.print == "truncated" else 0.5 * step)
    is_outside = lowest + step + claim.tolerance < least or lowest - claim.tolerance > most
    nearest = min(found, key=lambda label: abs(found[label].mean - claim.published))
    tried = "; ".join(f"{label}: {each.mean:.2f}" for label, each in found.items())
    rule = (
        f"{'outside' if is_outside else 'within'} the range {least:.2f} to {most:.2f} of {len(found)} settings, "
        f"with a tolerance of {claim.tolerance:g}; within, it is explained by none ({tried})"
    )
    verdict = verdict_of(holds=False, fails=is_outside)
    return Judgement.of_mean(verdict, rule, f"{what(nearest)}, the nearest of {len(found)} settings", found[nearest])


Quantity = Literal["accuracy", "class-uncertainty", "classifier-information"]
Counts = Annotated[tuple[Annotated[int, Field(ge=0)], ...], Field(min_length=2)]


class ConfusionMatrixClaim(TolerantClaim):
    """A number that the document computes from a confusion matrix that it prints, computed again; no trial counts.

    The accuracy in per cent, the uncertainty of the class and the information of the classifier in bits.
    """

    default_nature: ClassVar[Nature] = "arithmetic"

    kind: Literal["confusion-matrix"]
    matrix: Annotated[tuple[Counts, ...], Field(min_length=2)] = Field(
        description="Samples of each class, a row for each, by the class that they were assigned to."
    )
    quantity: Quantity

    @model_validator(mode="after")
    def _is_square(self) -> ConfusionMatrixClaim:
        if any(len(row) != len(self.matrix) for row in self.matrix) or not np.any(self.matrix):
            raise ValueError("a confusion matrix has as many columns as rows, and counts samples; write one that does")
        return self

    def judge(self, findings: Findings) -> Judgement:  # noqa: ARG002 - the document prints all that counts
        """Compare the number with what the matrix gives."""
        confusion = np.array(self.matrix)
        if self.quantity == "accuracy":
            value, unit = 100 * accuracy(confusion), "points"
        else:
            compute = class_uncertainty if self.quantity == "class-uncertainty" else classifier_information
            value, unit = compute(confusion), "bits"
        ruling = agreement(self, np.atleast_1d(value), unit)
        what = f"{self.quantity} of a printed confusion matrix ({'%' if unit == 'points' else unit})"
        return Judgement.of_number(ruling, what, mean_interval(np.atleast_1d(value)))
