"""The forest plot: printed numbers beside ours with intervals, one line each, one panel for each unit."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from matplotlib.lines import Line2D

from fsvm_cli.report.comparison import is_about_data, quantity_in_words
from fsvm_cli.report.overview import SPAN_OF_LOGARITHMS
from fsvm_cli.report.style import COLUMN_WIDTH, LONGEST_TITLE, figure, legible, save, use_logarithms

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from matplotlib.axes import Axes

UNIT = re.compile(r" \((%|points|bits|features|rows|classes|% of the features)\)")
LEAST_LINES = 2
"""Of one number the table of verdicts says it all."""
LEAST_SPAN = 1e-3
"""Of an axis, as a share of its numbers."""
MAX_LINES = 60
LINE_HEIGHT = 0.16
LONGEST_LABEL = 70

STYLES: dict[str, tuple[str, str]] = {
    "reproduced": ("#0a6640", "o"),
    "differs": ("#a8200d", "X"),
    "inconclusive": ("#7a5200", "s"),
    "not comparable": ("#777777", "D"),
}
"""Colour and marker by verdict."""
PRINTED: dict[str, Any] = {"markersize": 7.5, "markerfacecolor": "none", "markeredgecolor": "#000000", "zorder": 4}


def draw_forest(verdicts: pd.DataFrame, title: str, folder: Path, formats: Sequence[str]) -> list[Path]:
    """Draw the claims that are numbers, with our 95 % intervals; facts about the data are left out.

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
        Empty where fewer than `LEAST_LINES` claims are numbers.
    """
    panels = _panels(verdicts)
    if sum(map(len, panels.values())) < LEAST_LINES:
        return []
    heights = [len(rows) + 1.5 for rows in panels.values()]
    with figure(2 * COLUMN_WIDTH, 0.9 + LINE_HEIGHT * sum(heights) + 0.3 * len(panels)) as drawing:
        all_axes = drawing.subplots(len(panels), 1, squeeze=False, height_ratios=heights)[:, 0]
        for axes, (unit, rows) in zip(all_axes, panels.items(), strict=True):
            _draw_panel(axes, rows, unit)
        drawing.suptitle(legible(title, LONGEST_TITLE), fontsize=8, x=0.01, ha="left", wrap=True)
        drawing.legend(handles=_key(panels), loc="outside lower center", ncols=3)
        return save(drawing, folder, "forest", formats)


def _panels(verdicts: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Pick the claims that are numbers, by their units in the order of the table."""
    numbers = verdicts.assign(printed=pd.to_numeric(verdicts["published"], errors="coerce"))
    numbers = numbers.dropna(subset=["printed", "reproduced"])
    shown = np.array([not is_about_data(row) for row in numbers.itertuples(index=False)], dtype=np.bool_)
    numbers = numbers[shown].head(MAX_LINES)
    return {str(unit): rows for unit, rows in numbers.groupby(numbers["what"].map(_unit), sort=False)}


def _unit(what: str) -> str:
    """Give the unit of a quantity; of one without, its name, up to what it is of."""
    return found[1] if (found := UNIT.search(what)) else quantity_in_words(what).partition(",")[0]


def _draw_panel(axes: Axes, rows: pd.DataFrame, unit: str) -> None:
    lines = np.arange(len(rows))
    for line, row in zip(lines, rows.itertuples(index=False), strict=True):
        colour, marker = STYLES.get(str(row.verdict), STYLES["not comparable"])
        found: Any = row
        if not pd.isna(found.ci_low):
            axes.plot([found.ci_low, found.ci_high], [line, line], color=colour, linewidth=1.2, solid_capstyle="butt")
        axes.plot([found.reproduced], [line], marker=marker, color=colour, markersize=4, linestyle="none")
    axes.plot(rows["printed"], lines, marker="*", linestyle="none", **PRINTED)
    axes.set_yticks(lines, [_label(row) for row in rows.itertuples(index=False)])
    axes.set_ylim(len(rows) - 0.4, -0.6)
    values = rows[["printed", "reproduced"]].to_numpy()
    if values.min() > 0 and values.max() > SPAN_OF_LOGARITHMS * values.min():
        use_logarithms(axes)
    ends = rows[["printed", "reproduced", "ci_low", "ci_high"]].to_numpy(dtype=np.float64)
    low, high = np.nanmin(ends), np.nanmax(ends)
    reach = LEAST_SPAN * max(abs(low), abs(high))
    if high - low < reach:
        # Numbers that agree to their rounding lie in one place, not millionths apart.
        axes.set_xlim(low - reach, high + reach)
    axes.set_xlabel({"%": "per cent"}.get(unit, unit))


def _label(row: Any) -> str:
    return legible(UNIT.sub("", quantity_in_words(str(row.what))), LONGEST_LABEL)


def _key(panels: dict[str, pd.DataFrame]) -> list[Line2D]:
    present = {str(verdict) for rows in panels.values() for verdict in rows["verdict"]}
    handles = [Line2D([], [], marker="*", linestyle="none", label="published", **PRINTED)]
    for verdict, (colour, marker) in STYLES.items():
        if verdict in present:
            label = f"here, 95 % interval: {verdict}"
            handles.append(Line2D([], [], color=colour, marker=marker, linewidth=1.2, markersize=4, label=label))
    return handles
