"""The critical-difference diagram of J. Demsar, JMLR 7, 2006: mean ranks, and bars over methods that do not differ."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fsvm_cli.report.style import COLUMN_WIDTH, drawn, figure, legible

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fsvm_cli.report.ranks import RankComparison

LINE = 0.16
"""Inches from one label, or one bar, to the next."""
GREY = "#777777"


def groups_alike(ranks: NDArray[np.float64], critical_difference: float) -> list[tuple[int, int]]:
    """List the longest runs of methods whose ranks do not differ.

    Parameters
    ----------
    ranks : ndarray, shape (n_methods,)
        Ascending.
    critical_difference : float

    Returns
    -------
    list of (int, int)
        First and last of each run of at least two methods; none lies within another.
    """
    runs: list[tuple[int, int]] = []
    for first, rank in enumerate(ranks):
        last = int(np.searchsorted(ranks, rank + critical_difference, side="right")) - 1
        if last > first and (not runs or last > runs[-1][1]):
            runs.append((first, last))
    return runs


def critical_difference_diagram(comparison: RankComparison, extension: str = "svg") -> bytes:
    """Draw mean ranks, the best at the left, and a bar over each group whose ranks do not differ.

    Parameters
    ----------
    comparison : RankComparison
    extension : {"svg", "png", "pdf"}

    Returns
    -------
    bytes
        Of the figure's file.
    """
    order = np.argsort(comparison.found.ranks, kind="stable")
    ranks = comparison.found.ranks[order]
    labels = [legible(comparison.areas.columns[index], 40) for index in order]
    groups = groups_alike(ranks, comparison.found.critical_difference)
    n_left = (len(labels) + 1) // 2
    depth = LINE * (len(groups) + n_left + 1)
    with figure(2 * COLUMN_WIDTH, 0.75 + depth) as drawing:
        axes = drawing.add_subplot()
        axes.set_xlim(1, len(labels))
        axes.set_ylim(depth, -3.2 * LINE)
        axes.grid(visible=False)
        for side in ("left", "bottom"):
            axes.spines[side].set_visible(False)
        axes.spines["top"].set_visible(True)
        axes.spines["top"].set_position(("data", 0))
        axes.xaxis.set_ticks_position("top")
        axes.set_xticks(range(1, len(labels) + 1))
        axes.set_yticks([])
        axes.set_title(
            f"Mean ranks over {len(comparison.areas)} data sets, 1 is best; a bar joins rankings that do not differ "
            "(Nemenyi, level .05)",
            loc="left",
        )
        width = comparison.found.critical_difference
        axes.plot([1, 1 + width], [-2.4 * LINE] * 2, color=GREY, linewidth=1.2, marker="|")
        axes.text(1 + width / 2, -2.55 * LINE, f"critical difference {width:.2f}", ha="center", va="bottom", color=GREY)
        for number, (first, last) in enumerate(groups):
            reach = 0.01 * (len(labels) - 1)
            ends = [ranks[first] - reach, ranks[last] + reach]
            axes.plot(ends, [LINE * (number + 0.7)] * 2, color="#000000", linewidth=2.5, solid_capstyle="butt")
        for index, (rank, label) in enumerate(zip(ranks, labels, strict=True)):
            is_left = index < n_left
            level = LINE * (len(groups) + 1 + (index if is_left else len(labels) - 1 - index))
            edge = 1 if is_left else len(labels)
            axes.plot([rank, rank, edge], [0, level, level], color=GREY, linewidth=0.7)
            text = f"{label}  {rank:.2f} " if is_left else f" {rank:.2f}  {label}"
            axes.text(edge, level, text, ha="right" if is_left else "left", va="center")
        return drawn(drawing, extension)
