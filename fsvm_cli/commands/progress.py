"""Progress of a command: a bar on a terminal, a few plain lines elsewhere, nothing with `--quiet`."""

from __future__ import annotations

import contextlib
import sys
import time
from typing import TYPE_CHECKING

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from fsvm_cli.console import is_quiet, open_console, sanitised, visible

if TYPE_CHECKING:
    from collections.abc import Iterator

SECONDS_BETWEEN_LINES = 10.0


def duration(seconds: float) -> str:
    """Format a time span in seconds, minutes or hours."""
    if seconds < 90:
        return f"{seconds:.0f} s" if seconds >= 1 else "1 s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60:02d} min"


class _Bar:
    def __init__(self, bar: Progress, name: str) -> None:
        self._bar, self._name = bar, name
        self._task = TaskID(-1)

    def start(self, n_trials: int, n_done: int) -> None:
        self._task = self._bar.add_task(self._name, total=n_trials, completed=n_done)

    def advance(self, n_done: int) -> None:
        self._bar.update(self._task, completed=n_done)


class _Bars:
    """One bar per experiment."""

    def __init__(self, bars: Progress) -> None:
        self._bars = bars

    def of(self, name: str) -> _Bar:
        return _Bar(self._bars, visible(name))


class _Line:
    def __init__(self, lines: _Lines, name: str) -> None:
        self._lines, self._name = lines, name
        self._n_trials = self._n_done = self._n_timed = 0
        self._seconds = 0.0

    def start(self, n_trials: int, n_done: int) -> None:
        self._n_trials, self._n_done = n_trials, n_done
        self._lines.print(f"{self._name}: {n_trials} {self._lines.parts}, {n_done} already done")

    def advance(self, n_done: int) -> None:
        n_new, self._n_done = n_done - self._n_done, n_done
        if n_new <= 0:
            return
        seconds = self._lines.seconds_since_news_of(self)
        if seconds is not None:
            self._seconds, self._n_timed = self._seconds + seconds, self._n_timed + n_new
        so_far = f"{self._name}: {n_done} of {self._n_trials} {self._lines.parts}"
        if n_done == self._n_trials:
            self._lines.print(so_far)
        elif self._n_timed and self._lines.is_due():
            left = duration(self._seconds / self._n_timed * (self._n_trials - n_done))
            self._lines.print(f"{so_far}, about {left} left")


class _Lines:
    """A line when an experiment begins or ends, and one now and then, however many experiments there are."""

    def __init__(self, parts: str) -> None:
        self.parts = parts
        self._last_line = self._last_news = time.monotonic()
        self._last_of: _Line | None = None

    def of(self, name: str) -> _Line:
        return _Line(self, name)

    def is_due(self) -> bool:
        return time.monotonic() - self._last_line >= SECONDS_BETWEEN_LINES

    def seconds_since_news_of(self, line: _Line) -> float | None:
        """Return how long ago the last news was, or None where it was another experiment's, whose turn it was then."""
        now, before, of = time.monotonic(), self._last_news, self._last_of
        self._last_news, self._last_of = now, line
        return now - before if of is line else None

    def print(self, message: str) -> None:
        self._last_line = time.monotonic()
        print(message, file=sys.stderr, flush=True)  # noqa: T201


class Silent:
    """A progress display without output."""

    def of(self, name: str) -> Silent:  # noqa: ARG002 - the interface of the other displays
        """Return itself for any experiment."""
        return self

    def start(self, n_trials: int, n_done: int) -> None:
        """Do nothing."""

    def advance(self, n_done: int) -> None:
        """Do nothing."""


@contextlib.contextmanager
def progress_display(parts: str = "trials") -> Iterator[_Bars | _Lines | Silent]:
    """Show progress in `parts` on standard error; ``of(name)`` returns the display of one experiment or step."""
    if is_quiet():
        yield Silent()
        return
    console = open_console(stderr=True)
    if not console.is_terminal:
        yield _Lines(parts)
        return
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TextColumn(parts))
    # Rich puts streams of its own before the standard ones, which must be sanitised too.
    with Progress(*columns, TimeRemainingColumn(), TextColumn("left"), console=console) as bars, sanitised():
        yield _Bars(bars)


@contextlib.contextmanager
def step_progress(name: str, n_all: int, parts: str) -> Iterator[_Bar | _Line | Silent]:
    """Show the progress of one step on standard error, updated by ``advance(n_done)``."""
    with progress_display(parts) as display:
        progress = display.of(name)
        progress.start(n_all, 0)
        yield progress
