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
from fsvm_cli.runner.pools import ATTEMPTS_TO_START, Pool, cannot_start
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

LOCAL = "local:"
TLS = "tls://"
WHERE_CERTIFICATES_ARE = (
    "Dask's configuration names them: distributed.comm.tls.ca-file, distributed.comm.tls.client.cert and .key"
)
CERTIFICATES_DIFFER = "the certificates of the scheduler and of this machine are not of one authority"
TALKATIVE = ("asyncio", "distributed", "tornado")
"""Loggers of Dask and of what it is built on; nothing else here uses them."""

SECONDS_TO_CONNECT = 10.0
SECONDS_TO_LET_GO = 10.0
SECONDS_WITHOUT_WORKERS = 60.0
SECONDS_BETWEEN_COUNTS = 2.0


class DaskPool(Pool):
    """The workers of a Dask cluster, those that join later included.

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
        If `address` is none, certificates for it are missing or unreadable, or the workers run another version of fsvm.
    DataError
        If no scheduler answers, or it has no workers.
    """

    loses_all_at_once = False
    lost_worker_errors = (distributed.scheduler.KilledWorker, OSError)  # of connections that broke, and disks

    def __init__(self, experiments: Sequence[Experiment], address: str) -> None:
        self._address = address
        _be_quiet()
        with contextlib.ExitStack() as stack:
            shared = SharedArrays() if address.startswith(LOCAL) else None
            if shared is not None:
                stack.callback(shared.remove)
            cluster = stack.enter_context(_local_cluster(address)) if shared is not None else None
            self._client = stack.enter_context(_let_go(_connect(address, cluster)))
            self._executor = ClientExecutor(self._client, pure=False)
            self._plugin = _Experiments(experiments, shared)
            with self._that_may_be_gone():
                self._wait_for_workers()
                self._install()
                self._count_workers()
            self._stack = stack.pop_all()

    @contextlib.contextmanager
    def _that_may_be_gone(self) -> Iterator[None]:
        try:
            yield
        except FsvmError:
            raise
        except Exception as error:  # its connections, loops and timers raise what they like when their other end dies
            raise self.gone() from error

    def _wait_for_workers(self) -> None:
        try:
            self._client.wait_for_workers(1, timeout=SECONDS_WITHOUT_WORKERS)
        except TimeoutError as error:
            raise DataError(f"{self._address}: the cluster has no workers; start some, and run again") from error
        self._last_seen = time.monotonic()  # the worker may be gone again when workers are counted

    def _install(self) -> None:
        for attempt in range(1, ATTEMPTS_TO_START + 1):
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
            if attempt == ATTEMPTS_TO_START:
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
        with self._that_may_be_gone():
            future: Future[list[TrialResult]] = self._executor.submit(_run_chunk, self._plugin.name, list(tasks))
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
        with contextlib.suppress(Exception):  # as in `_let_go`
            if busy:
                self._executor.shutdown(wait=False)
            if self._client.status == "running" and not self._plugin.is_ours:
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
    with _let_go(_start_local(int(n_workers))) as cluster:
        yield cluster


@contextlib.contextmanager
def _let_go(thing: Closable) -> Iterator[Closable]:
    """Close at the end; what dies at this moment raises what it likes, and needs no tidying."""
    try:
        yield thing
    finally:
        with contextlib.suppress(Exception):
            thing.close(timeout=SECONDS_TO_LET_GO)


def _start_local(n_workers: int) -> distributed.LocalCluster:
    """Start workers, again where one that is killed while it starts brings down the start of the others."""
    for attempt in range(1, ATTEMPTS_TO_START + 1):
        try:
            return distributed.LocalCluster(
                n_workers=n_workers,
                threads_per_worker=1,
                processes=True,
                dashboard_address="127.0.0.1:0",
                preload="fsvm_cli.runner.pools",
            )
        except Exception as error:  # whatever a worker, its nanny or the scheduler met with
            if attempt == ATTEMPTS_TO_START:
                raise cannot_start(_first_cause(error)) from error
    raise AssertionError


def _first_cause(error: BaseException) -> BaseException:
    """Find the first cause of an error; "Nanny failed to start." says little."""
    while error.__cause__ is not None:
        error = error.__cause__
    return error


def _connect(address: str, cluster: distributed.LocalCluster | None) -> distributed.Client:
    security = _certificates(address) if address.startswith(TLS) else None
    try:
        return distributed.Client(
            cluster or address, timeout=SECONDS_TO_CONNECT, set_as_default=False, security=security
        )
    except ValueError as error:
        raise UsageError(f"--dask {address}: {error}; write an address such as tcp://host:8786, or local:4") from error
    except distributed.comm.core.FatalCommClosedError as error:
        raise DataError(f"{address}: {CERTIFICATES_DIFFER}") from error
    except OSError as error:
        raise DataError(f"{address}: no Dask scheduler answers; start one with 'dask scheduler'") from error


def _certificates(address: str) -> distributed.Security:
    """Read the certificates that Dask's configuration names for clients."""
    security = distributed.Security(require_encryption=True)
    try:
        context = security.get_connection_args("client").get("ssl_context")
    except OSError as error:  # what ssl raises is one
        raise UsageError(
            f"--dask {address}: the certificates cannot be read ({error}); {WHERE_CERTIFICATES_ARE}"
        ) from error
    if context is None:
        raise UsageError(f"--dask {address}: no certificates are named; {WHERE_CERTIFICATES_ARE}")
    return security


class _Experiments(distributed.WorkerPlugin):
    """Carries the experiments of a run to each worker, also to one that joins or is restarted later."""

    def __init__(self, experiments: Sequence[Experiment], shared: SharedArrays | None) -> None:
        self.name = f"fsvm-{uuid.uuid4()}"
        self._packed = [PackedExperiment.of(experiment, shared) for experiment in experiments]
        self.is_ours = shared is not None
        self._codes = [experiment.code(number) for experiment in experiments for number in experiment.numbers()]

    def setup(self, worker: Any) -> None:  # noqa: ARG002 - the contract of WorkerPlugin
        if self.is_ours:
            _be_quiet()
            if threading.current_thread() is threading.main_thread():
                # Ctrl-C reaches every process of the terminal; the run alone decides what it means.
                signal.signal(signal.SIGINT, signal.SIG_IGN)
        for code in self._codes:
            if code_of(*code.roots).digest != code.digest:
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


def _run_chunk(run: str, tasks: list[Task]) -> list[TrialResult]:
    # Not taken back: a limit that another thread of this worker restored would lift this one's.
    threadpoolctl.threadpool_limits(limits=1)
    return run_tasks(_runs[run].experiments(), tasks)
