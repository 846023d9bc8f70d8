"""Progress of a run: one bar on a terminal, a few plain lines elsewhere."""

from __future__ import annotations

import contextlib
import sys
import time
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

if TYPE_CHECKING:
    from collections.abc import Iterator

SECONDS_BETWEEN_LINES = 10.0


def duration(seconds: float) -> str:
    """Write a time span as a person would say it."""
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


class _Lines:
    def __init__(self, name: str) -> None:
        self._name = name
        self._begin = self._last_line = time.monotonic()
        self._n_trials = self._n_at_start = self._n_done = 0

    def start(self, n_trials: int, n_done: int) -> None:
        self._n_trials, self._n_at_start, self._n_done = n_trials, n_done, n_done
        self._print(f"{n_trials} trials, {n_done} already done")

    def advance(self, n_done: int) -> None:
        now = time.monotonic()
        finished = n_done == self._n_trials
        news = n_done > self._n_done and (finished or now - self._last_line >= SECONDS_BETWEEN_LINES)
        if news:
            self._n_done = n_done
            self._last_line = now
            per_trial = (now - self._begin) / max(1, n_done - self._n_at_start)
            rest = "" if finished else f", about {duration(per_trial * (self._n_trials - n_done))} left"
            self._print(f"{n_done} of {self._n_trials} trials{rest}")

    def _print(self, message: str) -> None:
        print(f"{self._name}: {message}", file=sys.stderr, flush=True)  # noqa: T201


@contextlib.contextmanager
def progress_display(name: str) -> Iterator[_Bar | _Lines]:
    """Show the progress of the experiment `name` on standard error."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield _Lines(name)
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("trials"))
    with Progress(*columns, TimeRemainingColumn(), TextColumn("left"), console=console) as bar:
        yield _Bar(bar, name)
