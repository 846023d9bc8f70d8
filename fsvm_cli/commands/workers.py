"""Who runs the trials of `fsvm run`, as its options say."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fsvm_cli.experiment.plan import Experiment
    from fsvm_cli.runner.pools import Pool


@dataclass(frozen=True)
class Workers:
    """Who runs the trials.

    Attributes
    ----------
    words : str
        For people.
    number : int
        How many trials run at once; 1 where only the cluster knows.
    open_pool : callable
        As `fsvm_cli.runner.session.run` takes it.
    """

    words: str
    number: int
    open_pool: Callable[[Sequence[Experiment], int], Pool]


def choose_workers(jobs: int | None, dask: str | None) -> Workers:
    """Choose by ``--jobs`` and ``--dask``; all cores of this machine where both are None.

    Raises
    ------
    UsageError
        If both are given, or Dask is not installed.
    """
    from fsvm_cli.errors import UsageError

    if dask is None:
        n_jobs = jobs or _n_cores()
        words = f"{n_jobs} {'job' if n_jobs == 1 else 'jobs'}"
        return Workers(words, n_jobs, partial(_open_local_pool, n_jobs))
    if jobs is not None:
        raise UsageError("--jobs is for processes of this machine, --dask for a cluster; give one of the two")
    try:
        from fsvm_cli.runner.dask_pool import DaskPool
    except ImportError as error:
        raise UsageError(
            "--dask needs the package distributed, which is not installed; pip install distributed"
        ) from error
    return Workers(f"Dask at {dask}", 1, lambda experiments, _: DaskPool(experiments, dask))


def _open_local_pool(n_jobs: int, experiments: Sequence[Experiment], n_tasks: int) -> Pool:
    from fsvm_cli.runner.session import open_local_pool

    return open_local_pool(n_jobs, experiments, n_tasks)


def _n_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
