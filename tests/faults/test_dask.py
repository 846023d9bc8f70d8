"""A Dask cluster of separate processes: the same bytes as one process, whatever dies."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

import pytest

from fsvm_cli.runner import dask_pool
from tests.helpers.calling import (
    N_TRIALS,
    Answer,
    answer_of,
    children,
    fsvm_here,
    hashes,
    n_stored,
    started,
    wait_for_outcomes,
    write_config,
)
from tests.helpers.clusters import Cluster

if TYPE_CHECKING:
    from pathlib import Path

    Undisturbed = tuple[Path, dict[str, str]]

pytestmark = pytest.mark.slow


def test_a_cluster_of_which_anything_is_killed(undisturbed: Undisturbed, tmp_path: Path) -> None:
    """One cluster for all: to start it takes longer than a run."""
    config, expected = undisturbed
    out = tmp_path / "small"
    with Cluster(tmp_path) as cluster:
        command = ("run", config, "--dask", cluster.address, "--out")
        with started(*command, tmp_path) as process:
            wait_for_outcomes(out, process)
            process.kill()
        before = n_stored(out)
        with started(*command, tmp_path) as process:
            wait_for_outcomes(out, process, more_than=before)
            cluster.kill_worker()
            assert n_stored(out) < 2 * N_TRIALS
            assert_is_as_undisturbed(answer_of(process), out, expected)

        again = tmp_path / "again"
        with started(*command, again) as process:
            wait_for_outcomes(again / "small", process)
            cluster.scheduler.kill()
            answer = answer_of(process)
    assert answer.code == 3, answer.err
    assert answer.err.splitlines()[-1].endswith("scheduler is gone; what was finished is kept; run again")
    assert "Traceback" not in answer.err
    kept = n_stored(again / "small")
    assert 0 < kept < 2 * N_TRIALS
    answer = fsvm_here("run", config, "--jobs", "1", "--out", again)
    assert f"small: {N_TRIALS} trials, {kept // 2} already done" in answer.err
    assert hashes(again / "small") == expected


def assert_is_as_undisturbed(answer: Answer, folder: Path, expected: dict[str, str]) -> None:
    assert answer.code == 0, answer.err
    assert "Traceback" not in answer.err
    assert hashes(folder) == expected


def test_a_cluster_that_is_started_for_the_run_writes_the_same_bytes(
    undisturbed_short: Undisturbed, tmp_path: Path
) -> None:
    config, expected = undisturbed_short
    answer = fsvm_here("run", config, "--dask", "local:2", "--out", tmp_path)
    assert_is_as_undisturbed(answer, tmp_path / "small", expected)


def test_a_worker_that_dies_is_replaced_and_ctrl_c_reaches_the_run_and_not_its_workers(
    undisturbed: Undisturbed, tmp_path: Path
) -> None:
    out = tmp_path / "small"
    with started("run", undisturbed[0], "--splits", "5000", "--dask", "local:2", "--out", tmp_path) as process:
        wait_for_outcomes(out, process)
        os.kill(children(process.pid, "spawn_main")[0], signal.SIGKILL)
        wait_for_outcomes(out, process, more_than=n_stored(out))
        os.killpg(process.pid, signal.SIGINT)
        answer = answer_of(process)
    assert answer.code == 130
    assert (
        answer.err.splitlines()[-1] == "fsvm: interrupted; what was finished is kept, and running again does the rest"
    )
    assert "Traceback" not in answer.err


def test_an_address_where_nobody_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask_pool, "SECONDS_TO_CONNECT", 0.5)
    answer = fsvm_here("run", write_config(tmp_path), "--dask", "tcp://127.0.0.1:1", "--out", tmp_path)
    assert answer.code == 3
    assert answer.err.splitlines()[-1] == (
        "fsvm: tcp://127.0.0.1:1: no Dask scheduler answers; start one with 'dask scheduler'"
    )
    assert "Traceback" not in answer.err
