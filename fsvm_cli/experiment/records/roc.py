"""Receiver operating characteristics with all and with few features, as jebara-slides, Figure 2."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd
from sklearn.base import clone

from fsvm_cli.evaluation.roc import area_under_roc, with_ties
from fsvm_cli.experiment.records.base import Record, ToDraw
from fsvm_cli.figures import COLUMN_WIDTH, figure, legible, series_style
from fsvm_cli.spec.rankings import ALL_FEATURES
from fsvm_cli.svm.multiclass import TIE_TOLERANCES
from fsvm_cli.validation_errors import Issue

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from fsvm_cli.data.source import DatasetMetadata
    from fsvm_cli.experiment.plan import Experiment
    from fsvm_cli.experiment.trial import DrawnTrial
    from fsvm_cli.spec.schema import Config

MAX_SIZES = 4
MAX_CORNERS = 201
"""Of a longer curve so many are kept, about equally far apart: more than a figure can show."""
MARKS = 12
"""Of a line."""

REFERENCE: dict[str, Any] = {"color": "#000000", "marker": "", "linewidth": 1.0}


class Roc(Record):
    """How many samples of one class are found at the price of how many false alarms, on the test part.

    Shown are all competitors of an experiment with two classes, with each number of retained features, and the machine
    on all features. The positive class is the second. Table `roc`: the corners of each curve. Table `auc`: the area
    under it, with its 95 % interval over other test samples.
    """

    name: ClassVar[str] = "roc"
    tables: ClassVar[tuple[str, ...]] = ("roc", "auc")

    def numbers(self, experiment: Experiment) -> list[int]:
        """List all competitors."""
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
        if config.rankings and len(sizes) > MAX_SIZES:
            message = f"a roc has a panel for each number of features; list at most {MAX_SIZES} of them in 'subsets'"
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

    def draw(self, given: ToDraw) -> list[Path]:
        """Draw one panel for each number of retained features, the machine on all features in each."""
        roc, auc = given.tables["roc"], given.tables["auc"]
        areas = auc.set_index(["ranking", "n_features"]).to_dict("index")
        sizes = sorted(roc["n_features"].unique())
        panels = [size for size in sizes if (roc[roc["n_features"] == size]["ranking"] != ALL_FEATURES).any()] or sizes
        with figure(COLUMN_WIDTH * max(len(panels) * 0.85, 1), 3.6) as drawing:
            all_axes = drawing.subplots(1, len(panels), sharex=True, sharey=True, squeeze=False)[0]
            for axes, size in zip(all_axes, panels, strict=True):
                shown = roc[(roc["n_features"] == size) | (roc["ranking"] == ALL_FEATURES)]
                _draw_panel(axes, shown, areas, given.styles)
                axes.set_title(f"{size} feature{'s' if size > 1 else ''}", loc="left")
                axes.set_xlabel("False positive rate")
            all_axes[0].set_ylabel(f"True positive rate (class {legible(given.data['class_names'][1])})")
            n_test = int(auc[["n_positive", "n_negative"]].iloc[0].sum())
            return given.save(drawing, self.name, f"first split, {n_test} test rows")


def _spread(along: NDArray[np.float64]) -> NDArray[np.intp]:
    """Choose corners of a curve that lie about equally far apart along it, both ends among them."""
    return np.unique(np.searchsorted(along, np.linspace(along[0], along[-1], MAX_CORNERS)))


def _decision_values(machine: Any, X: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return what grows with the second class: a classifier without decision values has probabilities."""
    values = machine.decision_function(X) if hasattr(machine, "decision_function") else machine.predict_proba(X)[:, 1]
    return with_ties(np.asarray(values, dtype=np.float64), TIE_TOLERANCES * getattr(machine, "tolerance", 0.0))


def _draw_panel(
    axes: Axes, rows: pd.DataFrame, areas: Mapping[Any, Mapping[Any, Any]], styles: Mapping[str, Mapping[str, Any]]
) -> None:
    axes.plot([0, 1], [0, 1], color="#bbbbbb", linewidth=0.7, linestyle=":", zorder=1)
    handles, others = [], 0  # others: the oracle, and classifiers on all features, which no method has ordered
    last = rows["ranking"] == ALL_FEATURES
    for (label, size), curve in pd.concat([rows[~last], rows[last]]).groupby(["ranking", "n_features"], sort=False):
        style = REFERENCE if label == ALL_FEATURES else styles.get(str(label), series_style(others))
        others += label != ALL_FEATURES and label not in styles
        area = areas[label, size]
        name = f"{legible(label)}\n{area['auc']:.3f} [{area['ci_low']:.3f}, {area['ci_high']:.3f}]"
        x, y = curve["false_positive_rate"], curve["true_positive_rate"]
        handles += axes.plot(x, y, label=name, markevery=1 / MARKS, **style)
    axes.set_aspect("equal")
    axes.set_xlim(-0.01, 1.01)
    axes.set_ylim(-0.01, 1.01)
    legend = axes.legend(
        handles=handles, loc="lower right", fontsize=5.5, title="area under the curve", handlelength=1.6
    )
    legend.get_title().set_fontsize(5.5)
