"""Texts of figures neither overlap nor leave the figure, are legible, and legends cover no curve."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd
import pytest

from fsvm_cli.experiment.provenance import read_run
from fsvm_cli.report.folder import read_table
from fsvm_cli.report.scores import draw_scores
from fsvm_cli.report.style import drawn, figure
from tests.helpers.overlaps import faults_of, texts_of

if TYPE_CHECKING:
    from collections.abc import Mapping

RESULTS = Path(__file__).parents[2] / "results"


def written(texts: Mapping[tuple[float, float], str], rotation: float = 0.0) -> str:
    """Draw texts at places that are shares of a figure of 3 by 2 inches."""
    with figure(3.0, 2.0) as drawing:
        drawing.add_subplot().set_axis_off()
        for (x, y), text in texts.items():
            drawing.text(x, y, text, rotation=rotation)
        return drawn(drawing, "svg").decode()


@pytest.mark.parametrize("rotation", [0.0, 90.0])
def test_texts_that_overlap_are_found_and_others_are_not(rotation: float) -> None:
    step = {0.0: (0.0, 0.12), 90.0: (0.08, 0.0)}[rotation]
    apart = {(0.3, 0.3): "accuracy", (0.3 + step[0], 0.3 + step[1]): "stability"}
    assert faults_of(written(apart, rotation)) == []
    closer = {(0.3, 0.3): "accuracy", (0.3 + step[0] / 4, 0.3 + step[1] / 4): "stability"}
    assert faults_of(written(closer, rotation)) == ["'accuracy' overlaps 'stability'"]


def test_a_box_holds_its_text() -> None:
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: PLC0415

    with figure(3.0, 2.0) as drawing:
        drawing.add_subplot().set_axis_off()
        text = drawing.text(0.2, 0.5, "Test accuracy")
        svg = drawn(drawing, "svg").decode()
        extent = text.get_window_extent(FigureCanvasAgg(drawing).get_renderer())
        per_point = drawing.dpi / 72
    (box,) = texts_of(svg)
    assert box.left == pytest.approx(extent.x0 / per_point, abs=1)
    assert box.right == pytest.approx(extent.x1 / per_point, abs=2)
    assert 0.5 * extent.height / per_point < box.bottom - box.top <= extent.height / per_point


def test_a_text_that_leaves_the_figure_is_found() -> None:
    assert faults_of(written({(0.9, 0.5): "a name that is too long"})) == [
        "'a name that is too long' leaves the figure"
    ]


@pytest.mark.parametrize(
    ("place", "is_inside", "is_covered"),
    [("upper left", True, True), ("lower right", True, False), ("upper left", False, False)],
)
def test_a_legend_over_a_curve_is_found(place: str, is_inside: bool, is_covered: bool) -> None:
    with figure(3.0, 2.0) as drawing:
        axes = drawing.add_subplot()
        axes.plot([0, 1, 2], [5, 0, 0], label="falling")
        axes.legend(loc=place) if is_inside else axes.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0))
        found = faults_of(drawn(drawing, "svg").decode())
    assert found == (["the legend with 'falling' covers a curve"] if is_covered else [])


@pytest.mark.parametrize(("inches", "is_small"), [(7.0, False), (11.0, True)])
def test_letters_are_measured_where_a_figure_is_fitted_to_a_page(inches: float, is_small: bool) -> None:
    with figure(inches, 2.0) as drawing:
        drawing.add_subplot().set_axis_off()
        drawing.text(0.1, 0.5, "accuracy", fontsize=7.0)
        found = faults_of(drawn(drawing, "svg").decode())
    assert found == (["'accuracy' is too small"] if is_small else [])


def test_no_committed_figure_has_such_a_fault() -> None:
    paths = sorted(RESULTS.rglob("*.svg"))
    assert len(paths) > 300
    faults = {
        str(path.relative_to(RESULTS)): found
        for path in paths
        if (found := faults_of(path.read_text(encoding="utf-8")))
    }
    assert not faults


@pytest.mark.parametrize("n", [3, 5, 8])
def test_ticks_and_titles_of_many_narrow_panels_have_room(tmp_path: Path, n: int) -> None:
    config, _ = read_run(RESULTS / "weston-nonlinear")
    scores = read_table(RESULTS / "weston-nonlinear" / "scores.csv")
    few = config.model_copy(update={"rankings": config.rankings[:n]})
    long = pd.Series([f"a feature with a longer name {number}" for number in range(len(scores))])
    for table in (scores, scores.assign(feature=scores["feature"].where(scores.index % 7 != 0, long))):
        (path,) = draw_scores(table, few, tmp_path, ("svg",))
        assert faults_of(path.read_text(encoding="utf-8")) == []
