"""Learning curves: error, or another figure of merit, against the number of training rows."""

from __future__ import annotations

import contextlib
import itertools
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator

from fsvm_cli.evaluation.metrics import COMPLEMENT_OF, metric_title, unit_of
from fsvm_cli.report.complete_trials import trials_compared
from fsvm_cli.report.curve_table import learning_rows
from fsvm_cli.report.curves import PART_NAMES
from fsvm_cli.report.style import (
    COLOURS,
    COLUMN_WIDTH,
    MAX_TITLE_CHARACTERS,
    explain,
    figure,
    legible,
    save,
    series_style,
    styles_of,
)
from fsvm_cli.spec.rankings import ALL_FEATURES
from fsvm_cli.spec.schema import ORACLE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from fsvm_cli.spec.schema import Config

LOGARITHMIC_FROM_RATIO = 8.0
"""Training sizes that span at least this factor stand on a logarithmic axis."""

MAX_LINES_TOGETHER = 7
"""With more lines, which would be a tangle, each compared method has panels of its own."""
METHODS_PER_ROW = 4
MIN_TICK_GAP_SHARES = (0.075, 0.2)
"""Of the axis, between two training sizes that are named: of one panel, and of several side by side."""
MARK_SPREAD_SHARE = 0.45
"""Of the smallest gap between training sizes: how far the marks of all lines at one of them are spread."""
MAX_GAP_SHARE_OF_AXIS = 0.15
"""As a share of the axis: of few sizes that lie far apart, marks stay at theirs."""

ALL_RELEVANT = 100.0
"""Per cent; where every line stays there, as where all features are relevant, its panel would say nothing."""
MEAN_COLUMNS = ("mean", "ci_low", "ci_high")
ORACLE_STYLE: dict[str, Any] = {"color": "#000000", "marker": "", "linestyle": "--"}
REFERENCE_STYLE: dict[str, Any] = {"color": "#777777", "marker": "", "linestyle": ":"}


class LearningCurve(NamedTuple):
    """A line of a learning curve, in per cent.

    Attributes
    ----------
    label : str
    style : dict
        Of the line and its marks.
    rows : DataFrame
        Columns `train_size`, `mean`, `ci_low`, `ci_high`, ascending by training size.
    """

    label: str
    style: dict[str, Any]
    rows: pd.DataFrame


def draw_learning_curves(  # noqa: PLR0917 - the tables of a folder, and how it is drawn
    curves: pd.DataFrame,
    selection: pd.DataFrame | None,
    complete: Mapping[str, int],
    config: Config,
    folder: Path,
    formats: Sequence[str],
) -> list[Path]:
    """Draw one figure per metric, part of the data and number of retained features, one line per ranking.

    Parameters
    ----------
    curves : DataFrame
        The table `curves.csv`.
    selection : DataFrame or None
        The table `selection.csv`, if there is one: where the relevant features are known, the share of them that is
        found stands below.
    complete : mapping of str to int
        As in `fsvm_cli.report.complete_trials.trials_compared`.
    config : Config
    folder, formats
        As in `fsvm_cli.report.style.save`.

    Returns
    -------
    list of Path
    """
    paths = []
    for metric, part in itertools.product(config.metrics, config.parts):
        for size, rows in learning_rows(curves[(curves["metric"] == metric) & (curves["part"] == part)], config):
            lines = [_in_its_unit(line, metric) for line in _lines(rows, config)]
            recovered = [] if selection is None else _recovery(selection, size, config)
            if all((line.rows["mean"] == ALL_RELEVANT).all() for line in recovered):
                recovered = []
            name = f"{COMPLEMENT_OF.get(metric, metric)}-vs-training-rows"
            name += (f"-{size}-features" if config.rankings else "") + ("" if part == "test" else "-training-part")
            title = metric_title(metric).replace("accuracy", "error")
            quantity = f"{PART_NAMES[part].capitalize()} {title} ({unit_of(metric).symbol})"
            heading = _title(rows, size, complete, config)
            draw = _panels if len(lines) <= MAX_LINES_TOGETHER else _panels_of_each
            with draw(lines, recovered, heading, quantity) as drawing:
                paths += save(drawing, folder, name, formats)
    return paths


@contextlib.contextmanager
def _panels(
    lines: Sequence[LearningCurve], recovered: Sequence[LearningCurve], heading: str, quantity: str
) -> Iterator[Figure]:
    """Draw a panel for the figure of merit, and below it one for the relevant features where these are known."""
    with figure(COLUMN_WIDTH, 4.6 if recovered else 3.4) as drawing:
        heights = (5, 3) if recovered else (1,)
        all_axes = drawing.subplots(len(heights), 1, sharex=True, squeeze=False, height_ratios=heights)[:, 0]
        handles = _draw(all_axes[0], lines)
        all_axes[0].set_title(heading, loc="left", wrap=True)
        all_axes[0].set_ylabel(quantity)
        if recovered:
            _draw(all_axes[1], recovered)
            all_axes[1].set_ylabel("Relevant among\nthe kept (%)")
            all_axes[1].set_ylim(-3, 103)
        all_axes[-1].set_xlabel(f"Number of training rows{_scale(all_axes[-1])}")
        explain(drawing, handles)
        yield drawing


@contextlib.contextmanager
def _panels_of_each(
    lines: Sequence[LearningCurve], recovered: Sequence[LearningCurve], heading: str, quantity: str
) -> Iterator[Figure]:
    """Draw each compared method in panels of its own, with the oracle and all features, and the others grey behind."""
    references = [line for line in lines if not line.style["marker"]]
    methods = [line for line in lines if line.style["marker"]]
    shares = {line.label: line for line in recovered}
    heights = (5, 3) if recovered else (1,)
    n_rows = -(-len(methods) // METHODS_PER_ROW)
    with figure(2 * COLUMN_WIDTH, 0.9 + (2.4 if recovered else 1.6) * n_rows) as drawing:
        grid = drawing.subplots(
            len(heights) * n_rows, METHODS_PER_ROW, sharex=True, squeeze=False, height_ratios=heights * n_rows
        )
        for axes in grid.ravel()[1:]:
            axes.label_outer(remove_inner_ticks=False)
        uppers: list[Axes] = list(grid[:: len(heights)].ravel())
        lowers: list[Axes] = list(grid[1::2].ravel()) if recovered else []
        for number, (upper, method) in enumerate(zip(uppers, methods, strict=False)):
            _draw_one_of_many(upper, method, methods)
            handles = _draw(upper, [*references, method], MIN_TICK_GAP_SHARES[1])
            upper.set_title(legible(method.label), loc="left")
            if recovered:
                _draw_one_of_many(lowers[number], shares[method.label], recovered)
                _draw(lowers[number], [shares[method.label]], MIN_TICK_GAP_SHARES[1])
                lowers[number].set_ylim(-3, 103)
        top = max(axes.get_ylim()[1] for axes in uppers[: len(methods)])
        for axes in uppers:
            axes.set_ylim(0, top)
        for axes in (*uppers[len(methods) :], *lowers[len(methods) :]):
            axes.set_visible(False)
        for axes in uppers[::METHODS_PER_ROW]:
            axes.set_ylabel(quantity)
        for axes in lowers[::METHODS_PER_ROW]:
            axes.set_ylabel("Relevant among\nthe kept (%)")
        drawing.suptitle(f"{heading}; grey: the other methods", fontsize=8, x=0.01, ha="left", wrap=True)
        drawing.supxlabel(f"Number of training rows{_scale(uppers[0])}", fontsize=7.5)
        named = {line.label for line in references}
        explain(drawing, [handle for handle in handles if handle.get_label() in named], 4)
        yield drawing


def _draw_one_of_many(axes: Axes, shown: LearningCurve, lines: Sequence[LearningCurve]) -> None:
    for line in lines:
        if line.label != shown.label:
            axes.plot(line.rows.index, line.rows["mean"], color="#cccccc", linewidth=0.7, zorder=1)


def _scale(axes: Axes) -> str:
    return " (logarithmic)" if axes.get_xscale() == "log" else ""


def _title(rows: pd.DataFrame, size: int, complete: Mapping[str, int], config: Config) -> str:
    splits = trials_compared(rows, complete, config)
    kept = f"{size} feature{'s' if size > 1 else ''} kept, " if config.rankings else ""
    return f"{legible(config.title, MAX_TITLE_CHARACTERS)}\n{kept}{splits}, 95 % intervals"


def _lines(rows: pd.DataFrame, config: Config) -> list[LearningCurve]:
    """List the lines: each compared method at a number of features, and all features where they share a machine."""
    labels = dict.fromkeys(rows["ranking"])
    means = rows.set_index(["ranking", "train_size"])[[*MEAN_COLUMNS]]
    return [
        LearningCurve(label, _style(number, label, config), means.loc[label]) for number, label in enumerate(labels)
    ]


def _style(number: int, label: str, config: Config) -> dict[str, Any]:
    if config.oracle is not None and label == ORACLE:
        return ORACLE_STYLE
    if config.rankings and label == ALL_FEATURES:
        return REFERENCE_STYLE
    if (style := styles_of(config).get(label)) is not None:
        return {"color": style.colour, "marker": style.marker, "linestyle": style.line}
    return series_style(number) | {"linestyle": "-" if number < len(COLOURS) else "-."}


def _in_its_unit(line: LearningCurve, metric: str) -> LearningCurve:
    percent = unit_of(metric).factor * line.rows
    if metric in COMPLEMENT_OF:
        percent = (100 - percent).rename(columns={"ci_low": "ci_high", "ci_high": "ci_low"})
    return line._replace(rows=percent)


def _recovery(selection: pd.DataFrame, size: int, config: Config) -> list[LearningCurve]:
    """List the lines of the share of the relevant features that each ranking keeps; none where they are not known."""
    known = selection[(selection["n_features"] == size) & selection["recovered"].notna()]
    labels = dict.fromkeys(selection["ranking"])
    styles = {label: _style(number, label, config) for number, label in enumerate(labels)}
    shares = 100 * known.set_index(["ranking", "train_size"])[["recovered", "recovered_ci_low", "recovered_ci_high"]]
    shares.columns = [*MEAN_COLUMNS]
    return [
        LearningCurve(str(label), styles[label], of_label.droplevel(0).sort_index())
        for label, of_label in shares.groupby("ranking", sort=False)
    ]


def _draw(axes: Axes, lines: Sequence[LearningCurve], least_gap: float = MIN_TICK_GAP_SHARES[0]) -> list[Any]:
    """Draw lines whose marks stand side by side at each training size; the handles come the upper line first."""
    train_sizes = np.unique(np.concatenate([line.rows.index.to_numpy(dtype=float) for line in lines]))
    if train_sizes[-1] >= LOGARITHMIC_FROM_RATIO * train_sizes[0]:
        axes.set_xscale("log")
    axes.xaxis.set_major_locator(FixedLocator(train_sizes.tolist()))
    axes.xaxis.set_major_formatter(FixedFormatter(_named(axes, train_sizes, least_gap)))
    axes.xaxis.set_minor_locator(NullLocator())
    handles = []
    for number, line in enumerate(lines):
        x = _beside(axes, line.rows.index.to_numpy(dtype=float), train_sizes, (number + 0.5) / len(lines) - 0.5)
        mean = line.rows["mean"].to_numpy()
        reach = np.maximum([mean - line.rows["ci_low"], line.rows["ci_high"] - mean], 0)
        label = legible(line.label) + (" (no machine)" if np.isnan(mean).all() else "")
        bars = axes.errorbar(x, mean, yerr=reach, label=label, elinewidth=0.6, **line.style)
        handles.append((-float(np.mean(mean)), number, bars))
    # A symmetric interval may leave the range that a share can have.
    axes.set_ylim(0, min(axes.get_ylim()[1], 103))
    return [bars for _, _, bars in sorted(handles, key=lambda each: each[:2])]


def _named(axes: Axes, train_sizes: NDArray[np.float64], least_gap: float) -> list[str]:
    """Name training sizes, the largest first, but for those that lie too near to one that is named."""
    shown = axes.xaxis.get_transform().transform(train_sizes)
    names, last = [], np.inf
    for size, at in zip(train_sizes[::-1], shown[::-1], strict=True):
        has_room = last - at >= least_gap * np.ptp(shown)
        names.append(f"{size:g}" if has_room else "")
        last = at if has_room else last
    return names[::-1]


def _beside(axes: Axes, x: NDArray[np.float64], train_sizes: NDArray[np.float64], shift: float) -> NDArray[np.float64]:
    """Move places a little, by a share of the smallest gap between training sizes, or of the axis, as it shows them."""
    to_axis = axes.xaxis.get_transform()
    shown = to_axis.transform(train_sizes)
    gap = min(np.diff(shown).min(), MAX_GAP_SHARE_OF_AXIS * np.ptp(shown)) if len(shown) > 1 else 0.0
    moved: NDArray[np.float64] = to_axis.inverted().transform(to_axis.transform(x) + MARK_SPREAD_SHARE * shift * gap)
    return moved
