"""Ctrl-C and SIGTERM while a library is at work that may swallow them."""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Generator
    from types import FrameType

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
