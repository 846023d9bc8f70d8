"""Starting worker processes: forked from one that has loaded the libraries, with standard error off the terminal.

This module imports nothing slow, so that `fsvm run` can begin to load the libraries before anything else.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import multiprocessing.forkserver
import os
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, TextIO, TypeVar

from fsvm_cli.console import sanitise_standard_streams, sanitised_output

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from multiprocessing.context import BaseContext

Item = TypeVar("Item")
Result = TypeVar("Result")

PRELOADED_MODULES = ["fsvm_cli.runner.pools"]
SINGLE_THREAD_ENVIRONMENT = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")


def start_loading() -> BaseContext | None:
    """Start a server process that loads the libraries of workers, from which workers are then forked (Linux only).

    The server computes nothing and has one thread, so that forking it is safe. It ends with this process. On macOS
    system libraries do not survive a fork, and Windows has none.

    Returns
    -------
    BaseContext or None
        Start method for worker processes; None for loky's own, a new interpreter for each.
    """
    if sys.platform != "linux":
        return None
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(PRELOADED_MODULES)
    others = {name: os.environ.get(name) for name in SINGLE_THREAD_ENVIRONMENT}
    os.environ.update(SINGLE_THREAD_ENVIRONMENT)
    try:
        multiprocessing.forkserver.ensure_running()
    except OSError:  # the path of the temporary folder may be too long for its socket
        return None
    finally:
        for name, value in others.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
    return context


STDERR_DESCRIPTOR = 2


def quiet_children() -> None:
    """Discard the standard error of processes that are started from now on.

    Killed workers, and the semaphore trackers of Python and loky, print tracebacks of losses that the run reports in
    one line, also during their start and after the run, when their loggers cannot be configured. They inherit the file
    descriptor, which is redirected; this process writes to a copy of it. Has no effect where standard error is replaced
    by another stream, as in a test.
    """
    # Warnings in this process about a killed tracker or worker: the run reports the lost chunk itself.
    for beginning in ("resource_tracker:", "A worker stopped while", "A worker was restarted while"):
        warnings.filterwarnings("ignore", message=beginning)
    usual = sys.__stderr__
    if usual is None or _descriptor(sanitised_output(sys.stderr)) != STDERR_DESCRIPTOR:
        return
    usual.flush()
    copy = os.dup(STDERR_DESCRIPTOR)
    with Path(os.devnull).open("wb") as nowhere:
        os.dup2(nowhere.fileno(), STDERR_DESCRIPTOR)
    sanitise_standard_streams(os.fdopen(copy, "w", buffering=1, encoding=usual.encoding, errors=usual.errors))


def _descriptor(stream: TextIO) -> int | None:
    try:
        return stream.fileno()
    except OSError:  # of a stream in memory
        return None


def call_for_each(function: Callable[[Item], Result], items: Sequence[Item], n_jobs: int) -> Iterator[Result]:
    """Yield ``function(item)`` for each item, in order, as soon as it and those before it are there.

    Parameters
    ----------
    function : callable
        Can be pickled. What it raises is raised here.
    items : sequence
    n_jobs : int
        Processes; with 1, or a single item, this one does it all.
    """
    if n_jobs == 1 or len(items) <= 1:
        yield from map(function, items)
        return
    import loky  # noqa: PLC0415 - slow to import

    quiet_children()
    executor = loky.ProcessPoolExecutor(max_workers=min(n_jobs, len(items)))
    futures = [executor.submit(function, item) for item in items]
    try:
        for future in futures:
            yield future.result()
    except BaseException:
        with contextlib.suppress(Exception):
            executor.shutdown(wait=False, kill_workers=True)
        raise
    executor.shutdown(wait=True)
