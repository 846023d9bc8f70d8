"""Receiver operating characteristics with all and with few features, as jebara-slides, Figure 2."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd
from sklearn.base import clone

from fsvm_cli.evaluation.roc import area_under_roc, with_ties
from fsvm_cli.experiment.records.base import Record
from fsvm_cli.spec.rankings import ALL_FEATURES
from fsvm_cli.svm.multiclass import TIE_TOLERANCES
from fsvm_cli.validation_errors import Issue

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from fsvm_cli.data.source import DatasetMetadata
    from fsvm_cli.experiment.experiment import Experiment
    from fsvm_cli.experiment.trial import DrawnTrial
    from fsvm_cli.spec.schema import Config

MAX_PANELS = 4
"""Numbers of features, each of which has a panel of the figure."""

MAX_CURVE_CORNERS = 201
"""Corners kept of a longer curve, about equally far apart; a figure shows no more."""


class Roc(Record):
    """True positive rate against false positive rate on the test part.

    All compared methods of an experiment with two classes are shown, with each number of features, and the machine
    on all features. The positive class is the second. Table `roc`: the corners of each curve. Table `auc`: the area
    under it, with its 95 % interval over other test samples.
    """

    name: ClassVar[str] = "roc"
    tables: ClassVar[tuple[str, ...]] = ("roc", "auc")

    def numbers(self, experiment: Experiment) -> list[int]:
        """List all compared methods."""
        return [*experiment.numbers()]

    def sizes(self, experiment: Experiment) -> tuple[int, ...]:
        """List all numbers of retained features."""
        return experiment.sizes

    def issues(self, config: Config, data: DatasetMetadata) -> Iterator[Issue]:
        """Find more classes than two, or more curves than a figure can show."""
        here = ("record", config.record.index(self.name))
        if len(data.class_names) != 2:
            message = f"a roc needs 2 classes; {data.name} has {len(data.class_names)}; leave it out"
            yield Issue(here, message)
        sizes = config.subsets if isinstance(config.subsets, tuple) else range(1, data.n_features)
        if config.rankings and len(sizes) > MAX_PANELS:
            message = f"a roc has a panel for each number of features; list at most {MAX_PANELS} of them in 'subsets'"
            yield Issue(here, message)

    def compute(self, trial: DrawnTrial) -> dict[str, pd.DataFrame]:
        """Train each machine once more, for the values of its decision function on the test part."""
        from sklearn.metrics import roc_curve  # noqa: PLC0415 - slow to import

        curves, areas = [], []
        for label, size, values, is_positive in self._decisions(trial):
            false_positive, true_positive, _ = roc_curve(is_positive, values)
            kept = _spread(false_positive + true_positive)
            curve = {"false_positive_rate": false_positive[kept], "true_positive_rate": true_positive[kept]}
            curves.append(pd.DataFrame({"ranking": label, "n_features": size, **curve}))
            area = area_under_roc(values, is_positive)
            counts = int(np.count_nonzero(is_positive)), int(np.count_nonzero(~is_positive))
            areas.append((label, size, *area, *counts))
        columns = ["ranking", "n_features", "auc", "ci_low", "ci_high", "n_positive", "n_negative"]
        return {"roc": pd.concat(curves, ignore_index=True), "auc": pd.DataFrame(areas, columns=columns)}

    @staticmethod
    def _decisions(trial: DrawnTrial) -> Iterator[tuple[str, int, NDArray[np.float64], NDArray[np.bool_]]]:
        """Yield for each curve its label, number of features, and the decision values of the test part."""
        experiment = trial.experiment
        shares_classifier = experiment.config.shares_classifier
        for number, compared_method in enumerate(experiment.compared_methods):
            ordering = compared_method.order(trial)
            estimator = trial.learner(compared_method.classifier).ranking_arguments()["estimator"]
            for size in experiment.sizes:
                is_shared = shares_classifier and size == experiment.sizes[-1]
                if is_shared and number:
                    continue
                label = ALL_FEATURES if is_shared else compared_method.label
                columns = sorted(ordering.columns[:size])
                parts = ordering.parts
                machine = clone(estimator).fit(parts.X_train[:, columns], parts.y_train)
                yield label, size, _decision_values(machine, parts.X_test[:, columns]), parts.y_test == 1


def _spread(along: NDArray[np.float64]) -> NDArray[np.intp]:
    """Select corners of a curve about equally far apart along it, including both ends."""
    return np.unique(np.searchsorted(along, np.linspace(along[0], along[-1], MAX_CURVE_CORNERS)))


def _decision_values(machine: Any, X: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the decision values for the second class, or its probabilities for a classifier without them."""
    values = machine.decision_function(X) if hasattr(machine, "decision_function") else machine.predict_proba(X)[:, 1]
    return with_ties(np.asarray(values, dtype=np.float64), TIE_TOLERANCES * getattr(machine, "tolerance", 0.0))
