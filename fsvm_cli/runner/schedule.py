"""The order in which chunks of tasks run, and repeating the tasks of workers that died."""

from __future__ import annotations

import itertools
import math
from collections import Counter, deque
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fsvm_cli.errors import DataError, named
from fsvm_cli.experiment.running import TrialResult
from fsvm_cli.runner.tasks import Task

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from fsvm_cli.runner.pools import Pool

MAX_TASKS_PER_CHUNK = 500
SECONDS_BETWEEN_SIGNS_OF_LIFE = 0.25
MAX_DEATHS_OF_A_TRIAL_ALONE = 3
MAX_DEATHS_IN_A_ROW = 12
DIED = "the worker process died on this trial, also when it ran alone (out of memory?)"
FAILED = "the worker could not do this trial, also when it ran alone"


Done = tuple[Task, TrialResult]
"""A task, and what it led to."""


@dataclass
class _Queue:
    """Tasks of one experiment that wait, and what is known of how long they take."""

    waiting: Iterator[Task]
    n_tasks: int
    n_waiting: int
    n_measured: int = 0
    seconds: float = 0.0
    is_probed: bool = False

    def estimated_seconds(self) -> float:
        return self.n_tasks * self.seconds / self.n_measured if self.n_measured else 0.0


@dataclass
class Schedule:
    """Runs the tasks of several experiments on one pool, longest experiment first.

    One task of each experiment goes ahead of all others to tell how long its experiment will take. When a worker
    dies, the tasks that ran at that time run again one at a time, so that one that kills its worker is found and fails
    alone.

    Attributes
    ----------
    pool : Pool
    """

    pool: Pool
    _queues: dict[int, _Queue] = field(default_factory=dict)
    _running: dict[Future[list[TrialResult]], list[Task]] = field(default_factory=dict)
    _retried_alone: deque[Task] = field(default_factory=deque)
    _n_deaths: Counter[tuple[int, object]] = field(default_factory=Counter)
    _n_deaths_in_a_row: int = 0

    def add(self, experiment: int, tasks: Iterable[Task], n_tasks: int) -> None:
        """Add the tasks of an experiment; each is asked for when its turn comes."""
        self._queues[experiment] = _Queue(iter(tasks), n_tasks, n_tasks)

    def cancel(self, experiment: int) -> None:
        """Begin no further task of an experiment."""
        self._queues[experiment].n_waiting = 0
        self._retried_alone = deque(task for task in self._retried_alone if task.experiment != experiment)

    def results(self) -> Iterator[list[Done]]:
        """Run everything; yield results as they come, and an empty list now and then while none comes.

        Raises
        ------
        DataError
            If workers keep dying, or the pool is gone.
        """
        while self._running or self._retried_alone or any(queue.n_waiting for queue in self._queues.values()):
            self._fill()
            done, _ = wait(self._running, SECONDS_BETWEEN_SIGNS_OF_LIFE, FIRST_COMPLETED)
            if not done:
                self.pool.check()
            yield self._collect(done)

    def _fill(self) -> None:
        if self._retried_alone:
            if not self._running:
                self._submit([self._retried_alone.popleft()])
            return
        while len(self._running) < self.pool.n_workers * self.pool.chunks_ahead and (chunk := self._next_chunk()):
            self._submit(chunk)

    def _next_chunk(self) -> list[Task]:
        queues = [queue for queue in self._queues.values() if queue.n_waiting]
        if not queues:
            return []
        queue = next((queue for queue in queues if not queue.is_probed), None) or max(
            queues, key=_Queue.estimated_seconds
        )
        queue.is_probed = True
        in_time = int(self.pool.seconds_per_chunk * queue.n_measured / queue.seconds) if queue.seconds else 1
        fair_share = math.ceil(queue.n_waiting / (self.pool.n_workers * self.pool.chunks_ahead))
        n_tasks = max(1, min(in_time, fair_share, MAX_TASKS_PER_CHUNK))
        queue.n_waiting -= n_tasks
        return list(itertools.islice(queue.waiting, n_tasks))

    def _submit(self, chunk: list[Task]) -> None:
        try:
            future = self.pool.submit(chunk)
        except self.pool.lost_worker_errors as error:
            future = Future()
            future.set_exception(error)
        self._running[future] = chunk

    def _collect(self, done: set[Future[list[TrialResult]]]) -> list[Done]:
        was_alone = sum(map(len, self._running.values())) == 1
        results: list[Done] = []
        lost: list[Task] = []
        cause: BaseException | None = None
        for future in done:
            chunk = self._running.pop(future)
            try:
                results += zip(chunk, future.result(), strict=True)
            except self.pool.lost_worker_errors as error:
                lost += chunk
                cause = error
            except CancelledError as error:
                raise self.pool.gone() from error
            except Exception as error:
                # What a trial raises is among its results; this comes from what lies between it and here.
                raise DataError(f"the workers fail ({named(error)}); what was finished is kept; run again") from error
        if results:
            self._n_deaths_in_a_row = 0
        if cause is not None:
            results += self._recover(lost, was_alone, cause)
        for task, result in results:
            queue = self._queues[task.experiment]
            queue.n_measured += 1
            queue.seconds += result.seconds
        return results

    def _recover(self, lost: list[Task], was_alone: bool, cause: BaseException) -> list[Done]:
        """Queue for a run alone the tasks that were lost with a worker; one that has died alone too often fails."""
        if self.pool.loses_all_at_once:
            lost += [task for chunk in self._running.values() for task in chunk]
            self._running.clear()
        self._n_deaths_in_a_row += 1
        if self._n_deaths_in_a_row >= MAX_DEATHS_IN_A_ROW:
            raise DataError(
                f"workers died {MAX_DEATHS_IN_A_ROW} times in a row (out of memory?); what was finished is kept; run "
                "again with fewer workers, or with --jobs 1 to see why"
            ) from cause
        self.pool.recover()
        if was_alone:
            (task,) = lost
            self._n_deaths[task.experiment, task.trial] += 1
            if self._n_deaths[task.experiment, task.trial] >= MAX_DEATHS_OF_A_TRIAL_ALONE:
                reason = f"{FAILED} ({named(cause)})" if isinstance(cause, OSError) else DIED
                errors, failed_records = dict.fromkeys(task.wanted, reason), dict.fromkeys(task.records, reason)
                return [(task, TrialResult({}, errors, 0.0, failed_records=failed_records))]
        self._retried_alone.extend(lost)
        return []
