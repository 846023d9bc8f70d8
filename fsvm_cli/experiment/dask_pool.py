"""A Dask cluster as a pool of workers; imported only where one is asked for."""

from __future__ import annotations

import contextlib
import logging
import signal
import threading
import time
import uuid
from concurrent.futures import CancelledError
from typing import TYPE_CHECKING, Any

import distributed
import threadpoolctl
from distributed.cfexecutor import ClientExecutor

from fsvm_cli.errors import DataError, UsageError
from fsvm_cli.experiment.pools import Pool
from fsvm_cli.experiment.tasks import PackedExperiment, run_tasks
from fsvm_cli.experiment.warm_up import warm_up
from fsvm_cli.sources import source_digests

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from concurrent.futures import Future

    from fsvm_cli.experiment.plan import Experiment
    from fsvm_cli.experiment.tasks import Task, TaskResult

LOCAL = "local:"
TALKATIVE = ("asyncio", "distributed", "tornado")
"""Loggers of Dask and of what it is built on; nothing else here uses them."""

SECONDS_TO_CONNECT = 10.0
SECONDS_WITHOUT_WORKERS = 60.0
SECONDS_BETWEEN_COUNTS = 2.0


class DaskPool(Pool):
    """The workers of a Dask cluster, those that join later included.

    Parameters
    ----------
    experiments : sequence of Experiment
        Sent to each worker once, when the run begins or the worker joins.
    address : str
        Of a scheduler, as in ``tcp://host:8786``; or ``local:N`` for N worker processes on this machine.

    Raises
    ------
    UsageError
        If `address` is none, or the workers run another version of fsvm.
    DataError
        If no scheduler answers, or it has no workers.
    """

    loses_all_at_once = False
    lost_worker_errors = (distributed.scheduler.KilledWorker,)

    def __init__(self, experiments: Sequence[Experiment], address: str) -> None:
        self._address = address
        _be_quiet()
        with contextlib.ExitStack() as stack:
            cluster = stack.enter_context(_local_cluster(address)) if address.startswith(LOCAL) else None
            self._client = stack.enter_context(contextlib.closing(_connect(address, cluster)))
            self._executor = ClientExecutor(self._client, pure=False)
            self._plugin = _Experiments(experiments, is_ours=cluster is not None)
            with self._that_may_be_gone():
                self._wait_for_workers()
                self._install()
                self._count_workers()
            self._stack = stack.pop_all()

    @contextlib.contextmanager
    def _that_may_be_gone(self) -> Iterator[None]:
        try:
            yield
        except (OSError, CancelledError) as error:
            raise self.gone() from error

    def _wait_for_workers(self) -> None:
        try:
            self._client.wait_for_workers(1, timeout=SECONDS_WITHOUT_WORKERS)
        except TimeoutError as error:
            raise DataError(f"{self._address}: the cluster has no workers; start some, and run again") from error
        self._last_seen = time.monotonic()  # the worker may be gone again when workers are counted

    def _install(self) -> None:
        try:
            self._client.register_plugin(self._plugin)
        except (RuntimeError, ImportError) as error:
            raise UsageError(f"{self._address}: {error}; install the same fsvm on every worker") from error

    def _count_workers(self) -> None:
        workers = self._client.scheduler_info(n_workers=-1)["workers"].values()
        self.n_workers = sum(worker["nthreads"] for worker in workers)
        self._counted = time.monotonic()
        if self.n_workers:
            self._last_seen = self._counted

    def submit(self, tasks: Sequence[Task]) -> Future[list[TaskResult]]:
        """Send a chunk to the cluster."""
        self._raise_if_gone()
        future: Future[list[TaskResult]] = self._executor.submit(_run_chunk, self._plugin.name, list(tasks))
        return future

    def check(self) -> None:
        """Raise a DataError where the scheduler is gone, or there have been no workers for a while."""
        self._raise_if_gone()
        if time.monotonic() - self._counted >= SECONDS_BETWEEN_COUNTS:
            with self._that_may_be_gone():
                self._count_workers()
        if time.monotonic() - self._last_seen > SECONDS_WITHOUT_WORKERS:
            raise DataError(f"{self._address}: all workers are gone; what was finished is kept; run again")

    def _raise_if_gone(self) -> None:
        if self._client.status != "running":
            raise self.gone()

    def gone(self) -> DataError:
        """Say that the scheduler is gone."""
        return DataError(f"{self._address}: the Dask scheduler is gone; what was finished is kept; run again")

    def recover(self) -> None:
        """Do nothing: the cluster replaces its workers, or goes on with those that are left."""

    def stop(self, *, busy: bool) -> None:
        """Leave the cluster as it was; one that was started here ends."""
        if busy:
            self._executor.shutdown(wait=False)
        if self._client.status == "running":
            # A cluster that dies at this moment needs no tidying.
            with contextlib.suppress(OSError, TimeoutError, CancelledError):
                self._client.unregister_worker_plugin(self._plugin.name)
        self._stack.close()


def _be_quiet() -> None:
    """Keep Dask from printing tracebacks of what the run tells in a line: workers and schedulers that are gone."""
    for name in (*TALKATIVE, *logging.root.manager.loggerDict):
        if name.partition(".")[0] in TALKATIVE:
            logging.getLogger(name).setLevel(logging.CRITICAL)


@contextlib.contextmanager
def _local_cluster(address: str) -> Iterator[distributed.LocalCluster]:
    n_workers = address.removeprefix(LOCAL)
    if not n_workers.isdecimal() or int(n_workers) < 1:
        raise UsageError(f"--dask {address}: write local:N with a number of workers, for example local:4")
    # Ctrl-C reaches every process of the terminal; this one alone decides what it means, and workers inherit that.
    handler = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        cluster = distributed.LocalCluster(
            n_workers=int(n_workers), threads_per_worker=1, processes=True, dashboard_address="127.0.0.1:0"
        )
    finally:
        signal.signal(signal.SIGINT, handler)
    with cluster:
        yield cluster


def _connect(address: str, cluster: distributed.LocalCluster | None) -> distributed.Client:
    try:
        return distributed.Client(cluster or address, timeout=SECONDS_TO_CONNECT, set_as_default=False)
    except ValueError as error:
        raise UsageError(f"--dask {address}: {error}; write an address such as tcp://host:8786, or local:4") from error
    except OSError as error:
        raise DataError(f"{address}: no Dask scheduler answers; start one with 'dask scheduler'") from error


class _Experiments(distributed.WorkerPlugin):
    """Carries the experiments of a run to each worker, also to one that joins or is restarted later."""

    def __init__(self, experiments: Sequence[Experiment], *, is_ours: bool) -> None:
        self.name = f"fsvm-{uuid.uuid4()}"
        self._packed = list(map(PackedExperiment.of, experiments))
        self._is_ours = is_ours
        self._sources = [experiment.all_sources() for experiment in experiments]

    def setup(self, worker: Any) -> None:  # noqa: ARG002 - the contract of WorkerPlugin
        if self._is_ours:
            _be_quiet()
        for sources in self._sources:
            if source_digests(*sources) != sources:
                raise RuntimeError("a worker runs other code of fsvm or of a method")
        _runs[self.name] = _Run(self._packed)

    def teardown(self, worker: Any) -> None:  # noqa: ARG002 - the contract of WorkerPlugin
        _runs.pop(self.name, None)


class _Run:
    """The experiments of one run within a worker, unpacked when the first chunk asks for them."""

    def __init__(self, packed: list[PackedExperiment]) -> None:
        self._packed = packed
        self._lock = threading.Lock()
        self._experiments: list[Experiment] | None = None

    def experiments(self) -> list[Experiment]:
        with self._lock:
            if self._experiments is None:
                experiments = [each.unpacked() for each in self._packed]
                warm_up(experiments)
                self._experiments = experiments
            return self._experiments


_runs: dict[str, _Run] = {}
"""What this worker process works on, by name of the run."""


def _run_chunk(run: str, tasks: list[Task]) -> list[TaskResult]:
    # Not taken back: a limit that another thread of this worker restored would lift this one's.
    threadpoolctl.threadpool_limits(limits=1)
    return run_tasks(_runs[run].experiments(), tasks)
