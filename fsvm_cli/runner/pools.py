"""Pools of workers that run chunks of tasks: this process, or several processes of this computer."""

from __future__ import annotations

import contextlib
import gc
import multiprocessing
import os
import signal
import sys
import threading
import time
from abc import ABC, abstractmethod
from concurrent.futures import Future
from typing import TYPE_CHECKING, ClassVar, Self, TypeVar

import loky
import loky.process_executor
import threadpoolctl

from fsvm_cli.errors import DataError, named
from fsvm_cli.runner.tasks import PackedExperiment, SharedArrays, call_here, remove_folders, run_tasks
from fsvm_cli.runner.warm_up import warm_up
from fsvm_cli.runner.worker_processes import ONE_THREAD, start_loading

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import TracebackType

    from fsvm_cli.experiment.experiment import Experiment
    from fsvm_cli.experiment.running import TrialResult
    from fsvm_cli.runner.tasks import Task

Result = TypeVar("Result")

SECONDS_BETWEEN_CHECKS_OF_PARENT = 1.0
ATTEMPTS_TO_START = 3
"""Workers that are killed while they start may bring down the start of the others."""


def cannot_start(error: BaseException) -> DataError:
    """Say that workers cannot be started, after all attempts."""
    return DataError(
        f"worker processes cannot be started ({named(error)}); what was finished is kept; run again, or with --jobs 1"
    )


class Pool(ABC):
    """Workers that run chunks of tasks; a context manager, whose end stops them."""

    n_workers: int
    """How many chunks run at once."""

    seconds_per_chunk: ClassVar[float] = 1.0
    """How long a chunk should take: long against what sending it costs, short against what losing it costs."""

    chunks_ahead: ClassVar[int] = 2
    """Chunks per worker that are begun or wait at its door, so that it need not wait for the next."""

    loses_all_at_once: ClassVar[bool] = True
    """Whether the death of one worker ends what all others run."""

    lost_worker_errors: ClassVar[tuple[type[BaseException], ...]] = ()
    """What a chunk's future raises where the worker died."""

    @abstractmethod
    def submit(self, tasks: Sequence[Task]) -> Future[list[TrialResult]]:
        """Begin a chunk."""

    def call(self, call: Callable[[], Result]) -> Future[Result]:
        """Begin what is no task, and reads and writes files of this computer: here, unless a worker is at hand."""
        return call_here(call)

    @abstractmethod
    def check(self) -> None:
        """Raise a DataError where there is no hope that what runs will finish."""

    def gone(self) -> DataError:
        """Say that the pool itself is gone, where its chunks were cancelled by nobody here."""
        return DataError("the worker processes are gone; what was finished is kept; run again")

    @abstractmethod
    def recover(self) -> None:
        """Replace what was lost with a worker."""

    @abstractmethod
    def stop(self, *, busy: bool) -> None:
        """End the workers; `busy` ones are not waited for."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stop(busy=kind is not None)


class SerialPool(Pool):
    """No worker but this process: each trial is a chunk, finished when it is submitted."""

    n_workers = 1
    seconds_per_chunk = 0.0
    chunks_ahead = 1

    def __init__(self, experiments: Sequence[Experiment]) -> None:
        self._experiments = experiments
        warm_up(experiments)
        self._limits = threadpoolctl.threadpool_limits(limits=1)

    def submit(self, tasks: Sequence[Task]) -> Future[list[TrialResult]]:
        """Run a chunk."""
        future: Future[list[TrialResult]] = Future()
        future.set_result(run_tasks(self._experiments, tasks))
        return future

    def check(self) -> None:
        """Do nothing: whoever asks is alive."""

    def recover(self) -> None:
        """Do nothing: there is no worker to lose."""

    def stop(self, *, busy: bool) -> None:  # noqa: ARG002 - the contract of Pool
        """Give BLAS its threads back."""
        self._limits.restore_original_limits()


class ProcessPool(Pool):
    """Processes of this computer.

    Parameters
    ----------
    experiments : sequence of Experiment
        Sent to each process once, when it starts; large arrays are not sent, but shared.
    n_workers : int
        Number of processes.
    """

    lost_worker_errors = (loky.process_executor.BrokenProcessPool, OSError)  # of the pipe to one, and of starting one

    def __init__(self, experiments: Sequence[Experiment], n_workers: int) -> None:
        self.n_workers = n_workers
        self._shared = SharedArrays()
        with contextlib.ExitStack() as stack:
            stack.callback(self._shared.remove)
            self._packed = [PackedExperiment.of(experiment, self._shared) for experiment in experiments]
            self._executor = self._start()
            # Ctrl-C, for one, while code is compiled: the exit would wait for workers that were never asked to end.
            stack.callback(self._end_processes, busy=True)
            warm_up(experiments)
            stack.pop_all()

    def _start(self) -> loky.ProcessPoolExecutor:
        others = multiprocessing.active_children()
        for attempt in range(1, ATTEMPTS_TO_START + 1):
            try:
                return self._try_to_start()
            # No memory for a process, or one killed before it took its orders.
            except (OSError, EOFError, RuntimeError) as error:
                for process in multiprocessing.active_children():
                    if process not in others:
                        process.terminate()  # no thread of the executor looks after it, and the exit would wait for it
                if attempt == ATTEMPTS_TO_START:
                    raise cannot_start(error) from error
        raise AssertionError

    def _try_to_start(self) -> loky.ProcessPoolExecutor:
        context = start_loading()
        executor = loky.ProcessPoolExecutor(
            max_workers=self.n_workers,
            context=context,
            initializer=_start_worker,
            initargs=(os.getpid(), self._packed, self._shared.folders, context is not None),
            env=ONE_THREAD,
        )
        executor.submit(os.getpid)  # the first task starts the processes, which then load while this one goes on
        return executor

    def submit(self, tasks: Sequence[Task]) -> Future[list[TrialResult]]:
        """Send a chunk to the next free process."""
        future: Future[list[TrialResult]] = self._executor.submit(_run_chunk, tasks)
        return future

    def call(self, call: Callable[[], Result]) -> Future[Result]:
        """Send a call to the next free process."""
        future: Future[Result] = self._executor.submit(call)
        return future

    def check(self) -> None:
        """Do nothing: a chunk's future tells when its process died."""

    def recover(self) -> None:
        """Start all processes anew: those that live may hold what the dead one shared with them."""
        self._end_processes(busy=True)
        self._executor = self._start()

    def stop(self, *, busy: bool) -> None:
        """End the processes, and remove what they share."""
        try:
            self._end_processes(busy=busy)
        finally:
            self._shared.remove()

    def _end_processes(self, *, busy: bool) -> None:
        """Kill them, for they hold nothing that is not stored: to unload their libraries takes a second."""
        self._executor.shutdown(wait=busy, kill_workers=True)


_experiments: list[Experiment]
"""What this worker process works on; sent once, when it starts."""


def _start_worker(parent: int, packed: list[PackedExperiment], shared: tuple[str, ...], is_forked: bool) -> None:
    global _experiments  # noqa: PLW0603 - a worker process has no other place that outlives a task
    # Ctrl-C reaches every process of the terminal; the parent alone decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_die_with, args=(parent, shared, is_forked), daemon=True).start()
    _experiments = [each.unpacked() for each in packed]
    gc.freeze()  # the libraries' objects stay; to look through them again and again takes a tenth of a small trial


def _die_with(parent: int, shared: tuple[str, ...], is_forked: bool) -> None:
    """End this process when its parent was killed: nobody would read what it finds, or tidy up after it."""
    if is_forked or sys.platform == "win32":
        process = multiprocessing.parent_process()
        assert process is not None
        process.join()
    else:  # loky's processes hold nothing of their parent's there
        while os.getppid() == parent:
            time.sleep(SECONDS_BETWEEN_CHECKS_OF_PARENT)
    remove_folders(shared)
    os._exit(1)


def _run_chunk(tasks: Sequence[Task]) -> list[TrialResult]:
    # Not taken back: a limit that another thread of this worker restored would lift this one's.
    threadpoolctl.threadpool_limits(limits=1)
    return run_tasks(_experiments, tasks)
