"""A Dask cluster of separate processes: the same bytes as one process, whatever dies."""

from __future__ import annotations

import os
import signal
import subprocess
from typing import TYPE_CHECKING
from unittest import mock

import dask
import pytest

from fsvm_cli.runner import dask_pool
from tests.faults.dask_campaign import run_while_workers_die
from tests.helpers.calling import (
    AS_SVG,
    ENDLESS,
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
from tests.helpers.clusters import Cluster

if TYPE_CHECKING:
    from pathlib import Path

    Undisturbed = tuple[Path, dict[str, str]]

pytestmark = pytest.mark.slow


def test_a_cluster_of_which_anything_is_killed(undisturbed: Undisturbed, tmp_path: Path) -> None:
    """One run and one cluster for all: to start them takes longer than the trials. The worker is killed, which ends
    nothing, and then the scheduler.

    ``make test-faults`` kills the run as well, and lets others come to their end on the cluster.
    """
    config, expected = undisturbed
    out = tmp_path / "small"
    with (
        Cluster(tmp_path) as cluster,
        started("run", config, *ENDLESS, "--dask", cluster.address, "--out", tmp_path) as process,
    ):
        wait_for_outcomes(out, process)
        cluster.kill_worker()
        wait_for_outcomes(out, process, more_than=n_stored(out))
        cluster.scheduler.kill()
        answer = answer_of(process)
    assert answer.code == 3, answer.err
    assert answer.err.splitlines()[-1].endswith("scheduler is gone; what was finished is kept; run again")
    assert "Traceback" not in answer.err
    kept = n_stored(out)
    answer = fsvm_here("run", config, "--jobs", "1", *AS_SVG, "--out", tmp_path)
    assert n_already_done(answer) > 0
    assert n_stored(out) >= kept
    assert_is_as_undisturbed(answer, out, expected)


def test_a_run_one_of_whose_workers_is_killed_writes_the_same_bytes(undisturbed: Undisturbed, tmp_path: Path) -> None:
    """``python -m tests.faults.dask_campaign`` kills one of eight a minute."""
    config, expected = undisturbed

    def first_outcome_then_end(process: subprocess.Popen[str]) -> None:
        if n_stored(tmp_path / "small"):
            process.wait()
        else:
            wait_for_outcomes(tmp_path / "small", process)

    with Cluster(tmp_path) as cluster:
        answer, n_killed = run_while_workers_die(config, tmp_path, cluster, first_outcome_then_end)
    assert n_killed == 1
    assert_is_as_undisturbed(answer, tmp_path / "small", expected)


def assert_is_as_undisturbed(answer: Answer, folder: Path, expected: dict[str, str]) -> None:
    assert answer.code == 0, answer.err
    assert "Traceback" not in answer.err
    assert hashes(folder) == expected


def test_a_cluster_that_is_started_for_the_run_writes_the_same_bytes(undisturbed: Undisturbed, tmp_path: Path) -> None:
    """Of one worker, which takes seconds to start; two have a part in what the cluster above has left."""
    config, expected = undisturbed
    with mock.patch.dict(os.environ):  # to which Dask adds what its workers are to have
        answer = fsvm_here("run", config, "--dask", "local:1", *AS_SVG, "--out", tmp_path)
    assert_is_as_undisturbed(answer, tmp_path / "small", expected)


def test_ctrl_c_reaches_the_run_and_not_its_workers(tmp_path: Path) -> None:
    """``make test-faults`` kills workers of such a cluster, which replaces them."""
    with started("run", write_config(tmp_path), *ENDLESS, "--dask", "local:1", "--out", tmp_path) as process:
        wait_for_outcomes(tmp_path / "small", process)
        os.killpg(process.pid, signal.SIGINT)
        answer = answer_of(process)
    assert answer.code == 130
    assert (
        answer.err.splitlines()[-1] == "fsvm: interrupted; what was finished is kept, and running again does the rest"
    )
    assert "Traceback" not in answer.err


def certificate(folder: Path, name: str) -> dict[str, str]:
    """Make a certificate that vouches for itself; its files, by the names of Dask's options."""
    key, cert = str(folder / f"{name}.key"), str(folder / f"{name}.pem")
    kind = (
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:prime256v1",
        "-nodes",
        "-days",
        "2",
        "-subj",
        "/CN=localhost",
    )
    command = ["openssl", "req", "-x509", *kind, "-keyout", key, "-out", cert]
    subprocess.run(command, check=True, capture_output=True)
    return {"tls-ca-file": cert, "tls-cert": cert, "tls-key": key}


def configured(files: dict[str, str]) -> dict[str, object]:
    """Dask's configuration of a client with these files."""
    tls = "distributed.comm.tls"
    return {
        f"{tls}.ca-file": files["tls-ca-file"],
        f"{tls}.client.cert": files["tls-cert"],
        f"{tls}.client.key": files["tls-key"],
    }


def test_a_cluster_behind_certificates(undisturbed: Undisturbed, tmp_path: Path) -> None:
    config, expected = undisturbed
    right, wrong = certificate(tmp_path, "right"), certificate(tmp_path, "wrong")
    options = tuple(word for key, value in right.items() for word in (f"--{key}", value))
    with Cluster(tmp_path, 1, ("--protocol", "tls", *options)) as cluster:
        assert cluster.address.startswith("tls://127.0.0.1:")
        command = ("run", config, "--dask", cluster.address, *AS_SVG, "--out", tmp_path)

        answer = fsvm_here(*command)
        assert (answer.code, "no certificates are named; Dask's configuration names them" in answer.err) == (2, True)
        with dask.config.set(configured(right | {"tls-ca-file": str(tmp_path / "nowhere.pem")})):
            answer = fsvm_here(*command)
        assert (answer.code, "the certificates cannot be read" in answer.err) == (2, True)
        with dask.config.set(configured(wrong)):
            answer = fsvm_here(*command)
        assert (answer.code, "are not of one authority" in answer.err) == (3, True), answer.err
        assert "Traceback" not in answer.err

        with dask.config.set(configured(right)):
            answer = fsvm_here(*command)
    assert_is_as_undisturbed(answer, tmp_path / "small", expected)


def test_an_address_where_nobody_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask_pool, "CONNECT_TIMEOUT_SECONDS", 0.5)
    answer = fsvm_here("run", write_config(tmp_path), "--dask", "tcp://127.0.0.1:1", "--out", tmp_path)
    assert answer.code == 3
    assert answer.err.splitlines()[-1] == (
        "fsvm: tcp://127.0.0.1:1: no Dask scheduler answers; start one with 'dask scheduler'"
    )
    assert "Traceback" not in answer.err
