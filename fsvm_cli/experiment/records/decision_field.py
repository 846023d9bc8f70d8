"""A machine in the plane: boundary, gradient and the region around its margin, as hermes2000, Figure 1."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd

from fsvm_cli.experiment.records.base import Record, ToDraw
from fsvm_cli.figures import COLOURS, COLUMN_WIDTH, figure, legible
from fsvm_cli.learners.machine import Machine
from fsvm_cli.ranking.gradient_angle import margin_region
from fsvm_cli.validation_errors import Issue

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from fsvm_cli.data.source import DatasetMetadata
    from fsvm_cli.experiment.trial import DrawnTrial
    from fsvm_cli.spec.rankings import Ranking
    from fsvm_cli.spec.schema import Config
    from fsvm_cli.svm import SVM

GRID_POINTS = 49
MARGIN_AROUND_DATA = 0.15
ARROWS_PER_AXIS = 13
CLASS_STYLE = {0: (COLOURS[1], "s"), 1: (COLOURS[0], "o")}


class DecisionField(Record):
    """The decision function of one machine in the plane, with its gradient, and its training points.

    Table `field`: decision function and gradient on a square grid. Table `points`: the same at the training points,
    with their classes, alpha, and whether they lie in the region around the margin.
    """

    name: ClassVar[str] = "decision-field"
    method: ClassVar[str] = "gradient-angle"
    tables: ClassVar[tuple[str, ...]] = ("field", "points")

    def rankings(self, config: Config) -> list[Ranking]:
        """List the one ranking whose machine is shown."""
        return super().rankings(config)[:1]

    def issues(self, config: Config, data: DatasetMetadata) -> Iterator[Issue]:
        """Find whether there is no ranking, or the data do not lie in the plane."""
        if (data.n_features, len(data.class_names)) != (2, 2):
            yield Issue(
                ("record", config.record.index(self.name)),
                f"a decision field needs 2 features and 2 classes; {data.name} has {data.n_features} and "
                f"{len(data.class_names)}; leave it out",
            )
        yield from super().issues(config, data)

    def compute(self, trial: DrawnTrial) -> dict[str, pd.DataFrame]:
        """Evaluate the decision function and its gradient on a grid and at the training points."""
        config, parts = trial.experiment.config, trial.parts
        (ranking,) = self.rankings(config)
        machine = trial.learner(config.classifier_of(ranking))
        assert isinstance(machine, Machine), "a gradient-angle ranking has a machine"
        X, y = parts.X_train, np.where(parts.y_train == 1, 1.0, -1.0)
        svm = machine.estimator().set_params(on_failure="raise").fit(X, parts.y_train)
        alpha = np.zeros(len(X))
        alpha[svm.support_] = np.abs(svm.dual_coef_[0])
        region = margin_region(
            y * svm.decision_function(X),
            svm.margin_vectors_[0],
            svm.support_,
            ranking.parameters()["epsilon"],
        )
        points = pd.DataFrame({"class": parts.y_train, "alpha": alpha, "in_region": np.isin(np.arange(len(X)), region)})
        return {"points": _at(svm, X).join(points), "field": _at(svm, _grid_around(X))}

    def draw(self, given: ToDraw) -> list[Path]:
        """Draw the three panels of the figure."""
        (ranking,) = self.rankings(given.config)
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
            return given.save(drawing, self.name)


def _grid_around(X: NDArray[np.float64]) -> NDArray[np.float64]:
    low, high = X.min(axis=0), X.max(axis=0)
    low, high = low - MARGIN_AROUND_DATA * (high - low), high + MARGIN_AROUND_DATA * (high - low)
    axes = np.linspace(low, high, GRID_POINTS).T
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 2)


def _at(svm: SVM, X: NDArray[np.float64]) -> pd.DataFrame:
    gradient = svm.input_gradient(X)[0]
    return pd.DataFrame(
        {
            "x1": X[:, 0],
            "x2": X[:, 1],
            "decision_value": svm.decision_function(X),
            "gradient_x1": gradient[:, 0],
            "gradient_x2": gradient[:, 1],
        }
    )


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
