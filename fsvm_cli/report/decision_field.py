"""A machine in the plane: boundary, gradient and the region around its margin, as hermes2000, Figure 1."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fsvm_cli.report.style import COLOURS, COLUMN_WIDTH, LONGEST_TITLE, figure, legible, save

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import pandas as pd
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from fsvm_cli.spec.schema import Config

ARROWS_PER_AXIS = 13
CLASS_STYLE = {0: (COLOURS[1], "s"), 1: (COLOURS[0], "o")}


def draw_decision_field(
    field: pd.DataFrame,
    points: pd.DataFrame,
    config: Config,
    names: dict[str, Sequence[str]],
    *,
    folder: Path,
    formats: Sequence[str],
) -> list[Path]:
    """Draw the three panels of the figure.

    Parameters
    ----------
    field : DataFrame
        The table `field.csv`: decision function and gradient on a square grid.
    points : DataFrame
        The table `points.csv`: the training points.
    config : Config
    names : dict of str to sequence of str
        ``feature_names`` and ``class_names`` of the data.
    folder : Path
    formats : sequence of str
        Of svg, png, pdf.
    """
    epsilon = next(ranking.parameters()["epsilon"] for ranking in config.rankings if ranking.method == "gradient-angle")
    with figure(2 * COLUMN_WIDTH, 3.0) as drawing:
        boundary, gradients, region = drawing.subplots(1, 3, sharex=True, sharey=True)
        grid = _Grid(field)
        _draw_boundary(boundary, grid, points)
        _draw_gradients(gradients, grid, points)
        _draw_region(region, grid, points, epsilon)
        unit = "" if config.scaling == "none" else " (scaled)"
        for axes in (boundary, gradients, region):
            axes.set_xlabel(f"{legible(names['feature_names'][0])}{unit}")
            axes.set_aspect("equal")
            axes.grid(visible=False)
        boundary.set_ylabel(f"{legible(names['feature_names'][1])}{unit}")
        drawing.suptitle(legible(config.title, LONGEST_TITLE), fontsize=8, x=0.01, ha="left")
        handles = [
            *(axes_points for axes_points in _class_handles(boundary, names["class_names"])),
            *_other_handles(boundary),
        ]
        drawing.legend(handles=handles, loc="outside lower left", ncols=3)
        return save(drawing, folder, "decision-field", formats)


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
