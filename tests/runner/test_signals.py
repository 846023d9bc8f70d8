"""Signals that a library swallows."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from typing import TYPE_CHECKING

import pytest

from fsvm_cli.runner.warm_up import SECONDS_BETWEEN_SIGNALS, repeated_signals
from tests.helpers.calling import ctrl_c_interrupts

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(autouse=True)
def _ctrl_c_interrupts() -> Iterator[None]:
    with ctrl_c_interrupts():
        yield


def swallow_one(reached: list[str], seconds_after: float) -> None:
    with repeated_signals():
        with contextlib.suppress(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
        reached.append("swallowed")
        time.sleep(seconds_after)
        reached.append("end")


def test_a_swallowed_ctrl_c_comes_again_while_the_block_lasts() -> None:
    reached: list[str] = []
    with pytest.raises(KeyboardInterrupt):
        swallow_one(reached, 100 * SECONDS_BETWEEN_SIGNALS)
    assert reached == ["swallowed"]


def test_a_swallowed_ctrl_c_comes_again_at_the_end_of_the_block() -> None:
    reached: list[str] = []
    with pytest.raises(KeyboardInterrupt):
        swallow_one(reached, 0.0)
    assert reached == ["swallowed", "end"]


def test_what_was_there_before_is_there_again_and_no_alarm_is_left() -> None:
    numbers = signal.SIGINT, signal.SIGTERM, signal.SIGALRM
    before = [signal.getsignal(number) for number in numbers]
    with pytest.raises(KeyboardInterrupt), repeated_signals():
        os.kill(os.getpid(), signal.SIGINT)
    assert [signal.getsignal(number) for number in numbers] == before
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_in_another_thread_it_does_nothing() -> None:
    reached: list[str] = []

    def work() -> None:
        with repeated_signals():
            reached.append("worked")

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert reached == ["worked"]
