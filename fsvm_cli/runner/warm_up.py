"""Compiling the numba functions that trials call, once per host, before the first trial is timed."""

from __future__ import annotations

import hashlib
import os
import platform
import re
import signal
import sys
import tempfile
import threading
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import filelock
import numba
import numpy as np
from scipy.sparse import csr_array

from fsvm_cli.evaluation.seeds import random_stream
from fsvm_cli.evaluation.splits import Parts
from fsvm_cli.experiment.experiment import Trial
from fsvm_cli.experiment.trial import DrawnTrial, run_compared_methods
from fsvm_cli.jit_cache import CACHE_VARIABLE
from fsvm_cli.spec.rankings import TRAINING_ROWS

if TYPE_CHECKING:
    from collections.abc import Collection, Generator, Iterable, Iterator
    from types import FrameType

    from fsvm_cli.experiment.experiment import Experiment

SECONDS_BETWEEN_SIGNALS = 0.5
ALARM_SIGNAL: int | None = getattr(signal, "SIGALRM", None)
"""None on Windows, which has no interrupting timer: a signal is delivered again only at the end of the block."""


@contextmanager
def repeated_signals() -> Generator[None]:
    """Deliver SIGINT and SIGTERM repeatedly until their exception ends the block.

    While numba compiles, the handler's exception may be raised in a callback, such as that of a weak reference, where
    Python ignores it; that is not printed. On systems without an alarm (Windows) the signal is delivered once more, at
    the end of the block. Has no effect in threads other than the main one, which receive no signals.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    usual = {number: signal.getsignal(number) for number in (int(signal.SIGINT), int(signal.SIGTERM))}
    received: list[int] = []
    raised: list[BaseException] = []

    def repeat(number: int, frame: FrameType | None) -> None:
        if number != ALARM_SIGNAL:
            received.append(number)
        _set_alarm(SECONDS_BETWEEN_SIGNALS)
        deliver(frame)

    def deliver(frame: FrameType | None) -> None:
        handler = usual[received[-1]]
        if callable(handler):
            with _noting(raised):
                handler(received[-1], frame)

    handlers = usual if ALARM_SIGNAL is None else usual | {ALARM_SIGNAL: signal.getsignal(ALARM_SIGNAL)}
    for number, handler in handlers.items():
        if callable(handler) or number == ALARM_SIGNAL:
            signal.signal(number, repeat)
    try:
        with _not_printing(raised):
            yield
    finally:
        _set_alarm(0.0)
        for number, handler in handlers.items():
            signal.signal(number, handler)
    if received:
        deliver(None)


@contextmanager
def _noting(raised: list[BaseException]) -> Iterator[None]:
    try:
        yield
    except BaseException as error:
        raised.append(error)
        raise


@contextmanager
def _not_printing(raised: Collection[BaseException]) -> Iterator[None]:
    """Let Python not print that it ignores one of these."""
    usual = sys.unraisablehook

    def print_others(unraisable: sys.UnraisableHookArgs) -> None:
        if not any(error is unraisable.exc_value for error in raised):
            usual(unraisable)

    sys.unraisablehook = print_others
    try:
        yield
    finally:
        sys.unraisablehook = usual


def _set_alarm(seconds: float) -> None:
    if hasattr(signal, "setitimer"):
        timer = getattr(signal, "ITIMER_REAL")  # noqa: B009 - hasattr narrows one name only, and Windows lacks both
        signal.setitimer(timer, seconds)


NUMBERS = re.compile(r"([:\[])-?\d[-\d.eE+,]*")
"""In a JSON document: a number, or all numbers of a list."""
WARM_UP_ROWS_PER_CLASS = 12
MAX_WARM_UP_FEATURES = 3
LOCK_TIMEOUT_SECONDS = 120.0
"""For the lock of another process that compiles: several times the time of a compilation. A suspended process keeps its
lock; compiling beside it is slower, but the run does not wait for ever."""


def warm_up(experiments: Iterable[Experiment]) -> None:
    """Rank and evaluate a few random rows with the methods of each experiment, unless that was done before.

    Compiled code is cached on disk, where processes that compile at the same time interfere: on one host they compile
    one after the other, and all but the first load the result. An error here is ignored, since the trials raise and
    report it again.
    """
    unmarked = [experiment for experiment in experiments if not _mark(experiment).exists()]
    if not unmarked:
        return
    with repeated_signals(), _alone_if_possible():
        for experiment in unmarked:
            mark = _mark(experiment)
            if mark.exists():  # compiled by another process meanwhile
                continue
            parts = _random_parts(experiment)
            sizes = tuple(range(1, parts.X_train.shape[1] + 1))
            errors: dict[int, str] = {}
            trial = DrawnTrial(_ranked_on_parts(experiment), Trial(len(parts.y_train), 0), parts)
            run_compared_methods(trial, dict.fromkeys(experiment.numbers(), sizes), errors)
            if not errors:
                mark.parent.mkdir(parents=True, exist_ok=True)
                mark.touch()


@contextmanager
def _alone_if_possible() -> Iterator[None]:
    lock = filelock.FileLock(_lock_path(), timeout=LOCK_TIMEOUT_SECONDS)
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
    # One lock per cache, so that no process waits for the compilation of other sources; not in the cache folder, which
    # may be on a file system that several hosts share. Windows has no user numbers, but a temporary folder per user.
    user = os.getuid() if hasattr(os, "getuid") else "user"
    cache = hashlib.sha256(os.environ[CACHE_VARIABLE].encode()).hexdigest()[:16]
    return Path(tempfile.gettempdir()) / f"fsvm-{user}-compile-{cache}.lock"


def _mark(experiment: Experiment) -> Path:
    """Return the marker file, beside the compiled code, of an experiment whose functions have all been compiled.

    Which functions an experiment calls depends on its methods, and hardly ever on their numbers: those that differ in
    numbers alone, as in a grid of C, share a marker. What is not compiled before is compiled in the first trial.
    """
    called = experiment.config.model_dump_json(
        include={"classifier", "alternatives", "rankings", "extractors"}, exclude={"rankings": {"__all__": {"label"}}}
    )
    without_numbers = NUMBERS.sub(r"\1#", called)
    is_binary = experiment.source.n_classes == 2
    text = f"{without_numbers} {is_binary} {experiment.source.is_sparse} {numba.__version__} {platform.node()}"
    return Path(os.environ[CACHE_VARIABLE]) / f"warm-{hashlib.sha256(text.encode()).hexdigest()[:16]}"


def _ranked_on_parts(experiment: Experiment) -> Experiment:
    """Return the experiment with all rankings on the rows of the trial, not on all rows of its data."""
    rankings = tuple(each.model_copy(update={"ranked_on": TRAINING_ROWS}) for each in experiment.config.rankings)
    return replace(experiment, config=experiment.config.model_copy(update={"rankings": rankings}))


def _random_parts(experiment: Experiment) -> Parts:
    rng = random_stream(0, "warm-up")
    y = np.arange(WARM_UP_ROWS_PER_CLASS * experiment.source.n_classes) % experiment.source.n_classes
    X = rng.standard_normal((len(y), min(experiment.source.n_features, MAX_WARM_UP_FEATURES)))
    if experiment.source.is_sparse:
        X = csr_array(np.abs(X))  # word counts are not negative
    return Parts(X_train=X, y_train=y, X_test=X, y_test=y)
