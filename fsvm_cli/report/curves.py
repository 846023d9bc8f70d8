"""Figure of merit against the number of retained features."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from fsvm_cli.evaluation.metrics import METRIC_TITLES
from fsvm_cli.figures import COLUMN_WIDTH, LONGEST_TITLE, figure, legible, save, series_style

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import pandas as pd
    from matplotlib.axes import Axes

    from fsvm_cli.spec.schema import Config

LINE_STYLES: dict[str, Literal["-", "--"]] = {"test": "-", "train": "--"}
PART_NAMES = {"test": "test", "train": "training"}
MAX_MARKED_SIZES = 31
LEAST_POINTS = 3
"""Of a curve that is drawn beside learning curves."""


def draw_curves(curves: pd.DataFrame, config: Config, folder: Path, formats: Sequence[str]) -> list[Path]:
    """Draw one figure per metric and training size; none of two points where learning curves tell the same.

    Parameters
    ----------
    curves : DataFrame
        The table `curves.csv`.
    config : Config
    folder, formats
        As in `fsvm_cli.figures.save`.

    Returns
    -------
    list of Path
    """
    paths: list[Path] = []
    train_sizes = list(curves["train_size"].unique())
    if len(train_sizes) > 1 and curves["n_features"].nunique() < LEAST_POINTS:
        return paths
    for metric in config.metrics:
        for train_size in train_sizes:
            rows = curves[(curves["metric"] == metric) & (curves["train_size"] == train_size)]
            name = f"{metric}-vs-features" + (f"-n{train_size}" if len(train_sizes) > 1 else "")
            with figure(COLUMN_WIDTH, 3.1) as drawing:
                axes = drawing.add_subplot()
                handles = _draw(axes, rows, config)
                axes.set_title(_title(rows, config), loc="left", wrap=True)
                axes.set_xlabel("Number of retained features" + (" or components" if config.extractors else ""))
                part = f"{PART_NAMES[config.parts[0]]} " if len(config.parts) == 1 else ""
                label = f"{part}{METRIC_TITLES[metric]} (%)"
                axes.set_ylabel(label[0].upper() + label[1:])
                drawing.legend(handles=handles, loc="outside lower left", ncols=2, handlelength=2.6)
                paths += save(drawing, folder, name, formats)
    return paths


def _title(rows: pd.DataFrame, config: Config) -> str:
    n_trials, planned = int(rows["n_trials"].min()), config.protocol.splits
    trials = f"{n_trials} splits" if n_trials == planned else f"INCOMPLETE: {n_trials} of {planned} splits"
    if config.protocol.is_given:
        trials = "the split of the source"
    return f"{legible(config.title, LONGEST_TITLE)}\n{trials}, {rows['train_size'].iloc[0]} training rows"


def _draw(axes: Axes, rows: pd.DataFrame, config: Config) -> list[Line2D]:
    """Draw the curves; the handles come in the order in which the curves lie, the upper first."""
    labels = list(dict.fromkeys(rows["ranking"]))
    heights: dict[str, float] = {}
    handles: dict[str, Line2D] = {}
    for number, label in enumerate(labels):
        style = series_style(number)
        for part in config.parts:
            curve = rows[(rows["ranking"] == label) & (rows["part"] == part)]
            x, percent = curve["n_features"], 100 * curve[["mean", "ci_low", "ci_high"]]
            every = -(-len(x) // MAX_MARKED_SIZES)
            axes.plot(
                x,
                percent["mean"],
                linestyle=LINE_STYLES[part],
                markevery=every,
                **(style if part == config.parts[0] else style | {"marker": ""}),
            )
            axes.fill_between(x, percent["ci_low"], percent["ci_high"], color=style["color"], alpha=0.2, linewidth=0)
            if part == config.parts[0]:
                heights[label] = float(percent["mean"].mean())
        handles[label] = Line2D([], [], label=legible(label), **style)
    if config.shares_classifier:
        reference = rows[(rows["part"] == config.parts[0]) & (rows["n_features"] == rows["n_features"].max())]
        axes.axhline(100 * reference["mean"].iloc[0], color="#777777", linewidth=0.7, linestyle=":", zorder=1)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.margins(x=0.02)
    # A symmetric band may leave the range that the figure of merit can have.
    axes.set_ylim(max(axes.get_ylim()[0], 0), min(axes.get_ylim()[1], 101))
    upper_first = [handles[label] for label in sorted(labels, key=lambda label: -heights[label])]
    return upper_first + _key_to_lines(config)


def _key_to_lines(config: Config) -> list[Line2D]:
    key = []
    if len(config.parts) > 1:
        key = [
            Line2D([], [], color="#444444", linestyle=LINE_STYLES[part], label=f"{PART_NAMES[part]} part")
            for part in config.parts
        ]
    if not config.shares_classifier:
        return key
    reference = f"all features, {PART_NAMES[config.parts[0]]} part" if len(config.parts) > 1 else "all features"
    return [*key, Line2D([], [], color="#777777", linewidth=0.7, linestyle=":", label=reference)]
