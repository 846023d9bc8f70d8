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
from fsvm_cli.runner.worker_processes import SINGLE_THREAD_ENVIRONMENT, start_loading

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import TracebackType

    from fsvm_cli.experiment.experiment import Experiment
    from fsvm_cli.experiment.running import TrialResult
    from fsvm_cli.runner.tasks import Task

Result = TypeVar("Result")

SECONDS_BETWEEN_PARENT_CHECKS = 1.0
MAX_START_ATTEMPTS = 3
"""A worker that is killed during its start may make the start of all others fail."""


def cannot_start(error: BaseException) -> DataError:
    """Return the error for workers that cannot be started, after all attempts."""
    return DataError(
        f"worker processes cannot be started ({named(error)}); what was finished is kept; run again, or with --jobs 1"
    )


class Pool(ABC):
    """Workers that run chunks of tasks; leaving the context manager stops them."""

    n_workers: int
    """Number of chunks that run concurrently."""

    seconds_per_chunk: ClassVar[float] = 1.0
    """Target duration of a chunk: long compared with sending it, short enough to repeat when it is lost."""

    chunks_ahead: ClassVar[int] = 2
    """Chunks per worker that run or are queued, so that no worker waits for the next."""

    loses_all_at_once: ClassVar[bool] = True
    """Whether the death of one worker ends the chunks of all others."""

    lost_worker_errors: ClassVar[tuple[type[BaseException], ...]] = ()
    """Errors of a chunk's future when its worker died."""

    @abstractmethod
    def submit(self, tasks: Sequence[Task]) -> Future[list[TrialResult]]:
        """Start a chunk."""

    def call(self, call: Callable[[], Result]) -> Future[Result]:
        """Start a call that is no task and uses files of this computer: in a local worker, else in this process."""
        return call_here(call)

    @abstractmethod
    def check(self) -> None:
        """Raise a DataError if the running chunks cannot finish."""

    def gone(self) -> DataError:
        """Return the error for chunks that were cancelled, but not by this process: the pool itself was lost."""
        return DataError("the worker processes are gone; what was finished is kept; run again")

    @abstractmethod
    def recover(self) -> None:
        """Restore the pool after the loss of a worker."""

    @abstractmethod
    def stop(self, *, busy: bool) -> None:
        """Stop the workers, without waiting for running chunks if `busy`."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stop(busy=kind is not None)


class SerialPool(Pool):
    """A pool without worker processes: each trial is a chunk, which runs in this process while it is submitted."""

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
        """Do nothing: the only worker is this process."""

    def recover(self) -> None:
        """Do nothing: no worker can be lost."""

    def stop(self, *, busy: bool) -> None:  # noqa: ARG002 - the contract of Pool
        """Restore the number of BLAS threads."""
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

    # OSError: of the pipe to a process, and of starting one.
    lost_worker_errors = (loky.process_executor.BrokenProcessPool, OSError)

    def __init__(self, experiments: Sequence[Experiment], n_workers: int) -> None:
        self.n_workers = n_workers
        self._shared = SharedArrays()
        with contextlib.ExitStack() as stack:
            stack.callback(self._shared.remove)
            self._packed = [PackedExperiment.of(experiment, self._shared) for experiment in experiments]
            self._executor = self._start()
            # After Ctrl-C during compilation, for example, the exit would wait for workers that were not stopped.
            stack.callback(self._end_processes, busy=True)
            warm_up(experiments)
            stack.pop_all()

    def _start(self) -> loky.ProcessPoolExecutor:
        others = multiprocessing.active_children()
        for attempt in range(1, MAX_START_ATTEMPTS + 1):
            try:
                return self._try_to_start()
            # No memory for a process, or a process killed before it received its arguments.
            except (OSError, EOFError, RuntimeError) as error:
                for process in multiprocessing.active_children():
                    if process not in others:
                        process.terminate()  # no thread of the executor manages it, and the exit would wait for it
                if attempt == MAX_START_ATTEMPTS:
                    raise cannot_start(error) from error
        raise AssertionError

    def _try_to_start(self) -> loky.ProcessPoolExecutor:
        context = start_loading()
        executor = loky.ProcessPoolExecutor(
            max_workers=self.n_workers,
            context=context,
            initializer=_start_worker,
            initargs=(os.getpid(), self._packed, self._shared.folders, context is not None),
            env=SINGLE_THREAD_ENVIRONMENT,
        )
        executor.submit(os.getpid)  # the first task starts the processes, which load in the background
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
        """Do nothing: the future of a chunk raises when its process dies."""

    def recover(self) -> None:
        """Restart all processes: the survivors may hold locks of the one that died."""
        self._end_processes(busy=True)
        self._executor = self._start()

    def stop(self, *, busy: bool) -> None:
        """Stop the processes, and remove their shared arrays."""
        try:
            self._end_processes(busy=busy)
        finally:
            self._shared.remove()

    def _end_processes(self, *, busy: bool) -> None:
        """Kill the processes: they hold no unstored results, and unloading their libraries takes a second."""
        self._executor.shutdown(wait=busy, kill_workers=True)


_experiments: list[Experiment]
"""The experiments of this worker process; sent once, when it starts."""


def _start_worker(parent: int, packed: list[PackedExperiment], shared: tuple[str, ...], is_forked: bool) -> None:
    global _experiments  # noqa: PLW0603 - only module state of a worker process outlives a task
    # Ctrl-C reaches every process of the terminal; only the parent process handles it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_exit_with_parent, args=(parent, shared, is_forked), daemon=True).start()
    _experiments = [each.unpacked() for each in packed]
    gc.freeze()  # the garbage collector then skips the objects of libraries, a tenth of the time of a small trial


def _exit_with_parent(parent: int, shared: tuple[str, ...], is_forked: bool) -> None:
    """End this process when its parent is killed, since no process would receive its results or stop it."""
    if is_forked or sys.platform == "win32":
        process = multiprocessing.parent_process()
        assert process is not None
        process.join()
    else:  # loky's processes have no handle of their parent there
        while os.getppid() == parent:
            time.sleep(SECONDS_BETWEEN_PARENT_CHECKS)
    remove_folders(shared)
    os._exit(1)


def _run_chunk(tasks: Sequence[Task]) -> list[TrialResult]:
    # Never restored: restoring the limit in one thread would lift it in the other threads of this worker.
    threadpoolctl.threadpool_limits(limits=1)
    return run_tasks(_experiments, tasks)
