"""A Dask cluster as a pool of workers; imported only with `--dask`."""

from __future__ import annotations

import contextlib
import logging
import signal
import threading
import time
import uuid
from typing import TYPE_CHECKING, Any, TypeVar

import distributed
import threadpoolctl
from distributed.cfexecutor import ClientExecutor

from fsvm_cli.errors import DataError, FsvmError, UsageError, named
from fsvm_cli.runner.pools import MAX_START_ATTEMPTS, Pool, cannot_start
from fsvm_cli.runner.tasks import PackedExperiment, SharedArrays, run_tasks
from fsvm_cli.runner.warm_up import warm_up
from fsvm_cli.sources import code_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from concurrent.futures import Future

    from fsvm_cli.experiment.experiment import Experiment
    from fsvm_cli.experiment.running import TrialResult
    from fsvm_cli.runner.tasks import Task

Closable = TypeVar("Closable", distributed.Client, distributed.LocalCluster)

LOCAL_PREFIX = "local:"
TLS_PREFIX = "tls://"
CERTIFICATES_HINT = (
    "Dask's configuration names them: distributed.comm.tls.ca-file, distributed.comm.tls.client.cert and .key"
)
CERTIFICATES_MISMATCH = "the certificates of the scheduler and of this machine are not of one authority"
DASK_LOGGERS = ("asyncio", "distributed", "tornado")
"""Loggers of Dask and of the libraries below it; no other part of fsvm logs to them."""

CONNECT_TIMEOUT_SECONDS = 10.0
CLOSE_TIMEOUT_SECONDS = 10.0
MAX_SECONDS_WITHOUT_WORKERS = 60.0
SECONDS_BETWEEN_WORKER_COUNTS = 2.0


class DaskPool(Pool):
    """The workers of a Dask cluster, including those that join later.

    Parameters
    ----------
    experiments : sequence of Experiment
        Sent to each worker once, when the run begins or the worker joins. Workers on this computer share large arrays.
    address : str
        Of a scheduler, as in ``tcp://host:8786``, or ``tls://host:8786`` with the certificates that Dask's
        configuration names (``distributed.comm.tls``); or ``local:N`` for N worker processes on this computer.

    Raises
    ------
    UsageError
        If `address` is not valid, certificates for it are missing or unreadable, or the workers run another version of
        fsvm.
    DataError
        If no scheduler answers, or it has no workers.
    """

    loses_all_at_once = False
    lost_worker_errors = (distributed.scheduler.KilledWorker, OSError)  # OSError: broken connections and disk errors

    def __init__(self, experiments: Sequence[Experiment], address: str) -> None:
        self._address = address
        _silence_dask()
        with contextlib.ExitStack() as stack:
            shared = SharedArrays() if address.startswith(LOCAL_PREFIX) else None
            if shared is not None:
                stack.callback(shared.remove)
            cluster = stack.enter_context(_local_cluster(address)) if shared is not None else None
            self._client = stack.enter_context(_closing(_connect(address, cluster)))
            self._executor = ClientExecutor(self._client, pure=False)
            self._plugin = _Experiments(experiments, shared)
            with self._scheduler_loss_reported():
                self._wait_for_workers()
                self._install()
                self._count_workers()
            self._stack = stack.pop_all()

    @contextlib.contextmanager
    def _scheduler_loss_reported(self) -> Iterator[None]:
        try:
            yield
        except FsvmError:
            raise
        except Exception as error:  # a lost scheduler raises errors of many types in connections, loops and timers
            raise self.gone() from error

    def _wait_for_workers(self) -> None:
        try:
            self._client.wait_for_workers(1, timeout=MAX_SECONDS_WITHOUT_WORKERS)
        except TimeoutError as error:
            raise DataError(f"{self._address}: the cluster has no workers; start some, and run again") from error
        self._last_seen = time.monotonic()  # the next count may find none again

    def _install(self) -> None:
        for attempt in range(1, MAX_START_ATTEMPTS + 1):
            try:
                self._client.register_plugin(self._plugin)
            except (RuntimeError, ImportError) as error:
                if not self._plugin.is_ours:
                    raise UsageError(f"{self._address}: {error}; every worker needs the same version of it") from error
                cause: Exception = error
            except OSError as error:  # a worker died while the run was sent to it
                cause = error
            else:
                return
            self._raise_if_gone()
            if attempt == MAX_START_ATTEMPTS:
                raise DataError(
                    f"{self._address}: workers die while they receive the run ({named(cause)}); what was finished "
                    "is kept; run again"
                ) from cause
            self._wait_for_workers()

    def _count_workers(self) -> None:
        workers = self._client.scheduler_info(n_workers=-1)["workers"].values()
        self.n_workers = sum(worker["nthreads"] for worker in workers)
        self._counted = time.monotonic()
        if self.n_workers:
            self._last_seen = self._counted

    def submit(self, tasks: Sequence[Task]) -> Future[list[TrialResult]]:
        """Send a chunk to the cluster."""
        self._raise_if_gone()
        with self._scheduler_loss_reported():
            future: Future[list[TrialResult]] = self._executor.submit(_run_chunk, self._plugin.name, list(tasks))
        return future

    def check(self) -> None:
        """Raise a DataError if the scheduler is gone, or there were no workers for `MAX_SECONDS_WITHOUT_WORKERS`."""
        self._raise_if_gone()
        if time.monotonic() - self._counted >= SECONDS_BETWEEN_WORKER_COUNTS:
            with self._scheduler_loss_reported():
                self._count_workers()
        if time.monotonic() - self._last_seen > MAX_SECONDS_WITHOUT_WORKERS:
            raise DataError(f"{self._address}: all workers are gone; what was finished is kept; run again")

    def _raise_if_gone(self) -> None:
        if self._client.status != "running":
            raise self.gone()

    def gone(self) -> DataError:
        """Return the error for a lost scheduler."""
        return DataError(f"{self._address}: the Dask scheduler is gone; what was finished is kept; run again")

    def recover(self) -> None:
        """Do nothing: the cluster replaces lost workers or continues without them."""

    def stop(self, *, busy: bool) -> None:
        """Disconnect from the cluster; a local one is shut down."""
        with contextlib.suppress(Exception):  # as in `_closing`
            if busy:
                self._executor.shutdown(wait=False)
            if self._client.status == "running" and not self._plugin.is_ours:
                self._client.unregister_worker_plugin(self._plugin.name)
        self._stack.close()


def _silence_dask() -> None:
    """Keep Dask from printing tracebacks for lost workers and schedulers, which the run reports in one line."""
    for name in (*DASK_LOGGERS, *logging.root.manager.loggerDict):
        if name.partition(".")[0] in DASK_LOGGERS:
            logging.getLogger(name).setLevel(logging.CRITICAL)


@contextlib.contextmanager
def _local_cluster(address: str) -> Iterator[distributed.LocalCluster]:
    n_workers = address.removeprefix(LOCAL_PREFIX)
    if not n_workers.isdecimal() or int(n_workers) < 1:
        raise UsageError(f"--dask {address}: write local:N with a number of workers, for example local:4")
    with _closing(_start_local(int(n_workers))) as cluster:
        yield cluster


@contextlib.contextmanager
def _closing(thing: Closable) -> Iterator[Closable]:
    """Close at the end; errors of a cluster that dies meanwhile are ignored, since nothing is left to clean up."""
    try:
        yield thing
    finally:
        with contextlib.suppress(Exception):
            thing.close(timeout=CLOSE_TIMEOUT_SECONDS)


def _start_local(n_workers: int) -> distributed.LocalCluster:
    """Start workers; repeat the start where a worker that is killed during it makes it fail for all."""
    for attempt in range(1, MAX_START_ATTEMPTS + 1):
        try:
            return distributed.LocalCluster(
                n_workers=n_workers,
                threads_per_worker=1,
                processes=True,
                dashboard_address="127.0.0.1:0",
                preload="fsvm_cli.runner.pools",
            )
        except Exception as error:  # of a worker, its nanny or the scheduler, of any type
            if attempt == MAX_START_ATTEMPTS:
                raise cannot_start(_first_cause(error)) from error
    raise AssertionError


def _first_cause(error: BaseException) -> BaseException:
    """Return the first cause of an error, since Dask's own is only "Nanny failed to start."."""
    while error.__cause__ is not None:
        error = error.__cause__
    return error


def _connect(address: str, cluster: distributed.LocalCluster | None) -> distributed.Client:
    security = _certificates(address) if address.startswith(TLS_PREFIX) else None
    try:
        return distributed.Client(
            cluster or address, timeout=CONNECT_TIMEOUT_SECONDS, set_as_default=False, security=security
        )
    except ValueError as error:
        raise UsageError(f"--dask {address}: {error}; write an address such as tcp://host:8786, or local:4") from error
    except distributed.comm.core.FatalCommClosedError as error:
        raise DataError(f"{address}: {CERTIFICATES_MISMATCH}") from error
    except OSError as error:
        raise DataError(f"{address}: no Dask scheduler answers; start one with 'dask scheduler'") from error


def _certificates(address: str) -> distributed.Security:
    """Read the certificates that Dask's configuration names for clients."""
    security = distributed.Security(require_encryption=True)
    try:
        context = security.get_connection_args("client").get("ssl_context")
    except OSError as error:  # the base class of ssl.SSLError
        raise UsageError(f"--dask {address}: the certificates cannot be read ({error}); {CERTIFICATES_HINT}") from error
    if context is None:
        raise UsageError(f"--dask {address}: no certificates are named; {CERTIFICATES_HINT}")
    return security


class _Experiments(distributed.WorkerPlugin):
    """Sends the experiments of a run to each worker, including workers that join or restart later."""

    def __init__(self, experiments: Sequence[Experiment], shared: SharedArrays | None) -> None:
        self.name = f"fsvm-{uuid.uuid4()}"
        self._packed = [PackedExperiment.of(experiment, shared) for experiment in experiments]
        self.is_ours = shared is not None
        self._codes = [experiment.code(number) for experiment in experiments for number in experiment.numbers()]

    def setup(self, worker: Any) -> None:  # noqa: ARG002 - the contract of WorkerPlugin
        if self.is_ours:
            _silence_dask()
            if threading.current_thread() is threading.main_thread():
                # Ctrl-C reaches every process of the terminal; only the parent process handles it.
                signal.signal(signal.SIGINT, signal.SIG_IGN)
        for code in self._codes:
            if code_of(*code.roots).digest != code.digest:
                raise RuntimeError("a worker runs other code of fsvm or of a method")
        _runs[self.name] = _Run(self._packed)

    def teardown(self, worker: Any) -> None:  # noqa: ARG002 - the contract of WorkerPlugin
        _runs.pop(self.name, None)


class _Run:
    """The experiments of one run within a worker, unpacked for the first chunk."""

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
"""The runs that this worker process takes part in, by name."""


def _run_chunk(run: str, tasks: list[Task]) -> list[TrialResult]:
    # Never restored: restoring the limit in one thread would lift it in the other threads of this worker.
    threadpoolctl.threadpool_limits(limits=1)
    return run_tasks(_runs[run].experiments(), tasks)
