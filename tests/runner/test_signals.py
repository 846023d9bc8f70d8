"""Signals that a library swallows."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import time
import weakref
from typing import TYPE_CHECKING

import pytest

from fsvm_cli import cli
from fsvm_cli.cli import SECONDS_UNTIL_REPEATED
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


class Collected:
    """What a weak reference can tell the end of, as of numba's global variables."""


def interrupt_a_callback(number: int) -> None:
    """Have a signal arrive in the callback of a weak reference, whose exceptions Python ignores."""
    collected = Collected()
    reference = weakref.ref(collected, lambda _: signal.raise_signal(number))
    del collected
    assert reference() is None


def test_a_signal_in_a_callback_of_numba_is_not_printed_but_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    printed: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", printed.append)
    with pytest.raises(KeyboardInterrupt), repeated_signals():  # noqa: PT012 - the second is the one that is raised
        interrupt_a_callback(signal.SIGINT)
        time.sleep(100 * SECONDS_BETWEEN_SIGNALS)
    assert not printed
    interrupt_a_callback(signal.SIGINT)
    assert len(printed) == 1, "outside, nothing is kept silent"


@pytest.mark.parametrize(
    ("number", "code", "how"), [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "terminated")]
)
def test_a_signal_that_python_ignored_ends_a_command(
    number: int, code: int, how: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    end = threading.Event()
    timer = threading.Timer(100 * SECONDS_UNTIL_REPEATED, end.set)

    def compile_and_wait(**_: object) -> int:
        interrupt_a_callback(number)
        timer.start()
        end.wait()
        return 0

    usual = signal.signal(signal.SIGTERM, cli._terminate)
    monkeypatch.setattr(sys, "unraisablehook", cli._repeat_ignored_signal)
    monkeypatch.setattr(cli.cli, "main", compile_and_wait)
    try:
        assert cli._run() == code
    finally:
        signal.signal(signal.SIGTERM, usual)
        timer.cancel()
    assert not end.is_set(), "what waits is woken"
    assert capsys.readouterr().err == f"fsvm: {how}; what was finished is kept, and running again does the rest\n"


def test_an_interrupted_import_is_an_interruption(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def load(**_: object) -> int:
        raise ImportError("initialization failed") from KeyboardInterrupt()  # as pybind11 does

    monkeypatch.setattr(cli.cli, "main", load)
    assert cli._run() == 130
    assert "fsvm: interrupted; " in capsys.readouterr().err


def test_in_another_thread_it_does_nothing() -> None:
    reached: list[str] = []

    def work() -> None:
        with repeated_signals():
            reached.append("worked")

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert reached == ["worked"]
