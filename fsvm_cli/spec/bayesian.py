"""The Bayesian support vector machine as a classifier of a config."""

from __future__ import annotations

import dataclasses
import typing
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field, create_model

from fsvm_cli.documents import StrictModel
from fsvm_cli.evidence.parameters import LengthScales, TuningParameters

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fsvm_cli.spec.learner import Learner


class BayesianBase(StrictModel):
    """The Bayesian support vector machine, whose C and kernel are tuned by the evidence on each training part."""

    type: Literal["bayesian"]
    length_scales: LengthScales = Field(
        default="per-feature", description="Whether each feature has a length scale of its own, or all have one."
    )

    def learner(self, class_names: Sequence[str], random_state: int) -> Learner:  # noqa: ARG002 - as in Classifier
        """Build what a trial tunes and trains."""
        from fsvm_cli.evidence.estimator import BayesianSVM  # noqa: PLC0415 - slow to import, and seldom needed
        from fsvm_cli.spec.bayesian_learner import BayesianLearner  # noqa: PLC0415

        return BayesianLearner(BayesianSVM(**self.model_dump(exclude={"type"}), random_state=random_state))


def _bayesian_model() -> Any:
    hints = typing.get_type_hints(TuningParameters, include_extras=True)
    fields: dict[str, Any] = {
        each.name: (hints[each.name], each.default) for each in dataclasses.fields(TuningParameters)
    }
    return create_model("Bayesian", __base__=BayesianBase, **fields)


if TYPE_CHECKING:
    Bayesian = BayesianBase
else:
    Bayesian = _bayesian_model()
