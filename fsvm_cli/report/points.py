"""Figures where each compared method has one number of features, and against the duality gap of stopped machines."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter

from fsvm_cli.evaluation.metrics import metric_title, unit_of
from fsvm_cli.learners.base import DUALITY_GAP
from fsvm_cli.report.complete_trials import trials_compared
from fsvm_cli.report.curve_table import in_hundredths
from fsvm_cli.report.style import (
    COLOURS,
    COLUMN_WIDTH,
    GREY,
    MARKERS,
    MAX_TITLE_CHARACTERS,
    explain,
    figure,
    legible,
    save,
    steps_of,
    styles_of,
)
from fsvm_cli.spec.claims.base import NumberClaim

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    import pandas as pd
    from matplotlib.axes import Axes

    from fsvm_cli.spec.schema import Config

LABEL_CHARACTERS_PER_LINE = 44


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
        rows = in_hundredths(shown[shown["metric"] == metric], metric)
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
            names = [textwrap.fill(legible(label), LABEL_CHARACTERS_PER_LINE) for label in labels]
            axes.set_yticks(np.arange(len(labels)), names)
            # Points of several training sizes stand beside the line of their compared method, within its half.
            axes.set_ylim(len(labels) - 0.5, -0.5)
            part = "Test" if config.parts[0] == "test" else "Training"
            axes.set_xlabel(f"{part} {metric_title(metric)} ({unit_of(metric).symbol})")
            trials = trials_compared(rows, complete, config)
            axes.set_title(
                f"{legible(config.title, MAX_TITLE_CHARACTERS)}\n{trials}; bar: 95 % interval",
                loc="left",
                wrap=True,
            )
            drawing.legend(loc="outside lower left", ncols=2)
            paths += save(drawing, folder, f"{metric}-compared", formats)
    return paths


MIN_STOPPED_METHODS = 2
"""Of a path to the optimum."""
DUALITY_GAP_RANGE = (1e-8, 0.99999)
"""Gaps beyond, such as 1 of a machine that has hardly begun, are drawn there: the axis reaches neither 0 nor 1."""
MAX_GAP_AT_AXIS_END = 0.5
"""The axis goes at least to here, so that it has numbers where no machine came far."""
PANEL_HEIGHTS = (3.5, 2.0)
"""Inches of the panels: of the figures of merit, and of the gains."""
PATH_COLOURS = ("#444444", "#D55E00", "#0072B2", "#009E73", "#CC79A7")
"""Colours of lines by the number of features; those of points go with the steps."""
DUALITY_GAP_TICKS = (0.9999, 0.99, 0.9, 0.5, 0.1, 0.01, 1e-3, 1e-4, 1e-6)


def draw_convergence(  # noqa: PLR0917 - the tables of a folder, and how it is drawn
    curves: pd.DataFrame,
    changes: pd.DataFrame | None,
    measures: pd.DataFrame,
    config: Config,
    folder: Path,
    formats: Sequence[str],
) -> list[Path]:
    """Draw one figure per metric: a path to the optimum for each number of features, with what the source prints.

    Where the table of changes is given, a second panel shows what is gained on the way by leaving features out.

    Parameters
    ----------
    curves : DataFrame
        The table `curves.csv`.
    changes : DataFrame, optional
        The table `changes.csv`.
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
    paths = []
    for metric in config.metrics:
        rows = _shown(curves, config, metric)
        n_panels = 1 if changes is None else len(PANEL_HEIGHTS)
        with figure(1.5 * COLUMN_WIDTH, sum(PANEL_HEIGHTS[:n_panels])) as drawing:
            panels = drawing.subplots(n_panels, sharex=True, height_ratios=PANEL_HEIGHTS[:n_panels], squeeze=False)[
                :, 0
            ]
            _draw(panels[0], rows, gaps, config, metric)
            part = "Test" if config.parts[0] == "test" else "Training"
            panels[0].set_ylabel(f"{part} {metric_title(metric)} ({unit_of(metric).symbol})")
            signs = "dotted: printed; dashed: at the optimum; bar: 95 % interval"
            if changes is not None:
                _draw_gains(panels[1], _shown(changes, config, metric), gaps, config, metric)
                panels[1].set_ylabel("Gain over\nall features (points)")
                signs += "; thin bar: ± one standard deviation of a trial"
            panels[0].set_title(
                f"{legible(config.title, MAX_TITLE_CHARACTERS)}\n{_trials_stopped(rows, config)}; {signs}",
                loc="left",
                wrap=True,
            )
            of_gain = "" if changes is None else "; of a gain, that of the machines on all features"
            panels[-1].set_xlabel(
                "Relative duality gap where the machines were stopped, logit scale, falls to the right\n"
                f"(largest of all machines{of_gain})"
            )
            explain(drawing, _key_to_paths(sorted(rows["n_features"].unique(), reverse=True), gaps, config), 4)
            paths += save(drawing, folder, f"{metric}-vs-gap", formats)
    return paths


def _shown(table: pd.DataFrame, config: Config, metric: str) -> pd.DataFrame:
    """Pick the rows of a metric on the part that figures show, at the largest training size."""
    is_shown = (table["part"] == config.parts[0]) & (table["train_size"] == table["train_size"].max())
    return in_hundredths(table[is_shown & (table["metric"] == metric)], metric)


def _trials_stopped(rows: pd.DataFrame, config: Config) -> str:
    if config.protocol.is_single_given:
        return "the split of the source"
    return config.protocol.trials_in_words(int(rows["n_trials"].min()))


def _draw(axes: Axes, rows: pd.DataFrame, gaps: pd.DataFrame, config: Config, metric: str) -> None:
    """Draw a path for each number of features; the colour of a point says after how many steps."""
    key = ["ranking", "train_size", "n_features"]
    stopped = rows.merge(gaps[[*key, "mean"]].rename(columns={"mean": "gap"}), on=key)
    converged = rows[~rows["ranking"].isin(gaps["ranking"])]
    n_all = int(rows["n_features"].max())
    for number, (size, points) in enumerate(sorted(stopped.groupby("n_features"), reverse=True)):
        _draw_path(axes, points, number, config)
        printed = _printed(config, metric, int(points["n_features"].iloc[0]), n_all)
        _draw_levels(axes, 100 * converged[converged["n_features"] == size]["mean"], printed, number)
    # Most of a path may lie near 1, and its end near 0.
    axes.set_xscale("logit")
    axes.xaxis.set_major_locator(FixedLocator(DUALITY_GAP_TICKS))
    axes.xaxis.set_minor_locator(FixedLocator([]))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda gap, _: f"{gap:g}"))
    begin, end = DUALITY_GAP_RANGE[1], min(MAX_GAP_AT_AXIS_END, float(stopped["gap"].clip(*DUALITY_GAP_RANGE).min()))
    axes.set_xlim(0.5 * (1.0 + begin), 0.5 * end)


def _draw_gains(axes: Axes, rows: pd.DataFrame, gaps: pd.DataFrame, config: Config, metric: str) -> None:
    """Draw what leaving features out gains, against the gap of the machines on all features."""
    n_all = int(rows["n_features"].max())
    of_all = gaps[gaps["n_features"] == n_all].set_index("ranking")["mean"]
    stopped = rows.assign(gap=rows["ranking"].map(of_all)).dropna(subset=["gap"])
    converged = rows[~rows["ranking"].isin(gaps["ranking"])]
    axes.axhline(0, color=GREY, linewidth=0.7, zorder=1)
    with_all = next(_printed(config, metric, n_all, n_all), None)
    for number, (size, points) in enumerate(sorted(stopped.groupby("n_features"), reverse=True)):
        if size == n_all:
            continue
        spread = 100 * points["std"]
        gaps_shown = points["gap"].clip(*DUALITY_GAP_RANGE)
        axes.errorbar(
            gaps_shown, 100 * points["mean"], yerr=np.nan_to_num(spread), fmt="none", ecolor=GREY, elinewidth=0.6
        )
        _draw_path(axes, points, number, config)
        printed = _printed(config, metric, int(points["n_features"].iloc[0]), n_all)
        of_print = [] if with_all is None else [height - with_all for height in printed]
        _draw_levels(axes, 100 * converged[converged["n_features"] == size]["mean"], of_print, number)


def _draw_path(axes: Axes, points: pd.DataFrame, number: int, config: Config) -> None:
    """Draw the points of one number of features, joined in the order of their steps."""
    steps, styles = steps_of(config), styles_of(config)
    marker, line = MARKERS[number % len(MARKERS)], PATH_COLOURS[number % len(PATH_COLOURS)]
    path = points.assign(steps=points["ranking"].map(steps)).sort_values("steps")
    gaps, percent = path["gap"].clip(*DUALITY_GAP_RANGE), 100 * path[["mean", "ci_low", "ci_high"]]
    axes.plot(gaps, percent["mean"], color=line, linewidth=0.8, zorder=1.5)
    reach = np.nan_to_num([percent["mean"] - percent["ci_low"], percent["ci_high"] - percent["mean"]])
    for index, label in enumerate(path["ranking"]):
        bar = reach[:, index : index + 1]
        at = gaps.iloc[[index]], percent["mean"].iloc[[index]]
        axes.errorbar(*at, yerr=bar, fmt=marker, color=styles[label].colour, elinewidth=1.4, markersize=4.5)


def _draw_levels(axes: Axes, optimum: Iterable[float], printed: Iterable[float], number: int) -> None:
    colour = PATH_COLOURS[number % len(PATH_COLOURS)]
    for heights, line in ((optimum, "--"), (printed, ":")):
        for height in heights:
            axes.axhline(height, color=colour, linewidth=1.0, linestyle=line, zorder=1)


def _key_to_paths(sizes: Sequence[int], gaps: pd.DataFrame, config: Config) -> list[Line2D]:
    """Make the key: a marker for each number of features, then a colour for each number of steps, ascending."""
    styles = styles_of(config)
    of_sizes = [
        Line2D(
            [],
            [],
            color=PATH_COLOURS[number % len(PATH_COLOURS)],
            marker=MARKERS[number % len(MARKERS)],
            label=f"{size} features",
        )
        for number, size in enumerate(sizes)
    ]
    stopped = [label for label in steps_of(config) if label in set(gaps["ranking"])]
    of_steps = [
        Line2D(
            [],
            [],
            color=styles[label].colour,
            marker="|",
            markersize=7,
            markeredgewidth=3,
            linestyle="none",
            label=label,
        )
        for label in map(str, stopped)
    ]
    return of_sizes + of_steps


def _printed(config: Config, metric: str, size: int, n_all: int) -> Iterator[float]:
    """Yield the printed numbers of a figure of merit at a number of features."""
    for claim in config.expected:
        if isinstance(claim, NumberClaim) and config.paper is not None and claim.id.startswith(config.paper.key):
            places = {(place.metric, place.features) for place in claim.places()}
            if any(each in places for each in ((metric, size), *([(metric, "all")] if size == n_all else []))):
                yield claim.published
