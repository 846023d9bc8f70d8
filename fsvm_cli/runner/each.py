"""One call for each of several things, on all cores, with the results in their order."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

Item = TypeVar("Item")
Result = TypeVar("Result")


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

    from fsvm_cli.runner.worker_processes import quiet_children  # noqa: PLC0415

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
