"""Figures of merit of whatever an experiment compares, where each has a single number of features."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fsvm_cli.evaluation.metrics import METRIC_TITLES
from fsvm_cli.figures import COLOURS, COLUMN_WIDTH, LONGEST_TITLE, MARKERS, figure, legible, save
from fsvm_cli.report.shortfalls import without_trials

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import pandas as pd

    from fsvm_cli.spec.schema import Config

MAX_NAME = 40


def draw_compared(
    curves: pd.DataFrame, complete: Mapping[str, int], config: Config, folder: Path, formats: Sequence[str]
) -> list[Path]:
    """Draw one figure per metric: a line for each competitor, a point with its 95 % interval for each training size.

    Parameters
    ----------
    curves : DataFrame
        The table `curves.csv`.
    complete : mapping of str to int
        By competitor, the trials that are complete where some of them may have no classifier; see
        `fsvm_cli.report.measures.complete_trials_of`.
    config : Config
    folder, formats
        As in `fsvm_cli.figures.save`.

    Returns
    -------
    list of Path
    """
    paths = []
    shown = curves[(curves["part"] == config.parts[0]) & (curves["n_features"] == curves["n_features"].max())]
    for metric in config.metrics:
        rows = shown[shown["metric"] == metric]
        labels = list(dict.fromkeys(rows["ranking"]))
        sizes = sorted(rows["train_size"].unique())
        with figure(1.4 * COLUMN_WIDTH, 1.1 + 0.3 * len(labels)) as drawing:
            axes = drawing.add_subplot()
            for number, size in enumerate(sizes):
                points = rows[rows["train_size"] == size].set_index("ranking").reindex(labels)
                percent = 100 * points[["mean", "ci_low", "ci_high"]]
                axes.errorbar(
                    percent["mean"],
                    np.arange(len(labels)) + 0.15 * (number - (len(sizes) - 1) / 2),
                    xerr=[percent["mean"] - percent["ci_low"], percent["ci_high"] - percent["mean"]],
                    fmt=MARKERS[number % len(MARKERS)],
                    color=COLOURS[number % len(COLOURS)],
                    elinewidth=0.8,
                    label=f"{size} training rows",
                )
            axes.set_yticks(np.arange(len(labels)), [legible(label, MAX_NAME) for label in labels])
            # Points of several training sizes stand beside the line of their competitor, within its half.
            axes.set_ylim(len(labels) - 0.5, -0.5)
            axes.set_xlabel(f"{'Test' if config.parts[0] == 'test' else 'Training'} {METRIC_TITLES[metric]} (%)")
            axes.set_title(
                f"{legible(config.title, LONGEST_TITLE)}\n{_trials(rows, complete, config)}; bar: 95 % interval",
                loc="left",
                wrap=True,
            )
            drawing.legend(loc="outside lower left", ncols=2)
            paths += save(drawing, folder, f"{metric}-compared", formats)
    return paths


def _trials(rows: pd.DataFrame, complete: Mapping[str, int], config: Config) -> str:
    n_complete, planned = rows["ranking"].map(complete).fillna(rows["n_trials"]), config.protocol.splits
    missing = without_trials(config, rows["ranking"])
    if n_complete.min() < planned:
        return f"INCOMPLETE: {n_complete.min():g} of {planned} splits{missing}"
    without = "; those without a machine do not count" if (rows["n_trials"] < n_complete).any() else ""
    return f"{planned} splits{missing}{without}"
