"""A Dask cluster of separate processes: the same bytes as one process, whatever dies."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

import pytest

from tests.helpers.calling import (
    N_TRIALS,
    answer_of,
    fsvm,
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


def test_a_worker_that_is_killed_in_mid_run_changes_no_byte(undisturbed: Undisturbed, tmp_path: Path) -> None:
    config, expected = undisturbed
    with Cluster(tmp_path) as cluster, started("run", config, "--dask", cluster.address, "--out", tmp_path) as process:
        wait_for_outcomes(tmp_path / "small", process)
        cluster.kill_worker()
        assert n_stored(tmp_path / "small") < 2 * N_TRIALS
        answer = answer_of(process)
    assert answer.code == 0, answer.err
    assert "Traceback" not in answer.err
    assert hashes(tmp_path / "small") == expected


def test_a_cluster_that_is_gone_ends_the_run_with_what_was_finished_kept(
    undisturbed: Undisturbed, tmp_path: Path
) -> None:
    config, expected = undisturbed
    with Cluster(tmp_path) as cluster, started("run", config, "--dask", cluster.address, "--out", tmp_path) as process:
        wait_for_outcomes(tmp_path / "small", process)
        cluster.scheduler.kill()
        answer = answer_of(process)
    assert answer.code == 3, answer.err
    assert answer.err.splitlines()[-1].endswith("scheduler is gone; what was finished is kept; run again")
    assert "Traceback" not in answer.err
    kept = n_stored(tmp_path / "small")
    assert 0 < kept < 2 * N_TRIALS
    answer = fsvm_here("run", config, "--jobs", "1", "--out", tmp_path)
    assert f"small: {N_TRIALS} trials, {kept // 2} already done" in answer.err
    assert hashes(tmp_path / "small") == expected


def test_a_cluster_that_is_started_for_the_run_writes_the_same_bytes(
    undisturbed_short: Undisturbed, tmp_path: Path
) -> None:
    config, expected = undisturbed_short
    answer = fsvm("run", config, "--dask", "local:2", "--out", tmp_path)
    assert answer.code == 0, answer.err
    assert "Traceback" not in answer.err
    assert hashes(tmp_path / "small") == expected


def test_ctrl_c_reaches_the_run_and_not_the_workers_that_it_started(undisturbed: Undisturbed, tmp_path: Path) -> None:
    with started("run", undisturbed[0], "--splits", "3000", "--dask", "local:2", "--out", tmp_path) as process:
        wait_for_outcomes(tmp_path / "small", process)
        os.killpg(process.pid, signal.SIGINT)
        answer = answer_of(process)
    assert answer.code == 130
    assert (
        answer.err.splitlines()[-1] == "fsvm: interrupted; what was finished is kept, and running again does the rest"
    )
    assert "Traceback" not in answer.err


def test_an_address_where_nobody_answers(tmp_path: Path) -> None:
    answer = fsvm_here("run", write_config(tmp_path), "--dask", "tcp://127.0.0.1:1", "--out", tmp_path)
    assert answer.code == 3
    assert answer.err.splitlines()[-1] == (
        "fsvm: tcp://127.0.0.1:1: no Dask scheduler answers; start one with 'dask scheduler'"
    )
    assert "Traceback" not in answer.err
