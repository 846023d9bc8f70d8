"""Ctrl-C and SIGTERM while a library is at work that may swallow them.

Compiling what the trials will call, once per host, before the first trial is timed.

A process that has loaded what workers need: workers are forked from it, and need not load it each.

Standard error of the processes that a run starts: kept off the terminal.
"""

from __future__ import annotations

import hashlib
import multiprocessing
import multiprocessing.forkserver
import os
import platform
import signal
import sys
import tempfile
import threading
import warnings
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import filelock
import numba
import numpy as np
from scipy.sparse import csr_array

from fsvm_cli.console import sanitise_standard_streams, sanitised_output
from fsvm_cli.evaluation.seeds import random_stream
from fsvm_cli.experiment.parts import Parts
from fsvm_cli.experiment.plan import Trial
from fsvm_cli.experiment.trial import DrawnTrial, run_compared_methods
from fsvm_cli.jit_cache import VARIABLE

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator
    from multiprocessing.context import BaseContext
    from types import FrameType

    from fsvm_cli.experiment.plan import Experiment

SECONDS_BETWEEN_TRIES = 0.5
ALARM: int | None = getattr(signal, "SIGALRM", None)
"""None on Windows, which has no timer that interrupts: there a signal comes again at the end of the block only."""


@contextmanager
def repeated_signals() -> Generator[None]:
    """Deliver a signal that asks the program to end again and again, until the block ends by its exception.

    A signal's exception that is raised while numba compiles may come up in a callback from C, where Python prints
    it and goes on. Where the system has no alarm (Windows), the signal comes again once, at the end of the block. In
    threads other than the main one, which no signal reaches, this does nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    usual = {number: signal.getsignal(number) for number in (int(signal.SIGINT), int(signal.SIGTERM))}
    asked: list[int] = []

    def repeat(number: int, frame: FrameType | None) -> None:
        if number != ALARM:
            asked.append(number)
        _set_alarm(SECONDS_BETWEEN_TRIES)
        deliver(frame)

    def deliver(frame: FrameType | None) -> None:
        handler = usual[asked[-1]]
        if callable(handler):
            handler(asked[-1], frame)

    handlers = usual if ALARM is None else usual | {ALARM: signal.getsignal(ALARM)}
    for number, handler in handlers.items():
        if callable(handler) or number == ALARM:
            signal.signal(number, repeat)
    try:
        yield
    finally:
        _set_alarm(0.0)
        for number, handler in handlers.items():
            signal.signal(number, handler)
    if asked:
        deliver(None)


def _set_alarm(seconds: float) -> None:
    if hasattr(signal, "setitimer"):
        timer = getattr(signal, "ITIMER_REAL")  # noqa: B009 - hasattr tells mypy of one name only, for Windows
        signal.setitimer(timer, seconds)


ROWS_PER_CLASS = 12
MAX_FEATURES = 3
PATIENCE = 120.0
"""Seconds to wait for another process that compiles, several times what it takes. One that is suspended holds its lock;
to compile beside it then is slower, but no run waits for ever."""


def warm_up(experiments: Iterable[Experiment]) -> None:
    """Rank and evaluate a handful of random rows in the way of each experiment, unless that was done before.

    Compiled code is cached on disk, where processes that compile at once get into each other's way: on one host they
    do it one after the other, and all but the first find it done. What fails here fails again, and is told, in the
    trials.
    """
    unmarked = [experiment for experiment in experiments if not _mark(experiment).exists()]
    if not unmarked:
        return
    with repeated_signals(), _alone_if_possible():
        for experiment in unmarked:
            mark = _mark(experiment)
            if mark.exists():  # another process has done it meanwhile
                continue
            parts = _random_parts(experiment)
            sizes = tuple(range(1, parts.X_train.shape[1] + 1))
            errors: dict[int, str] = {}
            trial = DrawnTrial(experiment, Trial(len(parts.y_train), 0), parts)
            run_compared_methods(trial, dict.fromkeys(experiment.numbers(), sizes), errors)
            if not errors:
                mark.parent.mkdir(parents=True, exist_ok=True)
                mark.touch()


@contextmanager
def _alone_if_possible() -> Iterator[None]:
    lock = filelock.FileLock(_lock_path(), timeout=PATIENCE)
    try:
        lock.acquire()
    except filelock.Timeout:
        yield
        return
    try:
        yield
    finally:
        lock.release()


def _lock_path() -> Path:
    # One for each cache, so that nobody waits for the compilation of other sources; not in the cache, which may lie on
    # a file system that several hosts share. On Windows, where users have no number, this folder is the user's own.
    user = os.getuid() if hasattr(os, "getuid") else "user"
    cache = hashlib.sha256(os.environ[VARIABLE].encode()).hexdigest()[:16]
    return Path(tempfile.gettempdir()) / f"fsvm-{user}-compile-{cache}.lock"


def _mark(experiment: Experiment) -> Path:
    """Where it is noted, beside the compiled code, that all that an experiment calls is among it."""
    called = experiment.config.model_dump_json(include={"classifier", "alternatives", "rankings", "extractors"})
    text = f"{called} {experiment.source.n_classes} {experiment.source.is_sparse} {numba.__version__} {platform.node()}"
    return Path(os.environ[VARIABLE]) / f"warm-{hashlib.sha256(text.encode()).hexdigest()[:16]}"


def _random_parts(experiment: Experiment) -> Parts:
    rng = random_stream(0, "warm-up")
    y = np.arange(ROWS_PER_CLASS * experiment.source.n_classes) % experiment.source.n_classes
    X = rng.standard_normal((len(y), min(experiment.source.n_features, MAX_FEATURES)))
    if experiment.source.is_sparse:
        X = csr_array(np.abs(X))  # numbers of words are not negative
    return Parts(X_train=X, y_train=y, X_test=X, y_test=y)


LOADED = ["fsvm_cli.runner.worker_libraries"]
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
