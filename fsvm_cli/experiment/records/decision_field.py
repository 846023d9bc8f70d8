"""A machine in the plane: boundary, gradient and the region around its margin, as hermes2000, Figure 1."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np
import pandas as pd

from fsvm_cli.experiment.records.base import Record
from fsvm_cli.learners.machine import Machine
from fsvm_cli.ranking.gradient_angle import margin_region
from fsvm_cli.validation_errors import Issue

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from fsvm_cli.data.source import DatasetMetadata
    from fsvm_cli.experiment.trial import DrawnTrial
    from fsvm_cli.spec.rankings import Ranking
    from fsvm_cli.spec.schema import Config
    from fsvm_cli.svm import SVM

GRID_POINTS_PER_AXIS = 49

MARGIN_SHARE_OF_RANGE = 0.15
"""Of the grid beyond the data on each side, as a share of their range."""


class DecisionField(Record):
    """The decision function of one machine in the plane, with its gradient, and its training points.

    Table `field`: decision function and gradient on a square grid. Table `points`: the same at the training points,
    with their classes, alpha, and whether they lie in the region around the margin.
    """

    name: ClassVar[str] = "decision-field"
    method: ClassVar[str] = "gradient-angle"
    tables: ClassVar[tuple[str, ...]] = ("field", "points")

    def rankings(self, config: Config) -> list[Ranking]:
        """List the one ranking whose machine is shown."""
        return super().rankings(config)[:1]

    def issues(self, config: Config, data: DatasetMetadata) -> Iterator[Issue]:
        """Find whether there is no ranking, or the data do not lie in the plane."""
        if (data.n_features, len(data.class_names)) != (2, 2):
            yield Issue(
                ("record", config.record.index(self.name)),
                f"a decision field needs 2 features and 2 classes; {data.name} has {data.n_features} and "
                f"{len(data.class_names)}; leave it out",
            )
        yield from super().issues(config, data)

    def compute(self, trial: DrawnTrial) -> dict[str, pd.DataFrame]:
        """Evaluate the decision function and its gradient on a grid and at the training points."""
        config, parts = trial.experiment.config, trial.parts
        (ranking,) = self.rankings(config)
        machine = trial.learner(config.classifier_of(ranking))
        assert isinstance(machine, Machine), "a gradient-angle ranking has a machine"
        X, y = parts.X_train, np.where(parts.y_train == 1, 1.0, -1.0)
        svm = machine.estimator().set_params(on_failure="raise").fit(X, parts.y_train)
        alpha = np.zeros(len(X))
        alpha[svm.support_] = np.abs(svm.dual_coef_[0])
        region = margin_region(
            y * svm.decision_function(X),
            svm.margin_vectors_[0],
            svm.support_,
            ranking.parameters()["epsilon"],
        )
        points = pd.DataFrame({"class": parts.y_train, "alpha": alpha, "in_region": np.isin(np.arange(len(X)), region)})
        places = np.argsort(trial.columns)
        grid = _grid_around(X[:, places])[:, trial.columns]
        return {"points": _at(svm, X, places).join(points), "field": _at(svm, grid, places)}


def _grid_around(X: NDArray[np.float64]) -> NDArray[np.float64]:
    low, high = X.min(axis=0), X.max(axis=0)
    low, high = low - MARGIN_SHARE_OF_RANGE * (high - low), high + MARGIN_SHARE_OF_RANGE * (high - low)
    axes = np.linspace(low, high, GRID_POINTS_PER_AXIS).T
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 2)


def _at(svm: SVM, X: NDArray[np.float64], places: NDArray[np.intp]) -> pd.DataFrame:
    gradient = svm.input_gradient(X)[0][:, places]
    decision_value, X = svm.decision_function(X), X[:, places]
    return pd.DataFrame(
        {
            "x1": X[:, 0],
            "x2": X[:, 1],
            "decision_value": decision_value,
            "gradient_x1": gradient[:, 0],
            "gradient_x2": gradient[:, 1],
        }
    )
