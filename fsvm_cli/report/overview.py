"""Published numbers beside ours: table and figure of a collection, and the forest plot of an experiment."""

from __future__ import annotations

import json
import re
import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from fsvm_cli.errors import DataError
from fsvm_cli.experiment.provenance import describe_collection
from fsvm_cli.experiment.run_file import FILE_NAME as RUN_NAME
from fsvm_cli.files import write_atomically
from fsvm_cli.learners.base import MACHINE_FOUND
from fsvm_cli.report.comparison import is_about_data, quantity_in_words, read_comparison
from fsvm_cli.report.folder import OVERVIEW_NAME, VERDICTS_NAME, write_table
from fsvm_cli.report.style import COLOURS, COLUMN_WIDTH, MAX_TITLE_CHARACTERS, figure, legible, save, use_logarithms
from fsvm_cli.report.verdicts import judged_together, obstacle_of, table_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D
    from numpy.typing import NDArray

    from fsvm_cli.spec.claims.base import Judgement
    from fsvm_cli.spec.collection import BetweenClaim, LoadedCollection

LOGARITHMIC_FROM_RATIO = 100.0
"""A quantity whose values span more than this factor is drawn on a logarithmic axis."""
TITLE_CHARACTERS_PER_ROW = 80
"""Characters of the titles of all panels that stand side by side."""


def write_overview(loaded: LoadedCollection, root: Path, folder: Path) -> pd.DataFrame:
    """Write `run.json` and the tables of a collection.

    Parameters
    ----------
    loaded : LoadedCollection
    root : Path
        Holds the results of the experiments.
    folder : Path
        Where the collection's own go.

    Returns
    -------
    DataFrame
        The table `overview.csv`.

    Raises
    ------
    DataError
        If results of an experiment are missing or damaged.
    """
    members = [root / name for name in loaded.collection.experiments]
    for member in members:
        if not (member / VERDICTS_NAME).exists():
            raise DataError(f"{member}: no {VERDICTS_NAME} here for {loaded.name} to collect; 'fsvm run' makes it")
    folder.mkdir(parents=True, exist_ok=True)
    description = json.dumps(describe_collection(loaded), indent=2, ensure_ascii=False)
    write_atomically(folder / RUN_NAME, (description + "\n").encode())
    verdicts = _with_own_claims(read_comparison(members, loaded.collection.claims), loaded)
    write_table(verdicts, folder / VERDICTS_NAME)
    overview = side_by_side(verdicts)
    write_table(overview, folder / OVERVIEW_NAME)
    return overview


def _with_own_claims(verdicts: pd.DataFrame, loaded: LoadedCollection) -> pd.DataFrame:
    """Judge what the collection itself claims of its experiments, by what their claims found."""
    if not loaded.collection.expected:
        return verdicts
    found: dict[tuple[Any, Any], Any] = {(row.experiment, row.id): row for row in verdicts.itertuples(index=False)}
    claims = loaded.collection.expected
    judgements = [_judged(claim, found) for claim in claims]
    if loaded.overrides:
        judgements = [judgement.held_against("the config was overridden") for judgement in judgements]
    own = table_of(claims, judged_together(judgements), loaded.collection.fixed).assign(experiment=loaded.name)
    return pd.concat([verdicts, own[verdicts.columns]], ignore_index=True)


def _judged(claim: BetweenClaim, found: Mapping[tuple[Any, Any], Any]) -> Judgement:
    """Judge a claim of a collection; nothing is said about a source that leaves open what the numbers depend on."""
    judgement = claim.judge_rows([found[each.experiment, each.claim] for _, each in claim.found_elsewhere()])
    return judgement.held_against(obstacle_of(claim, judgement))


def side_by_side(verdicts: pd.DataFrame) -> pd.DataFrame:
    """Arrange claims that are numbers as a document's table does: a row per experiment, columns per quantity.

    Parameters
    ----------
    verdicts : DataFrame
        The table `published.csv` of a collection.

    Returns
    -------
    DataFrame
        Columns `experiment`, then "<quantity>, published" and "<quantity>, reproduced" for each; of two claims of one
        experiment about the same quantity, the first.
    """
    numbers = _printed_numbers(verdicts)
    table = pd.DataFrame({"experiment": numbers["experiment"].unique()}).set_index("experiment")
    for quantity, rows in numbers.groupby("what", sort=False):
        by_experiment = rows.drop_duplicates("experiment").set_index("experiment")
        for column in ("published", "reproduced"):
            table[f"{quantity}, {column}"] = by_experiment[column]
    return table.reset_index()


def _printed_numbers(verdicts: pd.DataFrame) -> pd.DataFrame:
    """Pick the claims that are numbers, found as numbers."""
    numbers = verdicts.assign(published=pd.to_numeric(verdicts["published"], errors="coerce"))
    return numbers.dropna(subset=["published", "reproduced"])


def draw_overview(verdicts: pd.DataFrame, folder: Path, formats: Sequence[str]) -> list[Path]:
    """Draw what is printed beside what was found, one panel per quantity, one line per experiment.

    Parameters
    ----------
    verdicts : DataFrame
        The table `published.csv` of a collection.
    folder, formats
        As in `fsvm_cli.report.style.save`.

    Returns
    -------
    list of Path
        The files; none where no claim is a number.
    """
    numbers = _printed_numbers(verdicts)
    numbers = numbers[~numbers["what"].astype(str).str.startswith(YES_OR_NO)]
    experiments = numbers["experiment"].unique()
    lines = {experiment: line for line, experiment in enumerate(experiments)}
    panels = list(numbers.groupby("what", sort=False))
    if not panels:
        return []
    n_columns = min(len(panels), MAX_PANELS_IN_A_ROW)
    n_rows = -(-len(panels) // n_columns)
    titles = [
        textwrap.fill(legible(quantity_in_words(str(quantity))), TITLE_CHARACTERS_PER_ROW // n_columns)
        for quantity, _ in panels
    ]
    n_lines = max(title.count("\n") + 1 for title in titles)
    height = 0.4 + n_rows * (0.4 + 0.13 * n_lines + 0.2 * len(experiments))
    with figure(2 * COLUMN_WIDTH, height) as drawing:
        all_axes = drawing.subplots(n_rows, n_columns, sharey=True, squeeze=False).ravel()
        for axes in all_axes[len(panels) :]:
            axes.set_visible(False)
        for axes, title, (_, rows) in zip(all_axes, titles, panels, strict=False):
            _draw_panel(axes, rows, rows["experiment"].map(lines).to_numpy())
            axes.set_title(title, loc="left")
        all_axes[0].set_yticks(range(len(experiments)), [legible(each) for each in experiments])
        all_axes[0].set_ylim(len(experiments) - 0.5, -0.5)
        handles, labels = all_axes[0].get_legend_handles_labels()
        drawing.legend(handles, labels, loc="outside lower center", ncols=2)
        return save(drawing, folder, "overview", formats)


def _draw_panel(axes: Axes, rows: pd.DataFrame, lines: NDArray[np.intp]) -> None:
    found, printed = rows["reproduced"].to_numpy(), rows["published"].to_numpy()
    label = "here, mean and s.d. over runs"
    axes.errorbar(found, lines, xerr=rows["sd"].fillna(0), fmt="o", color=COLOURS[0], elinewidth=0.8, label=label)
    axes.plot(printed, lines, "x", color=COLOURS[1], markersize=5, zorder=3, label="published")
    values = np.concatenate([found, printed])
    if values.min() > 0 and values.max() > LOGARITHMIC_FROM_RATIO * values.min():
        use_logarithms(axes)
        axes.set_xlabel("logarithmic")
    else:
        axes.locator_params("x", nbins=OVERVIEW_TICKS)


UNIT_PATTERN = re.compile(r" \((%|points|bits|features|rows|classes|% of the features)\)")
PRINTED_RANGE = re.compile(r"(\d+(?:\.\d+)?)-(\d+(?:\.\d+)?)")
MAX_PANELS_IN_A_ROW = 5
OVERVIEW_TICKS = 3
"""On the axis of a panel, where the labels of more would run into each other."""
MIN_FOREST_CLAIMS = 2
"""A single claim is left to the table of verdicts."""
MIN_AXIS_SPAN_SHARE = 1e-3
"""Smallest span of an axis, as a share of the largest magnitude on it."""
MAX_FOREST_CLAIMS = 60
CLAIM_INCHES = 0.16
FURTHER_LINE_HEIGHT = 0.7
"""What a further line of a label adds to the height of a claim, in the height of one with a single line."""
LABEL_CHARACTERS_PER_LINE, MAX_LABEL_LINES = 56, 6
ID_CHARACTERS = 40
YES_OR_NO = f"{MACHINE_FOUND}, "
"""What a quantity begins with that is 0 or 1: it is left to the table of verdicts."""

VERDICT_STYLES: dict[str, tuple[str, str]] = {
    "reproduced": ("#0a6640", "o"),
    "differs": ("#a8200d", "X"),
    "undecided by the source": ("#7d2a8c", "P"),
    "inconclusive": ("#7a5200", "s"),
    "not comparable": ("#777777", "D"),
}
"""Colour and marker by verdict."""
PUBLISHED_STYLE: dict[str, Any] = {
    "markersize": 7.5,
    "markerfacecolor": "none",
    "markeredgecolor": "#000000",
    "zorder": 4,
}

RANGE_STYLE: dict[str, Any] = {"color": "#000000", "linewidth": 6.0, "alpha": 0.35, "zorder": 1}
"""Of a printed range: a bar behind our interval."""


def draw_forest(verdicts: pd.DataFrame, title: str, folder: Path, formats: Sequence[str]) -> list[Path]:
    """Draw the claims that are numbers, or ranges of them, with our 95 % intervals; facts about the data are left out.

    Parameters
    ----------
    verdicts : DataFrame
        The table `published.csv` of an experiment.
    title : str
        Of the experiment.
    folder, formats
        As in `fsvm_cli.report.style.save`.

    Returns
    -------
    list of Path
        Empty where fewer than `MIN_FOREST_CLAIMS` claims are numbers.
    """
    panels = _panels_by_unit(verdicts)
    if sum(map(len, panels.values())) < MIN_FOREST_CLAIMS:
        return []
    heights = [_claim_height(rows) * len(rows) + 1.5 for rows in panels.values()]
    with figure(2 * COLUMN_WIDTH, 0.9 + CLAIM_INCHES * sum(heights) + 0.3 * len(panels)) as drawing:
        all_axes = drawing.subplots(len(panels), 1, squeeze=False, height_ratios=heights)[:, 0]
        for axes, (unit, rows) in zip(all_axes, panels.items(), strict=True):
            _draw_forest_panel(axes, rows, unit)
        drawing.suptitle(legible(title, MAX_TITLE_CHARACTERS), fontsize=8, x=0.01, ha="left", wrap=True)
        drawing.legend(handles=_key(panels), loc="outside lower center", ncols=3)
        return save(drawing, folder, "forest", formats)


def _panels_by_unit(verdicts: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Pick the claims that are numbers or ranges of them, by their units in the order of the table."""
    ends = [_printed_ends(str(published)) for published in verdicts["published"]]
    numbers = verdicts.assign(printed_low=[low for low, _ in ends], printed_high=[high for _, high in ends])
    numbers = numbers.dropna(subset=["printed_low", "reproduced"])
    shown = np.array(
        [not is_about_data(row) and not str(row.what).startswith(YES_OR_NO) for row in numbers.itertuples(index=False)],
        dtype=np.bool_,
    )
    numbers = numbers[shown].head(MAX_FOREST_CLAIMS)
    return {str(unit): rows for unit, rows in numbers.groupby(numbers["what"].map(_unit), sort=False)}


def _printed_ends(published: str) -> tuple[float, float]:
    """Read a printed number, twice, or the ends of a printed range such as 18-20; NaN of anything else."""
    if found := PRINTED_RANGE.fullmatch(published):
        return float(found[1]), float(found[2])
    number = float(pd.to_numeric(published, errors="coerce"))
    return number, number


def _unit(what: str) -> str:
    """Give the unit of a quantity; of one without, its name, up to what it is of."""
    return found[1] if (found := UNIT_PATTERN.search(what)) else quantity_in_words(what).partition(",")[0]


def _draw_forest_panel(axes: Axes, rows: pd.DataFrame, unit: str) -> None:
    lines = np.arange(len(rows))
    for line, row in zip(lines, rows.itertuples(index=False), strict=True):
        colour, marker = VERDICT_STYLES.get(str(row.verdict), VERDICT_STYLES["not comparable"])
        found: Any = row
        if not pd.isna(found.ci_low):
            axes.plot([found.ci_low, found.ci_high], [line, line], color=colour, linewidth=1.2, solid_capstyle="butt")
        axes.plot([found.reproduced], [line], marker=marker, color=colour, markersize=4, linestyle="none")
    is_range = (rows["printed_low"] < rows["printed_high"]).to_numpy()
    axes.plot(rows["printed_low"][~is_range], lines[~is_range], marker="*", linestyle="none", **PUBLISHED_STYLE)
    ranges = rows[is_range]
    axes.hlines(lines[is_range], ranges["printed_low"], ranges["printed_high"], **RANGE_STYLE)
    axes.set_yticks(lines, [_label(row) for row in rows.itertuples(index=False)])
    axes.set_ylim(len(rows) - 0.4, -0.6)
    ids = axes.secondary_yaxis("right")
    ids.set_yticks(lines, [_short_id(str(each)) for each in rows["id"]])
    ids.tick_params(length=0, labelsize=6.5, labelcolor="#555555")
    ids.spines["right"].set_visible(False)
    values = rows[["printed_low", "printed_high", "reproduced"]].to_numpy()
    if values.min() > 0 and values.max() > LOGARITHMIC_FROM_RATIO * values.min():
        use_logarithms(axes)
        unit += ", logarithmic"
    ends = rows[["printed_low", "printed_high", "reproduced", "ci_low", "ci_high"]].to_numpy(dtype=np.float64)
    low, high = np.nanmin(ends), np.nanmax(ends)
    reach = MIN_AXIS_SPAN_SHARE * max(abs(low), abs(high))
    if high - low < reach:
        # Numbers that agree to their rounding lie in one place, not millionths apart.
        axes.set_xlim(low - reach, high + reach)
    axes.set_xlabel({"%": "per cent"}.get(unit, unit))


def _short_id(name: str) -> str:
    """Give the id of a claim without its document, which the title of the experiment or its folder tells."""
    return legible(name.partition(".")[2] or name, ID_CHARACTERS)


def _label(row: Any) -> str:
    text = legible(UNIT_PATTERN.sub("", quantity_in_words(str(row.what))), MAX_LABEL_LINES * LABEL_CHARACTERS_PER_LINE)
    lines = textwrap.wrap(text, LABEL_CHARACTERS_PER_LINE, max_lines=MAX_LABEL_LINES, placeholder="…")
    return "\n".join(lines)


def _claim_height(rows: pd.DataFrame) -> float:
    n_lines = max(_label(row).count("\n") for row in rows.itertuples(index=False))
    return 1.0 + FURTHER_LINE_HEIGHT * n_lines


def _key(panels: dict[str, pd.DataFrame]) -> list[Line2D]:
    from matplotlib.lines import Line2D  # noqa: PLC0415 - matplotlib is slow to import

    present = {str(verdict) for rows in panels.values() for verdict in rows["verdict"]}
    handles = [Line2D([], [], marker="*", linestyle="none", label="published", **PUBLISHED_STYLE)]
    if any((rows["printed_low"] < rows["printed_high"]).any() for rows in panels.values()):
        handles.append(Line2D([], [], label="published range", **RANGE_STYLE))
    for verdict, (colour, marker) in VERDICT_STYLES.items():
        if verdict in present:
            label = f"here, 95 % interval: {verdict}"
            handles.append(Line2D([], [], color=colour, marker=marker, linewidth=1.2, markersize=4, label=label))
    return handles
