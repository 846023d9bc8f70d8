"""Models of a ranking and of a feature extraction in a config, generated from the classes of the methods."""

from __future__ import annotations

import functools
import operator
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, Literal

from pydantic import Field, create_model, model_validator

from fsvm_cli.config_io import StrictModel
from fsvm_cli.data.scaling import ScalingName
from fsvm_cli.extraction.registry import extraction_methods
from fsvm_cli.ranking.base import Ranker  # noqa: TC001 - pydantic's fields are made from what stands here
from fsvm_cli.ranking.kpd import KernelParameterDescent
from fsvm_cli.ranking.parameters import KEYS_OF_CONFIGS
from fsvm_cli.ranking.registry import SYNONYMS, ranking_methods
from fsvm_cli.spec.classifiers import ExperimentClassifier, is_absent

if TYPE_CHECKING:
    from fsvm_cli.extraction.base import Extractor

Text = Annotated[str, Field(min_length=1)]

ALL_FEATURES = "all features"
"""Label of the classifier on all features, where no ranking is listed; claims may name it in any case."""

LEAK = " (test leak)"
"""Suffix of the label of a ranking that sees the test part, in tables, figures and verdicts."""


TRAINING_ROWS: Final = "training rows"
ALL_ROWS: Final = "all rows"


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
    scaling: ScalingName | None = Field(
        default=None,
        exclude_if=is_absent,
        description="Scaling of the features for this ranking and its subsets, where the experiment has none; "
        "that of the experiment if left out.",
    )
    score_threshold: float | None = Field(
        default=None,
        exclude_if=is_absent,
        description="Score from which on the source selects features: a line in the figure of the scores.",
    )

    ranked_on: Literal["training rows", "all rows"] = Field(
        default=TRAINING_ROWS,
        exclude_if=lambda rows: rows == TRAINING_ROWS,
        description="Rows that the method sees: those of the training part; or all rows of the data, once for all "
        "splits and scaled by their own statistics: a leak, since test rows are among them, as the label states.",
    )
    mean_rank_of: int = Field(
        default=1,
        ge=1,
        exclude_if=lambda number: number == 1,
        description="How often a method that draws random numbers is run; the features are ordered by their mean rank.",
    )

    @model_validator(mode="before")
    @classmethod
    def _fill_in_label(cls, value: Any) -> Any:
        if not isinstance(value, dict) or "method" not in value:
            return value
        suffix = ", worst first" if value.get("order") == "worst-first" else ""
        label = value.get("label", f"{value['method']}{suffix}")
        leaks = _leaks(value["method"], value, value.get("ranked_on"))
        if leaks and isinstance(label, str) and not label.endswith(LEAK):
            label += LEAK
        return value | {"label": label}

    def sees_all_rows(self) -> bool:
        """Whether the method ranks once, on the rows of all splits."""
        return self.ranked_on == ALL_ROWS

    def sees_test_part(self) -> bool:
        """Whether test labels decide about the ranking."""
        return _leaks(self.method, self.parameters(), self.ranked_on)

    def parameters(self) -> dict[str, Any]:
        """Parameters of the method, by the name that its estimator gives them."""
        return self.model_dump(exclude=set(Ranking.model_fields))

    def scores_as(self, other: Ranking) -> bool:
        """Whether another ranking gives the features the same scores."""
        alike = self.method == other.method and self.parameters() == other.parameters()
        seen_alike = self.ranked_on == other.ranked_on and self.scaling == other.scaling
        return alike and self.mean_rank_of == other.mean_rank_of and self.classifier == other.classifier and seen_alike

    def estimator(self, **ranking_arguments: Any) -> Ranker:
        """Build the method's estimator with its parameters and those of `ranking_arguments` that it takes."""
        method = ranking_methods()[self.method]
        taken = {name: ranking_arguments[name] for name in ranking_arguments.keys() & method.passed_down}
        return method(**self.parameters(), **taken)


def is_control(ranking: Ranking) -> bool:
    """Whether a ranking is one by chance, beside which others must do better."""
    return ranking_methods()[ranking.method].is_control


def can_be_recommended(ranking: Ranking) -> bool:
    """Whether a ranking keeps the best features, as the training part shows them, with a machine to export."""
    is_exported_alike = ranking.mean_rank_of == 1 and not learns_machine(ranking)
    return ranking.order == "best-first" and not ranking.sees_test_part() and is_exported_alike


def _leaks(method: str, parameters: Mapping[str, Any], ranked_on: Any) -> bool:
    """Whether a method with these parameters needs the test part, or is ranked on rows that hold it."""
    return ranked_on == ALL_ROWS or ranking_methods()[method].sees_test_part(parameters)


class DescentRanking(Ranking):
    """A ranking by a descent along the weights of the features in a kernel, which learns machines along with it."""

    machine: Literal["fresh", "learned"] = Field(
        default="fresh",
        exclude_if=lambda machine: machine == "fresh",
        description="What is trained on a subset: a fresh machine with the classifier's kernel; or one with the "
        "weights that the features had in the kernel when the descent last had as many.",
    )

    @model_validator(mode="after")
    def _keeps_the_best(self) -> DescentRanking:
        if self.machine == "learned" and self.order == "worst-first":
            raise ValueError(
                "the descent leaves the best features their weights; write 'machine: learned' without 'order'"
            )
        return self

    def parameters(self) -> dict[str, Any]:
        """Parameters of the method, by the name that its estimator gives them."""
        return self.model_dump(exclude=set(DescentRanking.model_fields))


def learns_machine(ranking: Ranking) -> bool:
    """Whether the machines of a ranking have the weights that its method learns."""
    return isinstance(ranking, DescentRanking) and ranking.machine == "learned"


def _ranking_model(name: str, method: type[Ranker]) -> type[Ranking]:
    parameters = method.parameters_model().model_fields
    assert set(Ranking.model_fields) == KEYS_OF_CONFIGS, "no parameter may be called like any of them"
    fields: dict[str, Any] = {key: (info.rebuild_annotation(), info.default) for key, info in parameters.items()}
    fields["method"] = (Literal[name], ...)
    base = DescentRanking if issubclass(method, KernelParameterDescent) else Ranking
    return create_model(f"{method.__name__}Ranking", __base__=base, **fields)


if TYPE_CHECKING:
    AnyRanking = Ranking
else:
    AnyRanking = Annotated[
        functools.reduce(operator.or_, [_ranking_model(name, method) for name, method in ranking_methods().items()]),
        Field(discriminator="method"),
    ]


class Extraction(StrictModel):
    """A method that makes components of all features; the curve keeps the first of them."""

    method: str
    label: str = Field(default="", description="Name in tables and figures; that of the method if left out.")

    @model_validator(mode="before")
    @classmethod
    def _fill_in_label(cls, value: Any) -> Any:
        return {"label": value["method"]} | value if isinstance(value, dict) and "method" in value else value

    def parameters(self) -> dict[str, Any]:
        """Parameters of the method, by the name that its estimator gives them."""
        return self.model_dump(exclude=set(Extraction.model_fields))

    def estimator(self) -> Extractor:
        """Build the method's estimator."""
        return extraction_methods()[self.method](**self.parameters())


def _extraction_model(name: str, method: type[Extractor]) -> type[Extraction]:
    parameters = method.parameters_model().model_fields
    fields: dict[str, Any] = {key: (info.rebuild_annotation(), info.default) for key, info in parameters.items()}
    fields["method"] = (Literal[name], ...)
    return create_model(f"{method.__name__}Extraction", __base__=Extraction, **fields)


if TYPE_CHECKING:
    AnyExtraction = Extraction
else:
    AnyExtraction = Annotated[
        functools.reduce(operator.or_, [_extraction_model(*entry) for entry in extraction_methods().items()]),
        Field(discriminator="method"),
    ]
