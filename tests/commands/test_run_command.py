"""`fsvm run`: what it writes, what it does again, and the same bytes whatever happened on the way."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from fsvm_cli.ranking.registry import ranking_methods
from fsvm_cli.report.table_files import read_table
from tests.helpers.calling import (
    CHECKOUT,
    ENDLESS,
    N_TRIALS,
    Answer,
    answer_of,
    fsvm_here,
    hashes,
    n_already_done,
    n_stored,
    started,
    wait_for_outcomes,
    write_config,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Call = Callable[..., Answer]

pytestmark = pytest.mark.slow

TABLES_AND_FIGURES = {"curves.csv", "scores.csv", "selection.csv", "run.json", "accuracy-vs-features.svg", "scores.svg"}
LONG = {"protocol": "{splits: 3000, train: 1/2, seed: 7}", "subsets": "all"}


def test_two_processes_write_the_same_bytes(undisturbed: tuple[Path, dict[str, str]], tmp_path: Path) -> None:
    config, expected = undisturbed
    assert set(expected) >= TABLES_AND_FIGURES
    answer = fsvm_here("run", config, "--jobs", "2", "--out", tmp_path)
    assert answer.code == 0, answer.err
    assert hashes(tmp_path / "small") == expected


def test_a_run_that_was_killed_twice_writes_the_same_bytes(
    undisturbed: tuple[Path, dict[str, str]], tmp_path: Path
) -> None:
    config, expected = undisturbed
    n_before = 0
    for n_jobs in (1, 2):
        with started("run", config, *ENDLESS, "--jobs", n_jobs, "--out", tmp_path) as process:
            wait_for_outcomes(tmp_path / "small", process, more_than=n_before)
            process.kill()
        n_before = n_stored(tmp_path / "small")
    answer = fsvm_here("run", config, "--jobs", "1", "--out", tmp_path)
    assert answer.code == 0, answer.err
    assert n_already_done(answer) == min(N_TRIALS, n_before // 2)
    assert hashes(tmp_path / "small") == expected


@pytest.mark.parametrize(
    ("sent", "code", "word"), [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "terminated")]
)
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_signal_ends_a_run_and_keeps_what_is_finished(
    tmp_path: Path, sent: signal.Signals, code: int, word: str, jobs: int
) -> None:
    with started("run", write_config(tmp_path, **LONG), "--jobs", jobs, "--out", tmp_path) as process:
        wait_for_outcomes(tmp_path / "small", process)
        os.killpg(process.pid, sent) if sent == signal.SIGINT else process.send_signal(sent)
        answer = answer_of(process)
    assert answer.code == code, answer.err
    assert answer.err.splitlines()[-1] == f"fsvm: {word}; what was finished is kept, and running again does the rest"
    assert "Traceback" not in answer.err
    assert 0 < n_stored(tmp_path / "small") < 6000


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
    assert "no statement about the paper" in answer.out
    run = json.loads((tmp_path / "results" / "with-overrides" / "small" / "run.json").read_text())
    assert run["overrides"] == {"classifier.C": 2, "protocol.splits": 2}
    assert run["config"]["classifier"]["C"] == 2


def test_a_reader_that_goes_away_costs_no_result(tmp_path: Path) -> None:
    with started("run", write_config(tmp_path), "--jobs", "1", "--out", tmp_path) as process:
        process.stdout.close()
        assert process.stderr.read().splitlines()[-1] == "small: 4 of 4 trials"
    assert set(hashes(tmp_path / "small")) >= TABLES_AND_FIGURES


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


@pytest.mark.parametrize("words", [("--help",), ("rank", "--help"), ("compare", "--help")])
def test_help_waits_for_nothing(words: tuple[str, ...]) -> None:
    code = "import sys, fsvm_cli.cli\ntry: fsvm_cli.cli.main()\nfinally: print(*sys.modules, file=sys.stderr)"
    process = subprocess.run(
        [sys.executable, "-c", code, *words], capture_output=True, text=True, cwd=CHECKOUT, check=True
    )
    assert "--help" in process.stdout
    heavy = {"numpy", "scipy", "sklearn", "numba", "pandas", "matplotlib", "pydantic", "rich", "loky", "distributed"}
    assert not heavy & set(process.stderr.split())
