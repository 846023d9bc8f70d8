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
from typing import TYPE_CHECKING, TypeVar

from fsvm_cli.console import sanitise_standard_streams, sanitised_output

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from multiprocessing.context import BaseContext

Item = TypeVar("Item")
Result = TypeVar("Result")

LOADED = ["fsvm_cli.runner.pools"]
ONE_THREAD = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")


def start_loading() -> BaseContext | None:
    """Begin to load what workers need, beside this process, where workers can be forked from the one that loads it.

    What loads computes nothing and has one thread, so that it can be forked safely. It ends with this process. Forking
    is safe on Linux alone: on macOS system libraries do not survive it, and Windows cannot do it.

    Returns
    -------
    BaseContext or None
        How worker processes are started; None for loky's own way, a new interpreter for each.
    """
    if sys.platform != "linux":
        return None
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(LOADED)
    others = {name: os.environ.get(name) for name in ONE_THREAD}
    os.environ.update(ONE_THREAD)
    try:
        multiprocessing.forkserver.ensure_running()
    except OSError:  # its socket lies in the folder of temporary files, whose path may be too long for one
        return None
    finally:
        for name, value in others.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
    return context


STDERR = 2


def quiet_children() -> None:
    """Send to nowhere what processes that are started from now on write to standard error.

    Workers that are killed, and the trackers of semaphores that Python and loky start beside them, print tracebacks
    of what the run tells in a line, also while they start and after the run is over, when no logger of theirs is within
    reach. They inherit the file descriptor; this process writes to a copy of it until it ends. Where something else
    stands in for standard error, as in a test, nothing is changed.
    """
    # This process's own words of a tracker or worker that was killed: whoever lost a chunk by it is told.
    for beginning in ("resource_tracker:", "A worker stopped while", "A worker was restarted while"):
        warnings.filterwarnings("ignore", message=beginning)
    usual = sys.__stderr__
    if usual is None or sanitised_output(sys.stderr) is not usual or usual.fileno() != STDERR:
        return
    usual.flush()
    copy = os.dup(STDERR)
    with Path(os.devnull).open("wb") as nowhere:
        os.dup2(nowhere.fileno(), STDERR)
    sanitise_standard_streams(os.fdopen(copy, "w", buffering=1, encoding=usual.encoding, errors=usual.errors))


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
