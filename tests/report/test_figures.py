"""Figures: the same bytes each time, and what must be on their face."""

from __future__ import annotations

import io
import itertools
import json
import re
import xml.etree.ElementTree as ElementTree
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest
import scipy.stats
from matplotlib.layout_engine import ConstrainedLayoutEngine
from sklearn.metrics import mutual_info_score

from fsvm_cli.errors import DataError
from fsvm_cli.experiment.experiment import Trial
from fsvm_cli.experiment.plan import plan
from fsvm_cli.experiment.records.descent_path import MAX_PATH_POINTS
from fsvm_cli.experiment.trial import draw_parts
from fsvm_cli.extraction.registry import extraction_methods
from fsvm_cli.ranking.kpd import KernelParameterDescent
from fsvm_cli.ranking.registry import ranking_methods
from fsvm_cli.report.complete_trials import collect
from fsvm_cli.report.curves import (
    draw_changes,
    draw_curves,
    is_logarithmic,
    printed_points,
    printed_sizes,
    ticks_among,
)
from fsvm_cli.report.diagnostics import RecordToDraw, draw_record
from fsvm_cli.report.drawing import draw_figures
from fsvm_cli.report.folder import read_table, results_folders, write_table
from fsvm_cli.report.overview import draw_overview
from fsvm_cli.report.points import draw_compared
from fsvm_cli.report.scores import draw_scores
from fsvm_cli.report.style import OF_METHODS, drawn, explain, figure, styles_of
from fsvm_cli.report.tables import summarise_changes, write_tables
from fsvm_cli.runner.missing import missing_tasks
from fsvm_cli.runner.run import Job, open_local_pool, run
from fsvm_cli.runner.tasks import run_tasks
from fsvm_cli.spec.config import load_config
from fsvm_cli.spec.rankings import ALL_FEATURES
from fsvm_cli.store.store import Store
from fsvm_cli.svm import Gaussian, Polynomial

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.figure import Figure


class Silent:
    def start(self, n_trials: int, n_done: int) -> None: ...

    def advance(self, n_done: int) -> None: ...


def results_of(folder: Path, *overrides: str, config: str = "plane") -> Path:
    loaded = load_config(config, ["protocol.splits=3", *overrides])
    experiment = plan(loaded, lambda _: None)
    with Store(folder, writable=True) as store:
        assert list(run([Job(experiment, store, Silent())], partial(open_local_pool, 1))) == [0]
        write_tables(loaded, experiment, store, folder)
    return folder


@pytest.fixture(scope="module")
def plane(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return results_of(tmp_path_factory.mktemp("results") / "plane")


def test_every_figure_is_drawn_in_every_format_and_again_is_the_same_bytes(plane: Path) -> None:
    formats = ("svg", "png", "pdf")
    paths = draw_figures(plane, formats)
    names = ("accuracy-vs-features", "scores", "decision-field")
    assert [path.name for path in paths] == [f"{name}.{extension}" for name in names for extension in formats]
    first = {path: path.read_bytes() for path in paths}
    assert all(len(content) > 1000 for content in first.values())
    assert {path: path.read_bytes() for path in draw_figures(plane, formats)} == first


@pytest.mark.parametrize("extension", ["svg", "png", "pdf"])
def test_a_figure_is_drawn_once_where_savefig_would_put_it(extension: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with figure(3.5, 3.0) as drawing:
        axes = drawing.add_subplot()
        axes.plot([1, 2], [10, 1000], label="a")
        axes.set_title("A title that is so long that it stands in two lines", loc="left", wrap=True)
        axes.set_ylabel("accuracy (%)")
        drawing.legend(loc="outside lower left")
        layout, dpi, calls = drawing.get_layout_engine(), drawing.dpi, []
        with monkeypatch.context() as watched:
            watched.setattr(axes, "draw", lambda *given: (calls.append(given), type(axes).draw(axes, *given)))
            found = drawn(drawing, extension)
        assert len(calls) == 1
        assert (drawing.get_layout_engine(), drawing.dpi) == (layout, dpi)
        nothing = {"svg": ("Date", "Creator"), "png": ("Software",), "pdf": ("CreationDate", "Creator", "Producer")}
        expected = io.BytesIO()
        drawing.savefig(expected, format=extension, metadata=dict.fromkeys(nothing[extension]))
    name = re.search(rb'<clipPath id="([^"]+)">', expected.getvalue())
    assert found == (expected.getvalue().replace(name[1], b"clip1") if name else expected.getvalue())


def test_a_figure_is_the_same_where_its_layout_differs_in_the_last_digit(monkeypatch: pytest.MonkeyPatch) -> None:
    def drawing() -> bytes:
        with figure(3.5, 3.0) as drawing:
            for axes in drawing.subplots(1, 2):
                axes.plot([1, 2], [10, 1000])
            return drawn(drawing, "svg")

    def nudged(self: ConstrainedLayoutEngine, drawing: Figure) -> None:
        lay_out(self, drawing)
        for axes in drawing.axes:
            axes.set_position(np.nextafter(axes.get_position().bounds, 2.0))

    lay_out = ConstrainedLayoutEngine.execute
    before = drawing()
    monkeypatch.setattr(ConstrainedLayoutEngine, "execute", nudged)
    assert drawing() == before


def test_tables_agree_with_the_trials_that_they_summarise(plane: Path) -> None:
    curves, scores = read_table(plane / "curves.csv"), read_table(plane / "scores.csv")
    experiment = plan(load_config("plane", ["protocol.splits=3"]), lambda _: None)
    outcomes = [result.outcomes[0] for result in run_tasks([experiment], missing_tasks(experiment, None))]
    for row in curves.itertuples():
        confusions = [outcome.confusions(row.part, [row.n_features])[0] for outcome in outcomes]
        accuracies = pd.Series([(matrix[0][0] + matrix[1][1]) / sum(map(sum, matrix)) for matrix in confusions])
        assert row.mean == pytest.approx(accuracies.mean())
        assert row.std == pytest.approx(accuracies.std())
        assert (row.n_trials, row.n_unconverged) == (3, 0)
    for place, row in enumerate(scores.itertuples()):
        of_feature = pd.Series([outcome.scores[place] for outcome in outcomes])
        # Scores are written to five digits of the largest.
        assert (row.mean, row.std) == pytest.approx((of_feature.mean(), of_feature.std()), abs=5e-6)


@pytest.mark.usefixtures("_plain_figures")
def test_a_figure_over_fewer_trials_than_planned_says_so(plane: Path, tmp_path: Path) -> None:
    description = json.loads((plane / "run.json").read_text())
    description["config"]["protocol"]["splits"] = 7
    for name in ("curves.csv", "scores.csv", "field.csv", "points.csv"):
        (tmp_path / name).write_bytes((plane / name).read_bytes())
    (tmp_path / "run.json").write_text(json.dumps(description))
    drawn = {path.name: path.read_bytes() for path in draw_figures(tmp_path, ("svg",))}
    complete = {path.name: path.read_bytes() for path in draw_figures(plane, ("svg",))}
    assert b"<!-- INCOMPLETE: 3 of 7 splits, 40 training rows -->" in drawn["accuracy-vs-features.svg"]
    assert b"INCOMPLETE" not in complete["accuracy-vs-features.svg"]
    assert b"<!-- all features -->" in complete["accuracy-vs-features.svg"]


def test_without_rankings_there_is_a_table_and_no_curve(tmp_path: Path) -> None:
    folder = results_of(tmp_path, "rankings=[]", "record=[]")
    curves = read_table(folder / "curves.csv")
    assert set(curves["ranking"]) == {ALL_FEATURES}
    assert set(curves["n_features"]) == {2}
    assert draw_figures(folder) == []


def test_facts_of_the_problem_are_those_of_the_test_part(plane: Path) -> None:
    experiment = plan(load_config("plane", ["protocol.splits=3"]), lambda _: None)
    with Store(plane, writable=False) as store:
        (trials,) = collect(experiment, store).values()
    outcomes = [result.outcomes[0] for result in run_tasks([experiment], missing_tasks(experiment, None))]
    for split, outcome in enumerate(outcomes):
        confusion = outcome.confusions("test", [2])[0]
        shares = confusion.sum(axis=1) / confusion.sum()
        true, said = (np.repeat(codes.ravel(), confusion.ravel()) for codes in np.indices(confusion.shape))
        facts = {fact: values[split] for fact, values in trials.facts.items()}
        assert facts["major-class"] == pytest.approx(100 * shares.max())
        assert facts["class-uncertainty"] == pytest.approx(scipy.stats.entropy(shares, base=2))
        assert facts["classifier-information"] == pytest.approx(mutual_info_score(true, said) / np.log(2))


@pytest.mark.usefixtures("_plain_figures")
def test_a_threshold_is_a_line_and_a_number_on_the_figure_of_the_scores(tmp_path: Path) -> None:
    ranking = "{method: infoprop, score_threshold: 0.09}"
    folder = results_of(tmp_path / "with", f"rankings=[{ranking}]", "record=[]")
    plain = results_of(tmp_path / "without", "rankings=[{method: infoprop}]", "record=[]")
    with_line, without = (draw_figures(each, ("svg",))[-1].read_text() for each in (folder, plain))
    assert "<!-- line: 0.09 -->" in with_line
    assert "line:" not in without
    assert read_table(folder / "scores.csv").equals(read_table(plain / "scores.csv"))


def test_shares_of_more_features_than_can_be_named_are_a_row_of_bars(tmp_path: Path) -> None:
    loaded = load_config("plane", ["rankings=[{method: infoprop}]", "record=[]"])
    names = [f"x{number}" for number in range(1, 61)]
    scores = pd.DataFrame({"ranking": "infoprop", "feature": names, "mean": 1.0, "std": 0.0, "mean_rank": 1.0})
    (path,) = draw_scores(scores, loaded.config, tmp_path, ("svg",))
    assert "<!-- Number of the feature -->" in path.read_text()
    (path,) = draw_scores(scores[:40], loaded.config, tmp_path, ("svg",))
    assert "<!-- x40 -->" in path.read_text()


HOSTILE = ("$\\frac$ of \\$1, $\\frac$ $", "$\\frac$\x1b[31m\u202e--><script>日本", "x" * 5000)


@pytest.mark.parametrize("hostile", HOSTILE)
def test_names_from_outside_are_text_in_every_figure(plane: Path, tmp_path: Path, hostile: str) -> None:
    for name in ("curves.csv", "scores.csv", "field.csv", "points.csv"):
        table = read_table(plane / name)
        for column in {"ranking", "feature"} & set(table):
            table[column] = hostile + table[column]
        write_table(table, tmp_path / name)
    description = json.loads((plane / "run.json").read_text())
    description["config"]["title"] = hostile
    for ranking in description["config"]["rankings"]:
        ranking["label"] = hostile + ranking["label"]
    for names in ("feature_names", "class_names"):
        description["data"][names] = [hostile + name for name in description["data"][names]]
    (tmp_path / "run.json").write_text(json.dumps(description))
    for path in draw_figures(tmp_path, ("svg",)):
        ElementTree.parse(path)  # well-formed, whatever the names hold


def test_powers_of_ten_are_no_formulas(tmp_path: Path) -> None:
    rows = [{"experiment": name, "what": "$\\frac$", "published": 10.0**place} for place, name in enumerate("abcde")]
    verdicts = pd.DataFrame(rows).assign(reproduced=lambda table: 2 * table["published"], sd=0.1)
    (path,) = draw_overview(verdicts, tmp_path, ("svg",))
    assert "<!-- 10³ -->" in path.read_text()
    assert "mathdefault" not in path.read_text()


@pytest.mark.usefixtures("_plain_figures")
def test_a_learning_curve_has_a_figure_for_each_training_size(tmp_path: Path) -> None:
    folder = results_of(tmp_path, "protocol.train=[20, 30]", "record=[]", "dataset={name: noise20, samples: 60}")
    names = [path.name for path in draw_figures(folder, ("svg",)) if path.name.startswith("accuracy")]
    assert names == ["accuracy-vs-features-n20.svg", "accuracy-vs-features-n30.svg"]


@pytest.mark.usefixtures("_plain_figures")
def test_beside_a_learning_curve_two_points_have_no_figure(tmp_path: Path) -> None:
    folder = results_of(tmp_path, "protocol.train=[20, 30]", "record=[]")
    names = [path.name for path in draw_figures(folder, ("svg",))]
    assert names == ["error-vs-training-rows-1-features.svg", "scores.svg"]


def test_the_descents_of_the_first_split_are_kept_and_drawn(tmp_path: Path) -> None:
    polynomial = "{method: kpd, threshold: 0.004, label: other, classifier: {kernel: polynomial, C: 1}}"
    rankings = f"rankings=[{{method: kpd, threshold: 0.004}}, {polynomial}]"
    folder = results_of(tmp_path, rankings, "record=[descent-path]", "deviations=[]")
    table = read_table(folder / "path.csv")
    experiment = plan(load_config("plane"), lambda _: None)
    parts = draw_parts(experiment, Trial(40, 0))
    kernels = {"kpd": (Gaussian(0.5), 10.0, 0.004), "other": (Polynomial(), 1.0, 0.004)}
    for label, (kernel, C, threshold) in kernels.items():
        descent = KernelParameterDescent(kernel, C, threshold=threshold).fit(parts.X_train, parts.y_train).path_[0]
        rows = table[table["ranking"] == label]
        kept = rows["iteration"].to_numpy()
        assert (kept[0], kept[-1]) == (0, len(descent.objective) - 1)
        assert len(kept) == min(len(descent.objective), MAX_PATH_POINTS)
        np.testing.assert_array_equal(rows["n_active"], descent.n_active[kept])
        # Tables hold five digits of the largest number in a column, in which both descents are.
        largest = table["objective"].max()
        np.testing.assert_allclose(rows["objective"], descent.objective[kept], rtol=0, atol=5e-5 * largest)
        names = ["weight of x1", "weight of x2"]
        largest = table[names].to_numpy().max()
        np.testing.assert_allclose(rows[names], descent.weights[kept], rtol=0, atol=5e-5 * largest)
    assert len(table[table["ranking"] == "kpd"]) == MAX_PATH_POINTS, "one of the two is thinned"
    drawn = {path.name: path.read_bytes() for path in draw_figures(folder, ("svg",))}
    assert "descent-path.svg" in drawn
    assert b"<!-- other -->" in drawn["scores.svg"], "one method with two machines has two panels"
    # Two machines at all features: no line for both.
    assert b"<!-- all features -->" not in drawn["accuracy-vs-features.svg"]


def test_every_method_has_a_look_of_its_own() -> None:
    methods = {*ranking_methods(), *extraction_methods()}
    shipped = {
        method for method in methods if "fsvm_cli" in {**ranking_methods(), **extraction_methods()}[method].__module__
    }
    assert shipped <= set(OF_METHODS)
    assert len(set(OF_METHODS.values())) == len(OF_METHODS)


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0)])
def test_a_method_has_one_colour_whatever_else_is_in_the_figure(order: tuple[int, ...]) -> None:
    rankings = ["{method: infoprop}", "{method: mifs}", "{method: mifs, beta: 0.9, label: b}"]
    listed = ", ".join(rankings[place] for place in order)
    loaded = load_config("plane", [f"rankings=[{listed}]", "record=[]", "deviations=[]"])
    styles = styles_of(loaded.config)
    assert (styles["infoprop"].colour, styles["infoprop"].marker) == OF_METHODS["infoprop"]
    first, second = ("mifs", "b") if order[0] == 0 else ("b", "mifs")
    assert (styles[first].colour, styles[first].marker) == OF_METHODS["mifs"]
    # A second curve of a method is told apart by everything that is not its hue.
    assert all(a != b for a, b in zip(styles[first], styles[second], strict=True))


@pytest.mark.usefixtures("_plain_figures")
def test_what_is_printed_stands_beside_the_curves(plane: Path, tmp_path: Path) -> None:
    texts = "where: T, claim: c"
    claims = (
        f"{{id: a, kind: value, {texts}, at: {{}}, published: 91, published_sd: 2, tolerance: 1}}",
        f"{{id: b, kind: single-run, {texts}, at: {{ranking: gradient-angle, features: 1}}, published: 80}}",
        f"{{id: c, kind: single-run, {texts}, at: {{ranking: gradient-angle, features: 1}}, published: 80}}",
        f"{{id: d, kind: value, {texts}, at: {{part: train}}, published: 99, tolerance: 1}}",
        f"{{id: e, kind: count, {texts}, ranking: gradient-angle, published: [1, 2]}}",
    )
    config = load_config("plane", [f"expected=[{', '.join(claims)}]"]).config
    points = printed_points(config, "accuracy", 40, largest=40, n_features=2)
    assert points == [(ALL_FEATURES, 2, 91.0, 2.0), ("gradient-angle", 1, 80.0, None)]
    assert printed_points(config, "accuracy", 20, largest=40, n_features=2) == []
    assert printed_sizes(config, "accuracy") == [("gradient-angle", 1, 2)]
    (path,) = draw_curves(read_table(plane / "curves.csv"), config, tmp_path, ("svg",))
    drawn = path.read_text()
    assert "<!-- published ± s.d. -->" in drawn
    assert "<!-- published size of best subset -->" in drawn
    assert "<!-- published" not in draw_figures(plane, ("svg",))[0].read_text()


@pytest.mark.usefixtures("_plain_figures")
def test_a_handful_of_sizes_is_a_table_without_lines(plane: Path, tmp_path: Path) -> None:
    curves = read_table(plane / "curves.csv")
    for subsets, sign in (("all", "band"), ("[1]", "bar")):
        config = load_config("plane", [f"subsets={subsets}", "protocol.splits=3"]).config
        (path,) = draw_curves(curves, config, tmp_path, ("svg",))
        assert f"<!-- {sign}: 95 % interval of the mean over the splits -->" in path.read_text()


@pytest.mark.usefixtures("_plain_figures")
def test_changes_are_differences_from_all_features_on_the_same_trial(plane: Path, tmp_path: Path) -> None:
    experiment = plan(load_config("plane", ["protocol.splits=3"]), lambda _: None)
    with Store(plane, writable=False) as store:
        collected = collect(experiment, store)
    changes = summarise_changes(experiment, collected)
    (trials,) = collected.values()
    for row in changes.itertuples():
        values = trials.values[row.metric, row.part]
        differences = values[:, row.n_features - 1] - values[:, 1]
        assert (row.mean, row.std) == pytest.approx((differences.mean(), differences.std(ddof=1)))
    config = load_config("plane", ["protocol.splits=3", "reference=all features"]).config
    (path,) = draw_changes(changes, config, tmp_path, ("svg",))
    assert path.name == "accuracy-change-vs-features.svg"
    assert "<!-- Change of test accuracy (points) -->" in path.read_text()


BAYESIAN = "{type: bayesian, max_steps: 2, n_eigenvectors: 5, n_permutations: 0}"


@pytest.mark.parametrize(
    "overrides",
    [
        ("rankings=[]", f"alternatives=[{{label: Bayesian, classifier: {BAYESIAN}}}]", "protocol.train=[20, 30]"),
        (
            "rankings=[{method: ard, max_steps: 2, n_permutations: 0, label: Bayesian}]",
            "subsets={relevance: [0.5], complements: [0.4]}",
        ),
    ],
    ids=["alternatives", "selections"],
)
def test_what_has_one_number_of_features_is_drawn_side_by_side(tmp_path: Path, overrides: tuple[str, ...]) -> None:
    few = ("protocol.splits=2", "record=[ascent, length-scales, sampler-traces]", "expected=[]")
    folder = results_of(tmp_path, *overrides, *few)
    drawn = {path.name: path.read_text() for path in draw_figures(folder, ("svg",))}
    scores = {"scores.svg"} if "subsets" in overrides[1] else set()
    learning = set() if "subsets" in overrides[1] else {"error-vs-training-rows.svg"}
    records = {"ascent.svg", "length-scales.svg", "sampler-traces.svg"}
    assert set(drawn) == {"accuracy-compared.svg"} | records | scores | learning
    labels = set(read_table(folder / "curves.csv")["ranking"])
    assert len(labels) > 1
    assert all(f"<!-- {label} -->" in drawn["accuracy-compared.svg"] for label in labels)
    for name in records:
        assert "<!-- Bayesian -->" in drawn[name]
    ascent = read_table(folder / "ascent.csv")
    assert ascent["step"].tolist() == [0, 1, 2]


@pytest.mark.parametrize(("longest", "is_wide"), [(30.0, False), (30000.0, True)])
def test_length_scales_over_decades_are_drawn_by_their_logarithms(
    tmp_path: Path, longest: float, is_wide: bool
) -> None:
    config = load_config("plane").config
    ends = pd.DataFrame(
        {"ranking": "a", "machine": 0, "feature": ["x1", "x2"], "length_scale": [1.0, longest], "relevance": 0.5}
    )
    path = pd.DataFrame(
        {
            "ranking": "a",
            "machine": 0,
            "step": [0, 1],
            "magnitude": 1.0,
            "log_evidence": -1.0,
            "log_evidence_error": 0.1,
        }
    ).assign(**{"length scale of x1": [3.0, 1.0], "length scale of x2": [3.0, longest]})
    for name, table in (("length-scales", ends), ("ascent", path)):
        (drawn,) = draw_record(name, RecordToDraw({name: table}, config, {}, {}, tmp_path, ("svg",)))
        assert ("<!-- 1000 -->" in drawn.read_text()) == is_wide


@pytest.mark.usefixtures("_plain_figures")
def test_trials_without_a_machine_are_not_missing(tmp_path: Path) -> None:
    config = load_config("plane", ["protocol.splits=3"]).config
    row = {"train_size": 20, "n_features": 2, "metric": "accuracy", "part": "test"}
    curves = pd.DataFrame(
        [
            row | {"ranking": "a", "mean": 0.9, "ci_low": 0.8, "ci_high": 1.0, "n_trials": 3},
            row | {"ranking": "b", "mean": np.nan, "ci_low": np.nan, "ci_high": np.nan, "n_trials": 0},
        ]
    )
    for complete, heading in (({"a": 3, "b": 3}, "those without a machine do not count"), ({}, "INCOMPLETE: 0 of 3")):
        (drawn,) = draw_compared(curves, complete, config, tmp_path, ("svg",))
        assert heading in drawn.read_text()


def test_a_length_scale_that_is_0_to_the_written_digits_is_drawn(tmp_path: Path) -> None:
    scales = {"feature": ["x1", "x2", "x3"], "length_scale": [0.0, 2.0, 300.0], "relevance": [1.0, 0.0, 0.0]}
    ends = pd.DataFrame({"ranking": "a", "machine": 0} | scales)
    config = load_config("plane").config
    (drawn,) = draw_record("length-scales", RecordToDraw({"length-scales": ends}, config, {}, {}, tmp_path, ("svg",)))
    assert "<!-- Length scale, logarithmic -->" in drawn.read_text()


def test_results_are_found_in_a_folder_or_below_it(plane: Path, tmp_path: Path) -> None:
    assert results_folders(plane) == [plane]
    assert results_folders(plane.parent) == [plane]
    assert results_folders(tmp_path) == []


@pytest.mark.parametrize("damage", ["", "{}", "not json", '{"config": {}}', pytest.param("[" * 10**5, id="deep")])
def test_a_damaged_description_is_named(tmp_path: Path, damage: str) -> None:
    (tmp_path / "run.json").write_text(damage)
    with pytest.raises(DataError, match=r"run\.json"):
        draw_figures(tmp_path)


def test_a_missing_or_damaged_table_is_named(plane: Path, tmp_path: Path) -> None:
    (tmp_path / "run.json").write_bytes((plane / "run.json").read_bytes())
    with pytest.raises(DataError, match=r"curves\.csv: no such table"):
        draw_figures(tmp_path)
    (tmp_path / "curves.csv").write_bytes(b'a,b\n1,"2\n')
    with pytest.raises(DataError, match=r"curves\.csv: cannot be read"):
        draw_figures(tmp_path)


def test_a_table_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    with pytest.raises(DataError, match="cannot be written"):
        write_table(pd.DataFrame({"a": [1]}), blocked / "table.csv")
    write_table(pd.DataFrame({"a": [1 / 3]}), tmp_path / "table.csv")
    assert (tmp_path / "table.csv").read_bytes() == b"a\n0.333333333\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "table.csv"]


def test_a_figure_is_the_same_whatever_other_formats_are_written_before_it() -> None:
    def written(*order: str) -> dict[str, bytes]:
        with figure(6.0, 3.0) as drawing:
            for axes in drawing.subplots(1, 2, sharey=True):
                axes.plot([0, 1e4], [0, 1e-4], label="a curve")
                axes.set(xlabel="features", ylabel="a label that takes place", title="a title")
            explain(drawing, [*drawing.axes[0].lines])
            return {extension: drawn(drawing, extension) for extension in order}

    alone = written("svg") | written("png") | written("pdf")
    for order in itertools.permutations(alone):
        assert written(*order) == alone, order


def test_sizes_that_reach_far_are_named_on_a_logarithmic_axis() -> None:
    genes = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 7129]
    assert is_logarithmic(genes)
    ticks = ticks_among(genes)
    assert ticks[-1] == 7129
    assert len(ticks) >= 5
    assert all(larger >= 3.7 * size for size, larger in itertools.pairwise(ticks))
    assert not is_logarithmic([1, 2, 4, 8, 16, 34])
    assert not is_logarithmic([*range(1, 181)])
    assert not is_logarithmic([1, 7129]), "two numbers of features need no scale"
