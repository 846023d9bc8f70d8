"""Where a descent along the feature weights of a kernel went: weights, objective and active features, kpd2018."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np
import pandas as pd

from fsvm_cli.experiment.records.base import Record, ToDraw
from fsvm_cli.figures import COLOURS, COLUMN_WIDTH, figure, legible

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes

    from fsvm_cli.experiment.trial import DrawnTrial

PATH_POINTS = 101
"""Of a longer descent so many points are kept, equally far apart: more than a figure can show."""
WEIGHT_OF = "weight of "
N_NAMED = 5
MAX_NAME = 24


class DescentPath(Record):
    """The feature weights of every kpd ranking along its descents, section 3 of the paper.

    Table `path`: ranking, machine, iteration, objective, number of active features, and a weight for each feature.
    """

    name: ClassVar[str] = "descent-path"
    method: ClassVar[str] = "kpd"
    tables: ClassVar[tuple[str, ...]] = ("path",)
    scales: ClassVar[tuple[str, ...]] = ("ranking", "machine")

    def compute(self, trial: DrawnTrial) -> dict[str, pd.DataFrame]:
        """Follow the feature weights of kernels along their descents."""
        paths = []
        config = trial.experiment.config
        weight_names = [f"{WEIGHT_OF}{name}" for name in trial.experiment.source.feature_names]
        for ranking in self.rankings(config):
            ranker = trial.ranker(ranking, config.classifier_of(ranking))
            path = pd.DataFrame(ranker.diagnostics_["path"])
            path.columns = [*path.columns[: -len(weight_names)], *weight_names]
            path.insert(0, "ranking", ranking.label)
            paths += [_thinned(descent) for _, descent in path.groupby("machine")]
        return {"path": pd.concat(paths, ignore_index=True)}

    def draw(self, given: ToDraw) -> list[Path]:
        """Draw the path of each machine: the weights above, objective and number of active features below."""
        path = given.tables["path"]
        machines = list(path.groupby(["ranking", "machine"], sort=False))
        several = path["machine"].max() > 0
        with figure(max(COLUMN_WIDTH * 0.8 * len(machines), 1.2 * COLUMN_WIDTH), 4.2) as drawing:
            all_axes = drawing.subplots(2, len(machines), sharex="col", squeeze=False, height_ratios=(3, 2))
            for column, ((label, machine), rows) in enumerate(machines):
                upper, lower = all_axes[:, column]
                upper.set_title(f"{legible(label)}, machine {machine}" if several else legible(label), loc="left")
                _draw_weights(upper, rows)
                right = _draw_objective(lower, rows)
                lower.set_xlabel("Iteration")
                if column == 0:
                    upper.set_ylabel("Weight (mean at the start: 1)")
                    lower.set_ylabel("Objective (start: 1)", color=COLOURS[0])
                if column == len(machines) - 1:
                    right.set_ylabel("Active features", color=COLOURS[1])
            return given.save(drawing, self.name, "first split")


def _thinned(descent: pd.DataFrame) -> pd.DataFrame:
    kept = np.linspace(0, len(descent) - 1, min(len(descent), PATH_POINTS)).round().astype(int)
    return descent.iloc[np.unique(kept)]


def _draw_weights(axes: Axes, rows: pd.DataFrame) -> None:
    """Draw all weights, and name the features that are the largest at the end."""
    weights = rows[[name for name in rows if str(name).startswith(WEIGHT_OF)]]
    weights = weights / weights.iloc[0].mean()
    named = list(weights.iloc[-1].sort_values(ascending=False, kind="stable").index[:N_NAMED])
    for name in weights:
        if name not in named:
            axes.plot(rows["iteration"], weights[name], color="#bbbbbb", linewidth=0.5, zorder=1)
    for colour, name in zip(COLOURS, named, strict=False):
        axes.plot(rows["iteration"], weights[name], color=colour, zorder=2)
    # What draws is imported where it is used: a run computes records, and draws nothing.
    from matplotlib.lines import Line2D  # noqa: PLC0415

    names = [name.removeprefix(WEIGHT_OF) for name in named]
    handles = [
        Line2D([], [], color=colour, label=legible(name, MAX_NAME))
        for colour, name in zip(COLOURS, names, strict=False)
    ]
    axes.legend(handles=handles, loc="upper left", fontsize=6, handlelength=1.2)
    # Room for the names above the curves.
    axes.set_ylim(0, 1.6 * float(weights.to_numpy().max()))


def _draw_objective(axes: Axes, rows: pd.DataFrame) -> Axes:
    """Draw the objective, and the number of active features on an axis of its own, which is returned."""
    start = rows["objective"].iloc[0]
    axes.plot(rows["iteration"], rows["objective"] / start, color=COLOURS[0])
    axes.set_ylim(0, 1.05)
    right = axes.twinx()
    right.spines["right"].set_visible(True)
    right.grid(visible=False)
    right.step(rows["iteration"], rows["n_active"], where="post", color=COLOURS[1], linestyle="--")
    right.set_ylim(0, 1.05 * float(rows["n_active"].max()))
    return right
