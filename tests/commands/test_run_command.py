"""`fsvm run`: what it writes, what it does again, and the same bytes whatever happened on the way."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from typing import TYPE_CHECKING

import pytest

from tests.helpers.calling import (
    AS_SVG,
    CHECKOUT,
    ENDLESS,
    N_TRIALS,
    Answer,
    answer_of,
    ctrl_c_interrupts,
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
    assert (config.parent / "results" / "small" / "scores.png").exists(), "the other format, which comes unasked"
    answer = fsvm_here("run", config, "--jobs", "2", *AS_SVG, "--out", tmp_path)
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
    answer = fsvm_here("run", config, "--jobs", "1", *AS_SVG, "--out", tmp_path)
    assert answer.code == 0, answer.err
    assert n_already_done(answer) == min(N_TRIALS, n_before // 2)
    assert hashes(tmp_path / "small") == expected


with_each_signal = pytest.mark.parametrize(
    ("sent", "code", "word"), [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "terminated")]
)


def assert_is_ended_in_good_order(answer: Answer, folder: Path, code: int, word: str) -> None:
    assert answer.code == code, answer.err
    assert answer.err.splitlines()[-1] == f"fsvm: {word}; what was finished is kept, and running again does the rest"
    assert "Traceback" not in answer.err
    assert 0 < n_stored(folder) < 6000


@with_each_signal
def test_a_signal_ends_a_run_and_keeps_what_is_finished(
    tmp_path: Path, sent: signal.Signals, code: int, word: str
) -> None:
    with started("run", write_config(tmp_path, **LONG), "--jobs", "2", "--out", tmp_path) as process:
        wait_for_outcomes(tmp_path / "small", process)
        os.killpg(process.pid, sent) if sent == signal.SIGINT else process.send_signal(sent)
        answer = answer_of(process)
    assert_is_ended_in_good_order(answer, tmp_path / "small", code, word)


@with_each_signal
def test_a_signal_ends_a_run_without_workers(tmp_path: Path, sent: signal.Signals, code: int, word: str) -> None:
    """In this process, which spares the start of one: another thread sends the signal."""
    folder, is_over = tmp_path / "small", threading.Event()

    def send_when_something_is_stored() -> None:
        while not n_stored(folder):
            if is_over.wait(0.02):
                return
        os.kill(os.getpid(), sent)

    sender = threading.Thread(target=send_when_something_is_stored)
    with ctrl_c_interrupts():
        sender.start()
        answer = fsvm_here("run", write_config(tmp_path, **LONG), "--jobs", "1", "--out", tmp_path)
        is_over.set()
        sender.join()
    assert_is_ended_in_good_order(answer, folder, code, word)


def test_a_reader_that_goes_away_costs_no_result(tmp_path: Path) -> None:
    with started("run", write_config(tmp_path), "--jobs", "1", *AS_SVG, "--out", tmp_path) as process:
        process.stdout.close()
        assert process.stderr.read().splitlines()[-1] == "small: 4 of 4 trials"
    assert set(hashes(tmp_path / "small")) >= TABLES_AND_FIGURES


@pytest.mark.parametrize("words", [("--help",), ("rank", "--help"), ("compare", "--help")])
def test_help_waits_for_nothing(words: tuple[str, ...]) -> None:
    code = "import sys, fsvm_cli.cli\ntry: fsvm_cli.cli.main()\nfinally: print(*sys.modules, file=sys.stderr)"
    process = subprocess.run(
        [sys.executable, "-c", code, *words], capture_output=True, text=True, cwd=CHECKOUT, check=True
    )
    assert "--help" in process.stdout
    heavy = {"numpy", "scipy", "sklearn", "numba", "pandas", "matplotlib", "pydantic", "rich", "loky", "distributed"}
    assert not heavy & set(process.stderr.split())
