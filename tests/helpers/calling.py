"""The command line as a process, and small configs for it."""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import fsvm_cli
from fsvm_cli.cli import main
from fsvm_cli.store.store import Store

if TYPE_CHECKING:
    from collections.abc import Iterator

CHECKOUT = Path(fsvm_cli.__file__).parents[1]
CONFIG = {
    "title": "A small experiment",
    "dataset": "{name: noise20, samples: 60}",
    "scaling": "standard",
    "classifier": "{kernel: linear, C: 1, tolerance: 0.001}",
    "protocol": "{splits: 4, train: 1/2, seed: 7}",
    "rankings": "[{method: average-separation}, {method: random}]",
    "subsets": "[1, 5]",
}
N_TRIALS = 200
"""Of a run that has to come to its end: some for each worker, and more than one chunk."""

ENDLESS = ("--splits", "5000")
"""What makes of it a run to which something is done: it is not over before, however busy the machine is."""

AS_SVG = ("--format", "svg")
"""Of the formats of figures the one that is compared: a run that also draws the other takes a second longer."""


@dataclass(frozen=True)
class Answer:
    """What a process said at its end."""

    code: int
    out: str
    err: str


def write_config(folder: Path, name: str = "small", **changes: str | None) -> Path:
    """Write the small config with the YAML of some of its keys replaced; the line of a key is its place from 1.

    A key whose value is None is left out.
    """
    path = folder / f"{name}.yaml"
    written = {key: value for key, value in (CONFIG | changes).items() if value is not None}
    path.write_text("".join(f"{key}: {value}\n" for key, value in written.items()))
    return path


@contextlib.contextmanager
def ctrl_c_interrupts() -> Iterator[None]:
    """Let Ctrl-C interrupt this process, and those that it starts meanwhile.

    A shell begins its jobs in the background with SIGINT ignored, and whoever is started inherits that.
    """
    usual = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, usual)


@contextlib.contextmanager
def started(*arguments: object) -> Iterator[subprocess.Popen[str]]:
    """Start fsvm as the leader of a process group, of which nothing is left at the end."""
    with ctrl_c_interrupts():
        process = subprocess.Popen(
            [sys.executable, "-m", "fsvm_cli", *map(str, arguments)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONPATH": str(CHECKOUT)},
            start_new_session=True,
        )
    with process:
        try:
            yield process
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


def answer_of(process: subprocess.Popen[str]) -> Answer:
    """Wait for the end of a process."""
    out, err = process.communicate(timeout=300)
    return Answer(process.returncode, out, err)


def fsvm(*arguments: object) -> Answer:
    """Run fsvm as a process."""
    with started(*arguments) as process:
        return answer_of(process)


@contextlib.contextmanager
def main_undone() -> Iterator[None]:
    """Put back what `main` sets for a process of its own."""
    handler, hook = signal.getsignal(signal.SIGTERM), sys.unraisablehook
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, handler)
        sys.unraisablehook = hook


def fsvm_here(*arguments: object) -> Answer:
    """Run fsvm in this process, where it is no matter that it is one of its own: that spares its imports."""
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, main_undone():
        patch.setattr(sys, "argv", ["fsvm", *map(str, arguments)])
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), pytest.raises(SystemExit) as caught:
            main()
    return Answer(int(caught.value.code or 0), out.getvalue(), err.getvalue())


def children(pid: int, command: str = "") -> list[int]:
    """Process ids of what a process has started, whose command line has some words; empty where it has just gone."""
    listing = subprocess.run(
        ["ps", "-ww", "-o", "pid=,args=", "--ppid", str(pid)], capture_output=True, text=True, check=False
    )
    return [int(line.split()[0]) for line in listing.stdout.splitlines() if command in line]


def hashes(folder: Path) -> dict[str, str]:
    """SHA-256 of every table and figure of a results folder, and of what it says of itself."""
    paths = [path for pattern in ("*.csv", "*.svg", "run.json") for path in sorted(folder.glob(pattern))]
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in paths if path.name != "timings.csv"}


def n_stored(folder: Path) -> int:
    """Count the outcomes that the store of a folder holds; 0 where there is none yet."""
    if not (folder / "trials.sqlite").exists():  # asked first: a run that has just begun may make it at any moment
        return 0
    with Store(folder, writable=False) as store:
        return sum(1 for _ in store.covered_sizes())


def n_already_done(answer: Answer) -> int:
    """Read from what a run of one experiment says how many of its trials were stored before it."""
    (number,) = re.findall(r"^\w+: \d+ trials, (\d+) already done", answer.err, re.MULTILINE)
    return int(number)


def wait_for_outcomes(folder: Path, process: subprocess.Popen[str], more_than: int = 0) -> None:
    """Wait until a run has made some outcomes durable."""
    while n_stored(folder) <= more_than:
        assert process.poll() is None, answer_of(process)
        time.sleep(0.02)
