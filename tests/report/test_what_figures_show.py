"""What is drawn of committed tables: order, ticks, panels, and nothing that does not exist."""

from __future__ import annotations

import itertools
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest

from fsvm_cli.experiment.provenance import read_run
from fsvm_cli.report import style
from fsvm_cli.report.comparison import FACT_TITLES
from fsvm_cli.report.curve_table import complete_trials_of, read_measures
from fsvm_cli.report.curves import draw_changes, draw_curves, draw_stability, existing_components, ticks_among
from fsvm_cli.report.drawing import draw_figures
from fsvm_cli.report.folder import read_table, write_table
from fsvm_cli.report.learning_curves import draw_learning_curves
from fsvm_cli.report.overview import draw_forest
from fsvm_cli.report.points import draw_compared
from fsvm_cli.report.scores import MAX_NAMED_FEATURES, draw_scores
from fsvm_cli.report.style import COLUMN_WIDTH, drawn, explain, figure
from fsvm_cli.spec.claims.kinds.numbers import FACT_UNITS
from tests.helpers.overlaps import faults_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

RESULTS = Path(__file__).parents[2] / "results"


def texts(path: Path) -> list[str]:
    """List the texts of a figure, in the order in which they are drawn."""
    return [text.strip() for text in re.findall(r"<!-- (.*?) -->", path.read_text(encoding="utf-8"), re.DOTALL)]


@pytest.mark.parametrize(
    ("sizes", "ticks"),
    [
        ((7,), [7]),
        (tuple(range(1, 14)), [1, 2, 4, 6, 7, 8, 10, 12, 13]),
        ((1, 2, 3, 100), [3, 100]),
        ((10, 20, 30), [10, 20, 30]),
    ],
)
def test_ticks_are_measured_sizes_that_do_not_touch(sizes: tuple[int, ...], ticks: list[int]) -> None:
    found = ticks_among(sizes)
    assert set(found) <= set(sizes)
    assert found[-1] == sizes[-1]
    if len(sizes) <= 3:
        assert found == ticks
    gaps = [after - before for before, after in itertools.pairwise(found)]
    assert all(gap >= 0.09 * (sizes[-1] - sizes[0]) for gap in gaps)
    assert len(found) <= 9


def test_discriminants_that_do_not_exist_are_not_drawn() -> None:
    config, run = read_run(RESULTS / "infoprop-vehicle")
    curves = read_table(RESULTS / "infoprop-vehicle" / "curves.csv")
    shown = existing_components(curves, config, len(run["data"]["class_names"]))
    sizes = {label: sorted(set(rows["n_features"])) for label, rows in shown.groupby("ranking")}
    assert sizes["lda"] == [4], "four classes have three discriminants, and 4 is the first size that holds them"
    assert sizes["pca"] == [4, 8, 12, 18]


def test_scores_fall_unless_the_order_of_the_file_is_asked_for(tmp_path: Path) -> None:
    config, _ = read_run(RESULTS / "wine")
    scores = read_table(RESULTS / "wine" / "scores.csv")
    first = scores[scores["ranking"] == scores["ranking"].iloc[0]]
    by_score = first.sort_values("mean", ascending=False)["feature"].tolist()
    (path,) = draw_scores(scores, config, tmp_path, ("svg",))
    assert [text for text in texts(path) if text in by_score] == by_score
    (path,) = draw_scores(scores, config, tmp_path, ("svg",), "file")
    assert [text for text in texts(path) if text in by_score] == first["feature"].tolist()
    many = pd.concat([first.assign(feature=[f"{name} {copy}" for name in first["feature"]]) for copy in range(4)])
    (path,) = draw_scores(many, config.model_copy(update={"rankings": config.rankings[:1]}), tmp_path, ("svg",))
    assert f"{MAX_NAMED_FEATURES} of {len(many)} features shown" in " ".join(texts(path))


def test_scores_of_many_rankings_are_a_map_of_places(tmp_path: Path) -> None:
    config, _ = read_run(RESULTS / "beyond-gaussian-wine")
    scores = read_table(RESULTS / "beyond-gaussian-wine" / "scores.csv")
    (path,) = draw_scores(scores, config, tmp_path, ("svg",))
    found = texts(path)
    shown = scores[scores["ranking"] != "random"]
    by_place = shown.groupby("feature")["mean_rank"].mean().sort_values().index.tolist()
    assert [text for text in found if text in by_place] == by_place
    assert set(shown["ranking"]) <= set(found)
    places = [f"{place:.0f}" for place in shown["mean_rank"]]
    assert sorted(text for text in found if text.isdigit()) == sorted(places)
    assert faults_of(path.read_text(encoding="utf-8")) == []


def test_many_curves_have_a_panel_each(tmp_path: Path) -> None:
    config, _ = read_run(RESULTS / "wine")
    curves = read_table(RESULTS / "wine" / "curves.csv")
    first = curves[curves["ranking"] == curves["ranking"].iloc[0]]
    labels = [f"ranking {number}" for number in range(7)]
    (path,) = draw_curves(pd.concat([first.assign(ranking=label) for label in labels]), config, tmp_path, ("svg",))
    assert [text for text in texts(path) if text in labels] == labels
    assert any("band: 95 % interval" in text for text in texts(path))


@pytest.mark.parametrize(("experiment", "n_methods"), [("beyond-gaussian-breast", 29), ("why-grid-vehicle", 24)])
def test_a_table_of_many_methods_is_a_heat_map_of_its_numbers(experiment: str, n_methods: int, tmp_path: Path) -> None:
    config, _ = read_run(RESULTS / experiment)
    curves = read_table(RESULTS / experiment / "curves.csv")
    path = draw_curves(curves, config, tmp_path, ("svg",))[0]
    table = curves[(curves["metric"] == config.metrics[0]) & (curves["part"] == config.parts[0])]
    expected = {f"{100 * row.mean:.1f} ± {50 * (row.ci_high - row.ci_low):.1f}" for row in table.itertuples()}
    found = texts(path)
    assert {text for text in found if "±" in text and text[0].isdigit()} == expected
    means = table.groupby("ranking")["mean"].mean().sort_values(ascending=False)
    assert len(means) == n_methods
    names = [text for text in found if text in set(means.index)]
    assert sorted(names) == sorted(means.index)
    assert means[names].is_monotonic_decreasing
    assert faults_of(path.read_text(encoding="utf-8")) == []


def test_the_best_row_of_a_heat_map_of_losses_has_the_least(tmp_path: Path) -> None:
    config, _ = read_run(RESULTS / "beyond-gaussian-wine")
    losses = config.model_copy(update={"metrics": ("log-loss",), "expected": ()})
    curves = read_table(RESULTS / "beyond-gaussian-wine" / "curves.csv")
    curves = curves[curves["metric"] == config.metrics[0]].assign(metric="log-loss")
    found = texts(draw_curves(curves, losses, tmp_path, ("svg",))[0])
    means = curves[curves["part"] == config.parts[0]].groupby("ranking")["mean"].mean()
    assert means[[text for text in found if text in set(means.index)]].is_monotonic_increasing
    assert any("further above the best of its column" in text for text in found)


@pytest.mark.parametrize("experiment", ["weston-linear", "weston-nonlinear-standard"])
def test_of_many_methods_each_has_its_learning_curve_in_a_panel(experiment: str, tmp_path: Path) -> None:
    config, _ = read_run(RESULTS / experiment)
    curves, selection = (read_table(RESULTS / experiment / f"{name}.csv") for name in ("curves", "selection"))
    (path,) = draw_learning_curves(curves, selection, {}, config, tmp_path, ("svg",))
    svg = path.read_text(encoding="utf-8")
    assert [text for text in texts(path) if text in {each.label for each in config.rankings}] == [
        each.label for each in config.rankings
    ]
    assert svg.count('id="axes_') == 2 * len(config.rankings), "error and recovery of each"
    assert faults_of(svg) == []


def test_a_panel_in_which_every_feature_is_relevant_is_left_out(tmp_path: Path) -> None:
    config, _ = read_run(RESULTS / "why-noise20-rows")
    curves, selection = (read_table(RESULTS / "why-noise20-rows" / f"{name}.csv") for name in ("curves", "selection"))
    for recovered, n_panels in ((1.0, 1), (0.5, 2)):
        paths = draw_learning_curves(curves, selection.assign(recovered=recovered), {}, config, tmp_path, ("svg",))
        assert paths
        assert {path.read_text(encoding="utf-8").count('id="axes_') for path in paths} == {n_panels}


def test_a_method_without_a_machine_is_said_to_have_none(tmp_path: Path) -> None:
    config, _ = read_run(RESULTS / "why-grid-breast")
    curves = read_table(RESULTS / "why-grid-breast" / "curves.csv")
    complete = complete_trials_of(read_measures(RESULTS / "why-grid-breast"))
    (path,) = draw_learning_curves(curves, None, complete, config, tmp_path, ("svg",))
    found = texts(path)
    assert "K3 (no machine)" in found
    assert any(
        "30 splits; those without a machine do not count" in " ".join(found[at : at + 2]) for at in range(len(found))
    )


def test_every_change_lies_within_its_axes(tmp_path: Path) -> None:
    config, _ = read_run(RESULTS / "why-satimage")
    paths = draw_changes(read_table(RESULTS / "why-satimage" / "changes.csv"), config, tmp_path, ("svg",))
    for path in paths:
        svg = path.read_text(encoding="utf-8")
        clip = re.search(r'<clipPath id="[^"]*">\s*<rect x="[^"]*" y="([^"]*)" width="[^"]*" height="([^"]*)"', svg)
        assert clip is not None
        top, height = map(float, clip.groups())
        clipped = "".join(re.findall(r'<g clip-path="[^"]*">(.*?)</g>', svg, re.DOTALL))
        places = [float(y) for y in re.findall(r'<use xlink:href="#m[^"]*" x="[^"]*" y="([^"]*)"', clipped)]
        assert len(places) >= 4
        assert top + 2 < min(places) <= max(places) < top + height - 2


SCALES = [
    "ambroise-colon",
    "ard-ionosphere-stops",
    "guyon-colon",
    "infoprop-dna",
    "noise20",
    "tolerance-colon",
    "weston-bounds",
    "weston-linear",
    "why-vehicle",
]


@pytest.mark.parametrize("experiment", SCALES)
def test_a_scale_that_is_not_linear_says_so(experiment: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    figures: list[Figure] = []

    def note(drawing: Figure, extension: str) -> bytes:
        figures.append(drawing)
        return drawn(drawing, extension)

    monkeypatch.setattr(style, "drawn", note)
    for path in (RESULTS / experiment).iterdir():
        if path.suffix in {".csv", ".json"}:
            shutil.copy(path, tmp_path)
    draw_figures(tmp_path, ("svg",))
    n_curved = 0
    for drawing in figures:
        words = {"x": [drawing.get_supxlabel()], "y": [drawing.get_supylabel()]}
        for axes in drawing.axes:
            words["x"].append(axes.get_xlabel())
            words["y"].append(axes.get_ylabel())
        for axes in drawing.axes:
            for name, scale in (("x", axes.get_xscale()), ("y", axes.get_yscale())):
                if scale != "linear":
                    n_curved += 1
                    assert any("logarithmic" in text or "logit" in text for text in words[name]), (scale, words)
    has_table = any("not to scale" in axes.get_xlabel() for drawing in figures for axes in drawing.axes)
    assert n_curved or has_table


def test_claims_of_a_forest_plot_have_their_ids_and_whole_quantities(tmp_path: Path) -> None:
    verdicts = read_table(RESULTS / "why-grid-vehicle" / "published.csv")
    (path,) = draw_forest(verdicts, "", tmp_path, ("svg",))
    found = texts(path)
    assert {each.partition(".")[2] for each in verdicts["id"]} <= set(found)
    assert not any("…" in text for text in found)
    longest = max((str(each) for each in verdicts["what"]), key=len)
    for word in longest.replace(" (points)", "").split()[-4:]:
        assert word in " ".join(found)
    assert faults_of(path.read_text(encoding="utf-8")) == []


def test_whether_a_machine_was_found_is_no_quantity_of_a_forest_plot(tmp_path: Path) -> None:
    (path,) = draw_forest(read_table(RESULTS / "lanckriet-heart" / "published.csv"), "", tmp_path, ("svg",))
    assert "margin, 'K2'" in texts(path)
    assert not any("machine found" in text for text in texts(path))


def test_names_of_compared_methods_are_whole(tmp_path: Path) -> None:
    config, _ = read_run(RESULTS / "ard-select-wdbc")
    curves = read_table(RESULTS / "ard-select-wdbc" / "curves.csv")
    path = draw_compared(curves, {}, config, tmp_path, ("svg",))[0]
    found = " ".join(" ".join(texts(path)).split())
    assert all(label in found for label in curves["ranking"].unique())


def test_printed_numbers_stand_beside_ours_by_their_units(tmp_path: Path) -> None:
    config, _ = read_run(RESULTS / "infoprop-led24")
    (path,) = draw_forest(read_table(RESULTS / "infoprop-led24" / "published.csv"), config.title, tmp_path, ("svg",))
    found = texts(path)
    assert "per cent" in found
    assert "information of the classifier" in found
    (path,) = draw_forest(read_table(RESULTS / "infoprop-synthetic" / "published.csv"), "", tmp_path, ("svg",))
    assert "uncertainty of the class of a printed confusion matrix" in texts(path)
    (path,) = draw_forest(read_table(RESULTS / "infoprop-dna-libsvm" / "published.csv"), "", tmp_path, ("svg",))
    assert not [text for text in texts(path) if "e−" in text or "e-" in text], "no axis of millionths"
    assert not [text for text in found if text.startswith("number of features")], "facts about the data are no results"
    assert draw_forest(read_table(RESULTS / "wine" / "published.csv"), config.title, tmp_path, ("svg",)) == []


def test_a_printed_range_has_a_row_as_a_printed_number_has(tmp_path: Path) -> None:
    verdicts = pd.DataFrame(
        {
            "id": [f"document.size.{label}" for label in "abcd"],
            "published": ["24", "18-20", "0.5-1.5", "KPD-SVM is best."],
            "what": [f"size of the best subset, '{label}' (features)" for label in "abcd"],
            "reproduced": [20.0, 19.0, 1.0, 3.0],
            "ci_low": [18.0, 15.0, 0.5, np.nan],
            "ci_high": [22.0, 25.0, 1.5, np.nan],
            "verdict": ["reproduced", "undecided by the source", "differs", "reproduced"],
        }
    )
    (path,) = draw_forest(verdicts, "sizes", tmp_path, ("svg",))
    found = texts(path)
    assert [text for text in found if text.startswith("size of")] == [
        f"size of the best subset, '{label}'" for label in "abc"
    ]
    assert {"published", "published range", "here, 95 % interval: undecided by the source"} <= set(found)
    assert [text for text in found if text.startswith("size.")] == ["size.a", "size.b", "size.c"]


def test_stability_stands_below_the_figure_of_merit(tmp_path: Path) -> None:
    config, _ = read_run(RESULTS / "wine")
    tables = [read_table(RESULTS / "wine" / f"{name}.csv") for name in ("curves", "selection")]
    (path,) = draw_stability(*tables, config, tmp_path, ("svg",))
    assert {"Test accuracy (%)", "Stability of the choice", "Number of retained features"} <= set(texts(path))
    few = tables[1][tables[1]["n_features"] < 3]
    assert draw_stability(tables[0], few, config, tmp_path, ("svg",)) == []


def test_the_stability_of_many_rankings_is_a_heat_map(tmp_path: Path) -> None:
    config, _ = read_run(RESULTS / "beyond-gaussian-wine")
    tables = [read_table(RESULTS / "beyond-gaussian-wine" / f"{name}.csv") for name in ("curves", "selection")]
    (path,) = draw_stability(*tables, config, tmp_path, ("svg",))
    found, labels = texts(path), {ranking.label for ranking in config.rankings}
    means = tables[1].groupby("ranking")["stability"].mean()
    assert means[[text for text in found if text in labels]].is_monotonic_decreasing
    assert labels <= set(found)
    known = tables[1].dropna(subset=["stability"])
    reaches = (known["stability_ci_high"] - known["stability_ci_low"]) / 2
    cells = {f"{value:.2f} ± {reach:.2f}" for value, reach in zip(known["stability"], reaches, strict=True)}
    assert {text for text in found if "±" in text and text[-1].isdigit()} == {
        cell.replace("-0.00", "0.00") for cell in cells
    }
    assert faults_of(path.read_text(encoding="utf-8")) == []


def test_of_some_rankings_each_has_its_stability_in_a_panel(tmp_path: Path) -> None:
    config, _ = read_run(RESULTS / "kpd-sonar-readings")
    tables = [read_table(RESULTS / "kpd-sonar-readings" / f"{name}.csv") for name in ("curves", "selection")]
    (path,) = draw_stability(*tables, config, tmp_path, ("svg",))
    found = texts(path)
    assert {ranking.label for ranking in config.rankings} <= set(found)
    assert any("dotted: test accuracy as a share" in text for text in found)


@pytest.mark.parametrize(("length", "n_columns"), [(20, 2), (45, 1)])
def test_a_key_lies_within_its_figure_and_leaves_room_for_the_axes(length: int, n_columns: int) -> None:
    with figure(COLUMN_WIDTH, 3.3) as drawing:
        axes = drawing.add_subplot()
        handles = [axes.plot([number], label="n" * length)[0] for number in range(14)]
        explain(drawing, handles)
        drawn(drawing, "svg")
        (key,) = drawing.legends
        box, whole = key.get_window_extent(), drawing.bbox
        assert whole.x0 <= box.x0 < box.x1 <= whole.x1
        assert len({round(text.get_window_extent().x0) for text in key.get_texts()}) == n_columns
        assert axes.get_position().height * drawing.get_size_inches()[1] > 1.5


def test_every_fact_that_claims_know_has_a_name_for_people() -> None:
    assert set(FACT_TITLES) == set(FACT_UNITS)


@pytest.mark.parametrize(
    ("experiment", "names", "figure"),
    [
        ("roc", ("radius-margin", "fisher"), "roc.svg"),
        ("wine", ("random", "average-separation"), "stability-vs-features.svg"),
        ("wine", ("random", "average-separation"), "accuracy-vs-features.svg"),
        ("ard-spectf", ("F20S", "F13S"), "ascent.svg"),
    ],
)
def test_no_name_is_left_out_of_a_key(experiment: str, names: Sequence[str], figure: str, tmp_path: Path) -> None:
    """matplotlib leaves names that begin with an underscore out of keys, unless it is told what these hold."""
    hidden = {name: f"_{name}" for name in names}
    run = (RESULTS / experiment / "run.json").read_text(encoding="utf-8")
    for name, other in hidden.items():
        run = re.sub(rf'(?<!"method": )"{name}"', f'"{other}"', run)
    (tmp_path / "run.json").write_text(run, encoding="utf-8")
    for path in (RESULTS / experiment).glob("*.csv"):
        table = read_table(path).rename(
            columns={f"length scale of {name}": f"length scale of _{name}" for name in names}
        )
        write_table(table.replace(hidden), tmp_path / path.name)
    shown = texts(RESULTS / experiment / figure)
    assert set(names) <= set(shown)
    draw_figures(tmp_path, ("svg",))
    assert [hidden.get(text, text) for text in shown] == texts(tmp_path / figure)
