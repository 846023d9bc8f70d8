"""`fsvm run`: what it says, what it does again, and what it leaves, whatever figures look like."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from fsvm_cli.ranking.registry import ranking_methods
from fsvm_cli.report.folder import read_table
from tests.helpers.calling import Answer, hashes, write_config

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Call = Callable[..., Answer]

pytestmark = pytest.mark.usefixtures("plain_figures")


def test_running_again_does_only_what_is_missing(call: Call, tmp_path: Path) -> None:
    config = write_config(tmp_path)
    assert "small: 4 trials, 0 already done" in call("run", config, "--jobs", "1").err
    before = hashes(tmp_path / "results" / "small")
    assert "small: 4 trials, 4 already done" in call("run", config, "--jobs", "1").err
    assert hashes(tmp_path / "results" / "small") == before
    assert "small: 6 trials, 4 already done" in call("run", config, "--jobs", "1", "--splits", "6").err
    assert "small: 4 trials, 0 already done" in call("run", config, "--jobs", "1", "--fresh").err
    assert hashes(tmp_path / "results" / "small") == before


def test_a_dry_run_says_what_would_be_done_and_writes_nothing(call: Call, tmp_path: Path) -> None:
    config = write_config(tmp_path)
    answer = call("run", config, "--dry-run", "--jobs", "1")
    assert answer.code == 0
    assert (
        "small: 4 trials planned, 0 already done, 4 to do, about 1 s with 1 job; results in results/small" in answer.out
    )
    assert not (tmp_path / "results").exists()
    call("run", config, "--jobs", "1")
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "results").rglob("*")}
    assert "4 already done, 0 to do with" in call("run", config, "--dry-run").out
    assert "4 already done, 2 to do, about" in call("run", config, "--dry-run", "--splits", "6").out
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "results").rglob("*")} == before


def test_a_run_with_overrides_says_so_and_remembers_them(call: Call, tmp_path: Path) -> None:
    answer = call("run", write_config(tmp_path), "--jobs", "1", "--set", "classifier.C=2", "--splits", "2")
    assert "Run with overrides (classifier.C=2, protocol.splits=2)" in answer.out
    (path,) = (tmp_path / "results" / "with-overrides").glob("*/small/run.json")
    run = json.loads(path.read_text())
    assert run["overrides"] == {"classifier.C": 2, "protocol.splits": 2}
    assert run["config"]["classifier"]["C"] == 2


def test_figures_of_trials_that_are_no_more_are_removed(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise ValueError("by design")

    config = write_config(tmp_path)
    assert call("run", config, "--jobs", "1").code == 0
    folder = tmp_path / "results" / "small"
    (folder / "notes.svg").write_text("of the user's own")
    assert {"accuracy-vs-features.svg", "scores.svg"} <= set(hashes(folder))
    write_config(tmp_path, protocol="{splits: 4, train: 1/3, seed: 7}")
    with monkeypatch.context() as broken:
        for method in ("average-separation", "random"):
            broken.setattr(ranking_methods()[method], "_scores", refuse)
        assert call("run", config, "--jobs", "1").code == 4
    assert [path.name for path in sorted(folder.iterdir()) if path.suffix in {".svg", ".png"}] == ["notes.svg"]
    assert read_table(folder / "curves.csv").empty
    write_config(tmp_path)
    assert call("run", config, "--jobs", "1").code == 0
    assert {"accuracy-vs-features.svg", "scores.svg"} <= set(hashes(folder))


def test_a_classifier_that_is_no_machine_is_said_to_have_no_duality_gap(call: Call, tmp_path: Path) -> None:
    answer = call("run", write_config(tmp_path), "--jobs", "1")
    assert "Mean ± 95 % interval over 4 splits; every machine reached its duality gap." in answer.out
    classifier = "{type: naive-bayes, likelihood: gaussian}"
    answer = call("run", write_config(tmp_path, "bayes", classifier=classifier, metrics="[rci]"), "--jobs", "1")
    assert "test RCI in %" in answer.out
    assert "Mean ± 95 % interval over 4 splits.\n" in answer.out
    assert "gap" not in answer.out
