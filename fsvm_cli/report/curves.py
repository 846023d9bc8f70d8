"""Figures of merit, and the stability of the selection, against the number of retained features."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter

from fsvm_cli.evaluation.metrics import direction, metric_title, needs_scores, range_of, unit_of
from fsvm_cli.report.complete_trials import without_trials
from fsvm_cli.report.curve_table import in_hundredths
from fsvm_cli.report.style import (
    CELL_INCHES,
    COLUMN_WIDTH,
    MAX_TITLE_CHARACTERS,
    PLAIN,
    Style,
    draw_cells,
    explain,
    figure,
    legible,
    save,
    shades_of_losses,
    steps_of,
    styles_of,
)
from fsvm_cli.spec.claims.kinds.counts import CountClaim
from fsvm_cli.spec.claims.kinds.numbers import BestOfClaim, SingleRunClaim, ValueClaim
from fsvm_cli.spec.rankings import ALL_FEATURES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from fsvm_cli.report.style import Line
    from fsvm_cli.spec.schema import Config


class PrintedPoint(NamedTuple):
    """A printed figure of merit at a number of features, in per cent, with its printed standard deviation, if any."""

    label: str
    n_features: int
    percent: float
    sd: float | None


class PrintedSizes(NamedTuple):
    """A printed size of the best subset of a ranking, or a range of sizes."""

    label: str
    low: int
    high: int


def printed_points(
    config: Config, metric: str, train_size: int, *, largest: int, n_features: int
) -> list[PrintedPoint]:
    """List what the claims of a config print of a figure of merit, each once.

    Parameters
    ----------
    config : Config
    metric : str
    train_size : int
        Of the figure; a claim that names none speaks of the largest.
    largest : int
        The largest training size.
    n_features : int
        All of them.
    """
    points = []
    for claim in config.expected:
        if isinstance(claim, ValueClaim | SingleRunClaim):
            at, sd = claim.at, getattr(claim, "published_sd", None)
            if (at.metric, at.part) != (metric, config.parts[0]) or (at.train_size or largest) != train_size:
                continue
            features, label = at.features, at.ranking
        elif isinstance(claim, BestOfClaim) and (claim.metric, train_size) == (metric, largest):
            # Whichever of the named methods was best.
            features, label, sd = claim.features, ALL_FEATURES, None
        else:
            continue
        if not isinstance(features, tuple):
            points.append(PrintedPoint(label, n_features if features == "all" else features, claim.published, sd))
    return list(dict.fromkeys(points))


def printed_sizes(config: Config, metric: str) -> list[PrintedSizes]:
    """List the sizes of best subsets that the claims of a config print."""
    counts = (claim for claim in config.expected if isinstance(claim, CountClaim) and claim.metric == metric)
    return [PrintedSizes(claim.ranking, min(claim.published), max(claim.published)) for claim in counts]


MAX_TABLE_ROWS = 6
"""Up to this many numbers of features, listed in the config, are rows of a table without connecting lines."""
POINTS_SHARE_OF_ROW = 0.64
"""Share of the space between two table rows that points side by side span."""
MAX_SIZE_TICKS = 9
MIN_TICK_GAP_SHARE = 0.09
"""Of the axis, between two ticks that are named."""


class SizeAxis(NamedTuple):
    """Where numbers of features lie on the horizontal axis."""

    is_table: bool
    sizes: tuple[int, ...]

    @property
    def scale(self) -> str:
        """What a label of the axis adds where it is not linear."""
        if self.is_table:
            return "" if len(self.sizes) < MIN_CURVE_POINTS else " (not to scale)"
        return " (logarithmic)" if is_logarithmic(self.sizes) else ""

    def positions(self, n_features: Iterable[int]) -> list[float]:
        """Give the positions of numbers of features: themselves on a scale, their rows in a table."""
        return [float(self.sizes.index(size)) if self.is_table else float(size) for size in n_features]

    @classmethod
    def of(cls, config: Config, rows: pd.DataFrame) -> Self:
        """Give the axis of the rows of a table: a scale, or a few rows where sizes were chosen one by one."""
        sizes = tuple(sorted(rows["n_features"].unique()))
        return cls(config.subsets != "all" and len(sizes) <= MAX_TABLE_ROWS, sizes)

    def beside(self, label: str, labels: Sequence[str]) -> float:
        """Give the offset of a point from the middle of its row, where points of several labels stand side by side."""
        if not self.is_table or label not in labels:
            return 0.0
        return POINTS_SHARE_OF_ROW * ((labels.index(label) + 0.5) / len(labels) - 0.5)


LOGARITHMIC_FACTOR = 500
"""From the least to the largest number of features, from which on their axis is logarithmic."""
MIN_LOGARITHMIC_TICK_GAP_SHARE = 0.15
"""As `MIN_TICK_GAP_SHARE`, of a logarithmic axis, whose numbers are longer where it ends."""


def is_logarithmic(sizes: Sequence[int]) -> bool:
    """Say whether numbers of features, ascending, reach so far that small ones would lie on one line."""
    return len(sizes) >= MIN_CURVE_POINTS and sizes[-1] >= LOGARITHMIC_FACTOR * sizes[0]


def mark_sizes(axes: Axes, sizes: Sequence[int]) -> None:
    """Name some of the numbers of features, ascending, on a scale that tells them apart."""
    if is_logarithmic(sizes):
        axes.set_xscale("log")
        axes.xaxis.set_minor_locator(FixedLocator([]))
    axes.xaxis.set_major_locator(FixedLocator(ticks_among(sizes)))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda size, _: f"{size:.0f}"))


def ticks_among(sizes: Sequence[int]) -> list[float]:
    """Choose some of the measured sizes as ticks: the last, and others as evenly as they come.

    Parameters
    ----------
    sizes : sequence of int
        Ascending.
    """
    if is_logarithmic(sizes):
        least_factor = (sizes[-1] / sizes[0]) ** MIN_LOGARITHMIC_TICK_GAP_SHARE
        logarithmic = [float(sizes[-1])]
        for size in sizes[::-1]:
            if logarithmic[-1] >= least_factor * size:
                logarithmic.append(float(size))
        return logarithmic[::-1]
    span = max(sizes[-1] - sizes[0], 1)
    wanted = np.linspace(sizes[0], sizes[-1], min(MAX_SIZE_TICKS, len(sizes)))
    nearest = sorted({min(sizes, key=lambda size, at=at: abs(size - at)) for at in wanted}, reverse=True)  # type: ignore[misc]
    chosen: list[float] = []
    for size in nearest:
        if not chosen or chosen[-1] - size >= MIN_TICK_GAP_SHARE * span:
            chosen.append(float(size))
    return chosen[::-1]


LINE_STYLES: dict[str, Literal["-", "--"]] = {"test": "-", "train": "--"}
PART_NAMES = {"test": "test", "train": "training"}
MAX_MARKED_SIZES = 31

GREY = "#777777"
PUBLISHED_STYLE: dict[str, Any] = {
    "marker": "*",
    "markersize": 7.5,
    "markerfacecolor": "none",
    "linestyle": "none",
    "zorder": 5,
}
MAX_TABLE_SERIES = 7
"""With more series, whose points would lie in a heap, a table of sizes is a heat map."""
MAX_CURVES_PER_PANEL = 5
"""With more curves, whose bands overlap, each has a panel."""
MIN_CURVE_POINTS = 3
"""Fewest points of a curve: of merit where learning curves are drawn, too, and of the stability."""
CLASS_COMPONENT_METHODS = frozenset({"lda"})
CHANGE_TICKS = (-50, -20, -10, -5, -2, -1, -0.5, 0, 0.5, 1, 2, 5, 10, 20, 50)
"""Points that the axis of changes names; between -1 and 1 it is linear, beyond logarithmic."""


def existing_components(curves: pd.DataFrame, config: Config, n_classes: int) -> pd.DataFrame:
    """Leave out what linear discriminants do not have: one less of them exists than there are classes."""
    largest = min((size for size in curves["n_features"].unique() if size >= n_classes - 1), default=None)
    of_classes = [each.label for each in config.extractors if each.method in CLASS_COMPONENT_METHODS]
    if largest is None or not of_classes:
        return curves
    do_not_exist = curves["ranking"].isin(of_classes) & (curves["n_features"] > largest)
    existing: pd.DataFrame = curves[~do_not_exist]
    return existing


def draw_curves(curves: pd.DataFrame, config: Config, folder: Path, formats: Sequence[str]) -> list[Path]:
    """Draw one figure per metric and training size, with what the source prints of it.

    Curves of fewer than `MIN_CURVE_POINTS` points are left to the learning curves of the experiment.

    Parameters
    ----------
    curves : DataFrame
        The table `curves.csv`.
    config : Config
    folder, formats
        As in `fsvm_cli.report.style.save`.

    Returns
    -------
    list of Path
    """
    paths: list[Path] = []
    if len(config.protocol.train) > 1 and curves["n_features"].nunique() < MIN_CURVE_POINTS:
        return paths
    for metric, shares, suffix in _figures_of(curves, config):
        rows = in_hundredths(shares, metric)
        sizes = SizeAxis.of(config, rows)
        ordinate = f"{_part(config)}{metric_title(metric)} ({unit_of(metric).symbol})"
        if rows["ranking"].nunique() > MAX_TABLE_SERIES and sizes.is_table:
            printed = _printed_in(rows, config, metric, int(curves["train_size"].max()))
            with _heat_map(rows, config, sizes, printed) as drawing:
                paths += save(drawing, folder, f"{metric}-vs-features{suffix}", formats)
            continue
        if rows["ranking"].nunique() > MAX_CURVES_PER_PANEL and not sizes.is_table:
            with _one_panel_each(rows, config, sizes, ordinate) as drawing:
                paths += save(drawing, folder, f"{metric}-vs-features{suffix}", formats)
            continue
        with figure(COLUMN_WIDTH, 3.3) as drawing:
            axes = drawing.add_subplot()
            handles = _draw(axes, rows, config, sizes)
            printed = _printed_in(rows, config, metric, int(curves["train_size"].max()))
            handles += _draw_printed(axes, rows, config, sizes, metric, printed)
            # A symmetric band may leave the range that the figure of merit can have.
            axes.set_ylim(max(axes.get_ylim()[0], 0), min(axes.get_ylim()[1], 101 * range_of(metric)[1]))
            _label(axes, rows, config, sizes, ordinate)
            explain(drawing, handles)
            paths += save(drawing, folder, f"{metric}-vs-features{suffix}", formats)
    return paths


@contextlib.contextmanager
def _one_panel_each(rows: pd.DataFrame, config: Config, sizes: SizeAxis, ordinate: str) -> Iterator[Figure]:
    """Draw many curves: each with its band in a panel of its own, and all others thin and grey behind it."""
    labels = list(dict.fromkeys(rows["ranking"]))
    styles = styles_of(config)
    shown = rows[rows["part"] == config.parts[0]]
    n_rows = -(-len(labels) // 2)
    with figure(2 * COLUMN_WIDTH, 0.9 + 1.5 * n_rows) as drawing:
        all_axes = drawing.subplots(n_rows, 2, sharex=True, sharey=True, squeeze=False).ravel()
        for axes, label in zip(all_axes, labels, strict=False):
            for other in labels:
                behind = shown[shown["ranking"] == other]
                axes.plot(behind["n_features"], 100 * behind["mean"], color="#cccccc", linewidth=0.7, zorder=1)
            curve = shown[shown["ranking"] == label]
            _draw_one(axes, curve["n_features"].to_numpy(dtype=np.float64), curve, styles.get(label, PLAIN))
            axes.set_title(legible(label), loc="left")
            mark_sizes(axes, sizes.sizes)
        for axes in all_axes[len(labels) :]:
            axes.set_visible(False)
            all_axes[len(labels) - 2].tick_params(labelbottom=True)
        drawing.suptitle(_title(rows, config, sizes), fontsize=8, x=0.01, ha="left", wrap=True)
        drawing.supxlabel(_abscissa(config, sizes), fontsize=7.5)
        drawing.supylabel(ordinate[0].upper() + ordinate[1:], fontsize=7.5)
        yield drawing


@contextlib.contextmanager
def _heat_map(rows: pd.DataFrame, config: Config, sizes: SizeAxis, printed: Sequence[PrintedPoint]) -> Iterator[Figure]:
    """Draw many series of a table: a row for each, the best mean on top, with a cell for each size."""
    shown = rows[rows["part"] == config.parts[0]]
    cells = 100 * shown.set_index(["ranking", "n_features"])[["mean", "ci_low", "ci_high"]]
    tables = [cells[column].unstack().reindex(columns=list(sizes.sizes)) for column in cells]
    steps, labels = steps_of(config), list(tables[0].index)
    means, low, high = (table.to_numpy(dtype=np.float64) for table in tables)
    metric = str(rows["metric"].iloc[0])
    merits = direction(metric) * means
    in_order = sorted(range(len(labels)), key=lambda row: steps.get(labels[row], -float(np.nanmean(merits[row]))))
    order = [labels[row] for row in in_order]
    published = {(point.label, point.n_features): f" [{point.percent:.1f}]" for point in printed}
    texts = [
        [
            _cell(means[row, column], (high[row, column] - low[row, column]) / 2)
            + published.get((labels[row], size), "")
            for column, size in enumerate(sizes.sizes)
        ]
        for row in in_order
    ]
    with figure(2 * COLUMN_WIDTH, 1.1 + CELL_INCHES * len(order)) as drawing:
        axes = drawing.add_subplot()
        draw_cells(axes, shades_of_losses(np.nanmax(merits, axis=0) - merits[in_order]), texts)
        axes.set_xticks(np.arange(len(sizes.sizes)) + 0.5, [str(size) for size in sizes.sizes])
        axes.set_yticks(np.arange(len(order)) + 0.5, [legible(label) for label in order])
        quantity = f"{PART_NAMES[config.parts[0]].capitalize()} {metric_title(metric)} ({unit_of(metric).symbol})"
        brackets = "; in brackets: published" if published else ""
        side = "below" if direction(metric) > 0.0 else "above"
        quantity += f"; the darker, the further {side} the best of its column{brackets}"
        title = f"{_title(rows, config, sizes, '±')}\n{quantity}"
        drawing.suptitle(title, fontsize=8, x=0.01, ha="left", wrap=True)
        axes.set_xlabel(_abscissa(config, sizes))
        yield drawing


def _cell(mean: float, reach: float) -> str:
    if np.isnan(mean):
        return ""
    return f"{mean:.1f}" if np.isnan(reach) else f"{mean:.1f} ± {reach:.1f}"


def draw_changes(changes: pd.DataFrame, config: Config, folder: Path, formats: Sequence[str]) -> list[Path]:
    """Draw the curves as changes against all features, so that a rise of less than a point can be seen.

    Parameters
    ----------
    changes : DataFrame
        The table `changes.csv`.
    config, folder, formats
        As in `draw_curves`.

    Returns
    -------
    list of Path
    """
    paths = []
    for metric, rows, suffix in _figures_of(changes, config):
        with figure(COLUMN_WIDTH, 3.3) as drawing:
            axes = drawing.add_subplot()
            sizes = SizeAxis.of(config, rows)
            axes.set_yscale("symlog", linthresh=1)  # before the points, which its margins then leave whole
            handles = _draw(axes, rows, config, sizes)
            low, high = axes.get_ylim()
            axes.yaxis.set_major_locator(FixedLocator([tick for tick in CHANGE_TICKS if low <= tick <= high]))
            axes.yaxis.set_minor_locator(FixedLocator([]))
            axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:+g}" if value else "0"))
            quantity = f"change of {_part(config)}{metric_title(metric)} ({unit_of(metric).point})"
            _label(axes, rows, config, sizes, f"{quantity}\nlinear to ±1, logarithmic beyond")
            explain(drawing, handles)
            paths += save(drawing, folder, f"{metric}-change-vs-features{suffix}", formats)
    return paths


def _figures_of(table: pd.DataFrame, config: Config) -> list[tuple[str, pd.DataFrame, str]]:
    """List the figures of a table: metric, rows, and what the name ends in."""
    train_sizes = list(table["train_size"].unique())
    return [
        (
            metric,
            table[(table["metric"] == metric) & (table["train_size"] == train_size)],
            f"-n{train_size}" if len(train_sizes) > 1 else "",
        )
        for metric in config.metrics
        for train_size in train_sizes
    ]


def _part(config: Config) -> str:
    return f"{PART_NAMES[config.parts[0]]} " if len(config.parts) == 1 else ""


def _label(axes: Axes, rows: pd.DataFrame, config: Config, sizes: SizeAxis, ordinate: str) -> None:
    axes.set_title(_title(rows, config, sizes), loc="left", wrap=True)
    axes.set_xlabel(_abscissa(config, sizes))
    axes.set_ylabel(ordinate[0].upper() + ordinate[1:])


def _abscissa(config: Config, sizes: SizeAxis) -> str:
    return f"Number of retained features{' or components' if config.extractors else ''}{sizes.scale}"


def _title(rows: pd.DataFrame, config: Config, sizes: SizeAxis, sign: str = "bar") -> str:
    n_trials = int(rows["n_trials"][rows["mean"].notna()].min())  # not of sizes beyond the end of a curve
    trials = config.protocol.trials_in_words(n_trials)
    if config.protocol.is_given:
        trials = "the split of the source" if config.protocol.is_single_given else f"{trials} of the source"
    trials += without_trials(config, rows["ranking"])
    heading = f"{legible(config.title, MAX_TITLE_CHARACTERS)}\n{trials}, {rows['train_size'].iloc[0]} training rows"
    sign, metric = sign if sizes.is_table else "band", str(rows["metric"].iloc[0])
    return f"{heading}\n{_meaning_of_interval(config, n_trials, sign, metric)}"


def _meaning_of_interval(config: Config, n_trials: int, sign: str, metric: str) -> str:
    """Name the interval that a band or a bar shows."""
    if config.protocol.is_single_given:
        return f"{sign}: 95 % interval, {'for other' if needs_scores(metric) else 'bootstrap over the'} test rows"
    over = f"{sign}: 95 % interval of the mean over the {config.protocol.trials}"
    if config.protocol.is_bootstrap:
        over = f"accuracy: .632+ estimate; {over}"
    return over if n_trials > 1 else "a single split: no interval"


def _draw(axes: Axes, rows: pd.DataFrame, config: Config, sizes: SizeAxis) -> list[Line2D]:
    """Draw the curves, or the points of a table.

    The handles come in the order in which the curves lie, the upper first; those of stopped machines by their steps.
    """
    styles = styles_of(config)
    labels = list(dict.fromkeys(rows["ranking"]))
    heights: dict[str, float] = {}
    handles: dict[str, Line2D] = {}
    for label in labels:
        style = styles.get(label, PLAIN)
        for part in config.parts:
            curve = rows[(rows["ranking"] == label) & (rows["part"] == part)]
            line = LINE_STYLES[part] if len(config.parts) > 1 else style.line
            positions = np.array(sizes.positions(curve["n_features"])) + sizes.beside(label, labels)
            marker = style.marker if part == config.parts[0] else ("_" if sizes.is_table else "")
            _draw_one(axes, positions, curve, style._replace(line="none" if sizes.is_table else line, marker=marker))
            if part == config.parts[0]:
                heights[label] = float(curve["mean"].mean())
        in_key: Line = "none" if sizes.is_table else (style.line if len(config.parts) == 1 else "-")
        handles[label] = Line2D([], [], color=style.colour, marker=style.marker, linestyle=in_key, label=legible(label))
    if config.shares_classifier:
        reference = rows[(rows["part"] == config.parts[0]) & (rows["n_features"] == rows["n_features"].max())]
        axes.axhline(100 * reference["mean"].iloc[0], color=GREY, linewidth=0.7, linestyle=":", zorder=1)
    if sizes.is_table:
        axes.set_xticks(range(len(sizes.sizes)), [str(size) for size in sizes.sizes])
        axes.margins(x=0.08)
    else:
        mark_sizes(axes, sizes.sizes)
        axes.margins(x=0.02)
    steps = steps_of(config)
    in_order = sorted(labels, key=lambda label: steps[label] if label in steps else -heights[label])
    return [handles[label] for label in in_order] + _key_to_lines(config)


def _draw_one(axes: Axes, positions: np.ndarray, curve: pd.DataFrame, style: Style) -> None:
    percent = 100 * curve[["mean", "ci_low", "ci_high"]]
    if style.line == "none":
        mean = percent["mean"].to_numpy()
        reach = np.nan_to_num([mean - percent["ci_low"].to_numpy(), percent["ci_high"].to_numpy() - mean])
        axes.errorbar(positions, percent["mean"], yerr=reach, fmt=style.marker, color=style.colour, elinewidth=0.9)
        return
    every = -(-len(positions) // MAX_MARKED_SIZES)
    axes.plot(
        positions, percent["mean"], color=style.colour, linestyle=style.line, marker=style.marker, markevery=every
    )
    axes.fill_between(positions, percent["ci_low"], percent["ci_high"], color=style.colour, alpha=0.2, linewidth=0)


def _printed_in(rows: pd.DataFrame, config: Config, metric: str, largest: int) -> list[PrintedPoint]:
    """List what the source prints at the numbers of features of a figure."""
    train_size, n_features = int(rows["train_size"].iloc[0]), int(rows["n_features"].max())
    points = printed_points(config, metric, train_size, largest=largest, n_features=n_features)
    return [point for point in points if point.n_features in set(rows["n_features"])]


def _draw_printed(  # noqa: PLR0917 - what a figure shows, and of what
    axes: Axes, rows: pd.DataFrame, config: Config, sizes: SizeAxis, metric: str, points: Sequence[PrintedPoint]
) -> list[Line2D]:
    """Draw what the source prints: points in the colours of their methods, and sizes of best subsets as bands."""
    styles = styles_of(config)
    labels = list(dict.fromkeys(rows["ranking"]))
    for point in points:
        (position,) = sizes.positions([point.n_features])
        _draw_point(axes, position + sizes.beside(point.label, labels), point, styles.get(point.label, PLAIN).colour)
    handles = []
    if points:
        with_sd = " ± s.d." if any(point.sd for point in points) else ""
        handles.append(Line2D([], [], markeredgecolor=PLAIN.colour, label=f"published{with_sd}", **PUBLISHED_STYLE))
    counts = printed_sizes(config, metric)
    for count in counts:
        colour = styles.get(count.label, PLAIN).colour
        axes.axvspan(count.low - 0.25, count.high + 0.25, color=colour, alpha=0.35, linewidth=0, zorder=0)
    if counts:
        swatch: dict[str, Any] = {"marker": "s", "markersize": 7, "linestyle": "none", "alpha": 0.35}
        handles.append(Line2D([], [], color=PLAIN.colour, label="published size of best subset", **swatch))
    return handles


def _draw_point(axes: Axes, position: float, point: PrintedPoint, colour: str) -> None:
    if point.sd:
        axes.errorbar(position, point.percent, yerr=point.sd, fmt="none", ecolor=colour, elinewidth=0.9, capsize=2.5)
    axes.plot([position], [point.percent], markeredgecolor=colour, **PUBLISHED_STYLE)


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
    return [*key, Line2D([], [], color=GREY, linewidth=0.7, linestyle=":", label=reference)]


STABILITY_PANELS_PER_ROW = 3


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
        Empty where no curve of the stability has `MIN_CURVE_POINTS` points.
    """
    metric = config.metrics[0]
    largest = curves["train_size"].max()
    known = selection[(selection["train_size"] == largest) & selection["stability"].notna()]
    shown = curves[(curves["train_size"] == largest) & (curves["metric"] == metric) & (curves["part"] == "test")]
    shown = in_hundredths(shown, metric)
    if known["n_features"].nunique() < MIN_CURVE_POINTS:
        return []
    styles = {label: style for label, style in styles_of(config).items() if label in set(known["ranking"])}
    merit = f"test {metric_title(metric)}"
    is_map = len(styles) > MAX_TABLE_SERIES and SizeAxis.of(config, known).is_table
    heading = (
        f"{legible(config.title, MAX_TITLE_CHARACTERS)}\n"
        f"{largest} training rows; {'±' if is_map else 'band'}: 95 % interval of the stability"
    )
    if is_map:
        with _stability_map(known, list(styles), heading) as drawing:
            return save(drawing, folder, "stability-vs-features", formats)
    draw = _stability_together if len(styles) <= MAX_CURVES_PER_PANEL else _one_stability_panel_each
    with draw(shown, known, styles, merit, heading) as drawing:
        return save(drawing, folder, "stability-vs-features", formats)


@contextlib.contextmanager
def _stability_together(
    shown: pd.DataFrame, known: pd.DataFrame, styles: Mapping[str, Style], merit: str, heading: str
) -> Iterator[Figure]:
    """Draw the figure of merit above, and the stability below."""
    every = -(-known["n_features"].nunique() // MAX_MARKED_SIZES)
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
        upper.set_ylabel(f"{merit[0].upper()}{merit[1:]} ({unit_of(shown['metric'].iloc[0]).symbol})")
        lower.set_ylabel("Stability of the choice\n(1: always the same)")
        sizes = SizeAxis(is_table=False, sizes=tuple(sorted(shown["n_features"].unique())))
        lower.set_xlabel(f"Number of retained features{sizes.scale}")
        mark_sizes(lower, sizes.sizes)
        upper.set_title(heading, loc="left", wrap=True)
        explain(drawing, handles)
        yield drawing


@contextlib.contextmanager
def _one_stability_panel_each(
    shown: pd.DataFrame, known: pd.DataFrame, styles: Mapping[str, Style], merit: str, heading: str
) -> Iterator[Figure]:
    """Draw many rankings: each in a panel, with its figure of merit as a share, and all others grey behind it."""
    n_rows = -(-len(styles) // STABILITY_PANELS_PER_ROW)
    with figure(2 * COLUMN_WIDTH, 1.0 + 1.4 * n_rows) as drawing:
        all_axes = drawing.subplots(n_rows, STABILITY_PANELS_PER_ROW, sharex=True, sharey=True, squeeze=False).ravel()
        for axes, (label, style) in zip(all_axes, styles.items(), strict=False):
            for _, behind in known.groupby("ranking", sort=False):
                axes.plot(behind["n_features"], behind["stability"], color="#cccccc", linewidth=0.7, zorder=1)
            curve = shown[shown["ranking"] == label]
            axes.plot(curve["n_features"], curve["mean"], color=style.colour, linestyle=":", zorder=3)
            _draw_stable(axes, known[known["ranking"] == label], style.of_line() | {"markevery": 1})
            axes.set_title(legible(label), loc="left")
        all_axes[0].set_ylim(top=min(all_axes[0].get_ylim()[1], 1.05))
        sizes = SizeAxis(is_table=False, sizes=tuple(sorted(shown["n_features"].unique())))
        mark_sizes(all_axes[0], sizes.sizes)
        for number, axes in enumerate(all_axes[len(styles) :], start=len(styles)):
            axes.set_visible(False)
            all_axes[number - STABILITY_PANELS_PER_ROW].tick_params(labelbottom=True)
        drawing.suptitle(f"{heading}; dotted: {merit} as a share", fontsize=8, x=0.01, ha="left", wrap=True)
        drawing.supxlabel(f"Number of retained features{sizes.scale}", fontsize=7.5)
        drawing.supylabel("Stability of the choice (1: always the same)", fontsize=7.5)
        yield drawing


@contextlib.contextmanager
def _stability_map(known: pd.DataFrame, labels: list[str], heading: str) -> Iterator[Figure]:
    """Draw many rankings and few sizes: a row for each ranking, the most stable on top, with a cell for each size."""
    cells = known.set_index(["ranking", "n_features"])[["stability", "stability_ci_low", "stability_ci_high"]]
    values, low, high = (cells[column].unstack() for column in cells)
    order = values.mean(axis=1).loc[labels].sort_values(ascending=False, kind="stable").index
    reaches = (high - low) / 2
    texts = [
        ["" if np.isnan(value) else f"{value:z.2f} ± {reach:.2f}" for value, reach in zip(*rows, strict=True)]
        for rows in zip(values.loc[order].to_numpy(), reaches.loc[order].to_numpy(), strict=True)
    ]
    with figure(2 * COLUMN_WIDTH, 1.1 + CELL_INCHES * len(order)) as drawing:
        axes = drawing.add_subplot()
        draw_cells(axes, 1.0 - np.clip(values.loc[order].to_numpy(), 0.0, 1.0), texts)
        axes.set_xticks(np.arange(values.shape[1]) + 0.5, [str(size) for size in values.columns])
        axes.set_yticks(np.arange(len(order)) + 0.5, [legible(label) for label in order])
        title = f"{heading}\nStability of the choice (1: always the same); the darker, the less"
        drawing.suptitle(title, fontsize=8, x=0.01, ha="left", wrap=True)
        axes.set_xlabel("Number of retained features (not to scale)")
        yield drawing


def _draw_stable(axes: Axes, stable: pd.DataFrame, style: dict[str, Any]) -> None:
    axes.plot(stable["n_features"], stable["stability"], **style)
    band = {"color": style["color"], "alpha": 0.2, "linewidth": 0}
    axes.fill_between(stable["n_features"], stable["stability_ci_low"], stable["stability_ci_high"], **band)
