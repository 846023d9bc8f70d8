"""A run: the missing trials of experiments are scheduled on a pool and stored, and each complete experiment finished.

Chunks of tasks run longest experiment first; the tasks of workers that died are repeated.
"""

from __future__ import annotations

import contextlib
import itertools
import math
from collections import Counter, deque
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

from fsvm_cli.errors import DataError, FsvmError, named
from fsvm_cli.experiment.chance import chance_test, permuted_experiment
from fsvm_cli.experiment.outcome import keep_outcome
from fsvm_cli.experiment.provenance import keep_group
from fsvm_cli.experiment.running import RECORD_TIMING_NOTES, TrialResult, record_key
from fsvm_cli.experiment.selection import selection_experiment
from fsvm_cli.runner.missing import missing_tasks
from fsvm_cli.runner.pools import ProcessPool, SerialPool
from fsvm_cli.runner.tasks import Task, call_here

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence

    from fsvm_cli.experiment.chance import ChanceTest
    from fsvm_cli.experiment.experiment import Experiment
    from fsvm_cli.runner.missing import MissingTasks
    from fsvm_cli.runner.pools import Pool
    from fsvm_cli.store.store import Store

    Call = Callable[[], Any]


MAX_TASKS_PER_CHUNK = 500
SECONDS_BETWEEN_POOL_CHECKS = 0.25
MAX_WORKER_DEATHS_PER_TRIAL = 3
"""Of a trial that runs alone, after which it fails."""

MAX_CONSECUTIVE_WORKER_DEATHS = 12
"""Without a result between them, after which the run ends."""

WORKER_DIED = "the worker process died on this trial, also when it ran alone (out of memory?)"
WORKER_FAILED = "the worker could not do this trial, also when it ran alone"
SECONDS_BETWEEN_POLLS = 0.25
"""Bounds the delay of Ctrl-C where a wait for workers cannot be interrupted."""


class Progress(Protocol):
    """Shows the progress of an experiment."""

    def start(self, n_trials: int, n_done: int) -> None:
        """Show the number of trials, and how many of them are already stored."""

    def advance(self, n_done: int) -> None:
        """Show how many trials are durable."""


@dataclass
class Job:
    """One experiment of a run.

    Attributes
    ----------
    experiment : Experiment
    store : Store
        Open for writing.
    progress : Progress
    finish : callable, optional
        Called with the ended job in this process, which holds the store; returns a call that any process of this
        computer can make.
    failures : dict of str to int
        How many trials failed with each error; complete when the run yields the job.
    tracebacks : dict of str to str
        The first traceback of each error; empty for a worker that died.
    error : FsvmError or None
        The error that ended the experiment early, if any.
    n_to_run : int
        Trials that were missing when the run began.
    test_progress : Progress, optional
        Shows the trials on permuted labels, which follow the others where the run ends in a recommendation.
    finished : Future
        Result of the call that `finish` returned, set when the run yields the job.
    """

    experiment: Experiment
    store: Store
    progress: Progress
    finish: Callable[[Job], Call] | None = None
    failures: Counter[str] = field(default_factory=Counter)
    tracebacks: dict[str, str] = field(default_factory=dict)
    error: FsvmError | None = None
    n_to_run: int = 0
    finished: Future[Any] = field(default_factory=Future)
    test_progress: Progress | None = None
    _n_missing: int = 0
    _n_durable: int = 0
    _n_pending: int = 0
    _test: ChanceTest | None = None
    _within: Experiment | None = None
    _has_begun_within: bool = False
    _tested: dict[int, Experiment] = field(default_factory=dict)

    def begin(self, number: int) -> Sequence[Task] | MissingTasks | None:
        """Find the missing tasks of the experiment with this number in the run; None if the store cannot be read."""
        try:
            tasks = missing_tasks(self.experiment, self.store, number)
            for compared_method in self.experiment.numbers() if tasks else ():
                keep_group(self.store, self.experiment, compared_method)
        except FsvmError as error:
            self.error = error
            return None
        n_trials = self.experiment.n_trials()
        self.n_to_run = self._n_missing = len(tasks)
        self._n_durable = n_trials - len(tasks)
        self.progress.start(n_trials, self._n_durable)
        return tasks or self.begin_further(number, 1)

    def begin_further(self, number: int, n_workers: int) -> list[Task]:
        """Find the tasks that follow once all others have ended; empty at the end.

        Those are the trials within the training rows of a given split, and the next permutations of the labels.
        Which permutations the test needs does not depend on how many are computed at once; see `ChanceTest`.

        Parameters
        ----------
        number : int
            Of the experiment in the run.
        n_workers : int
            Workers that should have something to do.
        """
        if self.error is not None:
            return []
        try:
            return self._trials_within(number) or self._next_permutations(number, n_workers)
        except FsvmError as error:
            self.error = error
            return []

    def _trials_within(self, number: int) -> list[Task]:
        """Find the missing trials within the training rows, the first time that it is called."""
        if self._has_begun_within:
            return []
        self._has_begun_within, self._within = True, selection_experiment(self.experiment)
        if self._within is None:
            return []
        tasks = [replace(task, within=True) for task in missing_tasks(self._within, self.store, number)]
        for compared_method in self._within.numbers() if tasks else ():
            keep_group(self.store, self._within, compared_method)
        self._n_missing = len(tasks)
        return tasks

    def _next_permutations(self, number: int, n_workers: int) -> list[Task]:
        base = self._within or self.experiment
        if self._test is None:
            self._test = chance_test(base)
            if self._test is None:
                return []
        test, n_before = self._test, len(self._test.permuted)
        test.read(self.store)
        n_splits = permuted_experiment(base, 0).n_trials()
        if self.test_progress is not None and n_before:
            self.test_progress.advance(n_splits * len(test.permuted))
        elif self.test_progress is not None and not test.is_decided:
            self.test_progress.start(n_splits * test.n_permutations, n_splits * len(test.permuted))
        n_at_once = max(test.n_at_least_to_stop - test.n_at_least, math.ceil(2 * n_workers / n_splits))
        missing = test.missing(self.store, n_at_once)
        tasks = [
            Task(number, trial, wanted, permutation=permutation, within=self._within is not None)
            for permutation, trial, wanted in missing
        ]
        self._tested = {each: permuted_experiment(base, each) for each in {task.permutation for task in tasks}}
        self._n_missing = len(tasks)
        return tasks

    def advance(self, results: Sequence[Done]) -> bool:
        """Store results, which count once they are committed; return whether the job has ended."""
        if self.error is None:
            try:
                self._store(results)
            except FsvmError as error:
                self.error = error
        return self.error is not None or self._n_missing == 0

    def _store(self, results: Sequence[Done]) -> None:
        for task, result in results:
            self._take(task, result)
        if self._n_missing == 0:
            self.store.commit()
            self._count()
        elif self._n_pending and self.store.commit_if_due():
            self._count()

    def _take(self, task: Task, result: TrialResult) -> None:
        trial = task.trial
        whole = self._within if task.within and self._within is not None else self.experiment
        experiment = self._tested[task.permutation] if task.permutation else whole
        for compared_method, entry in result.entries.items():
            keep_outcome(self.store, experiment.key(compared_method, trial), entry)
        for compared_method, error in result.errors.items():
            self.store.add_failure(experiment.key(compared_method, trial), error)
        self._n_missing -= 1
        if task.permutation:
            return  # an order of the labels that a method cannot do anything with is no failure of the run
        self._count_failures(result.errors.values())
        if task.within:
            return  # whose number the progress of the given split does not count
        self._n_pending += 1
        if task.wanted:
            self.store.add_timing(trial.n_train, trial.split, result.seconds)
        for name, record in result.records.items():
            self.store.add_record(record_key(self.experiment, name), record)
        for name, seconds in result.record_seconds.items():
            self.store.add_note(RECORD_TIMING_NOTES, name, f"{seconds:.6f}")
        for name, failure in result.failed_records.items():
            error = f"{name}: {failure}"
            self.store.add_failure(record_key(self.experiment, name), error)
            self._count_failures([error])

    def _count_failures(self, errors: Iterable[str]) -> None:
        """Count the errors of a trial; an error that several compared methods share counts once."""
        tracebacks = {reason: traceback for reason, _, traceback in (error.partition("\n") for error in errors)}
        self.failures.update(tracebacks.keys())
        self.tracebacks = tracebacks | self.tracebacks

    def _count(self) -> None:
        self._n_durable, self._n_pending = self._n_durable + self._n_pending, 0
        self.progress.advance(self._n_durable)


class Finishing:
    """Finishes the jobs of a run that have ended.

    Parameters
    ----------
    jobs : sequence of Job

    Attributes
    ----------
    begin_call : callable
        Submits the call of a job: `call_here`, or the method `call` of a pool, once there is one.
    """

    def __init__(self, jobs: Sequence[Job]) -> None:
        self.begin_call: Callable[[Call], Future[Any]] = call_here
        self._jobs = jobs
        self._waiting: deque[int] = deque()
        self._begun: dict[Future[Any], tuple[int, Call | None]] = {}

    def add(self, *numbers: int) -> None:
        """Add jobs that have ended, by their numbers in the run."""
        self._waiting.extend(numbers)

    def step(self, seconds: float = 0.0) -> Iterator[int]:
        """Begin to finish at most one job, and yield the numbers of the finished ones.

        Parameters
        ----------
        seconds : float, default=0.0
            How long to wait for a job to finish, if no other waits to be begun.
        """
        if self._waiting:
            self._begin(self._waiting.popleft())
        wait(self._begun, 0.0 if self._waiting else seconds, FIRST_COMPLETED)
        # `wait` does not report futures that were just cancelled.
        for future in [each for each in self._begun if each.done()]:
            number, call = self._begun.pop(future)
            # The worker may have been lost; a call that failed by itself fails again here.
            is_lost = future.cancelled() or not isinstance(future.exception(), FsvmError | None)
            self._jobs[number].finished = call_here(call) if is_lost and call is not None else future
            yield number

    def rest(self) -> Iterator[int]:
        """Finish all that were added."""
        while self._waiting or self._begun:
            yield from self.step(SECONDS_BETWEEN_POLLS)

    def _begin(self, number: int) -> None:
        job, call = self._jobs[number], None
        try:
            call = None if job.finish is None else job.finish(job)
            future = call_here(_nothing) if call is None else self.begin_call(call)
        except Exception as error:  # noqa: BLE001 - as in `call_here`
            future = Future()
            future.set_exception(error)
        self._begun[future] = number, call


def _nothing() -> None:
    """Do nothing."""


Done = tuple[Task, TrialResult]
"""A task with its result."""


@dataclass
class _Queue:
    """The waiting tasks of one experiment, and the measured seconds per task."""

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

    The first task of each experiment runs before all others, to estimate the time of its experiment. When a worker
    dies, the tasks that ran at that time are repeated one at a time, so that a task that kills its worker is identified
    and fails alone.

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
        """Add the tasks of an experiment, which are iterated as they are scheduled."""
        self._queues[experiment] = _Queue(iter(tasks), n_tasks, n_tasks)

    def cancel(self, experiment: int) -> None:
        """Start no further task of an experiment."""
        self._queues[experiment].n_waiting = 0
        self._retried_alone = deque(task for task in self._retried_alone if task.experiment != experiment)

    def results(self) -> Iterator[list[Done]]:
        """Run all tasks; yield results as they arrive, and an empty list after each interval without any.

        Raises
        ------
        DataError
            If workers keep dying, or the pool is gone.
        """
        while self._running or self._retried_alone or any(queue.n_waiting for queue in self._queues.values()):
            self._fill()
            done, _ = wait(self._running, SECONDS_BETWEEN_POOL_CHECKS, FIRST_COMPLETED)
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
                # Errors of a trial are part of its results; this one comes from the transport or the pool.
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
        """Queue lost tasks to run alone; a task that has lost its worker alone too often fails."""
        if self.pool.loses_all_at_once:
            lost += [task for chunk in self._running.values() for task in chunk]
            self._running.clear()
        self._n_deaths_in_a_row += 1
        if self._n_deaths_in_a_row >= MAX_CONSECUTIVE_WORKER_DEATHS:
            raise DataError(
                f"workers died {MAX_CONSECUTIVE_WORKER_DEATHS} times in a row (out of memory?); what was finished is "
                "kept; run again with fewer workers, or with --jobs 1 to see why"
            ) from cause
        self.pool.recover()
        if was_alone:
            (task,) = lost
            this = task.experiment, (task.within, task.permutation, task.trial)
            self._n_deaths[this] += 1
            if self._n_deaths[this] >= MAX_WORKER_DEATHS_PER_TRIAL:
                reason = f"{WORKER_FAILED} ({named(cause)})" if isinstance(cause, OSError) else WORKER_DIED
                errors, failed_records = dict.fromkeys(task.wanted, reason), dict.fromkeys(task.records, reason)
                return [(task, TrialResult({}, errors, 0.0, failed_records=failed_records))]
        self._retried_alone.extend(lost)
        return []


def open_local_pool(n_processes: int, experiments: Sequence[Experiment], n_tasks: int) -> Pool:
    """Open a pool of at most `n_tasks` processes; with one, this process runs the tasks itself."""
    n_used = min(n_processes, n_tasks)
    return SerialPool(experiments) if n_used == 1 else ProcessPool(experiments, n_used)


def run(jobs: Sequence[Job], open_pool: Callable[[Sequence[Experiment], int], Pool]) -> Generator[int]:
    """Compute and store the missing trials, and yield the number of each job once it is finished.

    An experiment whose store fails ends early with its error; the others continue. Idle workers finish the jobs.

    Parameters
    ----------
    jobs : sequence of Job
    open_pool : callable
        Opens a pool for experiments and a number of tasks; not called if nothing is missing.

    Raises
    ------
    DataError
        If workers keep dying or are gone; what was finished is kept.
    """
    begun = [job.begin(number) for number, job in enumerate(jobs)]
    running = {number: job for number, job in enumerate(jobs) if not job.advance(())}
    tasks = {number: missing for number, missing in enumerate(begun) if missing and number in running}
    finishing = Finishing(jobs)
    finishing.add(*(number for number in range(len(jobs)) if number not in running))
    with contextlib.ExitStack() as stack:
        try:
            if running:
                experiments = [job.experiment for job in jobs]
                pool = stack.enter_context(open_pool(experiments, sum(map(len, tasks.values()))))
                finishing.begin_call = pool.call
                for ended in _run_tasks(running, tasks, pool):
                    finishing.add(*ended)
                    yield from finishing.step()
        except FsvmError:
            yield from finishing.rest()
            raise
        yield from finishing.rest()


def _run_tasks(
    running: dict[int, Job], tasks: Mapping[int, Sequence[Task] | MissingTasks], pool: Pool
) -> Iterator[list[int]]:
    """Run tasks; yield the jobs that have ended since the last time, often none."""
    schedule = Schedule(pool)
    for number, missing in tasks.items():
        schedule.add(number, missing, len(missing))
    for results in schedule.results():
        ended = []
        for number, job in running.items():
            if job.advance([(task, result) for task, result in results if task.experiment == number]):
                if more := job.begin_further(number, pool.n_workers):
                    schedule.add(number, more, len(more))
                else:
                    ended.append(number)
        for number in ended:
            schedule.cancel(number)
            del running[number]
        yield ended


def estimate_seconds(experiment: Experiment, store: Store | None, tasks: MissingTasks, jobs: int) -> float:
    """Estimate how long `tasks` will take, from the times of stored trials or else by running the first one."""
    timings = [] if store is None else [seconds for _, _, seconds in store.timings()]
    if not timings:
        with SerialPool([experiment]) as pool:
            timings = [pool.submit([replace(next(iter(tasks)), records=())]).result()[0].seconds]
    return len(tasks) * sum(timings) / len(timings) / min(jobs, len(tasks))
