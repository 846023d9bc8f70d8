"""A campaign: many inputs in a few processes, faults kept, processes that hang killed and replaced."""

from __future__ import annotations

import multiprocessing
import random
import re
import tempfile
import time
import warnings
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from fsvm_cli.errors import FsvmError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from multiprocessing.context import SpawnProcess

MAX_LINES = 2
PROGRESS = 1000
"""Inputs between two lines of progress."""


@dataclass(frozen=True)
class Subject:
    """Something that takes a file, and must take or refuse any.

    Attributes
    ----------
    draw : callable
        Makes the content of a file from a stream of random numbers, the same from the same stream.
    take : callable
        Takes the file at a path; raises an `FsvmError` or a ValueError where it refuses, anything else at a fault.
    """

    draw: Callable[[random.Random], bytes]
    take: Callable[[Path], object]


@dataclass(frozen=True)
class Campaign:
    """Which inputs are made; input i goes to the subjects in turn.

    Attributes
    ----------
    subjects : callable
        Gives the subjects by name; importable, since processes of their own call it.
    number : int
    seed : int
    folder : Path
        Where the inputs that lead to faults are kept, each with what was raised and the command that repeats it.
    n_processes : int
    patience : float
        Seconds after which an input counts as one that hangs; thousands of times what one takes. Ten times as long
        for the first of a process, which may have to compile.
    """

    subjects: Callable[[], Mapping[str, Subject]]
    number: int
    seed: int
    folder: Path
    n_processes: int
    patience: float = 120.0

    def input(self, index: int) -> tuple[str, Subject, bytes]:
        """Make an input, and say for which subject."""
        subjects = list(self.subjects().items())
        name, subject = subjects[index % len(subjects)]
        return name, subject, subject.draw(random.Random(f"{self.seed} {index}"))


def fault_of(subject: Subject, path: Path) -> tuple[str, str]:
    """Let a subject take a file; return the outcome, and what was raised."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            subject.take(path)
        except (FsvmError, ValueError) as error:
            text = str(error)
            if isinstance(error, UnicodeError) or not text.strip() or len(text.splitlines()) > MAX_LINES:
                return "fault", f"{type(error).__name__}, not {MAX_LINES} lines that say what is wrong: {text!r}"
            return "refused", text
        except Exception as error:  # noqa: BLE001 - whatever it is, it is what the campaign looks for
            return "fault", f"{type(error).__name__}: {error}"
    return "taken", ""


def n_faults(counts: Counter[tuple[str, str]]) -> int:
    """Count the inputs that led to a fault."""
    return sum(count for (_, outcome), count in counts.items() if outcome == "fault")


def run(campaign: Campaign, announce: Callable[[str], None]) -> Counter[tuple[str, str]]:
    """Run a campaign; return how often each subject took, refused, failed at or hung on an input."""
    spawned = multiprocessing.get_context("spawn")
    results = spawned.SimpleQueue()
    counts: Counter[tuple[str, str]] = Counter()
    campaign.folder.mkdir(parents=True, exist_ok=True)
    workers = [_Worker(campaign, spawned, results, first) for first in range(campaign.n_processes)]
    while any(worker.is_running() for worker in workers):
        for worker in workers:
            if worker.hangs():
                name = worker.replace()
                counts[name, "fault"] += 1
        while not results.empty():
            before = counts.total()
            counts.update(results.get())
            if counts.total() // PROGRESS > before // PROGRESS:
                announce(f"{counts.total():,} inputs, {n_faults(counts)} faults")
        time.sleep(0.05)
    while not results.empty():
        counts.update(results.get())
    return counts


class _Worker:
    """A process that takes every n-th input, and that is replaced when one of them hangs or kills it."""

    def __init__(self, campaign: Campaign, spawned: multiprocessing.context.SpawnContext, results: object, first: int):
        self.campaign, self.spawned, self.results = campaign, spawned, results
        self.place = spawned.Value("q", first)
        self.start()

    def start(self) -> None:
        self.began_at = self.seen = self.place.value
        self.since = time.monotonic()
        arguments = (self.campaign, self.place, self.results)
        self.process: SpawnProcess = self.spawned.Process(target=_take_inputs, args=arguments, daemon=True)
        self.process.start()

    def is_running(self) -> bool:
        return self.place.value < self.campaign.number

    def hangs(self) -> bool:
        if self.place.value != self.seen:
            self.seen, self.since = self.place.value, time.monotonic()
        died = not self.process.is_alive()  # asked first: a process that has taken its last input ends, too
        if not self.is_running():
            return False
        is_new = self.seen - self.began_at < self.campaign.n_processes * len(self.campaign.subjects())
        patience = self.campaign.patience * (10 if is_new else 1)
        return died or time.monotonic() - self.since > patience

    def replace(self) -> str:
        """Keep the input that it hangs on, kill it, and go on behind that input."""
        died = not self.process.is_alive()
        self.process.kill()
        self.process.join()
        index = self.place.value
        name, _, content = self.campaign.input(index)
        what = f"the process died (exit {self.process.exitcode})" if died else f"no end in {self.campaign.patience:g} s"
        keep(self.campaign, index, name, content, what)
        self.place.value = index + self.campaign.n_processes
        if self.is_running():
            self.start()
        return name


def _take_inputs(campaign: Campaign, place: object, results: object) -> None:
    """Take inputs from `place` on; what came of each leaves at once, so that a kill loses none."""
    parent = multiprocessing.parent_process()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "file"
        while place.value < campaign.number and parent.is_alive():
            name, subject, content = campaign.input(place.value)
            path.write_bytes(content)
            outcome, raised = fault_of(subject, path)
            if outcome == "fault":
                keep(campaign, place.value, name, content, raised)
            results.put({(name, outcome): 1})
            place.value += campaign.n_processes


def keep(campaign: Campaign, index: int, name: str, content: bytes, what: str) -> None:
    """Write an input that leads to a fault, and beside it what was raised and the command that repeats it."""
    path = campaign.folder / f"{re.sub('[^a-z0-9]+', '-', name.lower())}-{campaign.seed}-{index}"
    path.write_bytes(content)
    command = f".venv/bin/python -m tests.fuzz --repeat '{name}' {path}"
    path.with_name(path.name + ".txt").write_text(f"{what}\n{command}\n", encoding="utf-8")
