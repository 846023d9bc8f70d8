"""Workers read one copy of large arrays, and nothing of it is left, whoever is killed."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from fsvm_cli.runner import dask_pool, pools, tasks
from fsvm_cli.runner.pools import ProcessPool
from fsvm_cli.runner.run import Job, run
from fsvm_cli.runner.tasks import Mapped, PackedExperiment, SharedArrays
from fsvm_cli.store.store import Store
from tests.helpers.small import run_job, stored
from tests.runner.test_running import Killer

if TYPE_CHECKING:
    from collections.abc import Callable

    from fsvm_cli.experiment.experiment import Experiment

    Planned = Callable[..., Experiment]


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of temporary files, in which any array is shared."""
    folder = tmp_path / "scratch"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    monkeypatch.setattr(tasks, "MIN_SHARED_BYTES", 1)
    return folder


def test_an_object_comes_back_with_its_arrays_in_one_file(scratch: Path) -> None:
    arrays = SharedArrays()
    X = np.arange(24.0).reshape(4, 6)
    thing = {"X": X, "columns": np.asfortranarray(X), "again": X, "codes": np.arange(5), "name": "mine"}
    packed = arrays.share(thing)
    assert isinstance(packed, Mapped)
    assert len([*scratch.rglob("*")]) == 3, "a folder, its owner's lock and one file of arrays"
    back = packed.load()
    assert back["X"] is back["again"]
    for name in ("X", "columns", "codes"):
        np.testing.assert_array_equal(back[name], thing[name])
        assert back[name].ctypes.data % tasks.ALIGNMENT_BYTES == 0
        assert back[name].flags.f_contiguous == thing[name].flags.f_contiguous
        with pytest.raises(ValueError, match="read-only"):
            back[name][:] = 0
    arrays.remove()
    assert not [*scratch.iterdir()]
    np.testing.assert_array_equal(back["X"], X)
    arrays.remove()


def test_what_a_killed_run_has_left_goes_with_the_next_run_and_nothing_else(scratch: Path) -> None:
    leave = """
import os, signal, sys, tempfile, numpy
from fsvm_cli.runner import tasks
tempfile.tempdir, tasks.MIN_SHARED_BYTES = sys.argv[1], 1
arrays = tasks.SharedArrays()
arrays.share(numpy.arange(9))
os.kill(os.getpid(), signal.SIGKILL)
"""
    killed = subprocess.run([sys.executable, "-c", leave, str(scratch)], check=False)
    assert killed.returncode != 0
    alive = SharedArrays()
    alive.share(np.arange(9))
    (abandoned,) = {*scratch.iterdir()} - {Path(alive.folders[0])}
    others = SharedArrays()
    others.share(np.arange(9))
    assert abandoned.exists(), "it may be about to be locked"
    for folder in scratch.iterdir():
        os.utime(folder, (0, 0))
    newest = SharedArrays()
    newest.share(np.arange(9))
    assert {*map(str, scratch.iterdir())} == {*alive.folders, *others.folders, *newest.folders}
    for each in (alive, others, newest):
        each.remove()
    assert not [*scratch.iterdir()]


def test_small_arrays_and_those_without_room_travel_by_themselves(
    scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    thing = [np.arange(3)]
    monkeypatch.setattr(tempfile, "tempdir", str(scratch / "none"))
    assert SharedArrays().share(thing) is thing
    monkeypatch.undo()
    assert SharedArrays().share(thing) is thing


@pytest.mark.slow
def test_a_run_leaves_nothing_behind_and_finds_the_same(
    planned: Planned, scratch: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where a worker is killed on the way, and others begin anew."""
    experiment = planned(dataset={"name": "wine"}, protocol={"splits": 200, "train": "2/3", "seed": 7})
    packed = PackedExperiment.of(experiment, SharedArrays())
    assert isinstance(packed.source, Mapped)
    assert packed.unpacked().source.identity == experiment.source.identity
    tasks.remove_folders([*map(str, scratch.iterdir())])
    killer = Killer(n_kills=1)
    with Store(tmp_path / "shared", writable=True) as store:
        job = Job(experiment, store, killer)
        for _ in run([job], killer.open_pool):
            assert len([*scratch.glob("fsvm-shared-*/tmp*")]) == 1
    assert (killer.n_kills_left, job.error, dict(job.failures)) == (0, None, {})
    assert not [*scratch.glob("fsvm-shared-*")]
    run_job(experiment, tmp_path / "serial")
    assert stored(experiment, tmp_path / "shared") == stored(experiment, tmp_path / "serial")


def test_workers_of_a_cluster_on_this_computer_share_them_too(
    planned: Planned, scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dask_pool, "warm_up", lambda experiments: None)
    experiment, arrays = planned(dataset={"name": "wine"}), SharedArrays()
    ours = pickle.loads(pickle.dumps(dask_pool._Experiments([experiment], arrays)))
    others = pickle.loads(pickle.dumps(dask_pool._Experiments([experiment], None)))
    assert (ours.is_ours, others.is_ours) == (True, False)
    assert len([*scratch.glob("fsvm-shared-*/tmp*")]) == 1
    for plugin, is_mapped in ((ours, True), (others, False)):
        (found,) = dask_pool._Run(plugin._packed).experiments()
        X = found.source.draw(np.random.default_rng(0)).X
        assert X.flags.writeable != is_mapped
        np.testing.assert_array_equal(X, experiment.source.draw(np.random.default_rng(0)).X)


@pytest.mark.parametrize("fails", ["_start", "warm_up"])
def test_a_pool_that_is_interrupted_while_it_starts_leaves_nothing_behind(
    fails: str, planned: Planned, scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: Any) -> None:
        assert [*scratch.glob("fsvm-shared-*/*")]
        raise KeyboardInterrupt

    monkeypatch.setattr(ProcessPool, "_start", lambda self: None)
    monkeypatch.setattr(ProcessPool, "_end_processes", lambda self, busy: None)
    monkeypatch.setattr(*((ProcessPool, fails) if fails == "_start" else (pools, fails)), interrupted)
    with pytest.raises(KeyboardInterrupt):
        ProcessPool([planned(dataset={"name": "wine"})], 2)
    assert not [*scratch.iterdir()]


def test_workers_tidy_up_after_a_parent_that_was_killed(scratch: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    arrays, codes = SharedArrays(), []
    arrays.share(np.arange(9))
    monkeypatch.setattr(pools.os, "_exit", codes.append)
    pools._exit_with_parent(-1, arrays.folders, is_forked=False)
    assert codes == [1]
    assert not [*scratch.iterdir()]
