"""From the command line to tables and pictures on disk: `fsvm run wine` beside a plain script."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from benchmarks.harness import JOBS, SPLITS, Comparison, compare

if TYPE_CHECKING:
    from collections.abc import Iterator

PLAIN_SCRIPT = Path(__file__).with_name("plain_script.py")
REPEATS_OF_THE_PEER = 3


def fsvm_run(folder: Path) -> None:
    words = ["run", "configs/wine.yaml", "--jobs", str(JOBS), "--splits", str(SPLITS), "--out", str(folder), "--fresh"]
    subprocess.run([sys.executable, "-m", "fsvm_cli", *words], check=True, capture_output=True)


def plain_script(table: Path) -> None:
    subprocess.run([sys.executable, PLAIN_SCRIPT, str(SPLITS), str(JOBS), str(table)], check=True)


def largest_difference(folder: Path, table: Path) -> float:
    """Return how far apart the two mean test accuracies are, at worst."""
    keys = ["ranking", "features", "part"]
    ours = (
        pd.read_csv(folder / "wine" / "curves.csv").rename(columns={"n_features": "features"}).set_index(keys)["mean"]
    )
    theirs = pd.read_csv(table).set_index(keys)["mean"]
    differences = (ours - theirs).dropna()
    assert len(differences) == len(theirs), "the two do not compute the same curves"
    return float(differences.xs("test", level="part").abs().max())


def comparisons() -> Iterator[Comparison]:
    """Yield the row of the whole command, caches warm."""
    with tempfile.TemporaryDirectory() as name:
        folder, table = Path(name), Path(name) / "plain.csv"
        row = compare(
            f"fsvm run configs/wine.yaml --jobs {JOBS}, {SPLITS} splits, tables and pictures written",
            "script with SVC and joblib, one CSV written",
            6.0,
            lambda: plain_script(table),
            lambda: fsvm_run(folder),
            (float("nan"), float("nan")),
            peer_repeats=REPEATS_OF_THE_PEER,
        )
        yield replace(row, note=f"mean test accuracies differ by at most {largest_difference(folder, table):.4f}")
