"""Runs: only what is missing is computed, wherever it runs, and what fails is told and tried again."""

from __future__ import annotations

import os
import signal
from functools import partial
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest
import threadpoolctl

from fsvm_cli.errors import DataError
from fsvm_cli.experiment.records.decision_field import DecisionField
from fsvm_cli.experiment.running import RECORD_TIMING_NOTES, record_key, tables_of
from fsvm_cli.ranking.gradient_angle import GradientAngle
from fsvm_cli.ranking.registry import ranking_methods
from fsvm_cli.runner.folders import copy_from_folder
from fsvm_cli.runner.missing import missing_tasks
from fsvm_cli.runner.pools import ProcessPool, SerialPool
from fsvm_cli.runner.run import Job, open_local_pool, run
from fsvm_cli.runner.verify import stored_trials
from fsvm_cli.store.store import FILE_NAME, Store
from tests.helpers.small import Quiet, recorded, run_job, stored

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from fsvm_cli.experiment.experiment import Experiment
    from fsvm_cli.runner.pools import Pool

    Planned = Callable[..., Experiment]

pytestmark = pytest.mark.slow

PROTOCOL = {"splits": 3, "train": "1/2", "seed": 7}
MANY = {"protocol": PROTOCOL | {"splits": 40}}
FIELD = {
    "dataset": {"name": "plane", "samples": 30},
    "rankings": [{"method": "gradient-angle", "epsilon": 0.1}],
    "subsets": "all",
    "record": ["decision-field"],
}


def missing(experiment: Experiment, folder: Path) -> set[tuple[int, int, tuple[int, ...]]]:
    """What a run would compute: split, place of the ranking and sizes."""
    with Store(folder, writable=False) as store:
        return {
            (task.trial.split, place, sizes)
            for task in missing_tasks(experiment, store)
            for place, sizes in task.wanted.items()
        }


def verdicts(experiment: Experiment, folder: Path) -> dict[Any, Any]:
    """Scores and confusion matrices of every outcome, without the certificates."""
    return {
        where: (outcome.scores, outcome.sizes, outcome.train.tolist(), outcome.test.tolist())
        for where, outcome in stored(experiment, folder).items()
    }


def no_pool(experiments: Sequence[Experiment], n_tasks: int) -> Pool:
    raise AssertionError("nothing was to be run")


def test_a_run_that_is_complete_opens_no_pool(planned: Planned, tmp_path: Path) -> None:
    run_job(planned(), tmp_path)
    with Store(tmp_path, writable=True) as store:
        job = Job(planned(), store, Quiet())
        assert list(run([job], no_pool)) == [0]
    assert job.progress.told == [(3, 3), (3,)]


def test_progress_counts_up_to_all_trials(planned: Planned, tmp_path: Path) -> None:
    told = run_job(planned(**MANY), tmp_path).progress.told
    assert told[0] == (40, 0)
    assert told[-1] == (40,)
    assert [each[-1] for each in told] == sorted(each[-1] for each in told)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, set()),
        ({"title": "new", "metrics": ["balanced-accuracy"]}, set()),
        ({"protocol": PROTOCOL | {"splits": 2}}, set()),
        (
            {"protocol": PROTOCOL | {"splits": 5}},
            {(split, place, (1, 5, 20)) for split in (3, 4) for place in (0, 1)},
        ),
        ({"subsets": [1, 3, 5]}, {(split, place, (3,)) for split in range(3) for place in (0, 1)}),
        ({"subsets": [5]}, set()),
        (
            {"rankings": [{"method": "random", "label": "chance"}, {"method": "gradient-angle", "epsilon": 0.1}]},
            {(split, 1, (1, 5, 20)) for split in range(3)},
        ),
        ({"scaling": "minmax"}, {(split, place, (1, 5, 20)) for split in range(3) for place in (0, 1)}),
    ],
)
def test_only_what_is_new_is_computed(
    planned: Planned, tmp_path: Path, changes: dict[str, Any], expected: set[Any]
) -> None:
    run_job(planned(), tmp_path)
    assert missing(planned(**changes), tmp_path) == expected


def test_sizes_that_were_added_later_are_those_of_a_run_that_had_them_all(planned: Planned, tmp_path: Path) -> None:
    """The solver's path differs, so the certificates do in their last digits; what the machines say does not."""
    tight = {"classifier": {"kernel": "linear", "C": 1, "tolerance": 1e-8}}
    both = planned(subsets=[1, 3, 5], **tight)
    run_job(planned(**tight), tmp_path / "steps")
    run_job(both, tmp_path / "steps")
    run_job(both, tmp_path / "once")
    assert verdicts(both, tmp_path / "steps") == verdicts(both, tmp_path / "once")


def test_a_failed_ranking_is_recorded_tried_again_and_no_result(
    planned: Planned, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    experiment = planned()
    with monkeypatch.context() as broken:
        broken.setattr(ranking_methods()["random"], "_scores", _raise)
        assert run_job(experiment, tmp_path).failures == {"ZeroDivisionError: by design": 3}
    assert {place for place, _, _ in stored(experiment, tmp_path)} == {0}
    with Store(tmp_path, writable=False) as store:
        failures = store.failures()
    assert failures.keys() == {experiment.key(1, trial) for trial in experiment.trials()}
    for failure in failures.values():
        reason, *traceback = failure.splitlines()
        assert (reason, traceback[0]) == ("ZeroDivisionError: by design", "Traceback (most recent call last):")
        assert "in _raise" in traceback[-2] or "in _raise" in traceback[-3]
    assert missing(experiment, tmp_path) == {(split, 1, (1, 5, 20)) for split in range(3)}
    assert not run_job(experiment, tmp_path).failures
    assert {place for place, _, _ in stored(experiment, tmp_path)} == {0, 1}


def _raise(*args: object) -> None:
    raise ZeroDivisionError("by design")


def test_a_record_that_fails_is_a_failure_of_the_run_and_not_its_end(
    planned: Planned, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    experiment = planned(**FIELD)
    with monkeypatch.context() as broken:
        broken.setattr(DecisionField, "compute", _raise)
        failures = {"decision-field: ZeroDivisionError: by design": 1}
        assert run_job(experiment, tmp_path).failures == failures
        assert run_job(experiment, tmp_path).failures == failures
    with Store(tmp_path, writable=False) as store:
        assert [(task.trial.split, task.wanted, task.records) for task in missing_tasks(experiment, store)] == [
            (0, {}, ("decision-field",))
        ]
        assert stored_trials(experiment, store) == list(experiment.trials())
        times = list(store.timings())
    assert not run_job(experiment, tmp_path).failures
    with Store(tmp_path, writable=False) as store:
        assert store.record(record_key(experiment, "decision-field")) is not None
        assert list(store.timings()) == times
        assert not missing_tasks(experiment, store)


@pytest.mark.parametrize("n_processes", [1, 2])
def test_a_record_is_made_with_its_trial_of_what_that_has_fitted(
    planned: Planned, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, n_processes: int
) -> None:
    experiment = planned(**FIELD)
    alone = recorded(experiment, "decision-field")
    # The trial's own process makes it: not this one, unless there is no other; and fits once.
    fits: list[object] = []
    fit = GradientAngle.fit
    monkeypatch.setattr(GradientAngle, "fit", lambda self, *args: (fits.append(self), fit(self, *args))[1])
    run_job(experiment, tmp_path, n_processes=n_processes)
    assert len(fits) == (3 if n_processes == 1 else 0)
    with Store(tmp_path, writable=False) as store:
        record = store.record(record_key(experiment, "decision-field"))
        seconds = store.notes(RECORD_TIMING_NOTES)
    assert seconds.keys() == {"decision-field"}
    assert float(seconds["decision-field"]) > 0.0
    assert record is not None
    together = tables_of(record)
    assert together.keys() == alone.keys()
    for name, table in alone.items():
        pd.testing.assert_frame_equal(together[name], table, check_exact=True)


def test_a_record_of_another_folder_is_taken_over(planned: Planned, tmp_path: Path) -> None:
    experiment = planned(**FIELD)
    run_job(experiment, tmp_path / "there")
    with Store(tmp_path / "here", writable=True) as store:
        copy_from_folder(experiment, store, tmp_path / "there")
        assert not missing_tasks(experiment, store)


def test_a_damaged_store_ends_its_experiment_and_no_other(planned: Planned, tmp_path: Path) -> None:
    experiment, more = planned(), planned(subsets=[1, 2, 5])
    run_job(experiment, tmp_path / "damaged")
    content = (tmp_path / "damaged" / FILE_NAME).read_bytes()
    (tmp_path / "damaged" / FILE_NAME).write_bytes(content.replace(b'"scores":[', b'"scores":]'))
    with Store(tmp_path / "damaged", writable=True) as damaged, Store(tmp_path / "sound", writable=True) as sound:
        jobs = [Job(more, damaged, Quiet()), Job(more, sound, Quiet())]
        assert sorted(run(jobs, partial(open_local_pool, 1))) == [0, 1]
    assert isinstance(jobs[0].error, DataError)
    assert jobs[1].error is None
    assert len(stored(more, tmp_path / "sound")) == 6


def test_two_experiments_share_processes_that_find_what_this_process_finds(planned: Planned, tmp_path: Path) -> None:
    first, second = planned(**MANY), planned(rankings=None, dataset="wine", **MANY)
    with Store(tmp_path / "a", writable=True) as a, Store(tmp_path / "b", writable=True) as b:
        jobs = [Job(first, a, Quiet()), Job(second, b, Quiet())]
        assert sorted(run(jobs, partial(open_local_pool, 2))) == [0, 1]
    jobs += [run_job(first, tmp_path / "c"), run_job(second, tmp_path / "d")]
    assert not any(job.failures for job in jobs)
    serial = stored(first, tmp_path / "c")
    assert len(serial) == 80
    assert stored(first, tmp_path / "a") == serial
    assert stored(second, tmp_path / "b") == stored(second, tmp_path / "d")


class Killer(Quiet):
    """Kills a worker of a pool each time that it hears of progress."""

    def __init__(self, n_kills: int) -> None:
        super().__init__()
        self.n_kills_left = n_kills
        self.pool: ProcessPool | None = None

    def open_pool(self, experiments: Sequence[Experiment], n_tasks: int) -> ProcessPool:
        self.pool = ProcessPool(experiments, 2)
        return self.pool

    def advance(self, n_done: int) -> None:
        super().advance(n_done)
        assert self.pool is not None
        workers = list(self.pool._executor._processes)
        if self.n_kills_left and workers:
            self.n_kills_left -= 1
            os.kill(workers[0], signal.SIGKILL)


def test_a_worker_that_is_killed_in_mid_run_costs_no_trial(planned: Planned, tmp_path: Path) -> None:
    experiment = planned(protocol=PROTOCOL | {"splits": 300})
    killer = Killer(n_kills=1)
    with Store(tmp_path / "killed", writable=True) as store:
        job = Job(experiment, store, killer)
        assert list(run([job], killer.open_pool)) == [0]
    assert killer.n_kills_left == 0
    assert (job.error, dict(job.failures)) == (None, {})
    run_job(experiment, tmp_path / "undisturbed")
    assert stored(experiment, tmp_path / "killed") == stored(experiment, tmp_path / "undisturbed")


def test_the_serial_pool_gives_blas_its_threads_back(planned: Planned) -> None:
    def n_threads() -> list[int]:
        return [library["num_threads"] for library in threadpoolctl.threadpool_info()]

    with SerialPool([planned()]):
        pass
    with threadpoolctl.threadpool_limits(2):
        before = n_threads()
        assert max(before) == 2
        with SerialPool([planned()]):
            assert set(n_threads()) == {1}
        assert n_threads() == before
