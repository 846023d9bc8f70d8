"""Empirical distribution functions of the best features, whose distance Kolmogorov and Smirnov take; jebara-slides."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd

from fsvm_cli.experiment.records.base import Record, ToDraw
from fsvm_cli.figures import COLOURS, COLUMN_WIDTH, figure, legible
from fsvm_cli.ranking.base import order_of
from fsvm_cli.validation_errors import Issue

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from matplotlib.axes import Axes

    from fsvm_cli.data.source import DatasetMetadata
    from fsvm_cli.experiment.trial import DrawnTrial
    from fsvm_cli.spec.rankings import Ranking
    from fsvm_cli.spec.schema import Config

N_FEATURES = 6
COLUMNS = 3
MAX_NAME = 34


class DistributionDistance(Record):
    """The distribution of each of the best features over all training samples, and over those of the second class.

    Table `distributions`: feature (the best first), value, and the share of the samples, of all and of the class, that
    have at most this value.
    """

    name: ClassVar[str] = "distribution-distance"
    method: ClassVar[str] = "kolmogorov-smirnov"
    tables: ClassVar[tuple[str, ...]] = ("distributions",)
    scales: ClassVar[tuple[str, ...]] = ("feature",)

    def rankings(self, config: Config) -> list[Ranking]:
        """List the one ranking whose best features are shown."""
        return super().rankings(config)[:1]

    def issues(self, config: Config, data: DatasetMetadata) -> Iterator[Issue]:
        """Find whether there is no ranking, or there are more classes than two."""
        if len(data.class_names) != 2:
            here = ("record", config.record.index(self.name))
            message = f"a distribution distance needs 2 classes; {data.name} has {len(data.class_names)}; leave it out"
            yield Issue(here, message)
        yield from super().issues(config, data)

    def compute(self, trial: DrawnTrial) -> dict[str, pd.DataFrame]:
        """Count samples up to each value of each of the best features."""
        config, parts = trial.experiment.config, trial.parts
        (ranking,) = self.rankings(config)
        best = order_of(trial.ranker(ranking, config.classifier_of(ranking)).scores_)[:N_FEATURES]
        tables = []
        for feature in best.tolist():
            column = parts.X_train[:, feature]
            values = np.unique(column)
            shares = {
                name: np.searchsorted(np.sort(samples), values, side="right") / len(samples)
                for name, samples in (("all_samples", column), ("in_class", column[parts.y_train == 1]))
            }
            name = trial.experiment.source.feature_names[feature]
            tables.append(pd.DataFrame({"feature": name, "value": values, **shares}))
        return {"distributions": pd.concat(tables, ignore_index=True)}

    def draw(self, given: ToDraw) -> list[Path]:
        """Draw a panel for each feature, with the largest distance, and the largest as the slides print it."""
        panels = list(given.tables["distributions"].groupby("feature", sort=False))
        n_rows = -(-len(panels) // COLUMNS)
        with figure(2 * COLUMN_WIDTH, 0.8 + 1.9 * n_rows) as drawing:
            all_axes = drawing.subplots(n_rows, COLUMNS, sharey=True, squeeze=False).ravel()
            for axes in all_axes[len(panels) :]:
                axes.set_visible(False)
            for axes, (feature, rows) in zip(all_axes, panels, strict=False):
                handles = _draw_panel(axes, rows, given.data["class_names"][1])
                axes.set_title(legible(feature, MAX_NAME), loc="left")
            for axes in all_axes[::COLUMNS]:
                axes.set_ylabel("Share of samples")
            for axes in all_axes[: len(panels)][-COLUMNS:]:
                axes.set_xlabel("At most this value" + ("" if given.config.scaling == "none" else " (scaled)"))
            drawing.legend(handles=handles, loc="outside lower left", ncols=4)
            return given.save(drawing, self.name, "first split")


def _draw_panel(axes: Axes, rows: pd.DataFrame, class_name: str) -> list[Any]:
    value, over_all, in_class = (rows[column].to_numpy() for column in ("value", "all_samples", "in_class"))
    # Both functions are 0 before the smallest value.
    reach = 0.05 * (np.ptp(value) or 1.0)
    x = np.concatenate([[value[0] - reach], value, [value[-1] + reach]])
    (line,) = axes.step(x, [0, *over_all, 1], where="post", color=COLOURS[0], label="all samples")
    (of_class,) = axes.step(
        x, [0, *in_class, 1], where="post", color=COLOURS[1], linestyle="--", label=f"class {legible(class_name)}"
    )
    # In the middle of the step on which the distance is the largest.
    middle = np.append((value[1:] + value[:-1]) / 2, value[-1])
    widest = int(np.argmax(np.abs(over_all - in_class)))
    bar = axes.vlines(
        middle[widest], *sorted((over_all[widest], in_class[widest])), color="#000000", linewidth=1.6, zorder=4
    )
    bar.set_label("largest distance")
    distance, as_printed = np.abs(over_all - in_class).max(), max(float((over_all - in_class).max()), 0.0)
    text = f"distance {distance:.2f}\nas printed {as_printed:.2f}"
    axes.text(0.98, 0.04, text, transform=axes.transAxes, ha="right", fontsize=6.5)
    axes.set_ylim(-0.02, 1.04)
    return [line, of_class, bar]
