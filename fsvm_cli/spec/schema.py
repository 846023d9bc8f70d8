"""What a config may say: an experiment of a paper as data.

The kernels, methods, metrics and scalings that a config can name are those that exist: their models are made from the
classes themselves, so that a new one needs no line here.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import (
    BeforeValidator,
    Field,
    PlainSerializer,
    PlainValidator,
    WithJsonSchema,
    create_model,
    model_validator,
)

from fsvm_cli.data.scaling import ScalingName
from fsvm_cli.data.spec import DatasetSpec
from fsvm_cli.documents import StrictModel
from fsvm_cli.evaluation.metrics import METRICS
from fsvm_cli.ranking.base import Ranker  # noqa: TC001 - pydantic's fields are made from what stands here
from fsvm_cli.ranking.parameters import KEYS_OF_CONFIGS
from fsvm_cli.ranking.registry import SYNONYMS, ranking_methods
from fsvm_cli.spec.claims import AnyClaim
from fsvm_cli.spec.classifiers import Classifier, ExperimentClassifier, SklearnClassifier, is_absent
from fsvm_cli.spec.extractors import AnyExtraction, Extraction
from fsvm_cli.spec.records import RECORD_NAMES
from fsvm_cli.spec.tuning import one_or_more

ALL_FEATURES = "all features"
"""Label of the machine on all features, where no ranking is listed; claims may name it in any case."""

LEAK = " (test leak)"
"""Ends the label of a ranking that sees the test part, wherever it is shown: in tables, figures and verdicts."""

GIVEN: Literal["given"] = "given"
"""The training part that the source of the data fixes, and with it the test part."""

PositiveInt = Annotated[int, Field(ge=1)]
Text = Annotated[str, Field(min_length=1)]


def _row_part(value: Any) -> Fraction | int:
    """Read a part of the rows: a count, or a fraction as 0.5 or "2/3"."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError("write a number of rows, or a fraction such as 2/3 or 0.5")  # noqa: TRY004 - pydantic's way
    if isinstance(value, int):
        if value < 1:
            raise ValueError(f"{value} rows cannot be drawn; write 1 or more, or a fraction such as 2/3")
        return value
    try:
        fraction = Fraction(str(value))
    except (ValueError, ZeroDivisionError):
        raise ValueError(f"'{value}' is no fraction; write one such as 2/3 or 0.5") from None
    if not 0 < fraction < 1:
        raise ValueError(f"{value} of the rows leaves none for the other part; write a fraction between 0 and 1")
    return fraction


def _training_part(value: Any) -> Fraction | int | Literal["given"]:
    """Read a part of the rows to train on, or the word for the split that comes with the data."""
    return GIVEN if value == GIVEN else _row_part(value)


ROW_PART_FORMS: list[dict[str, Any]] = [
    {"type": "integer", "minimum": 1},
    {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
    {"type": "string", "pattern": r"^\d+/\d+$"},
]
_part_as_written = PlainSerializer(lambda part: part if isinstance(part, int) else str(part))
RowPart = Annotated[
    Fraction | int,
    PlainValidator(_row_part),
    _part_as_written,
    WithJsonSchema({"anyOf": ROW_PART_FORMS, "description": "A number of rows, or a fraction of them (rounded down)."}),
]
TrainingPart = Annotated[
    Fraction | int | Literal["given"],
    PlainValidator(_training_part),
    _part_as_written,
    WithJsonSchema(
        {
            "anyOf": [*ROW_PART_FORMS, {"const": GIVEN}],
            "description": "A number of rows, a fraction of them (rounded down), or the split that the source fixes.",
        }
    ),
]
TrainingParts = Annotated[
    tuple[TrainingPart, ...],
    BeforeValidator(one_or_more, json_schema_input_type=TrainingPart | tuple[TrainingPart, ...]),
    Field(min_length=1),
]


class Paper(StrictModel):
    """What the experiment reproduces."""

    key: Text = Field(description="Key of the document, for example hermes2000.")
    where: Text = Field(description="Figure, table or section.")


class Protocol(StrictModel):
    """How the rows are divided, and how often."""

    splits: PositiveInt = Field(description="Number of random splits; 1 where the split is given.")
    train: TrainingParts = Field(
        description="Training part, or a list of them for a learning curve; 'given': the split of the source."
    )
    test: RowPart | None = Field(default=None, description="Test part; all rows outside the training part if left out.")
    seed: Annotated[int, Field(ge=0)] = Field(description="Seed of every random stream of the experiment.")

    @property
    def is_given(self) -> bool:
        """Whether the source of the data fixes the split."""
        return self.train == (GIVEN,)

    @model_validator(mode="after")
    def _given_split_stands_alone(self) -> Protocol:
        if GIVEN in self.train and (len(self.train), self.splits, self.test) != (1, 1, None):
            raise ValueError(
                "a given split is one split with its own parts: write 'train: given, splits: 1', no 'test'"
            )
        return self


class Ranking(StrictModel):
    """A method that orders the features, and the end of its order that the curve keeps."""

    synonyms: ClassVar[Mapping[str, str]] = SYNONYMS

    method: str
    order: Literal["best-first", "worst-first"] = Field(
        default="best-first", description="Whether a subset keeps the best features or, as a control, the worst."
    )
    label: Text = Field(default="", description="Name in tables and figures; made from method and order if left out.")
    classifier: ExperimentClassifier | None = Field(
        default=None,
        exclude_if=is_absent,
        description="The machine of this ranking and its subsets; that of the experiment if left out.",
    )
    score_threshold: float | None = Field(
        default=None,
        exclude_if=is_absent,
        description="Score from which on the source selects features: a line in the figure of the scores.",
    )

    @model_validator(mode="before")
    @classmethod
    def _fill_in_label(cls, value: Any) -> Any:
        if not isinstance(value, dict) or "method" not in value:
            return value
        suffix = ", worst first" if value.get("order") == "worst-first" else ""
        label = value.get("label", f"{value['method']}{suffix}")
        leaks = ranking_methods()[value["method"]].sees_test_part(value)
        if leaks and isinstance(label, str) and not label.endswith(LEAK):
            label += LEAK
        return value | {"label": label}

    def sees_test_part(self) -> bool:
        """Whether test labels decide about the ranking."""
        return ranking_methods()[self.method].sees_test_part(self.parameters())

    def parameters(self) -> dict[str, Any]:
        """Parameters of the method, by the name that its estimator gives them."""
        return self.model_dump(exclude=set(Ranking.model_fields))

    def scores_as(self, other: Ranking) -> bool:
        """Whether another ranking gives the features the same scores."""
        alike = self.method == other.method and self.parameters() == other.parameters()
        return alike and self.classifier == other.classifier

    def estimator(self, **handed: Any) -> Ranker:
        """Build the method's estimator with its parameters and those of `handed` that it takes."""
        method = ranking_methods()[self.method]
        taken = {name: handed[name] for name in handed.keys() & method.handed_down}
        return method(**self.parameters(), **taken)


def _ranking_model(name: str, method: type[Ranker]) -> type[Ranking]:
    parameters = method.parameters_model().model_fields
    assert set(Ranking.model_fields) == KEYS_OF_CONFIGS, "no parameter may be called like any of them"
    fields: dict[str, Any] = {key: (info.rebuild_annotation(), info.default) for key, info in parameters.items()}
    fields["method"] = (Literal[name], ...)
    return create_model(f"{method.__name__}Ranking", __base__=Ranking, **fields)


if TYPE_CHECKING:
    AnyRanking = Ranking
else:
    AnyRanking = Annotated[
        functools.reduce(operator.or_, [_ranking_model(name, method) for name, method in ranking_methods().items()]),
        Field(discriminator="method"),
    ]


def _sorted_sizes(value: Any) -> Any:
    is_sizes = isinstance(value, tuple | list) and all(isinstance(size, int) for size in value)
    return tuple(sorted(set(value))) if is_sizes else value


class Config(StrictModel):
    """One experiment."""

    title: Text = Field(description="What the experiment shows, for headings.")
    paper: Paper | None = Field(default=None, description="What it reproduces, if anything.")
    dataset: DatasetSpec = Field(description="Name of a data set, or a mapping with its options.")
    scaling: ScalingName = Field(description="Scaling of the features, fitted on each training part.")
    classifier: ExperimentClassifier = Field(description="The machine that is trained on each subset.")
    protocol: Protocol
    rankings: tuple[AnyRanking, ...] = Field(
        default=(), description="Methods to compare; without any, only the machine on all features is evaluated."
    )
    extractors: tuple[AnyExtraction, ...] = Field(
        default=(), description="Feature extractors whose components, the best first, are compared with the rankings."
    )
    subsets: (
        Literal["all"] | Annotated[tuple[PositiveInt, ...], BeforeValidator(_sorted_sizes), Field(min_length=1)]
    ) = Field(default="all", description="Numbers of retained features: all of them, or a list.")
    metrics: tuple[Literal[*METRICS], ...] = Field(  # type: ignore[valid-type]
        default=("accuracy",), min_length=1, description="Figures of merit."
    )
    parts: tuple[Literal["train", "test"], ...] = Field(
        default=("test",), min_length=1, description="Parts of the data whose curves the figures show."
    )
    record: tuple[Literal[*RECORD_NAMES], ...] = Field(  # type: ignore[valid-type]
        default=(),
        description="What to keep of the first split beside figures of merit: the decision function of a "
        "gradient-angle ranking in the plane, or the feature weights of kpd rankings along their descents.",
    )
    control: Literal["permute-labels"] | None = Field(
        default=None, description="permute-labels: shuffle the labels, so that anything above chance betrays a leak."
    )
    deviations: tuple[Text, ...] = Field(
        default=(), description="Where and why the experiment departs from its source."
    )
    expected: tuple[AnyClaim, ...] = Field(
        default=(), description="What the source claims, and the rule by which each claim is judged."
    )

    @property
    def shares_classifier(self) -> bool:
        """Whether all rankings have the same machine when they keep all features."""
        return all(ranking.classifier is None for ranking in self.rankings)

    def classifier_of(self, ranking: Ranking | Extraction | None) -> Classifier | SklearnClassifier:
        """Give the classifier of a ranking; that of the experiment where there is none of its own."""
        own = ranking.classifier if isinstance(ranking, Ranking) else None
        return self.classifier if own is None else own

    @model_validator(mode="after")
    def _labels_are_distinct(self) -> Config:
        labels = [*(ranking.label for ranking in self.rankings), *(each.label for each in self.extractors)]
        for label in labels:
            if labels.count(label) > 1:
                raise ValueError(f"two rankings are called '{label}'; give each a label of its own")
        return self

    @model_validator(mode="after")
    def _extractors_have_company(self) -> Config:
        if self.extractors and not self.rankings:
            raise ValueError("extractors are compared with rankings; list at least one under 'rankings'")
        return self

    @model_validator(mode="after")
    def _methods_that_train_machines_have_one(self) -> Config:
        for ranking in self.rankings:
            classifier = self.classifier_of(ranking)
            if isinstance(classifier, SklearnClassifier) and ranking_methods()[ranking.method].trains_machines:
                raise ValueError(
                    f"{ranking.method} ranks with the experiment's support vector machine, and the classifier is a "
                    f"{classifier.type}; rank by another method, or give the classifier a kernel"
                )
        return self

    @model_validator(mode="after")
    def _methods_know_kernels_of_classes(self) -> Config:
        for ranking in self.rankings:
            classifier = self.classifier_of(ranking)
            if isinstance(classifier, Classifier) and classifier.class_kernels:
                method = ranking_methods()[ranking.method]
                if method.trains_machines and "class_kernels" not in method.handed_down:
                    raise ValueError(
                        f"{ranking.method} trains all machines with one kernel, and the classifier has "
                        "'class_kernels'; rank by another method, or leave them out"
                    )
        return self

    @model_validator(mode="after")
    def _claims_speak_of_what_is_computed(self) -> Config:
        scored = {ALL_FEATURES, *(ranking.label for ranking in self.rankings)}
        extracted = {extraction.label for extraction in self.extractors}
        for claim in self.expected:
            # A claim without a place on a curve is one about scores, which components do not have.
            labels = scored | extracted if any(claim.places()) else scored
            for label in claim.rankings():
                if label not in labels:
                    raise ValueError(f"the claim {claim.id} speaks of '{label}', which no ranking is called")
            for place in claim.places():
                if place.ranking == ALL_FEATURES and not self.shares_classifier:
                    raise ValueError(
                        f"the claim {claim.id} speaks of all features, where rankings with classifiers of their own "
                        "differ; name a ranking in it"
                    )
                if place.metric not in self.metrics:
                    raise ValueError(f"the claim {claim.id} speaks of {place.metric}, which 'metrics' does not list")
        return self
