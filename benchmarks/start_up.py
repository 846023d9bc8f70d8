"""What a command costs before it begins to work: processor seconds beside those of importing scikit-learn's SVM."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from benchmarks.harness import Comparison, against_a_limit

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

PEER = ("-c", "import sklearn.svm")
REPEATS = 10
"""However often longer work is repeated: a command takes a second at most."""
N_ROWS, N_FEATURES = 200, 10
RESULTS = "results/wine"

TARGETS = {"help": 20.0, "filter": 1.5, "machine": 1.1, "check": 0.8, "compare": 1.5, "run": 0.3}
"""How many of each command the peer's import is worth at least."""


def processor_seconds(words: Sequence[str], **environment: str) -> float:
    """Return user and system seconds of a Python process and those that it starts and waits for."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *words], check=True, capture_output=True, env=os.environ | environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def write_table(path: Path) -> None:
    """Write a small table with two classes."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_ROWS, N_FEATURES))
    frame = pd.DataFrame(X, columns=[f"f{feature}" for feature in range(N_FEATURES)])
    frame.assign(kind=np.where(X[:, 0] + X[:, 1] > 0, "a", "b")).to_csv(path, index=False)


def comparisons() -> Iterator[Comparison]:
    """Yield a row for each command, caches warm: the least of several, because other load only ever adds."""
    with tempfile.TemporaryDirectory() as name:
        table, out = Path(name) / "table.csv", str(Path(name) / "out")
        write_table(table)
        rank = ("rank", str(table), "--target", "kind", "--method")
        commands = {
            "help": ("--help",),
            "filter": (*rank, "fisher"),
            "machine": (*rank, "gradient-angle"),
            "check": ("check", "configs/wine.yaml"),
            "compare": ("compare", RESULTS),
            "run": ("run", "configs/wine.yaml", "--splits", "1", "--jobs", "1", "--fresh", "--out", out),
        }
        programs = {"peer": PEER} | {key: ("-m", "fsvm_cli", *words) for key, words in commands.items()}
        seconds = {key: [processor_seconds(words)] for key, words in programs.items()}
        for _ in range(REPEATS):
            for key, words in programs.items():  # in turns, so that the machine's other load meets all alike
                seconds[key].append(processor_seconds(words))
        least = {key: min(found[1:]) for key, found in seconds.items()}
        for key, words in commands.items():
            shown = " ".join(words).replace(str(table), "TABLE").replace(f" --out {out}", "")
            yield Comparison(
                f"start-up: fsvm {shown}",
                "python -c 'import sklearn.svm'",
                least["peer"],
                least[key],
                least["peer"] / least[key],
                TARGETS[key],
                float("nan"),
                float("nan"),
                note="processor seconds, least of several",
                is_rival=False,
            )
        yield against_a_limit("fsvm run configs/wine.yaml --splits 1", 1.5, least["run"], "processor seconds")
        cold = processor_seconds(("-m", "fsvm_cli", *commands["run"]), NUMBA_CACHE_DIR=str(Path(name) / "compiled"))
        work = "the same after an installation or a change of code: compiles"
        yield against_a_limit(work, 10.0, cold - least["run"], "processor seconds beyond those of the row before")
