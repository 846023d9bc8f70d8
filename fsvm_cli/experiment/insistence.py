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


@contextmanager
def insistent_signals() -> Generator[None]:
    """Deliver a signal that asks the program to end again and again, until the block ends by its exception.

    A signal's exception that is raised while numba compiles may come up in a callback from C, where Python prints
    it and goes on. In threads other than the main one, which no signal reaches, this does nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    usual = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    asked: list[int] = []

    def insist(number: int, frame: FrameType | None) -> None:
        if number != signal.SIGALRM:
            asked.append(number)
        signal.setitimer(signal.ITIMER_REAL, SECONDS_BETWEEN_TRIES)
        deliver(frame)

    def deliver(frame: FrameType | None) -> None:
        handler = usual[signal.Signals(asked[-1])]
        if callable(handler):
            handler(asked[-1], frame)

    handlers = usual | {signal.SIGALRM: signal.getsignal(signal.SIGALRM)}
    for number, handler in handlers.items():
        if callable(handler) or number == signal.SIGALRM:
            signal.signal(number, insist)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        for number, handler in handlers.items():
            signal.signal(number, handler)
    if asked:
        deliver(None)
