"""Compiling what the trials will call, once per host, before the first trial is timed."""

from __future__ import annotations

import hashlib
import os
import platform
import signal
import tempfile
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import filelock
import numba
import numpy as np
from scipy.sparse import csr_array

from fsvm_cli.evaluation.seeds import random_stream
from fsvm_cli.experiment.experiment import Trial
from fsvm_cli.experiment.parts import Parts
from fsvm_cli.experiment.trial import DrawnTrial, run_compared_methods
from fsvm_cli.jit_cache import CACHE_VARIABLE

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator
    from types import FrameType

    from fsvm_cli.experiment.experiment import Experiment

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
    cache = hashlib.sha256(os.environ[CACHE_VARIABLE].encode()).hexdigest()[:16]
    return Path(tempfile.gettempdir()) / f"fsvm-{user}-compile-{cache}.lock"


def _mark(experiment: Experiment) -> Path:
    """Where it is noted, beside the compiled code, that all that an experiment calls is among it."""
    called = experiment.config.model_dump_json(include={"classifier", "alternatives", "rankings", "extractors"})
    text = f"{called} {experiment.source.n_classes} {experiment.source.is_sparse} {numba.__version__} {platform.node()}"
    return Path(os.environ[CACHE_VARIABLE]) / f"warm-{hashlib.sha256(text.encode()).hexdigest()[:16]}"


def _random_parts(experiment: Experiment) -> Parts:
    rng = random_stream(0, "warm-up")
    y = np.arange(ROWS_PER_CLASS * experiment.source.n_classes) % experiment.source.n_classes
    X = rng.standard_normal((len(y), min(experiment.source.n_features, MAX_FEATURES)))
    if experiment.source.is_sparse:
        X = csr_array(np.abs(X))  # numbers of words are not negative
    return Parts(X_train=X, y_train=y, X_test=X, y_test=y)
