"""Figures where each compared method has one number of features, and against the duality gap of stopped machines."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.ticker import FixedLocator, FuncFormatter

from fsvm_cli.evaluation.metrics import METRIC_TITLES
from fsvm_cli.learners.base import DUALITY_GAP
from fsvm_cli.report.complete_trials import without_trials
from fsvm_cli.report.style import (
    COLOURS,
    COLUMN_WIDTH,
    MARKERS,
    MAX_TITLE_CHARACTERS,
    figure,
    legible,
    save,
    series_style,
)
from fsvm_cli.spec.claims.base import NumberClaim

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    import pandas as pd
    from matplotlib.axes import Axes

    from fsvm_cli.spec.schema import Config

MAX_METHOD_CHARACTERS = 40


def draw_compared(
    curves: pd.DataFrame, complete: Mapping[str, int], config: Config, folder: Path, formats: Sequence[str]
) -> list[Path]:
    """Draw one figure per metric: a line for each compared method, a point with its 95 % interval per training size.

    Parameters
    ----------
    curves : DataFrame
        The table `curves.csv`.
    complete : mapping of str to int
        By compared method, the trials that are complete where some of them may have no classifier; see
        `fsvm_cli.report.curve_table.complete_trials_of`.
    config : Config
    folder, formats
        As in `fsvm_cli.report.style.save`.

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
            axes.set_yticks(np.arange(len(labels)), [legible(label, MAX_METHOD_CHARACTERS) for label in labels])
            # Points of several training sizes stand beside the line of their compared method, within its half.
            axes.set_ylim(len(labels) - 0.5, -0.5)
            axes.set_xlabel(f"{'Test' if config.parts[0] == 'test' else 'Training'} {METRIC_TITLES[metric]} (%)")
            trials = _trials_compared(rows, complete, config)
            axes.set_title(
                f"{legible(config.title, MAX_TITLE_CHARACTERS)}\n{trials}; bar: 95 % interval",
                loc="left",
                wrap=True,
            )
            drawing.legend(loc="outside lower left", ncols=2)
            paths += save(drawing, folder, f"{metric}-compared", formats)
    return paths


def _trials_compared(rows: pd.DataFrame, complete: Mapping[str, int], config: Config) -> str:
    n_complete, planned = rows["ranking"].map(complete).fillna(rows["n_trials"]), config.protocol.splits
    missing = without_trials(config, rows["ranking"])
    if n_complete.min() < planned:
        return f"INCOMPLETE: {n_complete.min():g} of {planned} splits{missing}"
    without = "; those without a machine do not count" if (rows["n_trials"] < n_complete).any() else ""
    return f"{planned} splits{missing}{without}"


MIN_STOPPED_METHODS = 2
"""Of a path to the optimum."""
DUALITY_GAP_RANGE = (1e-8, 0.99999)
"""Gaps beyond, such as 1 of a machine that has hardly begun, are drawn there: the axis reaches neither 0 nor 1."""
MAX_GAP_AT_AXIS_END = 0.5
"""The axis goes at least to here, so that it has numbers where no machine came far."""
DUALITY_GAP_TICKS = (0.9999, 0.99, 0.9, 0.5, 0.1, 0.01, 1e-3, 1e-4, 1e-6)


def draw_convergence(
    curves: pd.DataFrame, measures: pd.DataFrame, config: Config, folder: Path, formats: Sequence[str]
) -> list[Path]:
    """Draw one figure per metric: a path to the optimum for each number of features, with what the source prints.

    Parameters
    ----------
    curves : DataFrame
        The table `curves.csv`.
    measures : DataFrame
        The table `measures.csv`; without machines that were stopped, there is no figure.
    config : Config
    folder, formats
        As in `fsvm_cli.report.style.save`.

    Returns
    -------
    list of Path
    """
    gaps = measures[measures["measure"] == DUALITY_GAP]
    if gaps["ranking"].nunique() < MIN_STOPPED_METHODS:
        return []
    key = ["ranking", "train_size", "n_features"]
    shown = curves[(curves["part"] == config.parts[0]) & (curves["train_size"] == curves["train_size"].max())]
    stopped = shown.merge(gaps[[*key, "mean"]].rename(columns={"mean": "gap"}), on=key)
    converged = shown[~shown["ranking"].isin(gaps["ranking"])]
    paths = []
    for metric in config.metrics:
        with figure(1.5 * COLUMN_WIDTH, 3.3) as drawing:
            axes = drawing.add_subplot()
            _draw(axes, stopped[stopped["metric"] == metric], converged[converged["metric"] == metric], config, metric)
            trials = _trials_stopped(stopped, config)
            axes.set_title(
                f"{legible(config.title, MAX_TITLE_CHARACTERS)}\n{trials}; dotted: printed; dashed: at the optimum; "
                "bar: 95 % interval",
                loc="left",
                wrap=True,
            )
            axes.set_xlabel(
                "Relative duality gap where the machines were stopped (largest of all machines);\n"
                "falls to the right, logit scale"
            )
            part = "Test" if config.parts[0] == "test" else "Training"
            axes.set_ylabel(f"{part} {METRIC_TITLES[metric]} (%)")
            drawing.legend(loc="outside lower left", ncols=3)
            paths += save(drawing, folder, f"{metric}-vs-gap", formats)
    return paths


def _trials_stopped(rows: pd.DataFrame, config: Config) -> str:
    n_trials, planned = int(rows["n_trials"].min()), config.protocol.splits
    if config.protocol.is_single_given:
        return "the split of the source"
    return f"{n_trials} splits" if n_trials == planned else f"INCOMPLETE: {n_trials} of {planned} splits"


def _draw(axes: Axes, stopped: pd.DataFrame, converged: pd.DataFrame, config: Config, metric: str) -> None:
    n_all = int(stopped["n_features"].max())
    for number, (size, rows) in enumerate(sorted(stopped.groupby("n_features"), reverse=True)):
        style = series_style(number)
        path = rows.sort_values("gap", ascending=False)
        percent = 100 * path[["mean", "ci_low", "ci_high"]]
        reach = np.nan_to_num([percent["mean"] - percent["ci_low"], percent["ci_high"] - percent["mean"]])
        gaps = path["gap"].clip(*DUALITY_GAP_RANGE)
        axes.errorbar(gaps, percent["mean"], yerr=reach, elinewidth=0.8, label=f"{size} features", **style)
        optimum = converged[converged["n_features"] == size]["mean"]
        for height in 100 * optimum:
            axes.axhline(height, color=style["color"], linewidth=0.8, linestyle="--", zorder=1)
        for height in _printed(config, metric, int(path["n_features"].iloc[0]), n_all):
            axes.axhline(height, color=style["color"], linewidth=1.0, linestyle=":", zorder=1)
    # Most of a path may lie near 1, and its end near 0.
    axes.set_xscale("logit")
    axes.xaxis.set_major_locator(FixedLocator(DUALITY_GAP_TICKS))
    axes.xaxis.set_minor_locator(FixedLocator([]))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda gap, _: f"{gap:g}"))
    begin, end = DUALITY_GAP_RANGE[1], min(MAX_GAP_AT_AXIS_END, float(stopped["gap"].clip(*DUALITY_GAP_RANGE).min()))
    axes.set_xlim(0.5 * (1.0 + begin), 0.5 * end)


def _printed(config: Config, metric: str, size: int, n_all: int) -> Iterator[float]:
    """Yield the printed numbers of a figure of merit at a number of features."""
    for claim in config.expected:
        if isinstance(claim, NumberClaim) and config.paper is not None and claim.id.startswith(config.paper.key):
            places = {(place.metric, place.features) for place in claim.places()}
            if any(each in places for each in ((metric, size), *([(metric, "all")] if size == n_all else []))):
                yield claim.published
