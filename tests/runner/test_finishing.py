"""Finishing what has ended: by workers that have no trials, and here where there is none or it was lost."""

from __future__ import annotations

import os
from concurrent.futures import Future
from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NoReturn

import pytest
from loky.process_executor import TerminatedWorkerError

from fsvm_cli.errors import DataError
from fsvm_cli.runner.run import Finishing, Job, open_local_pool, run
from fsvm_cli.store.store import Store
from tests.helpers.small import Quiet, run_job

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from fsvm_cli.experiment.experiment import Experiment

    Planned = Callable[..., Experiment]


def job_that(call: Callable[[], Any]) -> SimpleNamespace:
    return SimpleNamespace(finish=lambda _: call, finished=None)


def fail(error: Exception) -> NoReturn:
    raise error


def lost(_: Callable[[], Any]) -> Future[Any]:
    future: Future[Any] = Future()
    future.set_exception(TerminatedWorkerError("killed"))
    return future


def cancelled(_: Callable[[], Any]) -> Future[Any]:
    future: Future[Any] = Future()
    future.cancel()
    return future


@pytest.mark.parametrize("begin_call", [lost, cancelled, lambda _: fail(BrokenPipeError())])
def test_what_a_lost_worker_left_is_done_here(begin_call: Callable[[Any], Future[Any]]) -> None:
    jobs: list[Any] = [job_that(partial(int, "7")), job_that(partial(fail, DataError("no room")))]
    finishing = Finishing(jobs)
    finishing.begin_call = begin_call
    finishing.add(0, 1)
    assert sorted(finishing.rest()) == [0, 1]
    assert jobs[0].finished.result() == 7
    with pytest.raises(DataError, match="no room"):
        jobs[1].finished.result()


def test_one_job_is_begun_at_a_time_and_one_that_fails_stops_no_other() -> None:
    """Between two of them, workers are given their next trials."""
    jobs: list[Any] = [job_that(partial(int, str(number))) for number in range(3)]
    jobs[1].finish = lambda _: fail(DataError("its store is damaged"))
    finishing = Finishing(jobs)
    finishing.add(0, 1, 2)
    assert [list(finishing.step()) for _ in range(4)] == [[0], [1], [2], []]
    assert (jobs[0].finished.result(), jobs[2].finished.result()) == (0, 2)
    with pytest.raises(DataError, match="damaged"):
        jobs[1].finished.result()


@pytest.mark.slow
def test_idle_workers_finish_what_has_ended_and_what_was_complete(planned: Planned, tmp_path: Path) -> None:
    complete, other = planned(), planned(scaling="minmax")
    run_job(complete, tmp_path / "a")
    with Store(tmp_path / "a", writable=True) as a, Store(tmp_path / "b", writable=True) as b:
        jobs = [
            Job(experiment, store, Quiet(), lambda _: os.getpid) for experiment, store in ((complete, a), (other, b))
        ]
        assert sorted(run(jobs, partial(open_local_pool, 2))) == [0, 1]
    assert os.getpid() not in {job.finished.result() for job in jobs}


def no_pool(experiments: Sequence[Experiment], n_tasks: int) -> NoReturn:
    raise DataError("no scheduler answers")


def test_what_is_complete_is_finished_although_the_rest_cannot_begin(planned: Planned, tmp_path: Path) -> None:
    run_job(planned(), tmp_path / "a")
    with Store(tmp_path / "a", writable=True) as a, Store(tmp_path / "b", writable=True) as b:
        jobs = [Job(planned(), store, Quiet(), lambda _: os.getpid) for store in (a, b)]
        ended = run(jobs, no_pool)
        assert next(ended) == 0
        with pytest.raises(DataError, match="no scheduler"):
            next(ended)
    assert jobs[0].finished.result() == os.getpid()
    assert not jobs[1].finished.done()
