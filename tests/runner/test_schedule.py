"""Which chunk runs next, and what becomes of the trials of a worker that dies, on a pool that dies as it is told."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import CancelledError, Future
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fsvm_cli.errors import DataError
from fsvm_cli.experiment.experiment import Trial
from fsvm_cli.experiment.running import TrialResult
from fsvm_cli.runner.pools import Pool
from fsvm_cli.runner.run import MAX_WORKER_DEATHS_PER_TRIAL, Done, Schedule
from fsvm_cli.runner.tasks import Task

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class WorkerDiedError(Exception):
    pass


class ScriptedPool(Pool):
    """Chunks take as long as told and die where told; they run when they are submitted."""

    lost_worker_errors = (WorkerDiedError,)
    n_workers = 2

    def __init__(self, dies: Callable[[Task, int], bool], seconds: dict[int, float], all_at_once: bool = True) -> None:
        self.dies, self.seconds = dies, seconds
        self.loses_all_at_once = all_at_once  # type: ignore[misc] - a class variable of real pools
        self.chunks: list[list[Task]] = []
        self.n_runs: Counter[Task] = Counter()

    def submit(self, tasks: Sequence[Task]) -> Future[list[TrialResult]]:
        self.chunks.append(list(tasks))
        future: Future[list[TrialResult]] = Future()
        for task in tasks:
            self.n_runs[task.experiment, task.trial] += 1
        if any(self.dies(task, self.n_runs[task.experiment, task.trial]) for task in tasks):
            future.set_exception(WorkerDiedError())
        else:
            future.set_result([TrialResult({}, {}, self.seconds[task.experiment]) for task in tasks])
        return future

    def check(self) -> None:
        pass

    def recover(self) -> None:
        pass

    def stop(self, *, busy: bool) -> None:
        pass


def never(task: Task, n_runs: int) -> bool:
    return False


def tasks_of(experiment: int, n_trials: int) -> list[Task]:
    return [Task(experiment, Trial(10, split), {0: (1,), 1: (1,)}) for split in range(n_trials)]


def run_all(pool: ScriptedPool, *n_trials: int) -> list[Done]:
    schedule = Schedule(pool)
    for experiment, n in enumerate(n_trials):
        schedule.add(experiment, tasks_of(experiment, n), n)
    return [result for results in schedule.results() for result in results]


def names(results: Sequence[Done]) -> Counter[tuple[int, int]]:
    return Counter((task.experiment, task.trial.split) for task, _ in results)


@given(
    st.lists(st.integers(0, 12), min_size=1, max_size=3),
    st.sets(st.tuples(st.integers(0, 2), st.integers(0, 11)), max_size=2),
    st.booleans(),
)
def test_every_task_ends_once_whatever_dies(
    n_trials: list[int], mortal: set[tuple[int, int]], all_at_once: bool
) -> None:
    pool = ScriptedPool(
        lambda task, n_runs: (task.experiment, task.trial.split) in mortal, dict.fromkeys(range(3), 0.1), all_at_once
    )
    results = run_all(pool, *n_trials)
    everything = {(experiment, split) for experiment, n in enumerate(n_trials) for split in range(n)}
    assert names(results) == dict.fromkeys(everything, 1)
    failed = {(task.experiment, task.trial.split) for task, result in results if result.errors}
    assert failed == everything & mortal


@given(st.integers(1, 30), st.integers(0, 29), st.booleans())
def test_a_death_that_was_not_the_trials_fault_fails_nothing(n_trials: int, unlucky: int, all_at_once: bool) -> None:
    pool = ScriptedPool(lambda task, n_runs: task.trial.split == unlucky and n_runs == 1, {0: 0.1}, all_at_once)
    results = run_all(pool, n_trials)
    assert names(results) == {(0, split): 1 for split in range(n_trials)}
    assert not any(result.errors for _, result in results)


def test_a_trial_that_kills_its_worker_is_tried_alone_and_fails_with_a_reason() -> None:
    pool = ScriptedPool(lambda task, n_runs: task.trial.split == 5, {0: 0.1})
    (failed,) = [result for _, result in run_all(pool, 20) if result.errors]
    assert set(failed.errors) == {0, 1}
    assert "worker process died" in failed.errors[0]
    alone = [chunk for chunk in pool.chunks if [task.trial.split for task in chunk] == [5]]
    assert len(alone) >= MAX_WORKER_DEATHS_PER_TRIAL


def test_workers_that_always_die_end_the_run() -> None:
    with pytest.raises(DataError, match="workers died 12 times in a row"):
        run_all(ScriptedPool(lambda task, n_runs: True, {0: 0.1}), 100)


def test_deaths_with_results_in_between_end_nothing() -> None:
    pool = ScriptedPool(lambda task, n_runs: task.trial.split % 2 == 0 and n_runs == 1, {0: 5.0}, all_at_once=False)
    results = run_all(pool, 100)
    assert names(results) == {(0, split): 1 for split in range(100)}
    assert not any(result.errors for _, result in results)


class TroubledPool(ScriptedPool):
    """Raises an error when a chunk is submitted, or hands it over as the chunk's result, so many times."""

    lost_worker_errors = (WorkerDiedError, OSError)

    def __init__(self, error: BaseException, n_times: int, *, at_submit: bool) -> None:
        super().__init__(never, {0: 0.1})
        self.error, self.n_times, self.at_submit = error, n_times, at_submit

    def submit(self, tasks: Sequence[Task]) -> Future[list[TrialResult]]:
        if self.n_times == 0:
            return super().submit(tasks)
        self.n_times -= 1
        if self.at_submit:
            raise self.error
        future: Future[list[TrialResult]] = Future()
        future.set_exception(self.error)
        return future


@pytest.mark.parametrize("at_submit", [False, True])
@pytest.mark.parametrize("error", [WorkerDiedError(), BrokenPipeError(32, "Broken pipe"), TimeoutError()])
def test_a_connection_that_breaks_is_a_worker_that_died(error: BaseException, at_submit: bool) -> None:
    results = run_all(TroubledPool(error, 2, at_submit=at_submit), 20)
    assert names(results) == {(0, split): 1 for split in range(20)}
    assert not any(result.errors for _, result in results)


def test_a_trial_whose_worker_names_a_cause_fails_with_it() -> None:
    ((_, result),) = run_all(TroubledPool(OSError(28, "No space left on device"), 9, at_submit=False), 1)
    assert set(result.errors.values()) == {
        "the worker could not do this trial, also when it ran alone (OSError: [Errno 28] No space left on device)"
    }


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (
            RuntimeError("Error during deserialization\nof the task graph"),
            r"Error: Error during deserializ\w+\)",
        ),
        (EOFError(), r"the workers fail \(EOFError\); what was finished is kept; run again$"),
        (CancelledError(), "the worker processes are gone; what was finished is kept"),
    ],
)
def test_what_no_trial_raised_ends_the_run_in_a_line(error: BaseException, message: str) -> None:
    with pytest.raises(DataError, match=message) as caught:
        run_all(TroubledPool(error, 1, at_submit=False), 20)
    assert "\n" not in str(caught.value)


def test_the_longest_experiment_goes_first_after_one_trial_of_each() -> None:
    pool = ScriptedPool(never, {0: 0.1, 1: 9.0, 2: 0.5})
    run_all(pool, 40, 10, 40)
    order = [task.experiment for chunk in pool.chunks for task in chunk]
    assert sorted(order[:3]) == [0, 1, 2]
    n_at_once = pool.n_workers * pool.chunks_ahead
    assert list(dict.fromkeys(order[n_at_once:])) == [1, 2, 0]


def test_chunks_take_about_a_second_and_no_worker_is_left_without() -> None:
    pool = ScriptedPool(never, {0: 0.01})
    run_all(pool, 5000)
    lengths = list(map(len, pool.chunks))
    assert max(lengths) == 100
    assert sum(length >= 99 for length in lengths) > 40
    assert lengths[-1] < 30


def test_a_trial_longer_than_a_second_is_a_chunk_of_its_own() -> None:
    pool = ScriptedPool(never, {0: 5.0})
    run_all(pool, 50)
    assert set(map(len, pool.chunks)) == {1}


def test_a_cancelled_experiment_begins_nothing_more() -> None:
    pool = ScriptedPool(never, {0: 5.0, 1: 5.0})
    schedule = Schedule(pool)
    schedule.add(0, tasks_of(0, 100), 100)
    schedule.add(1, tasks_of(1, 10), 10)
    results = []
    for batch in schedule.results():
        results += batch
        schedule.cancel(0)
    counts = Counter(task.experiment for task, _ in results)
    assert counts[0] <= pool.n_workers * pool.chunks_ahead
    assert counts[1] == 10
