"""The Bayesian support vector machine as a classifier of a config."""

from __future__ import annotations

import dataclasses
import typing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from pydantic import Field, create_model

from fsvm_cli.documents import StrictModel
from fsvm_cli.evidence.estimator import BayesianSVM, LengthScales
from fsvm_cli.evidence.tuning import TunedByEvidence
from fsvm_cli.spec.learner import EstimatorCurves

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class BayesianLearner:
    """The machine, tuned on all features of a training part; subsets keep the hyperparameters of their features.

    Attributes
    ----------
    machine : BayesianSVM
        Fitted.
    handed_machine : BayesianSVM
        What ranking methods that take any classifier train.
    """

    machine: BayesianSVM
    handed_machine: BayesianSVM

    @property
    def chosen(self) -> Mapping[str, float | int | str]:
        """Say how the hyperparameters were found."""
        return self.machine.chosen_

    @property
    def converged(self) -> bool:
        """Whether the ascents ended by their rule."""
        return all(path.stopped for path in self.machine.path_)

    @property
    def relevances(self) -> tuple[float, ...]:
        """The share of each feature, by its length scale."""
        return tuple(map(float, self.machine.relevance_))

    @property
    def diagnostics(self) -> Mapping[str, Mapping[str, NDArray[Any]]]:
        """Tables that records keep."""
        return self.machine.diagnostics_

    def handed(self) -> dict[str, Any]:
        """Hand over the estimator."""
        return {"estimator": self.handed_machine}

    def curves(  # noqa: PLR0917
        self,
        X_train: NDArray[np.float64],
        y_train: NDArray[np.intp],
        X_test: NDArray[np.float64],
        orders: Sequence[NDArray[np.intp]],
        sizes: tuple[int, ...],
        n_classes: int,  # noqa: ARG002 - the contract of Learner
    ) -> EstimatorCurves:
        """Train the machine on the first features of each order, for each size."""
        subsets = [[sorted(order[:size].tolist()) for size in sizes] for order in orders]
        machines = [[self.machine.trained_on(X_train, y_train, subset) for subset in row] for row in subsets]

        def predicted(X: NDArray[np.float64]) -> NDArray[np.intp]:
            rows = zip(machines, subsets, strict=True)
            return np.array([[m.predict(X[:, s]) for m, s in zip(*row, strict=True)] for row in rows])

        return EstimatorCurves(
            predicted(X_train),
            predicted(X_test),
            np.array([[machine.converged_ for machine in row] for row in machines]),
            np.array([[machine.duality_gap_ for machine in row] for row in machines]),
        )


@dataclass(frozen=True, eq=False)
class UntunedBayesianLearner:
    """What `BayesianLearner` is made of once there are data."""

    parameters: dict[str, Any] = field(default_factory=dict)

    def tuned_on(self, X: NDArray[np.float64], y: NDArray[np.intp]) -> BayesianLearner:
        """Tune the machine on a training part."""
        return BayesianLearner(BayesianSVM(**self.parameters).fit(X, y), BayesianSVM(**self.parameters))


class BayesianBase(StrictModel):
    """The Bayesian support vector machine, whose C and kernel are tuned by the evidence on each training part."""

    type: Literal["bayesian"]
    length_scales: LengthScales = Field(
        default="per-feature", description="Whether each feature has a length scale of its own, or all have one."
    )

    def learner(self, class_names: Sequence[str], random_state: int) -> UntunedBayesianLearner:  # noqa: ARG002
        """Build what a trial tunes and trains."""
        return UntunedBayesianLearner(self.model_dump(exclude={"type"}) | {"random_state": random_state})


def _bayesian_model() -> Any:
    hints = typing.get_type_hints(TunedByEvidence, include_extras=True)
    fields: dict[str, Any] = {
        each.name: (hints[each.name], each.default) for each in dataclasses.fields(TunedByEvidence)
    }
    return create_model("Bayesian", __base__=BayesianBase, **fields)


if TYPE_CHECKING:
    Bayesian = BayesianBase
else:
    Bayesian = _bayesian_model()
