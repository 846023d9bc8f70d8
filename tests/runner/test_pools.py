"""Workers that die or fail while they are started, asked, and let go; what the libraries below raise then."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from concurrent.futures import CancelledError, Future
from contextlib import ExitStack
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import distributed
import loky
import pytest
from distributed.comm import CommClosedError
from loky.process_executor import BrokenProcessPool, ShutdownExecutorError, TerminatedWorkerError

from fsvm_cli.commands.options import choose_workers
from fsvm_cli.errors import DataError, UsageError
from fsvm_cli.runner import pools
from fsvm_cli.runner.dask_pool import DaskPool, _closing
from fsvm_cli.runner.pools import MAX_START_ATTEMPTS, ProcessPool

if TYPE_CHECKING:
    from collections.abc import Callable


class Troubled:
    """Raises an error the first times that it is called, and then does something else."""

    def __init__(self, error: BaseException, n_times: int, then: Callable[..., Any]) -> None:
        self.error, self.n_left, self.then, self.n_calls = error, n_times, then, 0

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        self.n_calls += 1
        if self.n_left:
            self.n_left -= 1
            raise self.error
        return self.then(*arguments, **options)


def a_future(*_: Any, **__: Any) -> Future[Any]:
    return Future()


def nanny_that_failed() -> RuntimeError:
    error = RuntimeError("Nanny failed to start.")
    error.__cause__ = RuntimeError("Nanny failed to start worker process")
    return error


ERRORS_OF_LOKY = [
    OSError(11, "Resource temporarily unavailable"),
    OSError(28, "No space left on device"),
    BrokenPipeError(32, "Broken pipe"),
    BrokenProcessPool("A task has failed to un-serialize."),
    TerminatedWorkerError("A worker process managed by the executor was unexpectedly terminated.\nOut of memory?"),
    ShutdownExecutorError("cannot schedule new futures after shutdown"),
]
ERRORS_OF_DASK = [
    nanny_that_failed(),
    TimeoutError("Nanny start timed out after 30s."),
    CommClosedError("in <TCP (closed)>: Stream is closed"),
    RuntimeError("Cluster failed to start: [Errno 28] No space left on device"),
    AssertionError("Status.init"),
    CancelledError(),
]


def name_of(error: BaseException) -> str:
    return f"{type(error).__name__}-{error}"[:40]


@pytest.mark.parametrize("error", ERRORS_OF_LOKY, ids=name_of)
@pytest.mark.parametrize("step", ["create", "submit"])
def test_processes_that_die_while_they_start_are_started_again(
    monkeypatch: pytest.MonkeyPatch, error: BaseException, step: str
) -> None:
    submit = Troubled(error, MAX_START_ATTEMPTS - 1 if step == "submit" else 0, a_future)
    executor = SimpleNamespace(submit=submit, shutdown=lambda **_: None)
    create = Troubled(error, MAX_START_ATTEMPTS - 1 if step == "create" else 0, lambda **_: executor)
    monkeypatch.setattr(loky, "ProcessPoolExecutor", create)
    with ProcessPool([], 2):
        assert create.n_calls == MAX_START_ATTEMPTS
    create.n_left = 99
    with pytest.raises(DataError, match=rf"worker processes cannot be started \({type(error).__name__}: ") as caught:
        ProcessPool([], 2)
    assert "\n" not in str(caught.value)


def test_ctrl_c_while_the_first_trials_are_compiled_ends_the_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[dict[str, bool]] = []
    executor = SimpleNamespace(submit=a_future, shutdown=lambda **options: asked.append(options))
    monkeypatch.setattr(loky, "ProcessPoolExecutor", lambda **_: executor)
    monkeypatch.setattr(pools, "warm_up", Troubled(KeyboardInterrupt(), 1, a_future))
    with pytest.raises(KeyboardInterrupt):
        ProcessPool([], 2)
    assert [options["kill_workers"] for options in asked] == [True]


@pytest.mark.parametrize("error", ERRORS_OF_DASK, ids=name_of)
def test_dask_workers_that_die_while_they_start_are_started_again(
    monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    start = Troubled(error, MAX_START_ATTEMPTS - 1, lambda **_: SimpleNamespace(close=Troubled(error, 1, a_future)))
    monkeypatch.setattr(distributed, "LocalCluster", start)
    monkeypatch.setattr(distributed, "Client", Troubled(ValueError("it is no address"), 1, a_future))
    workers = choose_workers(None, "local:2")
    with pytest.raises(UsageError, match="it is no address"):  # so it has come beyond the start
        workers.open_pool([], 1)
    assert start.n_calls == MAX_START_ATTEMPTS
    start.n_left = 99
    cause = type(error.__cause__ or error).__name__
    with pytest.raises(DataError, match=rf"worker processes cannot be started \({cause}") as caught:
        workers.open_pool([], 1)
    assert "\n" not in str(caught.value)


def dask_pool(**client: Any) -> DaskPool:
    """A pool whose client does as told."""
    pool = object.__new__(DaskPool)
    pool._address = "local:2"
    pool._client = SimpleNamespace(**{"status": "running", "unregister_worker_plugin": lambda name: None} | client)
    pool._executor = SimpleNamespace(submit=client.get("submit"), shutdown=lambda **_: None)
    pool._plugin = SimpleNamespace(name="fsvm", is_ours=True)
    pool._stack = ExitStack()
    pool._counted = pool._last_seen = float("-inf")
    return pool


@pytest.mark.parametrize("error", ERRORS_OF_DASK, ids=name_of)
def test_a_cluster_that_cannot_be_asked_is_gone(error: BaseException) -> None:
    fails = Troubled(error, 99, a_future)
    pool = dask_pool(submit=fails, scheduler_info=fails)
    for ask in (lambda: pool.submit([]), pool.check):
        with pytest.raises(DataError, match="scheduler is gone; what was finished is kept"):
            ask()


@pytest.mark.parametrize("error", ERRORS_OF_DASK, ids=name_of)
def test_what_a_cluster_raises_while_it_is_let_go_is_nobodys_loss(error: BaseException) -> None:
    fails = Troubled(error, 99, a_future)
    for busy in (False, True):
        pool = dask_pool(unregister_worker_plugin=fails)
        pool._executor = SimpleNamespace(shutdown=fails)
        pool._plugin.is_ours = False
        for _ in ("cluster", "client"):
            pool._stack.enter_context(_closing(SimpleNamespace(close=fails)))
        pool.stop(busy=busy)
    assert fails.n_calls == 6


def test_a_worker_that_dies_while_it_is_told_of_the_run_is_told_again() -> None:
    error = CommClosedError("in <TCP (closed)>: Stream is closed")
    told = Troubled(error, MAX_START_ATTEMPTS - 1, lambda plugin: None)
    dask_pool(register_plugin=told, wait_for_workers=a_future)._install()
    assert told.n_calls == MAX_START_ATTEMPTS
    with pytest.raises(DataError, match=r"^local:2: workers die while they receive the run \(CommClosedError: in <"):
        dask_pool(register_plugin=Troubled(error, 99, a_future), wait_for_workers=a_future)._install()
    with pytest.raises(DataError, match="scheduler is gone"):
        dask_pool(register_plugin=Troubled(error, 99, a_future), status="closed")._install()


def test_a_cluster_whose_only_worker_has_just_gone_is_given_time() -> None:
    pool = dask_pool(wait_for_workers=a_future, scheduler_info=lambda **_: {"workers": {}})
    with pytest.raises(DataError, match="all workers are gone; what was finished is kept"):
        pool.check()
    pool._counted = float("-inf")
    pool._wait_for_workers()
    pool.check()
    assert pool.n_workers == 0


@pytest.mark.parametrize("gate", ["sanitised()", "contextlib.nullcontext()"])
def test_children_that_are_killed_leave_no_word_on_standard_error(gate: str) -> None:
    program = textwrap.dedent("""
        import contextlib
        import multiprocessing, os, signal, subprocess, sys
        from multiprocessing import resource_tracker
        from fsvm_cli.runner.worker_processes import quiet_children
        from fsvm_cli.console import sanitised
        stack = contextlib.ExitStack()
        stack.enter_context(GATE)
        quiet_children()
        print("begin", file=sys.stderr)
        lock = multiprocessing.get_context("spawn").Lock()
        os.kill(resource_tracker._resource_tracker._pid, signal.SIGKILL)
        os.waitpid(resource_tracker._resource_tracker._pid, os.WNOHANG)
        subprocess.run([sys.executable, "-c", "1 / 0"])
        sys.stderr.write("end")
    """)
    program = program.replace("GATE", gate)
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ended.stderr == "begin\nend"
