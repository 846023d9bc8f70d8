"""Where the results of a run go, and what they never take the place of."""

from __future__ import annotations

import json
import re
import shutil
from typing import TYPE_CHECKING

import pytest

from fsvm_cli.report.folder import CURVES_NAME, VERDICTS_NAME, read_table
from tests.helpers.calling import fsvm_here, hashes, write_config

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.helpers.calling import Answer

    Call = Callable[..., Answer]

pytestmark = pytest.mark.usefixtures("plain_figures")

CLAIM = "[{id: a.b, kind: problem, where: T, claim: c, fact: n_features, published: 20, decimals: 0, tolerance: 1}]"


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory, plain_figures: None) -> Path:
    """A folder with a small config and its full results."""
    folder = tmp_path_factory.mktemp("finished")
    answer = fsvm_here("run", write_config(folder), "--jobs", "1", "--out", folder / "results")
    assert answer.code == 0, answer.err
    return folder


@pytest.fixture
def home(finished: Path, tmp_path: Path) -> Path:
    """A copy of it, in which fsvm is called, and which the copy knows for its place."""
    shutil.copytree(finished, tmp_path, dirs_exist_ok=True)
    environment = tmp_path / "results" / "small" / "environment.json"
    environment.write_text(json.dumps(json.loads(environment.read_text()) | {"config_folder": str(tmp_path)}))
    return tmp_path


def test_each_set_of_overrides_has_results_of_its_own_beside_the_full_ones(call: Call, home: Path) -> None:
    before = hashes(home / "results" / "small")
    runs = {
        "protocol.splits=2": ("--splits", "2"),
        "protocol.splits=6": ("--splits", "6"),
        "classifier.C=2,protocol.splits=2": ("--splits", "2", "--set", "classifier.C=2"),
        "scaling=none": ("--set", "scaling=none"),
    }
    written = {}
    for name, options in runs.items():
        folder = home / "results" / "with-overrides" / name / "small"
        answer = call("run", "small.yaml", "--jobs", "1", *options)
        assert answer.code == 0, answer.err
        assert f"Written to {folder.relative_to(home)}: curves.csv" in answer.out
        assert json.loads((folder / "run.json").read_text())["overrides"]
        written[folder] = hashes(folder)
    assert {folder: hashes(folder) for folder in written} == written
    assert hashes(home / "results" / "small") == before


def test_folders_of_overrides_have_names_that_any_file_system_takes(call: Call, home: Path) -> None:
    subsets = [f"subsets={list(range(1, n + 1))}" for n in (18, 19, 20)]
    for each in subsets:
        assert call("run", "small.yaml", "--jobs", "1", "--splits", "2", "--set", each).code == 0
    names = [path.name for path in (home / "results" / "with-overrides").iterdir()]
    assert len(names) == len(subsets)
    assert all(len(name) < 100 and re.fullmatch(r"[\w.,=+-]+", name) for name in names)


def test_a_look_with_few_rows_takes_every_step_and_says_nothing_of_the_source(call: Call, home: Path) -> None:
    of_one_size = "{train_size: 30, features: all}"
    claim = f"{{id: a.c, kind: single-run, where: T, claim: c, at: {of_one_size}, published: 90, decimals: 0}}"
    write_config(home, protocol="{splits: 4, train: [30, 1/3], seed: 7}", expected=f"[{claim}, {CLAIM[1:]}")
    answer = call("run", "small.yaml", "--jobs", "1", "--splits", "2", "--rows", "12", "--format", "svg")
    assert answer.code == 0, answer.err
    (folder,) = (home / "results" / "with-overrides").glob("*/small")
    verdicts = read_table(folder / VERDICTS_NAME)
    assert verdicts["verdict"].tolist() == ["not comparable"] * 2
    assert set(read_table(folder / CURVES_NAME)["train_size"]) == {12}
    assert {path.suffix for path in folder.iterdir()} >= {".csv", ".svg"}
    assert not list(folder.glob("*.png"))
    protocol = json.loads((folder / "run.json").read_text())["config"]["protocol"]
    assert (protocol["splits"], protocol["train"], protocol["test"]) == (2, [12], 12)
    # Without an override, a claim about a size that is not there is a mistake.
    write_config(home, protocol="{splits: 4, train: 1/3, seed: 7}", expected=f"[{claim}]")
    assert "speaks of 30 training rows" in call("run", "small.yaml", "--jobs", "1", "--overwrite").err


def test_other_commands_know_the_folder_where_it_is_named(call: Call, home: Path) -> None:
    assert call("run", "small.yaml", "--jobs", "1", "--splits", "2").code == 0
    assert (
        "results/with-overrides/protocol.splits=2/small/scores.svg"
        in call("plot", "results/with-overrides", "--format", "svg").out
    )
    assert "results/with-overrides" not in call("plot", "results", "--format", "svg").out
    answer = call("verify", "results/with-overrides")
    assert answer.code == 0, answer.err
    assert "results/with-overrides/protocol.splits=2/small: 2 of 2 planned trials are stored" in answer.out


def test_what_one_of_the_folders_holds_is_not_computed_for_another(call: Call, home: Path) -> None:
    assert "4 already done, 2 to do" in call("run", "small.yaml", "--splits", "6", "--dry-run").out
    assert not (home / "results" / "with-overrides").exists()
    assert "small: 6 trials, 4 already done" in call("run", "small.yaml", "--jobs", "1", "--splits", "6").err
    write_config(home, protocol="{splits: 6, train: 1/2, seed: 7}")
    assert "small: 6 trials, 6 already done" in call("run", "small.yaml", "--jobs", "1").err
    assert "small: 2 trials, 0 already done" in call("run", "small.yaml", "--jobs", "1", "--splits", "2", "--fresh").err
    (home / "results" / "small" / "trials.sqlite").write_text("no store")
    answer = call("run", "small.yaml", "--jobs", "1", "--splits", "3")
    assert answer.code == 0, answer.err
    assert "small: 3 trials, 3 already done" in answer.err
    assert "6 already done, 1 to do" in call("run", "small.yaml", "--splits", "7", "--dry-run").out


def test_full_results_are_replaced_by_those_of_overrides_only_on_demand(call: Call, home: Path) -> None:
    before = hashes(home / "results" / "small")
    options = ("--splits", "2", "--jobs", "1", "--out", "results")
    for dry in ((), ("--dry-run",)):
        answer = call("run", "small.yaml", *options, *dry)
        assert answer.code == 2
        assert "results/small: holds the full results of small, and this run overrides protocol.splits" in answer.err
        assert "--out" in answer.err
        assert "--overwrite" in answer.err
    assert hashes(home / "results" / "small") == before
    assert call("run", "small.yaml", *options, "--overwrite").code == 0
    assert hashes(home / "results" / "small") != before
    # Of lesser results nothing needs to be said.
    assert call("run", "small.yaml", "--splits", "3", "--jobs", "1", "--out", "results").code == 0
    assert call("run", "small.yaml", "--jobs", "1").code == 0
    assert hashes(home / "results" / "small") == before


@pytest.mark.parametrize("is_cloned", [False, True])
def test_another_config_of_the_same_name_replaces_nothing(call: Call, home: Path, is_cloned: bool) -> None:
    before = hashes(home / "results" / "small")
    if is_cloned:  # what a repository does not track is missing
        for name in ("environment.json", "trials.sqlite"):
            (home / "results" / "small" / name).unlink()
    elsewhere = home / "elsewhere"
    elsewhere.mkdir()
    other = write_config(elsewhere, classifier="{kernel: linear, C: 3, tolerance: 0.001}")
    for dry in ((), ("--dry-run",)):
        answer = call("run", other, "--jobs", "1", *dry)
        assert answer.code == 2
        assert (
            "results/small: holds the results of another config of this name ('A small experiment'); choose another "
            "folder by --out, or replace them by --overwrite" in answer.err
        )
    assert hashes(home / "results" / "small") == before
    assert call("run", other, "--jobs", "1", "--overwrite").code == 0
    assert hashes(home / "results" / "small") != before
    # From now on it is the other one's folder.
    assert call("run", other, "--jobs", "1").code == 0
    assert call("run", "small.yaml", "--jobs", "1").code == 2


def test_a_config_that_was_edited_runs_on_without_further_words(call: Call, home: Path) -> None:
    rankings = "[{method: average-separation}, {method: random}, {method: fisher}]"
    write_config(home, title="Another title", rankings=rankings, protocol="{splits: 5, train: 1/2, seed: 7}")
    answer = call("run", "small.yaml", "--jobs", "1")
    assert answer.code == 0, answer.err
    assert "fisher" in (home / "results" / "small" / "curves.csv").read_text()


def test_results_that_were_moved_or_cloned_are_known_by_their_config(call: Call, home: Path) -> None:
    environment = home / "results" / "small" / "environment.json"
    environment.write_text(json.dumps({"config_folder": str(home / "gone")}))
    assert call("run", "small.yaml", "--jobs", "1", "--dry-run").code == 0
    environment.unlink()
    assert call("run", "small.yaml", "--jobs", "1", "--dry-run").code == 0


def test_results_that_nobody_can_read_are_no_obstacle(call: Call, home: Path) -> None:
    for text in ("{", "[]", '{"config": 3}'):
        (home / "results" / "small" / "run.json").write_text(text)
        assert call("run", "small.yaml", "--jobs", "1", "--dry-run").code == 0


def test_a_collection_replaces_no_other_one(call: Call, home: Path) -> None:
    def collect(folder: Path, title: str) -> Path:
        write_config(folder, "member", expected=CLAIM)
        (folder / "all.yaml").write_text(f"title: {title}\nexperiments: [member]\n")
        return folder / "all.yaml"

    (home / "elsewhere").mkdir()
    first, second = collect(home, "Mine"), collect(home / "elsewhere", "Theirs")
    assert call("run", first, "--jobs", "1").code == 0
    before = hashes(home / "results" / "all")
    answer = call("run", second, "--jobs", "1")
    assert answer.code == 2
    assert "results/all: holds the results of another config of this name ('Mine')" in answer.err
    assert hashes(home / "results" / "all") == before
    assert call("run", first, "--jobs", "1").code == 0


def test_tables_and_figures_of_what_a_config_no_longer_has_are_removed(call: Call, home: Path) -> None:
    folder = home / "results" / "small"
    write_config(home, expected=CLAIM)
    assert call("run", "small.yaml", "--jobs", "1").code == 0
    (folder / "notes.csv").write_text("of the user's own")
    assert {"published.csv", "scores.svg", "selection.csv"} <= set(hashes(folder))
    path = write_config(home)
    path.write_text("".join(line for line in path.read_text().splitlines(keepends=True) if "rankings" not in line))
    assert call("run", "small.yaml", "--jobs", "1").code == 0
    assert set(hashes(folder)) == {"curves.csv", "scores.csv", "run.json", "notes.csv"}
