"""The figure of the stability of the selection, below the figure of merit."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from matplotlib.ticker import FixedLocator, FuncFormatter

from fsvm_cli.evaluation.metrics import METRIC_TITLES
from fsvm_cli.report.curves import ticks_among
from fsvm_cli.report.style import COLUMN_WIDTH, LONGEST_TITLE, explain, figure, legible, save, styles_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from fsvm_cli.report.style import Style
    from fsvm_cli.spec.schema import Config

LEAST_SIZES = 3
"""Of what is drawn as a curve."""
MARKS = 31
MAX_TOGETHER = 5
"""So many curves with their bands can be told apart; more have a panel each."""
PANELS_IN_A_ROW = 3


def draw_stability(
    curves: pd.DataFrame, selection: pd.DataFrame, config: Config, folder: Path, formats: Sequence[str]
) -> list[Path]:
    """Draw Nogueira's index of stability against the number of features, with the mean test result.

    Of several training sizes the largest is shown.

    Parameters
    ----------
    curves, selection : DataFrame
        The tables `curves.csv` and `selection.csv`.
    config : Config
    folder, formats
        As in `fsvm_cli.report.style.save`.

    Returns
    -------
    list of Path
        Empty where no curve of the stability has `LEAST_SIZES` points.
    """
    metric = config.metrics[0]
    largest = curves["train_size"].max()
    known = selection[(selection["train_size"] == largest) & selection["stability"].notna()]
    shown = curves[(curves["train_size"] == largest) & (curves["metric"] == metric) & (curves["part"] == "test")]
    if known["n_features"].nunique() < LEAST_SIZES:
        return []
    styles = {label: style for label, style in styles_of(config).items() if label in set(known["ranking"])}
    merit = f"test {METRIC_TITLES[metric]}"
    heading = f"{legible(config.title, LONGEST_TITLE)}\n{largest} training rows; band: 95 % interval of the stability"
    draw = _together if len(styles) <= MAX_TOGETHER else _one_panel_each
    with draw(shown, known, styles, merit, heading) as drawing:
        return save(drawing, folder, "stability-vs-features", formats)


@contextlib.contextmanager
def _together(
    shown: pd.DataFrame, known: pd.DataFrame, styles: Mapping[str, Style], merit: str, heading: str
) -> Iterator[Figure]:
    """Draw the figure of merit above, and the stability below."""
    every = -(-known["n_features"].nunique() // MARKS)
    with figure(COLUMN_WIDTH, 4.4) as drawing:
        upper, lower = drawing.subplots(2, 1, sharex=True, height_ratios=(1, 1))
        handles = []
        for label, its in styles.items():
            style = its.of_line() | {"markevery": every}
            curve = shown[shown["ranking"] == label]
            handles += upper.plot(curve["n_features"], 100 * curve["mean"], label=legible(label), **style)
            _draw_stable(lower, known[known["ranking"] == label], style)
        # A symmetric interval may leave the range that the index can have.
        lower.set_ylim(top=min(lower.get_ylim()[1], 1.05))
        upper.set_ylabel(f"{merit[0].upper()}{merit[1:]} (%)")
        lower.set_ylabel("Stability of the choice\n(1: always the same)")
        lower.set_xlabel("Number of retained features")
        _set_ticks(lower, shown)
        upper.set_title(heading, loc="left", wrap=True)
        explain(drawing, handles)
        yield drawing


@contextlib.contextmanager
def _one_panel_each(
    shown: pd.DataFrame, known: pd.DataFrame, styles: Mapping[str, Style], merit: str, heading: str
) -> Iterator[Figure]:
    """Draw many rankings: each in a panel, with its figure of merit as a share, and all others grey behind it."""
    n_rows = -(-len(styles) // PANELS_IN_A_ROW)
    with figure(2 * COLUMN_WIDTH, 1.0 + 1.4 * n_rows) as drawing:
        all_axes = drawing.subplots(n_rows, PANELS_IN_A_ROW, sharex=True, sharey=True, squeeze=False).ravel()
        for axes, (label, style) in zip(all_axes, styles.items(), strict=False):
            for _, behind in known.groupby("ranking", sort=False):
                axes.plot(behind["n_features"], behind["stability"], color="#cccccc", linewidth=0.7, zorder=1)
            curve = shown[shown["ranking"] == label]
            axes.plot(curve["n_features"], curve["mean"], color=style.colour, linestyle=":", zorder=3)
            _draw_stable(axes, known[known["ranking"] == label], style.of_line() | {"markevery": 1})
            axes.set_title(legible(label), loc="left")
        all_axes[0].set_ylim(top=min(all_axes[0].get_ylim()[1], 1.05))
        _set_ticks(all_axes[0], shown)
        for number, axes in enumerate(all_axes[len(styles) :], start=len(styles)):
            axes.set_visible(False)
            all_axes[number - PANELS_IN_A_ROW].tick_params(labelbottom=True)
        drawing.suptitle(f"{heading}; dotted: {merit} as a share", fontsize=8, x=0.01, ha="left", wrap=True)
        drawing.supxlabel("Number of retained features", fontsize=7.5)
        drawing.supylabel("Stability of the choice (1: always the same)", fontsize=7.5)
        yield drawing


def _draw_stable(axes: Axes, stable: pd.DataFrame, style: dict[str, Any]) -> None:
    axes.plot(stable["n_features"], stable["stability"], **style)
    band = {"color": style["color"], "alpha": 0.2, "linewidth": 0}
    axes.fill_between(stable["n_features"], stable["stability_ci_low"], stable["stability_ci_high"], **band)


def _set_ticks(axes: Axes, shown: pd.DataFrame) -> None:
    axes.xaxis.set_major_locator(FixedLocator(ticks_among(sorted(shown["n_features"].unique()))))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda size, _: f"{size:.0f}"))
