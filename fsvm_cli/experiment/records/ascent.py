"""Where the ascent on the evidence went: length scales, gradients and the evidence itself, gold2005, Figure 1."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import pandas as pd

from fsvm_cli.experiment.ascents import LENGTH_SCALE_OF, AscentRecord, spans_decades, use_powers
from fsvm_cli.figures import COLOURS, COLUMN_WIDTH, figure, legible

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes

    from fsvm_cli.experiment.records.base import ToDraw
    from fsvm_cli.experiment.trial import DrawnTrial

N_NAMED = 5
MAX_NAME = 24


class Ascent(AscentRecord):
    """The hyperparameters along the ascents of the first split.

    Table `ascent`: ranking (or classifier), machine and step; C, k0, k_off; the mean magnitude of the gradients by the
    length scales, relative to their peaks, and the part of all gradients that exceed their errors; what the sampler
    reports; and a length scale for each feature.
    """

    name: ClassVar[str] = "ascent"
    tables: ClassVar[tuple[str, ...]] = ("ascent",)

    def compute(self, trial: DrawnTrial) -> dict[str, pd.DataFrame]:
        """Follow the hyperparameters."""
        parts = []
        for label, steps in self.ascents(trial):
            steps.insert(0, "ranking", label)
            parts.append(steps)
        return {"ascent": pd.concat(parts, ignore_index=True)}

    def draw(self, given: ToDraw) -> list[Path]:
        """Draw the ascent of each machine: length scales above, magnitude of the gradients and evidence below."""
        ascent = given.tables["ascent"]
        machines = list(ascent.groupby(["ranking", "machine"], sort=False))
        several = ascent["machine"].max() > 0
        with figure(max(COLUMN_WIDTH * 0.8 * len(machines), 1.2 * COLUMN_WIDTH), 5.2) as drawing:
            all_axes = drawing.subplots(3, len(machines), sharex="col", squeeze=False, height_ratios=(3, 2, 2))
            for column, ((label, machine), steps) in enumerate(machines):
                upper, middle, lower = all_axes[:, column]
                upper.set_title(f"{legible(label)}, machine {machine}" if several else legible(label), loc="left")
                _draw_length_scales(upper, steps)
                middle.plot(steps["step"], steps["magnitude"], color=COLOURS[0])
                middle.set_ylim(0, 1.05)
                _draw_evidence(lower, steps)
                lower.set_xlabel("Step")
                lower.xaxis.get_major_locator().set_params(integer=True)
                if column == 0:
                    upper.set_ylabel("Length scale")
                    middle.set_ylabel("Mean |gradient|\n/ peak")
                    lower.set_ylabel("Log evidence,\nor bound, / n")
            return given.save(drawing, self.name, "first split")


def _draw_length_scales(axes: Axes, steps: pd.DataFrame) -> None:
    """Draw all length scales, and name the features that end with the shortest."""
    lengths = steps[[name for name in steps if str(name).startswith(LENGTH_SCALE_OF)]]
    named = list(lengths.iloc[-1].sort_values(kind="stable").index[:N_NAMED])
    for name in lengths:
        if name not in named:
            axes.plot(steps["step"], lengths[name], color="#bbbbbb", linewidth=0.5, zorder=1)
    handles = []
    for colour, name in zip(COLOURS, named, strict=False):
        label = legible(name.removeprefix(LENGTH_SCALE_OF), MAX_NAME)
        handles += axes.plot(steps["step"], lengths[name], color=colour, zorder=2, label=label)
    shown = lengths.to_numpy()
    # Room for the names above the curves.
    if spans_decades(shown):
        axes.set_yscale("log")
        use_powers(axes.yaxis)
        axes.set_ylim(top=10 * float(shown.max()))
    else:
        axes.set_ylim(0, 1.6 * float(shown.max()))
    axes.legend(handles=handles, loc="upper left", fontsize=6, handlelength=1.2)


def _draw_evidence(axes: Axes, steps: pd.DataFrame) -> None:
    """Draw the log evidence with twice its error; chains do not know it."""
    axes.errorbar(
        steps["step"],
        steps["log_evidence"],
        yerr=2 * steps["log_evidence_error"],
        color=COLOURS[1],
        marker=".",  # where the steps beside do not know it, there is no line
        markersize=3,
        ecolor="#999999",
        elinewidth=0.8,
    )
