"""The time that an experiment still takes, as plain lines tell it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numba
import pytest

from fsvm_cli.commands import options
from fsvm_cli.commands.progress import progress_display

if TYPE_CHECKING:
    from pathlib import Path


class Clock:
    """Stands still until it is set on."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(time, "monotonic", clock)
    return clock


def lines_of(capsys: pytest.CaptureFixture[str]) -> list[str]:
    return capsys.readouterr().err.splitlines()


def test_the_start_of_the_workers_does_not_count(clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    with progress_display() as display:
        line = display.of("wine")
        line.start(7, 1)
        for waited, n_done in ((100.0, 2), (12.0, 4), (1.0, 4), (12.0, 6), (0.0, 7)):
            clock.now += waited
            line.advance(n_done)
    assert lines_of(capsys) == [
        "wine: 7 trials, 1 already done",
        "wine: 4 of 7 trials, about 18 s left",
        "wine: 6 of 7 trials, about 6 s left",
        "wine: 7 of 7 trials",
    ]


def test_what_other_experiments_take_does_not_count(clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    """One trial of each comes first, to tell which takes longest; the others wait for the experiment's turn."""
    with progress_display() as display:
        first, second = display.of("wine"), display.of("wdbc")
        for line in (first, second):
            line.start(10, 0)
        for waited, line, n_done in ((5.0, first, 1), (5.0, second, 1), (15.0, first, 2), (300.0, first, 10)):
            clock.now += waited
            line.advance(n_done)
        capsys.readouterr()
        for n_done in (2, 3):
            clock.now += 20.0
            second.advance(n_done)
    assert lines_of(capsys) == ["wdbc: 3 of 10 trials, about 2 min left"]


def test_the_first_compilation_is_counted(
    compiled_folder: Path, clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    def compile_one(seconds: float) -> None:
        function = numba.njit(lambda x: x + 1)
        clock.now += seconds
        function(1)

    with options.compilation_progress():
        for seconds in (4.0, 6.0, 4.0):
            compile_one(seconds)
    begin, *counts = lines_of(capsys)
    assert begin.startswith("compiling the numerical code")
    assert counts == ["compiling: 3 functions so far, 10 s", "compiling: 3 functions in all, 10 s"]
    (compiled_folder / "compiled.nbi").touch()
    with options.compilation_progress():
        compile_one(1.0)
    assert lines_of(capsys) == []
