"""Figures of the diagnostics that an experiment keeps of its first split, one function per record of a config."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from fsvm_cli.experiment.records.ascents import LENGTH_SCALE_PREFIX
from fsvm_cli.experiment.records.decision_field import DecisionField
from fsvm_cli.experiment.records.descent_path import WEIGHT_PREFIX
from fsvm_cli.report.style import (
    COLOURS,
    COLUMN_WIDTH,
    MAX_TITLE_CHARACTERS,
    POINTS_PER_INCH,
    figure,
    legible,
    save,
    series_style,
)
from fsvm_cli.spec.rankings import ALL_FEATURES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from fsvm_cli.spec.schema import Config

LOGARITHMIC_FROM_RATIO = 100.0
"""Ratio of the largest to the smallest length scale from which on their axis is logarithmic."""
MACHINES_PER_ROW = 3
"""Of ascents: with more, letters would be too small where the figure is fitted to a page."""
N_NAMED_FEATURES = 5
MAX_FEATURE_NAME = 24
MAX_TICKS = 70
"""Features that the horizontal axis has room to name."""
MAX_NAMED_ROWS = 25
"""Features that the vertical axis has room to name."""
MAX_POINTS = 1000
"""Eliminations that are drawn at most."""
BARS_INCHES = 6.2
"""Width of the panel of bars."""
TICK_FONT_SIZES, TICK_SHARE = (4.5, 6.5), 0.75
"""Least and largest size of a name below a bar, in points, and the share of the room of its bar that it takes."""
MAX_TICK_LABEL = 30
"""Characters of a name below a bar; 20 would give three features of the spam data the same."""
LENGTH_SCALE_BINS = 20
RANK_BINS = 10
DENSITY_BINS = 20
TRACED_COLUMNS = {"potential": "-ln Q / n", "coordinate": "Slowest coordinate"}
PANELS_PER_ROW = 3
MAX_PANEL_TITLE = 34
MARKERS_PER_LINE = 12
"""Of a line."""
REFERENCE_STYLE: dict[str, Any] = {"color": "#000000", "marker": "", "linewidth": 1.0}
ERRORS_ON_DESCENT = {"span": "predicted by the spans", "leave_one_out": "leave-one-out", "test_error": "test part"}
ARROWS_PER_AXIS = 13
CLASS_STYLE = {0: (COLOURS[1], "s"), 1: (COLOURS[0], "o")}


@dataclass(frozen=True, eq=False)
class RecordToDraw:
    """What the figure of a record is made of, and where it goes.

    Attributes
    ----------
    tables : mapping of str to DataFrame
        As read from their files.
    config : Config
    data : mapping of str to value
        Description of the data in `run.json`: ``feature_names``, ``class_names``.
    styles : mapping of str to mapping
        Colour and line of each ranking and extractor by its label, in matplotlib's words; the same in all figures.
    folder, formats
        As in `fsvm_cli.report.style.save`.
    """

    tables: Mapping[str, pd.DataFrame]
    config: Config
    data: Mapping[str, Any]
    styles: Mapping[str, Mapping[str, Any]]
    folder: Path
    formats: Sequence[str]

    def save(self, drawing: Figure, name: str, below: str = "") -> list[Path]:
        """Write the title of the experiment over a drawing, with what it shows of it below, and save it by a name."""
        heading = legible(self.config.title, MAX_TITLE_CHARACTERS) + (below and f"\n{below}")
        drawing.suptitle(heading, fontsize=8, x=0.01, ha="left", wrap=True)
        return save(drawing, self.folder, name, self.formats)


def draw_record(name: str, given: RecordToDraw) -> list[Path]:
    """Draw the figure of a record by its name in configs, and list the files."""
    return DRAWINGS[name](given)


def spans_decades(length_scales: NDArray[np.float64]) -> bool:
    """Whether a figure of these needs a logarithmic axis."""
    return bool(length_scales.max() > LOGARITHMIC_FROM_RATIO * length_scales.min())


def use_powers(axis: Axis) -> None:
    """Write the powers of ten of a logarithmic axis as numbers, not as formulas."""
    from matplotlib.ticker import FuncFormatter, NullFormatter  # noqa: PLC0415 - matplotlib is slow to import

    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())


def name_above(axes: Axes, handles: Sequence[Any], title: str = "") -> None:
    """Put the legend of a panel above it, below its title, where it covers no curve."""
    axes.legend(
        handles=handles,
        title=title,
        title_fontsize=8,
        alignment="left",
        loc="lower left",
        bbox_to_anchor=(0.0, 1.0),
        borderaxespad=0.5,
        borderpad=0.0,
        fontsize=6.5,
        handlelength=1.6,
    )


def _draw_ascent(given: RecordToDraw) -> list[Path]:
    """Draw the ascent of each machine: length scales above, magnitude of the gradients and evidence below."""
    ascent = given.tables["ascent"]
    machines = list(ascent.groupby(["ranking", "machine"], sort=False))
    several = ascent["machine"].max() > 0
    n_rows = -(-len(machines) // MACHINES_PER_ROW)
    n_columns = -(-len(machines) // n_rows)
    with figure(2 * COLUMN_WIDTH if n_columns > 1 else 1.2 * COLUMN_WIDTH, 5.2 * n_rows) as drawing:
        all_axes = drawing.subplots(3 * n_rows, n_columns, squeeze=False, height_ratios=(3, 2, 2) * n_rows)
        for axes in all_axes[-3:, len(machines) - n_columns * (n_rows - 1) :].ravel():
            axes.set_visible(False)
        for number, ((label, machine), steps) in enumerate(machines):
            row, column = divmod(number, n_columns)
            upper, middle, lower = all_axes[3 * row : 3 * row + 3, column]
            for above in (upper, middle):
                above.sharex(lower)
                above.tick_params(labelbottom=False)
            _draw_length_scales(upper, steps, f"{legible(label)}, machine {machine}" if several else legible(label))
            middle.plot(steps["step"], steps["magnitude"], color=COLOURS[0])
            middle.set_ylim(0, 1.05)
            _draw_evidence(lower, steps)
            lower.set_xlabel("Step")
            lower.xaxis.get_major_locator().set_params(integer=True)
            if upper.get_yscale() == "log":
                upper.set_ylabel("Length scale, logarithmic")
            elif column == 0:
                upper.set_ylabel("Length scale")
            if column == 0:
                middle.set_ylabel("Mean |gradient|\n/ peak")
                lower.set_ylabel("Log evidence,\nor bound, / n")
        return given.save(drawing, "ascent", "first split")


def _draw_length_scales(axes: Axes, steps: pd.DataFrame, title: str) -> None:
    """Draw all length scales, and name the features that end with the shortest."""
    lengths = steps[[name for name in steps if str(name).startswith(LENGTH_SCALE_PREFIX)]]
    named = list(lengths.iloc[-1].sort_values(kind="stable").index[:N_NAMED_FEATURES])
    for name in lengths:
        if name not in named:
            axes.plot(steps["step"], lengths[name], color="#bbbbbb", linewidth=0.5, zorder=1)
    handles = []
    for colour, name in zip(COLOURS, named, strict=False):
        label = legible(name.removeprefix(LENGTH_SCALE_PREFIX), MAX_FEATURE_NAME)
        handles += axes.plot(steps["step"], lengths[name], color=colour, zorder=2, label=label)
    if spans_decades(lengths.to_numpy()):
        axes.set_yscale("log")
        use_powers(axes.yaxis)
    else:
        axes.set_ylim(bottom=0)
    name_above(axes, handles, title)


def _draw_evidence(axes: Axes, steps: pd.DataFrame) -> None:
    """Draw the log evidence with twice its error; chains do not estimate it."""
    axes.errorbar(
        steps["step"],
        steps["log_evidence"],
        yerr=2 * steps["log_evidence_error"],
        color=COLOURS[1],
        marker=".",  # a step between two without an estimate has no line
        markersize=3,
        ecolor="#999999",
        elinewidth=0.8,
    )


def _draw_bound_descent(given: RecordToDraw) -> list[Path]:
    """Draw the radius-margin bound of each ranking above, and errors, predicted and made, below."""
    descents = list(given.tables["bound-descent"].groupby("ranking", sort=False))
    with figure(max(COLUMN_WIDTH * 0.9 * len(descents), 1.2 * COLUMN_WIDTH), 4.4) as drawing:
        all_axes = drawing.subplots(2, len(descents), sharex=True, sharey="row", squeeze=False, height_ratios=(2, 3))
        for (upper, lower), (label, rows) in zip(all_axes.T, descents, strict=True):
            upper.set_title(legible(str(label)), loc="left")
            upper.plot(rows["n_features"], rows["radius_margin"], color=COLOURS[0], marker=".", markersize=3)
            _draw_errors(lower, rows)
            lower.set_xscale("log")
            use_powers(lower.xaxis)
            lower.set_xlabel("Features (logarithmic)")
        bound = "R²W² / n"
        if spans_decades(given.tables["bound-descent"]["radius_margin"].to_numpy()):
            all_axes[0, 0].set_yscale("log")
            use_powers(all_axes[0, 0].yaxis)
            bound += ", logarithmic"
        else:
            all_axes[0, 0].set_ylim(bottom=0.0)
        if given.tables["bound-descent"][list(ERRORS_ON_DESCENT)].to_numpy().any():
            all_axes[1, 0].set_ylim(bottom=0.0)
        else:
            all_axes[1, 0].set_ylim(0.0, 1.0)
        all_axes[0, 0].invert_xaxis()  # the descent goes to the right
        all_axes[0, 0].set_ylabel(bound)
        all_axes[1, 0].set_ylabel("Share of the rows")
        return given.save(drawing, "bound-descent", "first split; in brackets: rank correlation with the test error")


def _draw_errors(axes: Axes, rows: pd.DataFrame) -> None:
    """Draw the errors along a descent, with how well each, and the bound, orders the rounds as the test error does."""
    handles = []
    for colour, marker, (name, words) in zip(COLOURS[1:], ("s", "^", "o"), ERRORS_ON_DESCENT.items(), strict=False):
        named = words if name == "test_error" else f"{words} {_agreement(rows, name)}"
        handles += axes.plot(rows["n_features"], rows[name], color=colour, marker=marker, markersize=3, label=named)
    handles += axes.plot(
        [], [], color=COLOURS[0], marker=".", markersize=3, label=f"R²W² / n, above {_agreement(rows, 'radius_margin')}"
    )
    name_above(axes, handles)


def _agreement(rows: pd.DataFrame, name: str) -> str:
    """Write the rank correlation of a column with the test error; nothing where one of them is constant."""
    if rows[[name, "test_error"]].nunique().min() < 2:
        return ""
    return f"({rows[name].rank().corr(rows['test_error'].rank()):.2f})"


def _draw_descent_path(given: RecordToDraw) -> list[Path]:
    """Draw the path of each machine: the weights above, objective and number of active features below."""
    path = given.tables["path"]
    machines = list(path.groupby(["ranking", "machine"], sort=False))
    several = path["machine"].max() > 0
    with figure(max(COLUMN_WIDTH * 0.8 * len(machines), 1.2 * COLUMN_WIDTH), 4.2) as drawing:
        all_axes = drawing.subplots(2, len(machines), sharex="col", squeeze=False, height_ratios=(3, 2))
        for column, ((label, machine), rows) in enumerate(machines):
            upper, lower = all_axes[:, column]
            _draw_weights(upper, rows, f"{legible(label)}, machine {machine}" if several else legible(label))
            right = _draw_objective(lower, rows)
            lower.set_xlabel("Iteration")
            if column == 0:
                upper.set_ylabel("Weight (mean at the start: 1)")
                lower.set_ylabel("Objective (start: 1)", color=COLOURS[0])
            if column == len(machines) - 1:
                right.set_ylabel("Active features", color=COLOURS[1])
        return given.save(drawing, "descent-path", "first split")


def _draw_weights(axes: Axes, rows: pd.DataFrame, title: str) -> None:
    """Draw all weights, and name the features that are the largest at the end."""
    weights = rows[[name for name in rows if str(name).startswith(WEIGHT_PREFIX)]]
    weights = weights / weights.iloc[0].mean()
    named = list(weights.iloc[-1].sort_values(ascending=False, kind="stable").index[:N_NAMED_FEATURES])
    for name in weights:
        if name not in named:
            axes.plot(rows["iteration"], weights[name], color="#bbbbbb", linewidth=0.5, zorder=1)
    for colour, name in zip(COLOURS, named, strict=False):
        axes.plot(rows["iteration"], weights[name], color=colour, zorder=2)
    # Imported here because a run computes records without drawing.
    from matplotlib.lines import Line2D  # noqa: PLC0415

    names = [name.removeprefix(WEIGHT_PREFIX) for name in named]
    handles = [
        Line2D([], [], color=colour, label=legible(name, MAX_FEATURE_NAME))
        for colour, name in zip(COLOURS, names, strict=False)
    ]
    axes.set_ylim(bottom=0)
    name_above(axes, handles, title)


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


def _draw_length_scale_bars(given: RecordToDraw) -> list[Path]:
    """Draw the length scales of each machine by feature; below, in ascending order and as a histogram, as gold2005."""
    machines = list(given.tables["length-scales"].groupby(["ranking", "machine"], sort=False))
    several = given.tables["length-scales"]["machine"].max() > 0
    with figure(2 * COLUMN_WIDTH, 1.2 + 3.0 * len(machines)) as drawing:
        grid = drawing.add_gridspec(2 * len(machines), 2)
        bars = [drawing.add_subplot(grid[row, :]) for row in range(len(machines))]
        for by_feature in bars[:-1]:  # all machines have the same features, whose names may be long
            by_feature.sharex(bars[-1])
            by_feature.tick_params(labelbottom=False)
        for row, (by_feature, ((label, machine), rows)) in enumerate(zip(bars, machines, strict=True), len(machines)):
            by_rank, histogram = (drawing.add_subplot(grid[row, column]) for column in range(2))
            for axes in (by_feature, by_rank):
                axes.set_title(f"{legible(label)}, machine {machine}" if several else legible(label), loc="left")
            lengths = rows["length_scale"].to_numpy()
            # A table of an earlier version has 0 for one far below the others.
            lengths = np.maximum(lengths, lengths[lengths > 0].min(initial=np.inf) / 2)
            by_feature.bar(np.arange(len(rows)), lengths, color=COLOURS[0])
            by_feature.set_ylabel("Length scale")
            by_feature.margins(x=0.01)
            by_rank.plot(np.arange(1, len(rows) + 1), np.sort(lengths), marker=".", color=COLOURS[0])
            by_rank.set_xlabel("Rank, shortest first")
            by_rank.set_ylabel("Length scale")
            if len(rows) <= MAX_TICKS:
                names = [legible(name, MAX_TICK_LABEL) for name in rows["feature"]]
                of_bar = TICK_SHARE * POINTS_PER_INCH * BARS_INCHES / len(rows)
                size = float(np.clip(of_bar, *TICK_FONT_SIZES))
                bars[-1].set_xticks(np.arange(len(rows)), names, rotation=90, fontsize=size)
            else:
                bars[-1].set_xlabel("Feature")
            bins: Any = LENGTH_SCALE_BINS
            if spans_decades(lengths):
                bins = np.geomspace(lengths.min(), lengths.max(), LENGTH_SCALE_BINS + 1)
                by_feature.set_yscale("log")
                by_rank.set_yscale("log")
                histogram.set_xscale("log")
                use_powers(by_feature.yaxis)
                use_powers(by_rank.yaxis)
                use_powers(histogram.xaxis)
                by_feature.set_ylabel("Length scale, logarithmic")
                by_rank.set_ylabel("Length scale, logarithmic")
            histogram.hist(lengths, bins=bins, color=COLOURS[0])
            histogram.set_xlabel("Length scale" + (", logarithmic" if spans_decades(lengths) else ""))
            histogram.set_ylabel("Features")
        return given.save(drawing, "length-scales", "first split")


def _draw_sampler_traces(given: RecordToDraw) -> list[Path]:
    """Draw the potential and the slowest coordinate of each chain, and how often it has which rank.

    Tables of versions before 0.2 have no ranks; their figures have two panels a machine.
    """
    traces = given.tables["sampler-traces"]
    machines = list(traces.groupby(["ranking", "machine"], sort=False))
    several, has_ranks = traces["machine"].max() > 0, "rank" in traces
    with figure(2 * COLUMN_WIDTH, 1.9 * len(machines) + 0.4) as drawing:
        all_axes = drawing.subplots(len(machines), 3 if has_ranks else 2, squeeze=False, sharex="col")
        for row, ((label, machine), chains) in zip(all_axes, machines, strict=True):
            row[0].set_title(f"{legible(label)}, machine {machine}" if several else legible(label), loc="left")
            first = chains.iloc[0]
            agreement = f"R-hat {first['r_hat']:.3f}, {first['effective_size']:.0f} effective draws"
            row[-1].set_title(f"acceptance {chains['acceptance'].mean():.2f}, {agreement}", loc="right")
            for axes, (column, heading) in zip(row[:2], TRACED_COLUMNS.items(), strict=True):
                for colour, (_, chain) in zip(COLOURS, chains.groupby("chain"), strict=False):
                    axes.plot(chain["draw"], chain[column], color=colour, linewidth=0.8)
                axes.set_ylabel(heading)
            if has_ranks:
                for colour, (_, chain) in zip(COLOURS, chains.groupby("chain"), strict=False):
                    row[2].hist(chain["rank"].dropna(), bins=RANK_BINS, range=(0, 1), histtype="step", color=colour)
                row[2].set_ylabel("Draws")
        for axes in all_axes[-1, :2]:
            axes.set_xlabel("Draw")
        if has_ranks:
            all_axes[-1, 2].set_xlabel("Rank among all chains")
        return given.save(drawing, "sampler-traces", "first split; one colour for each chain")


def _draw_distribution_distance(given: RecordToDraw) -> list[Path]:
    """Draw each feature: samples and densities above; the distribution functions below, with the largest distance.

    As the example of jebara-slides does; the distance as the slides print it stands beside.
    """
    panels = list(given.tables["distributions"].groupby("feature", sort=False))
    n_rows = -(-len(panels) // PANELS_PER_ROW)
    with figure(2 * COLUMN_WIDTH, 0.8 + 2.9 * n_rows) as drawing:
        pairs = drawing.subplots(2 * n_rows, PANELS_PER_ROW, squeeze=False, height_ratios=(1, 2) * n_rows)
        densities, functions = pairs[::2].ravel(), pairs[1::2].ravel()
        for axes in (*densities[len(panels) :], *functions[len(panels) :]):
            axes.set_visible(False)
        for upper, lower, (feature, rows) in zip(densities, functions, panels, strict=False):
            handles = _draw_distributions_of_feature(lower, rows, given.data["class_names"][1])
            _draw_samples_and_densities(upper, rows)
            upper.sharex(lower)
            upper.tick_params(labelbottom=False)
            upper.set_title(f"{legible(feature, MAX_PANEL_TITLE)}\n{_distances_in_words(rows)}", loc="left")
        for upper, lower in zip(densities[::PANELS_PER_ROW], functions[::PANELS_PER_ROW], strict=True):
            upper.set_ylabel("Density")
            lower.set_ylabel("Share of samples")
        for axes in functions[: len(panels)][-PANELS_PER_ROW:]:
            axes.set_xlabel("At most this value" + ("" if given.config.scaling == "none" else " (scaled)"))
        drawing.legend(handles=handles, loc="outside lower left", ncols=4)
        return given.save(drawing, "distribution-distance", "first split")


def _distances_in_words(rows: pd.DataFrame) -> str:
    apart = (rows["all_samples"] - rows["in_class"]).to_numpy()
    return f"distance {np.abs(apart).max():.2f}, as printed {max(float(apart.max()), 0.0):.2f}"


def _draw_samples_and_densities(axes: Axes, rows: pd.DataFrame) -> None:
    """Draw histograms with an area of 1, of all samples and of the class, and below them where the samples are."""
    value = rows["value"].to_numpy()
    edges = np.histogram_bin_edges(value, DENSITY_BINS)
    shares = [np.diff(rows[column], prepend=0.0) for column in ("all_samples", "in_class")]
    heights = [np.histogram(value, edges, weights=share)[0] / np.diff(edges) for share in shares]
    top = float(np.max(heights))
    for colour, line, height, share, place in zip(COLOURS, ("-", "--"), heights, shares, (-0.08, -0.2), strict=False):
        axes.stairs(height, edges, color=colour, linestyle=line)
        samples = value[share > 0]
        axes.plot(samples, np.full(len(samples), place * top), "|", color=colour, markersize=3.5, markeredgewidth=0.5)
    axes.set_ylim(-0.28 * top, 1.08 * top)
    axes.set_yticks([])
    axes.grid(visible=False)


def _draw_distributions_of_feature(axes: Axes, rows: pd.DataFrame, class_name: str) -> list[Any]:
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
    axes.set_ylim(-0.02, 1.04)
    return [line, of_class, bar]


def _draw_row_orders(given: RecordToDraw) -> list[Path]:
    """Draw the bounds along the elimination, and which features each order of the rows has, a column for each."""
    bounds, features = given.tables["elimination-bounds"], given.tables["row-order-features"]
    of_svc = features[features["solver"] == "SVC"]
    tolerances = sorted(of_svc["tolerance"].unique(), reverse=True)
    exact = features[features["solver"] == "certified"]["feature"].tolist()
    every = -(-len(bounds) // MAX_POINTS)
    with figure(2.4 * COLUMN_WIDTH, 4.4) as drawing:
        left, *right = drawing.subplots(1, 1 + len(tolerances), width_ratios=(3, *[1] * len(tolerances)))
        for colour, column, label in (
            (COLOURS[1], "by_gap", "width of the bound by the duality gap"),
            ("#000000", "difference", "difference of the two smallest weights"),
            (COLOURS[0], "by_first_order", "width of the bound of first order"),
        ):
            left.plot(bounds["step"][::every], bounds[column][::every], ".", markersize=1.6, color=colour, label=label)
        left.set_yscale("log")
        use_powers(left.yaxis)
        left.set_xlabel("Elimination" if every == 1 else f"Elimination (one in {every} is drawn)")
        left.set_ylabel("In units of the second smallest weight, logarithmic")
        left.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), fontsize=6.5, markerscale=4)
        others = [name for name in dict.fromkeys(of_svc["feature"]) if name not in set(exact)]
        for axes, tolerance in zip(right, tolerances, strict=True):
            places = {name: place for place, name in enumerate([*exact, *others])}
            shown = of_svc[(of_svc["tolerance"] == tolerance) & (of_svc["row_order"] > 0)]
            held = np.zeros((len(places), int(shown["row_order"].max())))
            held[shown["feature"].map(places), shown["row_order"] - 1] = 1.0
            axes.imshow(held, cmap="Greys", aspect="auto", interpolation="nearest", vmin=0, vmax=1.2)
            axes.grid(visible=False)
            axes.axhline(len(exact) - 0.5, color=COLOURS[1], linewidth=0.8)
            axes.set_title(f"SVC, {tolerance:g}", loc="left")
            axes.set_xlabel("Order of rows")
            axes.set_xticks([])
        if len(places) <= MAX_NAMED_ROWS:
            right[0].set_yticks(list(places.values()), [legible(name, MAX_FEATURE_NAME) for name in places])
        for axes in right[1:]:
            axes.set_yticks([])
        right[0].set_ylabel(f"Best {len(exact)} features, below the line others")
        return given.save(drawing, "row-orders", f"all rows; {int(held.shape[1])} orders of them")


def _draw_roc(given: RecordToDraw) -> list[Path]:
    """Draw one panel for each number of retained features, the machine on all features in each."""
    roc, auc = given.tables["roc"], given.tables["auc"]
    areas = auc.set_index(["ranking", "n_features"]).to_dict("index")
    sizes = sorted(roc["n_features"].unique())
    panels = [size for size in sizes if (roc[roc["n_features"] == size]["ranking"] != ALL_FEATURES).any()] or sizes
    with figure(COLUMN_WIDTH * max(len(panels) * 0.85, 1), 4.3) as drawing:
        all_axes = drawing.subplots(1, len(panels), sharex=True, sharey=True, squeeze=False)[0]
        for axes, size in zip(all_axes, panels, strict=True):
            shown = roc[(roc["n_features"] == size) | (roc["ranking"] == ALL_FEATURES)]
            title = f"{size} feature{'s' if size > 1 else ''}; area under the curve"
            _draw_roc_panel(axes, shown, areas, given.styles, title)
            axes.set_xlabel("False positive rate")
        all_axes[0].set_ylabel(f"True positive rate (class {legible(given.data['class_names'][1])})")
        n_test = int(auc[["n_positive", "n_negative"]].iloc[0].sum())
        return given.save(drawing, "roc", f"first split, {n_test} test rows")


def _draw_roc_panel(
    axes: Axes,
    rows: pd.DataFrame,
    areas: Mapping[Any, Mapping[Any, Any]],
    styles: Mapping[str, Mapping[str, Any]],
    title: str,
) -> None:
    axes.plot([0, 1], [0, 1], color="#bbbbbb", linewidth=0.7, linestyle=":", zorder=1)
    handles, others = [], 0  # others: the oracle, and classifiers on all features, which no method has ordered
    last = rows["ranking"] == ALL_FEATURES
    for (label, size), curve in pd.concat([rows[~last], rows[last]]).groupby(["ranking", "n_features"], sort=False):
        style = REFERENCE_STYLE if label == ALL_FEATURES else styles.get(str(label), series_style(others))
        others += label != ALL_FEATURES and label not in styles
        area = areas[label, size]
        name = f"{legible(label)}\n{area['auc']:.3f} [{area['ci_low']:.3f}, {area['ci_high']:.3f}]"
        x, y = curve["false_positive_rate"], curve["true_positive_rate"]
        handles += axes.plot(x, y, label=name, markevery=1 / MARKERS_PER_LINE, **style)
    axes.set_aspect("equal")
    axes.set_xlim(-0.01, 1.01)
    axes.set_ylim(-0.01, 1.01)
    name_above(axes, handles, title)


def _draw_decision_field(given: RecordToDraw) -> list[Path]:
    """Draw the three panels of the figure."""
    (ranking,) = DecisionField().rankings(given.config)
    points = given.tables["points"]
    with figure(2 * COLUMN_WIDTH, 3.0) as drawing:
        boundary, gradients, region = drawing.subplots(1, 3, sharex=True, sharey=True)
        grid = _Grid(given.tables["field"])
        _draw_boundary(boundary, grid, points)
        _draw_gradients(gradients, grid, points)
        _draw_region(region, grid, points, ranking.parameters()["epsilon"])
        unit = "" if given.config.scaling == "none" else " (scaled)"
        for axes in (boundary, gradients, region):
            axes.set_xlabel(f"{legible(given.data['feature_names'][0])}{unit}")
            axes.set_aspect("equal")
            axes.grid(visible=False)
        boundary.set_ylabel(f"{legible(given.data['feature_names'][1])}{unit}")
        handles = [*_class_handles(boundary, given.data["class_names"]), *_other_handles(boundary)]
        drawing.legend(handles=handles, loc="outside lower left", ncols=3)
        return given.save(drawing, "decision-field")


class _Grid:
    """The field's columns as square arrays."""

    def __init__(self, field: pd.DataFrame) -> None:
        side = round(len(field) ** 0.5)
        columns = {name: field[name].to_numpy().reshape(side, side) for name in field}
        self.x1, self.x2, self.decision_value = columns["x1"], columns["x2"], columns["decision_value"]
        self.gradient = columns["gradient_x1"], columns["gradient_x2"]


def _scatter(axes: Axes, points: pd.DataFrame, alpha: float = 1.0) -> None:
    for code, (colour, marker) in CLASS_STYLE.items():
        of_class = points[points["class"] == code]
        axes.scatter(
            of_class["x1"], of_class["x2"], s=9, color=colour, marker=marker, linewidths=0, alpha=alpha, zorder=3
        )


def _ring(axes: Axes, points: pd.DataFrame) -> None:
    axes.scatter(points["x1"], points["x2"], s=42, facecolors="none", edgecolors="#000000", linewidths=0.8, zorder=4)


def _contour(axes: Axes, grid: _Grid, levels: Any, **style: Any) -> None:
    axes.contour(grid.x1, grid.x2, grid.decision_value, levels=levels, **style)


def _draw_boundary(axes: Axes, grid: _Grid, points: pd.DataFrame) -> None:
    axes.set_title("(a) boundary and support vectors", loc="left")
    _contour(axes, grid, [0], colors="#000000", linewidths=1.3)
    _scatter(axes, points)
    _ring(axes, points[points["alpha"] > 0])


def _draw_gradients(axes: Axes, grid: _Grid, points: pd.DataFrame) -> None:
    axes.set_title("(b) decision function and gradient", loc="left")
    _contour(axes, grid, 9, colors="#999999", linewidths=0.6)
    _contour(axes, grid, [0], colors="#000000", linewidths=1.3)
    _scatter(axes, points, alpha=0.35)
    step = max(1, len(grid.x1) // ARROWS_PER_AXIS)
    thin: tuple[slice, slice] = (slice(step // 2, None, step), slice(step // 2, None, step))
    u, v = _compressed(*(component[thin] for component in grid.gradient))
    axes.quiver(grid.x1[thin], grid.x2[thin], u, v, color=COLOURS[2], width=0.006, pivot="mid", zorder=5)


def _compressed(u: NDArray[np.float64], v: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Shorten long arrows more than short ones: the square root keeps both visible."""
    length = np.hypot(u, v)
    factor = 1 / np.sqrt(np.where(length > 0, length, 1))
    return u * factor, v * factor


def _draw_region(axes: Axes, grid: _Grid, points: pd.DataFrame, epsilon: float) -> None:
    axes.set_title(f"(c) region |y g(x) − 1| ≤ {epsilon:g}", loc="left")
    distance = np.abs(np.abs(grid.decision_value) - 1)
    axes.contourf(grid.x1, grid.x2, distance, levels=[-1, epsilon], colors=[COLOURS[5]], alpha=0.45)
    _contour(axes, grid, [0], colors="#000000", linewidths=1.3)
    _scatter(axes, points)
    _ring(axes, points[points["in_region"]])


def _class_handles(axes: Axes, class_names: Sequence[str]) -> list[Any]:
    return [
        axes.scatter([], [], s=12, color=colour, marker=marker, label=f"class {legible(class_names[code])}")
        for code, (colour, marker) in CLASS_STYLE.items()
    ]


def _other_handles(axes: Axes) -> list[Any]:
    ring = axes.scatter(
        [],
        [],
        s=42,
        facecolors="none",
        edgecolors="#000000",
        linewidths=0.8,
        label="(a) support vector; (c) point in the region",
    )
    (line,) = axes.plot([], [], color="#000000", linewidth=1.3, label="g(x) = 0")
    (arrow,) = axes.plot(
        [], [], color=COLOURS[2], marker=">", linestyle="-", label="gradient of g (length: square root)"
    )
    (band,) = axes.fill([], [], color=COLOURS[5], alpha=0.45, label="region around the margin")
    return [ring, line, arrow, band]


DRAWINGS: Mapping[str, Callable[[RecordToDraw], list[Path]]] = {
    "ascent": _draw_ascent,
    "bound-descent": _draw_bound_descent,
    "decision-field": _draw_decision_field,
    "descent-path": _draw_descent_path,
    "distribution-distance": _draw_distribution_distance,
    "length-scales": _draw_length_scale_bars,
    "roc": _draw_roc,
    "row-orders": _draw_row_orders,
    "sampler-traces": _draw_sampler_traces,
}
"""By the name of the record in configs."""
