"""Running tasks: in this process, or in several.

An executor takes tasks and yields results in whatever order they finish; where a task ran leaves no trace in its
result.
"""

from __future__ import annotations

import concurrent.futures
import math
import os
import signal
import threading
import time
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

import loky
import loky.process_executor
import threadpoolctl

from fsvm_cli.errors import DataError
from fsvm_cli.experiment.plan import Experiment
from fsvm_cli.experiment.schema import Config
from fsvm_cli.experiment.trial import run_trial

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fsvm_cli.data.source import DataSource
    from fsvm_cli.experiment.outcome import Outcome
    from fsvm_cli.experiment.plan import Trial

SECONDS_PER_CHUNK = 1.0
CHUNKS_AHEAD_PER_WORKER = 2
MAX_LOST_WORKERS = 5
SECONDS_BETWEEN_LOOKS_AT_PARENT = 1.0


@dataclass(frozen=True)
class Task:
    """A trial, and what of it is wanted: subset sizes by place of the ranking."""

    trial: Trial
    wanted: dict[int, tuple[int, ...]]


@dataclass(frozen=True)
class TaskResult:
    """What a task found, or why it failed.

    Attributes
    ----------
    task : Task
    outcomes : dict of int to Outcome
        By place of the ranking; empty where the task failed.
    error : str or None
        One line.
    seconds : float
        Wall-clock time of the task.
    """

    task: Task
    outcomes: dict[int, Outcome]
    error: str | None
    seconds: float


def run_task(experiment: Experiment, task: Task) -> TaskResult:
    """Run one task with one BLAS thread, so that its numbers do not depend on how many there are."""
    begin = time.perf_counter()
    outcomes: dict[int, Outcome] = {}
    error = None
    with threadpoolctl.threadpool_limits(limits=1):
        try:
            outcomes = run_trial(experiment, task.trial, task.wanted)
        except Exception as failure:  # noqa: BLE001 - whatever a method raises is this trial's failure, not the run's
            error = f"{type(failure).__name__}: {failure}".splitlines()[0]
    return TaskResult(task, outcomes, error, time.perf_counter() - begin)


def execute(experiment: Experiment, tasks: Sequence[Task], jobs: int) -> Iterator[TaskResult]:
    """Run all tasks.

    Parameters
    ----------
    experiment : Experiment
    tasks : sequence of Task
    jobs : int
        Number of processes, at least 1; one means this process.

    Raises
    ------
    DataError
        If worker processes keep dying.
    """
    if jobs == 1 or len(tasks) < 2:
        for task in tasks:
            yield run_task(experiment, task)
    else:
        yield from _execute_in_processes(experiment, tasks, min(jobs, len(tasks)))


def _execute_in_processes(experiment: Experiment, tasks: Sequence[Task], jobs: int) -> Iterator[TaskResult]:
    waiting = deque(tasks)
    for _ in range(MAX_LOST_WORKERS):
        executor = loky.ProcessPoolExecutor(
            max_workers=jobs,
            initializer=_start_worker,
            initargs=(
                os.getpid(),
                experiment.config.model_dump_json(),
                experiment.source,
                experiment.sizes,
                experiment.n_test,
            ),
            env=dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1"),
        )
        try:
            yield from _feed(executor, waiting, jobs)
        except loky.process_executor.BrokenProcessPool:
            continue
        finally:
            executor.shutdown(wait=True, kill_workers=bool(waiting))
        return
    raise DataError(
        f"worker processes died {MAX_LOST_WORKERS} times (out of memory?); what was finished is kept: run again with "
        "fewer --jobs"
    )


def _feed(executor: loky.ProcessPoolExecutor, waiting: deque[Task], jobs: int) -> Iterator[TaskResult]:
    """Keep the workers busy with chunks of about a second; what is not finished in the end is waiting again."""
    running: dict[concurrent.futures.Future[list[TaskResult]], list[Task]] = {}
    n_finished, busy_seconds = 0, 0.0
    try:
        while waiting or running:
            while waiting and len(running) < jobs * CHUNKS_AHEAD_PER_WORKER:
                fair_share = math.ceil(len(waiting) / (jobs * CHUNKS_AHEAD_PER_WORKER))
                in_time = int(SECONDS_PER_CHUNK * n_finished / busy_seconds) if busy_seconds else 1
                chunk = [waiting.popleft() for _ in range(max(1, min(in_time, fair_share)))]
                running[executor.submit(_run_chunk, chunk)] = chunk
            done, _ = concurrent.futures.wait(running, return_when=concurrent.futures.FIRST_COMPLETED)
            for future in done:
                results = future.result()
                del running[future]
                n_finished += len(results)
                busy_seconds += sum(result.seconds for result in results)
                yield from results
    finally:
        for chunk in running.values():
            waiting.extendleft(reversed(chunk))


_experiment: Experiment
"""What this worker process works on; sent once, when it starts."""


def _start_worker(parent: int, config: str, source: DataSource, sizes: tuple[int, ...], n_test: dict[int, int]) -> None:
    global _experiment  # noqa: PLW0603 - a worker process has no other place that outlives a task
    # Ctrl-C reaches every process of the terminal; the parent alone decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_die_with, args=(parent,), daemon=True).start()
    _experiment = Experiment(Config.model_validate_json(config), source, sizes, n_test)


def _die_with(parent: int) -> None:
    """End this process when its parent was killed: nobody would read what it finds."""
    while os.getppid() == parent:
        time.sleep(SECONDS_BETWEEN_LOOKS_AT_PARENT)
    os._exit(1)


def _run_chunk(tasks: list[Task]) -> list[TaskResult]:
    return [run_task(_experiment, task) for task in tasks]
