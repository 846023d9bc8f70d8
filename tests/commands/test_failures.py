"""What fails in one experiment, a method, a table, a figure or the page, stays there, and is told in a line."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

from fsvm_cli.page.content import Section
from fsvm_cli.ranking.fisher import Fisher
from fsvm_cli.report.folder import read_table
from fsvm_cli.store.store import Store
from tests.helpers.calling import AS_SVG, write_config

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.helpers.calling import Answer

    Call = Callable[..., Answer]

pytestmark = pytest.mark.usefixtures("plain_figures")

OPTIONS = ("--jobs", "1", *AS_SVG)


def oops(*_: object, **__: object) -> Any:
    raise KeyError("oops")


def results_of(*names: str) -> list[Path]:
    return [Path("results", name) for name in names]


@pytest.mark.parametrize("methods", [("fisher", "average-separation"), ("average-separation", "fisher")])
def test_a_ranking_that_fails_in_all_trials_leaves_the_other_and_its_neighbours(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, methods: tuple[str, str]
) -> None:
    monkeypatch.setattr(Fisher, "_scores", oops)
    rankings = ", ".join(f"{{method: {method}}}" for method in methods)
    bad = write_config(tmp_path, "bad", rankings=f"[{rankings}]", subsets="[1, 5, 10]")
    good = write_config(tmp_path, "good")
    answer = call("run", bad, good, *OPTIONS)
    assert answer.code == 4
    assert answer.err.count("bad: 4 of 4 trials failed: KeyError: 'oops'") == 1
    assert "Traceback" not in answer.err
    for folder in results_of("bad", "good"):
        assert {"curves.csv", "scores.csv", "scores.svg", "accuracy-vs-features.svg", "index.html"} <= {
            path.name for path in folder.iterdir()
        }
    assert set(read_table(Path("results", "bad", "scores.csv"))["ranking"]) == {"average-separation"}
    # Neither table, figure nor page keeps silent about what is not there.
    told = "INCOMPLETE: no trial of fisher"
    assert told in " ".join(answer.out.split())
    assert told in Path("results", "bad", "accuracy-vs-features.svg").read_text()
    assert told in Path("results", "bad", "index.html").read_text()
    assert call("plot", "results", "--fresh", "--jobs", "1").code == 0
    assert "bad: fisher: 4 failed before (KeyError: 'oops')\n" in call("verify", "results").err
    assert call("table", "results").code == call("report", "results").code == 0


def test_one_of_the_methods_on_ones_own_table_fails_and_the_others_are_recommended(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Fisher, "_scores", oops)
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.standard_normal((40, 4)), columns=list("abcd"))
    table.assign(y=np.where(table["a"] > 0, "ill", "well")).to_csv(tmp_path / "own.csv", index=False)
    (tmp_path / "own.yaml").write_text(
        "dataset: {file: own.csv, target: y}\n"
        "classifier: {kernel: linear, C: 1}\n"
        "protocol: {splits: 4, train: 1/2, seed: 0}\n"
        "scaling: standard\n"
        "subsets: all\n"
        "metrics: [accuracy]\n"
        "title: Own rows\n"
        "rankings: [{method: fisher}, {method: average-separation}, {method: random}]\n"
    )
    answer = call("run", str(tmp_path / "own.yaml"), *OPTIONS)
    assert answer.code == 4
    assert "own: 4 of 4 trials failed: KeyError: 'oops'" in answer.err
    assert "a table failed" not in answer.err
    assert read_table(Path("results", "own", "recommendation.csv"))["ranking"][0] == "average-separation"


def test_training_parts_of_one_class_are_told_once_with_what_to_do(call: Call, tmp_path: Path) -> None:
    table = pd.DataFrame({"a": [0, 1, 5, 6, 7, 4], "b": [3, 1, 2, 3, 2, 1], "y": list("ppqqqq")})
    table.to_csv(tmp_path / "own.csv", index=False)
    keys = {"dataset": "{file: own.csv, target: y}", "rankings": "[{method: fisher}, {method: random}]"}
    few = write_config(tmp_path, "few", **keys, protocol="{splits: 12, train: 3, seed: 0}", subsets="all")
    answer = call("run", few, *OPTIONS)
    assert answer.code == 4
    (line,) = [line for line in answer.err.splitlines() if "only one class" in line]
    assert re.match(rf"{few}:5:11: \d of 12 trials failed: .* \(stratified: true\), or train on more rows$", line)
    few.write_text(few.read_text().replace("seed: 0}", "seed: 0, stratified: true}"))
    assert call("run", few, *OPTIONS).code == 0


def test_the_traceback_of_a_method_is_kept_and_told_where_asked_for(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Fisher, "_scores", oops)
    config = write_config(tmp_path, rankings="[{method: fisher}, {method: random}]")
    answer = call("run", config, *OPTIONS, "--verbose")
    assert answer.code == 4
    assert "Traceback" in answer.err
    assert "in oops" in answer.err
    with Store(Path("results", "small"), writable=False) as store:
        failures = list(store.failures().values())
    assert len(failures) == 4
    assert all(failure.startswith("KeyError: 'oops'\nTraceback") and "in oops" in failure for failure in failures)
    # What is missing is explained in a line.
    answer = call("run", config, *OPTIONS, "--dry-run")
    assert "failed before (KeyError: 'oops')" in " ".join((answer.out + answer.err).split())
    assert "Traceback" not in answer.out + answer.err


def test_a_figure_that_fails_leaves_the_others_and_the_page(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config, folder = write_config(tmp_path, subsets="[1, 5, 10]"), Path("results", "small")
    assert call("run", config, *OPTIONS).code == 0
    monkeypatch.setattr("fsvm_cli.report.drawing.draw_curves", oops)
    (folder / "index.html").unlink()
    answer = call("run", config, *OPTIONS)
    assert answer.code == 4
    assert answer.err.splitlines()[-1] == (
        "fsvm: small: the figure of curves failed (KeyError: 'oops'); the rest is kept (--verbose shows the traceback)"
    )
    assert "Traceback" not in answer.err
    assert "scores.svg" in answer.out
    assert (folder / "index.html").exists()
    # The figure of earlier tables is gone.
    assert not (folder / "accuracy-vs-features.svg").exists()
    for command in (("run", config, *OPTIONS), ("plot", "results", *AS_SVG, "--fresh"), ("verify", "results")):
        answer = call(*command, "--verbose")
        assert answer.code == 4
        assert "in oops" in answer.err
        assert answer.err.count("fsvm: ") == 1
    # It is drawn as soon as it can be.
    monkeypatch.undo()
    monkeypatch.chdir(tmp_path)
    assert call("plot", "results", *AS_SVG).code == 0
    assert (folder / "accuracy-vs-features.svg").exists()


def test_a_page_that_fails_leaves_tables_and_figures(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fsvm_cli.page.write.render", oops)
    answer = call("run", write_config(tmp_path), *OPTIONS)
    assert answer.code == 4
    assert answer.err.splitlines()[-1].startswith("fsvm: small: the page failed (KeyError: 'oops');")
    assert "Written to results/small: curves.csv" in answer.out
    assert "As a page" not in answer.out
    assert Path("results", "small", "scores.svg").exists()


@pytest.mark.parametrize(
    ("fails", "told"),
    [
        ("fsvm_cli.report.tables.describe_run", "a table"),
        ("fsvm_cli.report.drawing.draw_scores", "the figure of scores"),
        ("fsvm_cli.page.reading.curve_tables", "the page"),
        ("fsvm_cli.report.summary.curve_tables", "the summary"),
    ],
)
def test_of_three_experiments_the_middle_one_fails(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fails: str, told: str
) -> None:
    configs = [write_config(tmp_path, name, title=name) for name in ("first", "middle", "last")]
    module, _, name = fails.rpartition(".")
    usual = getattr(__import__(module, fromlist=[name]), name)

    def fail(*arguments: Any) -> Any:
        if any("middle" in {getattr(each, "title", ""), getattr(each, "name", "")} for each in arguments):
            raise KeyError("oops")
        return usual(*arguments)

    monkeypatch.setattr(fails, fail)
    answer = call("run", *configs, *OPTIONS)
    assert answer.code == 4
    assert [line for line in answer.err.splitlines() if "oops" in line] == [
        f"fsvm: middle: {told} failed (KeyError: 'oops'); the rest is kept (--verbose shows the traceback)"
    ]
    for folder in results_of("first", "last"):
        assert {"curves.csv", "scores.svg", "index.html"} <= {path.name for path in folder.iterdir()}
        assert f"Written to {folder}: curves.csv" in " ".join(answer.out.split())


def test_an_experiment_that_no_page_can_show_is_left_out_of_that_of_all(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert call("run", *(write_config(tmp_path, name) for name in ("first", "last")), *OPTIONS).code == 0
    usual = Section

    def fail(**content: Any) -> Section:
        return oops() if content["name"] == "first" else usual(**content)

    monkeypatch.setattr("fsvm_cli.page.reading.Section", fail)
    answer = call("report", "results")
    assert answer.code == 4
    assert answer.err.startswith("fsvm: first: its part of the page failed (KeyError: 'oops');")
    page = Path("results", "index.html").read_text()
    assert 'id="experiment-last"' in page
    assert 'id="experiment-first"' not in page


@pytest.mark.parametrize("command", ["compare", "stats", "table"])
def test_an_experiment_whose_tables_cannot_be_read_leaves_its_neighbours(
    call: Call, tmp_path: Path, command: str
) -> None:
    configs = [write_config(tmp_path, name, subsets="[1, 5, 10]") for name in ("bad", "good")]
    assert call("run", *configs, *OPTIONS).code == 0
    bad, good = results_of("bad", "good")
    header = "id,published,reproduced,ci_low,ci_high,n,what,verdict,rule"
    (good / "published.csv").write_text(f"{header}\ndoc.c,50,51,50,52,4,accuracy in %,reproduced,within\n")
    for name in ("curves.csv", "published.csv"):
        (bad / name).write_text("no,such\n1,2\n")
    answer = call(command, "results")
    assert answer.code == 4
    assert answer.err.count("fsvm: results/bad: ") == 1
    assert "Traceback" not in answer.err
    assert answer.out
    assert call(command, good).code == 0
