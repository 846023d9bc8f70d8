"""The command line as a process, and small configs for it."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import fsvm_cli

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


@dataclass(frozen=True)
class Answer:
    """What a process said at its end."""

    code: int
    out: str
    err: str


def write_config(folder: Path, name: str = "small", **changes: str) -> Path:
    """Write the small config with the YAML of some of its keys replaced; the line of a key is its place from 1."""
    path = folder / f"{name}.yaml"
    path.write_text("".join(f"{key}: {value}\n" for key, value in (CONFIG | changes).items()))
    return path


def start(*arguments: object, **options: object) -> subprocess.Popen[str]:
    """Start fsvm as a process in a session of its own."""
    environment = os.environ | {"PYTHONPATH": str(CHECKOUT)}
    return subprocess.Popen(
        [sys.executable, "-m", "fsvm_cli", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        start_new_session=True,
        **options,
    )


def finish(process: subprocess.Popen[str]) -> Answer:
    """Wait for the end of a process."""
    out, err = process.communicate(timeout=120)
    return Answer(process.returncode, out, err)


def fsvm(*arguments: object) -> Answer:
    """Run fsvm as a process."""
    return finish(start(*arguments))


def hashes(folder: Path) -> dict[str, str]:
    """SHA-256 of every file that a results folder would have committed."""
    names = [path for pattern in ("*.csv", "*.svg", "run.json") for path in folder.glob(pattern)]
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(names) if path.name != "timings.csv"
    }
