"""The model of a config: an experiment of a paper as data, and its validation across keys.

The kernels, methods, metrics and scalings that a config can name come from their registries, so that a new one needs no
change here.
"""

from __future__ import annotations

import itertools
import operator
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BeforeValidator, Field, PlainValidator, WithJsonSchema, model_validator

from fsvm_cli.config_io import StrictModel
from fsvm_cli.console import brief
from fsvm_cli.data.messages import nearest
from fsvm_cli.data.scaling import ScalingName
from fsvm_cli.data.source_spec import DatasetSpec
from fsvm_cli.evaluation.metrics import NAMED_METRICS, SENSITIVITY_PATTERN, needs_scores
from fsvm_cli.ranking.base import order_of
from fsvm_cli.ranking.ranks import least_relevant, most_relevant
from fsvm_cli.ranking.registry import ranking_methods
from fsvm_cli.spec import RECORD_NAMES
from fsvm_cli.spec.claims.base import Fixed
from fsvm_cli.spec.claims.kinds import AnyClaim
from fsvm_cli.spec.claims.kinds.records import RecordedClaim
from fsvm_cli.spec.classifiers import (
    BayesianBase,
    Classifier,
    ExperimentClassifier,
    LabelledClassifier,
    LearnedKernel,
    is_absent,
)
from fsvm_cli.spec.protocol import Protocol
from fsvm_cli.spec.rankings import ALL_FEATURES, AnyExtraction, AnyRanking, DescentRanking, Ranking, learns_machine
from fsvm_cli.validation_errors import Issue, IssuesError, in_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import numpy as np
    from numpy.typing import NDArray

    from fsvm_cli.spec.claims.base import Claim
    from fsvm_cli.validation_errors import Location

ORACLE = "oracle"
"""Label of the machine on the features of `oracle` alone."""

RELEVANT: Literal["relevant"] = "relevant"
"""Value of `oracle` for the features that the generator of the data declares relevant."""

OracleFeatures = Literal["relevant"] | Annotated[tuple[Annotated[str, Field(min_length=1)], ...], Field(min_length=1)]


Share = Annotated[float, Field(gt=0, lt=1)]


PositiveInt = Annotated[int, Field(ge=1)]


class ChosenSubsets(StrictModel):
    """Subsets of each ranking by shares of the relevance or by size; a tuned classifier is tuned again on each."""

    relevance: tuple[Share, ...] = Field(
        default=(),
        description="The fewest, most relevant features whose scores together reach each of these shares of all.",
    )
    complements: tuple[Share, ...] = Field(
        default=(),
        description="As a control, the least relevant features: those left where the others reach the rest, so that "
        "they have no more than each of these shares.",
    )
    best: tuple[PositiveInt, ...] = Field(default=(), description="The best features, as many as each of these.")
    worst: tuple[PositiveInt, ...] = Field(
        default=(), description="As a control, the worst features, as many as each of these."
    )

    @model_validator(mode="after")
    def _names_one(self) -> ChosenSubsets:
        if not (self.relevance or self.best):
            raise ValueError("no subset is named; list shares under 'relevance' or numbers of features under 'best'")
        return self


@dataclass(frozen=True)
class Selection:
    """One subset of one ranking.

    Attributes
    ----------
    ranking : Ranking
    amount : float or int
        A share of the relevance, between 0 and 1; or a number of features.
    least : bool
        Whether it is of the least relevant features.
    """

    ranking: Ranking
    amount: float
    least: bool

    @property
    def label(self) -> str:
        """Its name in tables and figures."""
        if isinstance(self.amount, int):
            return f"{self.ranking.label}, {'worst' if self.least else 'best'} {self.amount}"
        return f"{self.ranking.label}, {'least' if self.least else 'most'} relevant {self.amount:g}"

    def features(self, scores: NDArray[np.float64], priority: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the features of the subset, the best first; of those that tie the least `priority` comes first."""
        if isinstance(self.amount, int):
            order = order_of(scores, priority)
            return order[len(order) - self.amount :] if self.least else order[: self.amount]
        return (least_relevant if self.least else most_relevant)(scores, self.amount, priority)


def selections(subsets: object, rankings: Iterable[Ranking]) -> list[Selection]:
    """List the subsets of all rankings; none where `subsets` are the same numbers of features for all."""
    if not isinstance(subsets, ChosenSubsets):
        return []
    most: tuple[float, ...] = (*subsets.relevance, *subsets.best)
    ends = [(amount, False) for amount in most] + [(amount, True) for amount in (*subsets.complements, *subsets.worst)]
    return [Selection(ranking, amount, least) for ranking in rankings for amount, least in ends]


def _metric(name: Any) -> str:
    """Read the name of a figure of merit."""
    if isinstance(name, str) and (name in NAMED_METRICS or re.match(SENSITIVITY_PATTERN, name)):
        return name
    if isinstance(name, str) and name.startswith("sensitivity"):
        raise ValueError(
            f"'{brief(name)}' states no specificity above 0 and below 1; write sensitivity-at-specificity-0.95"
        )
    raise ValueError(f"{in_words(name)} is no figure of merit; {nearest(str(name), NAMED_METRICS)}")


MetricName = Annotated[
    str,
    PlainValidator(_metric),
    WithJsonSchema({"anyOf": [{"enum": [*NAMED_METRICS]}, {"type": "string", "pattern": SENSITIVITY_PATTERN}]}),
]


def _class_name(name: Any) -> Any:
    """Read a whole number as the name of a class."""
    return str(name) if type(name) is int else name


ClassName = Annotated[str, BeforeValidator(_class_name, json_schema_input_type=str | int), Field(min_length=1)]
Text = Annotated[str, Field(min_length=1)]

CLASSIFICATION_PARAMETERS = {
    "class_kernels": "with one kernel for all classes",
    "class_weight": "that weigh all classes alike",
    "C_unit": "with one C, whatever their kernel and features are",
}
"""Parameters of a classifier that the machines of some rankings lack, with the words for machines without each."""


class Paper(StrictModel):
    """The figure or table that the experiment reproduces."""

    key: Text = Field(description="Key of the document, for example hermes2000.")
    where: Text = Field(description="Figure, table or section.")


def _sorted_sizes(value: Any) -> Any:
    is_sizes = isinstance(value, tuple | list) and all(isinstance(size, int) for size in value)
    return tuple(sorted(set(value))) if is_sizes else value


MIN_PERMUTATIONS = 19
"""With fewer, no p-value is .05 or less."""


class RecommendationRule(StrictModel):
    """What a run on a file of one's own recommends, and the test that must come before."""

    margin: Annotated[float, Field(ge=0, le=100)] = Field(
        default=1.0,
        description="Percentage points that the recommended subset may lie behind the best mean for fewer features.",
    )
    costs: dict[str, Annotated[float, Field(ge=0)]] | Text | None = Field(
        default=None,
        exclude_if=lambda costs: costs is None,
        description="What a column costs, by its name, or the path of a CSV file with the columns 'column' and 'cost', "
        "relative to the config; one that is not named costs nothing. Of the subsets within the margin the cheapest is "
        "recommended then, of equally cheap ones the smallest.",
    )
    permutations: Annotated[int, Field(ge=0)] = Field(
        default=39,
        description="How often the whole procedure is repeated on permuted labels at most, to test whether the best "
        "ranking is better than chance; 0: not tested.",
    )
    permuted_splits: PositiveInt = Field(default=5, description="The first splits, on which it is repeated.")
    splits: Annotated[int, Field(ge=2)] = Field(
        default=20,
        exclude_if=lambda splits: splits == 20,
        description="Random splits of the training rows, two thirds for training, where the config has one given "
        "split: they alone decide what is recommended.",
    )

    @model_validator(mode="after")
    def _can_reject(self) -> RecommendationRule:
        if 0 < self.permutations < MIN_PERMUTATIONS:
            raise ValueError(
                f"{self.permutations} permutations cannot show anything at the level .05; write {MIN_PERMUTATIONS} or "
                "more, or 0 for no test"
            )
        return self


class Config(StrictModel):
    """One experiment."""

    title: Text = Field(description="What the experiment shows, for headings.")
    paper: Paper | None = Field(default=None, description="What it reproduces, if anything.")
    variant_of: Text | None = Field(
        default=None,
        exclude_if=operator.not_,
        description="Name of the experiment whose verdicts count, where this one judges the same claims under another "
        "reading, or as a control: it is shown beside them, and is no second vote.",
    )
    reading: Text | None = Field(
        default=None,
        exclude_if=operator.not_,
        description="What this experiment reads into what the source leaves open, in a few words. It makes the "
        "experiment one of the declared readings, beside the one that it is a variant of and the other variants that "
        "have the key: a claim with 'unstated' is decided over all of them.",
    )
    readings: dict[Text, Annotated[dict[Text, Text], Field(min_length=1)]] = Field(
        default={},
        exclude_if=operator.not_,
        description="Further readings, by a few words for each: for labels that claims with 'unstated' speak of, the "
        "labels that take their places together. Every such claim is decided over all of them.",
    )
    why: Text | None = Field(
        default=None,
        exclude_if=operator.not_,
        description="Question about a miss of another experiment that this one answers: its own claims are no claims "
        "of the document, and have no row in the scorecard.",
    )
    explains: tuple[Text, ...] = Field(
        default=(),
        exclude_if=is_absent,
        description="Identifiers of the claims that 'why' asks about: the scorecard names this experiment beside them.",
    )
    dataset: DatasetSpec = Field(description="Name of a data set, or a mapping with its options.")
    scaling: ScalingName = Field(description="Scaling of the features, fitted on each training part.")
    classifier: ExperimentClassifier = Field(description="The machine that is trained on each subset.")
    alternatives: tuple[LabelledClassifier, ...] = Field(
        default=(),
        exclude_if=is_absent,
        description="Classifiers to compare with that of 'classifier', on all features and the same splits.",
    )
    protocol: Protocol
    rankings: tuple[AnyRanking, ...] = Field(
        default=(), description="Methods to compare; without any, only the machine on all features is evaluated."
    )
    extractors: tuple[AnyExtraction, ...] = Field(
        default=(), description="Feature extractors whose components, the best first, are compared with the rankings."
    )
    oracle: OracleFeatures | None = Field(
        default=None,
        exclude_if=is_absent,
        description="Names of features that are known to be relevant, best first, or 'relevant' for those that the "
        "generator of the data declares: the machine on these alone is compared with the rankings, as 'oracle'.",
    )
    subsets: (
        Literal["all"]
        | Annotated[tuple[PositiveInt, ...], BeforeValidator(_sorted_sizes), Field(min_length=1)]
        | ChosenSubsets
    ) = Field(
        default="all",
        description="Numbers of retained features: all of them, or a list; or shares of the relevance or numbers of "
        "features, for each of which a tuned classifier is tuned again.",
    )
    always_keep: tuple[Text, ...] = Field(
        default=(),
        exclude_if=is_absent,
        description="Names of features that every subset holds, before those that rankings choose; of a column of "
        "words all of its words.",
    )
    metrics: tuple[MetricName, ...] = Field(
        default=("accuracy",),
        min_length=1,
        description="Figures of merit; the first decides. Those of scores (auc, average-precision, log-loss, "
        "sensitivity-at-specificity-0.95 or at another one) are of the test part alone.",
    )
    positive: ClassName | None = Field(
        default=None,
        exclude_if=is_absent,
        description="The positive one of two classes, for f1, average-precision and the sensitivity; the rarer one if "
        "left out, of equals the second.",
    )
    parts: tuple[Literal["train", "test"], ...] = Field(
        default=("test",), min_length=1, description="Parts of the data whose curves the figures show."
    )
    recommendation: RecommendationRule = Field(
        default=RecommendationRule(),
        exclude_if=lambda rule: rule == RecommendationRule(),
        description="Of a run on a file of one's own.",
    )
    reference: Literal["all features"] | None = Field(
        default=None,
        exclude_if=operator.not_,
        description="Against what curves are drawn a second time, as changes on the same splits.",
    )
    record: tuple[Literal[*RECORD_NAMES], ...] = Field(  # type: ignore[valid-type]
        default=(),
        description="What to keep of the first split beside figures of merit: the decision function of a "
        "gradient-angle ranking in the plane, the feature weights of kpd rankings along their descents, the "
        "hyperparameters of ard rankings and bayesian classifiers along their ascents, and at the end, the "
        "distribution functions of the best features of a kolmogorov-smirnov ranking, or the receiver operating "
        "characteristics (roc) of all rankings.",
    )
    control: Literal["permute-labels"] | None = Field(
        default=None, description="permute-labels: shuffle the labels, so that anything above chance betrays a leak."
    )
    deviations: tuple[Text, ...] = Field(
        default=(), description="Where and why the experiment departs from its source."
    )
    fixed: Fixed | None = Field(
        default=None,
        exclude_if=operator.not_,
        description="Whether the rules of the claims were fixed before the figures that they judge were known, or "
        "after; a claim may state its own.",
    )
    expected: tuple[AnyClaim, ...] = Field(
        default=(), description="What the source claims, and the rule by which each claim is judged."
    )

    @property
    def shares_classifier(self) -> bool:
        """Whether all rankings have the same machine when they keep all features."""
        return all(
            ranking.classifier is None and ranking.scaling is None and not learns_machine(ranking)
            for ranking in self.rankings
        )

    def other_readings(self, claim: Claim) -> Iterator[tuple[str, Claim]]:
        """Yield a claim as it is under each of the other readings, its own and those of the experiment."""
        yield from claim.other_readings()
        if not claim.unstated:
            return
        for words, labels in self.readings.items():
            read = claim.relabelled(labels)
            if read != claim.relabelled({}):
                yield words, read
                yield from ((f"{words}; {more}", further) for more, further in read.other_readings())

    def classifier_of(self, ranking: Ranking) -> ExperimentClassifier:
        """Return the classifier of a ranking; that of the experiment if the ranking has none."""
        return self.classifier if ranking.classifier is None else ranking.classifier

    def classifiers_written(self) -> Iterator[tuple[Location, ExperimentClassifier]]:
        """Yield the classifiers that stand in the config, each with its location."""
        yield ("classifier",), self.classifier
        for index, labelled in enumerate(self.alternatives):
            yield ("alternatives", index, "classifier"), labelled.classifier
        for index, ranking in enumerate(self.rankings):
            if ranking.classifier is not None:
                yield ("rankings", index, "classifier"), ranking.classifier

    def classifiers_shown(self) -> list[ExperimentClassifier]:
        """List the classifiers whose curves are shown, one for each curve."""
        # Components, and all features where nothing is ranked, have the classifier of the experiment.
        n_others = (len(self.extractors) if self.rankings else 1) + (self.oracle is not None)
        labelled = (each.classifier for each in self.alternatives)
        return [*map(self.classifier_of, self.rankings), *[self.classifier] * n_others, *labelled]

    @model_validator(mode="after")
    def _agrees_with_itself(self) -> Config:
        parts = (
            self._labels(),
            self._combinations(),
            self._kept(),
            self._scores(),
            self._shares(),
            self._machines(),
            self._scalings(),
            self._settings_of_machines(),
            self._readings(),
            self._claims(),
        )
        if issues := [*itertools.chain.from_iterable(parts)]:
            raise IssuesError(issues)
        return self

    def _labels(self) -> Iterator[Issue]:
        """Find rankings and extractors that share a label."""
        labels = [("rankings", index, each.label) for index, each in enumerate(self.rankings)]
        labels += [("extractors", index, each.label) for index, each in enumerate(self.extractors)]
        labels += [("alternatives", index, each.label) for index, each in enumerate(self.alternatives)]
        seen = {ALL_FEATURES} if self.alternatives else set()
        seen |= set() if self.oracle is None else {ORACLE}
        for key, index, label in labels:
            if label in seen:
                kind = "classifiers" if key == "alternatives" else "rankings"
                message = f"two {kind} are called '{brief(label)}'; give each a label of its own"
                yield Issue((key, index, "label"), message)
            seen.add(label)

    def _combinations(self) -> Iterator[Issue]:
        """Find keys that need or exclude each other: why and explains, extractors or alternatives and rankings."""
        if self.explains and self.why is None:
            yield Issue(("explains",), "the key 'why' is missing; write what the experiment asks about these claims")
        if self.extractors and not self.rankings:
            yield Issue(("extractors",), "extractors are compared with rankings; list at least one under 'rankings'")
        for index, ranking in enumerate(self.rankings):
            if learns_machine(ranking) and "roc" in self.record:
                message = "a roc is that of fresh machines; leave 'machine' out, or 'roc' under 'record'"
                yield Issue(("rankings", index, "machine"), message)
        if self.protocol.is_bootstrap and self.metrics != ("accuracy",):
            yield Issue(("metrics",), "the .632+ estimate is one of the accuracy; write 'metrics: [accuracy]'")
        if self.protocol.is_bootstrap and self.control is not None:
            yield Issue(
                ("control",),
                "labels are shuffled anew for each trial, and the .632+ estimate is over all of them; take folds or "
                "random splits",
            )
        if self.alternatives and self.rankings:
            yield Issue(
                ("alternatives",),
                "alternatives are compared on all features; leave out 'rankings', or give them their own 'classifier'",
            )

    def _kept(self) -> Iterator[Issue]:
        """Find features that stay where nothing else is chosen by a number of features."""
        if not self.always_keep:
            return
        if not self.rankings or self.extractors or isinstance(self.subsets, ChosenSubsets):
            yield Issue(
                ("always_keep",),
                "features stay where rankings choose others by their number; list rankings, no extractors, and numbers "
                "of features under 'subsets'",
            )
        for index, ranking in enumerate(self.rankings):
            if ranking.order == "worst-first" or learns_machine(ranking):
                message = (
                    "features that always stay are for rankings that keep the best, with fresh machines; leave it out"
                )
                yield Issue(("rankings", index, "order" if ranking.order == "worst-first" else "machine"), message)

    def _scores(self) -> Iterator[Issue]:
        """Find figures of merit of scores where there are no scores: on the training part, and of some machines."""
        wanted = [name for name in self.metrics if needs_scores(name)]
        if not wanted:
            return
        if "train" in self.parts:
            yield Issue(("parts",), f"{wanted[0]} is of the test part alone; write 'parts: [test]'")
        for location, classifier in self.classifiers_written():
            if isinstance(classifier, BayesianBase | LearnedKernel):
                yield Issue(
                    location,
                    f"{wanted[0]} needs scores of machines that are trained on each subset anew, and this one keeps "
                    "what it learned on all features; leave the metric out, or take another classifier",
                )
        for index, ranking in enumerate(self.rankings):
            if learns_machine(ranking):
                message = f"{wanted[0]} is of fresh machines; leave 'machine' out, or the metric"
                yield Issue(("rankings", index, "machine"), message)

    def _shares(self) -> Iterator[Issue]:
        """Find rankings whose scores do not divide the relevance that subsets are chosen by."""
        if not isinstance(self.subsets, ChosenSubsets):
            return
        for index, ranking in enumerate(self.rankings if self.subsets.relevance or self.subsets.complements else ()):
            if ranking.mean_rank_of > 1:
                message = "mean ranks are no shares of the relevance; write numbers of features under 'subsets' (best)"
                yield Issue(("rankings", index, "mean_rank_of"), message)
            elif not ranking_methods()[ranking.method].scores_are_shares:
                able = ", ".join(name for name, method in ranking_methods().items() if method.scores_are_shares)
                yield Issue(
                    ("rankings", index, "method"),
                    f"the scores of {ranking.method} are no shares of the relevance, by which 'subsets' chooses; "
                    f"rank by a method whose scores are: {able}",
                )
        if not self.rankings or self.extractors:
            key = "extractors" if self.rankings else "subsets"
            yield Issue((key,), "these subsets are of features that are ranked; list rankings, and no extractors")

    def _machines(self) -> Iterator[Issue]:
        """Find methods that train machines where the classifier is none."""
        for index, ranking in enumerate(self.rankings):
            classifier = self.classifier_of(ranking)
            if not isinstance(classifier, Classifier) and ranking_methods()[ranking.method].trains_machines:
                yield Issue(
                    ("rankings", index, "method"),
                    f"{ranking.method} ranks with the experiment's support vector machine, and the classifier is a "
                    f"{classifier.type}; rank by another method, or give the classifier a kernel",
                )

    def _scalings(self) -> Iterator[Issue]:
        """Find rankings with a scaling of their own where the experiment, subsets or records exclude one."""
        for index, ranking in enumerate(self.rankings):
            if ranking.scaling is not None and (
                self.scaling != "none" or isinstance(self.subsets, ChosenSubsets) or self.record
            ):
                message = (
                    "a ranking with a scaling of its own is for experiments with 'scaling: none', numbers of features "
                    "under 'subsets', and no 'record'; leave it out"
                )
                yield Issue(("rankings", index, "scaling"), message)

    def _settings_of_machines(self) -> Iterator[Issue]:
        """Find methods whose machines lack a parameter that those that classify have."""
        for (index, ranking), key in itertools.product(enumerate(self.rankings), CLASSIFICATION_PARAMETERS):
            classifier, method = self.classifier_of(ranking), ranking_methods()[ranking.method]
            is_set = isinstance(classifier, Classifier) and not is_absent(getattr(classifier, key))
            if is_set and method.trains_machines and key not in method.passed_down:
                able = ", ".join(name for name, each in ranking_methods().items() if key in each.passed_down)
                yield Issue(
                    ("rankings", index, "method"),
                    f"{ranking.method} trains machines {CLASSIFICATION_PARAMETERS[key]}, and the classifier has "
                    f"'{key}'; leave it out, or rank by another method: of those that train machines these "
                    f"take it: {able}",
                )

    def _claims_in_all_readings(self) -> Iterator[tuple[int, Claim]]:
        """Yield each claim as it is and under its other readings, after its place in the list."""
        for number, claim in enumerate(self.expected):
            yield number, claim
            for _, read in self.other_readings(claim):
                yield number, read

    def _readings(self) -> Iterator[Issue]:
        """Find readings of nothing that is left open, by nothing that the claim speaks of, or beside no other."""
        if self.readings and self.reading is None:
            yield Issue(("readings",), "the key 'reading' is missing; write what is read in the labels of the claims")
        spoken_of = {label for claim in self.expected if claim.unstated for label in claim.rankings()}
        for words, labels in self.readings.items():
            for label in labels:
                if label not in spoken_of:
                    message = (
                        f"no claim with 'unstated' speaks of '{brief(label)}'; {nearest(label, sorted(spoken_of))}"
                    )
                    yield Issue(("readings", words), message)
        for number, claim in enumerate(self.expected):
            here, who = ("expected", number, "readings"), f"the claim {brief(claim.id)}"
            if claim.readings and not (claim.unstated and self.reading):
                yield Issue(
                    here,
                    f"{who} has other readings; write under its key 'unstated' what the source leaves open, and under "
                    "'reading' of the experiment what is read into that here",
                )
            spoken = sorted(set(claim.rankings()))
            for label in claim.readings:
                if not any(each == label or each.startswith(f"{label}, ") for each in spoken):
                    yield Issue(here, f"{who} does not speak of '{brief(label)}'; {nearest(label, spoken)}")

    def _claims(self) -> Iterator[Issue]:
        """Find claims about rankings, places and metrics that are not computed."""
        scored = {ALL_FEATURES, *(ranking.label for ranking in self.rankings)}
        unscored = {extraction.label for extraction in self.extractors} | ({ORACLE} if self.oracle else set())
        unscored |= {selection.label for selection in selections(self.subsets, self.rankings)}
        scored |= {alternative.label for alternative in self.alternatives}
        descending = {ranking.label for ranking in self.rankings if isinstance(ranking, DescentRanking)}
        for number, claim in self._claims_in_all_readings():
            here, who = ("expected", number), f"the claim {brief(claim.id)}"
            if isinstance(claim, RecordedClaim) and claim.record not in self.record:
                yield Issue(here, f"{who} speaks of the record {claim.record}; list it under 'record'")
            # A claim without a place on a curve is one about scores, which components and the oracle do not have.
            labels = scored | unscored if any(claim.places()) else scored
            for label in dict.fromkeys(claim.rankings()):
                if label not in labels:
                    called = f"; {nearest(label, sorted(labels))}"
                    yield Issue(here, f"{who} speaks of '{brief(label)}', which no ranking is called{called}")
            for place in claim.places():
                if place.ranking == ALL_FEATURES and not self.shares_classifier:
                    yield Issue(
                        here,
                        f"{who} speaks of all features, where rankings with classifiers of their own differ; name a "
                        "ranking in it",
                    )
                if place.reached_by is not None and place.reached_by not in descending:
                    called = nearest(place.reached_by, sorted(descending))
                    yield Issue(here, f"{who} speaks of a descent of '{brief(place.reached_by)}'; {called}")
                if place.computed not in self.metrics:
                    yield Issue(here, f"{who} speaks of {place.computed}, which 'metrics' does not list; list it there")
