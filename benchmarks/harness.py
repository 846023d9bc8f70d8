"""How a comparison is timed, printed and written."""

from __future__ import annotations

import csv
import importlib
import importlib.util
import os
import resource
import statistics
import sys
import time
from dataclasses import astuple, dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.svm import SVC

from fsvm_cli.svm import DualProblem, bias_of, duality_gap

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

Result = TypeVar("Result")

RESULTS = Path("results/benchmarks.csv")
JOBS = 2
REPEATS = int(os.environ.get("FSVM_BENCH_REPEATS", "5"))
SPLITS = int(os.environ.get("FSVM_BENCH_SPLITS", "500"))
"""Splits of the wine rows; other rows scale theirs with it. A smaller number shortens a trial run."""

LEAST_SECONDS = 0.5
"""Of all repeats together: of work that takes milliseconds, few would be a matter of chance."""
ONCE_FROM_SECONDS = 60.0
BUSY_LOAD_PER_CORE = 1.5
"""Above it the machine has more to do than the benchmark, and the row says so."""


@dataclass(frozen=True)
class Comparison:
    """One row of the table: medians in seconds, relative duality gaps (the largest of the fits that were looked at).

    `is_rival` tells whether the peer is other software that does the same work, and not a limit or a part of ours;
    `topic` is what the row belongs to, which the report adds.
    """

    work: str
    peer: str
    peer_seconds: float
    our_seconds: float
    ratio: float
    target: float
    peer_gap: float
    our_gap: float
    note: str = ""
    is_rival: bool = True
    topic: str = ""


def timed(work: Callable[[], Result], clock: Callable[[], float] = time.perf_counter) -> tuple[Result, float]:
    """Return what the work returns, and the seconds that it takes."""
    start = clock()
    result = work()
    return result, clock() - start


def result_and_seconds(
    work: Callable[[], Result], repeats: int = REPEATS, clock: Callable[[], float] = time.perf_counter
) -> tuple[Result, float]:
    """Return what the first run returns, which warms caches and worker processes, and the median of repeats after it.

    Short work runs oftener. Of work that takes more than a minute the first run is the only one. Work in one process,
    without threads, may be timed by the processor's clock, in which less of a machine's other load shows.
    """
    result, first = timed(work, clock)
    if first > ONCE_FROM_SECONDS:
        return result, first
    seconds: list[float] = []
    while len(seconds) < repeats or sum(seconds) < LEAST_SECONDS:
        seconds.append(timed(work, clock)[1])
    return result, statistics.median(seconds)


def median_seconds(
    work: Callable[[], object], repeats: int = REPEATS, clock: Callable[[], float] = time.perf_counter
) -> float:
    """Return the seconds of `result_and_seconds`."""
    return result_and_seconds(work, repeats, clock)[1]


def compare(  # noqa: PLR0917
    work: str,
    peer: str,
    target: float,
    theirs: Callable[[], object],
    ours: Callable[[], object],
    gaps: tuple[float, float],
    note: str = "",
    peer_repeats: int = REPEATS,
    clock: Callable[[], float] = time.perf_counter,
    is_rival: bool = True,
) -> Comparison:
    """Time both and return the row."""
    our_seconds, peer_seconds = median_seconds(ours, clock=clock), median_seconds(theirs, peer_repeats, clock)
    return Comparison(work, peer, peer_seconds, our_seconds, peer_seconds / our_seconds, target, *gaps, note, is_rival)


def against_a_limit(
    work: str, limit: float, our_seconds: float, note: str, our_gap: float = float("nan")
) -> Comparison:
    """Return the row of work that should take no longer than so many seconds."""
    ratio = limit / our_seconds
    peer = f"a limit of {limit:g} s"
    return Comparison(work, peer, limit, our_seconds, ratio, 1.0, float("nan"), our_gap, note, is_rival=False)


def peak_bytes() -> int:
    """Return the most memory that this process has had so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def svc_peers() -> dict[str, Callable[..., SVC]]:
    """Return the classes that do what scikit-learn's SVC does; that of scikit-learn-intelex where it is installed."""
    found: dict[str, Callable[..., SVC]] = {"SVC": SVC}
    if importlib.util.find_spec("sklearnex"):
        found["scikit-learn-intelex SVC"] = importlib.import_module("sklearnex.svm").SVC
    return found


def svc_gap(gram: np.ndarray, y: np.ndarray, C: float, machine: SVC) -> float:
    """Return the relative duality gap of a fitted scikit-learn SVC, with the better of its bias and ours."""
    alpha = np.zeros(len(y))
    alpha[machine.support_] = np.abs(machine.dual_coef_.ravel())
    problem = DualProblem(gram, np.where(y == machine.classes_[1], 1.0, -1.0), C)
    alpha = np.minimum(alpha, C)
    return min(duality_gap(problem, alpha, float(b)) for b in (machine.intercept_[0], bias_of(problem, alpha)))


def report(topics: Mapping[str, Callable[[], Iterable[Comparison]]], *, all_of_them: bool) -> bool:
    """Print each row when it is there and put it in the CSV file, in the place of one of the same name; then the table.

    Rows of topics that do not run now stay in the file, unless these are all of them; others of a topic that has run to
    its end, which its benchmark no longer yields, leave the file. A topic that fails is reported, and the others go on.

    Returns
    -------
    bool
        Whether all topics have run to their ends.
    """
    measured: set[tuple[str, str]] = set()
    failed: set[str] = set()
    console = Console()
    table = Table(title="Ratios of medians: how many times faster than the peer")
    for name in ("work", "peer", "ratio", "target"):
        table.add_column(name)
    for topic, rows in topics.items():
        try:
            for each in rows():
                measured.add((each.work, each.peer))
                note = "; ".join(filter(None, (each.note, busy_machine())))
                row = replace(each, note=note, topic=topic)
                console.print(f"{row.work}: {row.ratio:.1f}x {row.peer} (target {row.target:g}x)", highlight=False)
                table.add_row(row.work, row.peer, f"{row.ratio:.1f}x", f"{row.target:g}x")
                _write(_stored() | {(row.work, row.peer): _cells(row)})
        except Exception:  # noqa: BLE001 - whatever it is, the other topics are measured
            failed.add(topic)
            console.print(f"{topic!r} ends here:", highlight=False)
            console.print_exception()
    ran = set(topics) - failed
    kept = {
        name: cells
        for name, cells in _stored().items()
        if name in measured or cells["topic"] in failed or not (all_of_them or cells["topic"] in ran)
    }
    _write(kept)
    console.print(table)
    return not failed


def busy_machine() -> str:
    """Say that other work ran beside, if it did: the mean load of the last minute, and the cores."""
    load, cores = os.getloadavg()[0], os.cpu_count() or 1
    return f"on a busy machine, load {load:.0f} on {cores} cores" if load > BUSY_LOAD_PER_CORE * cores else ""


def _cells(row: Comparison) -> dict[str, str]:
    names = (field.name for field in fields(Comparison))
    return {name: f"{v:.4g}" if isinstance(v, float) else str(v) for name, v in zip(names, astuple(row), strict=True)}


def _stored() -> dict[tuple[str, str], dict[str, str]]:
    if not RESULTS.exists():
        return {}
    with RESULTS.open(newline="", encoding="utf-8") as stream:
        return {(cells["work"], cells["peer"]): cells for cells in csv.DictReader(stream)}


def _write(rows: Mapping[tuple[str, str], dict[str, str]]) -> None:
    RESULTS.parent.mkdir(exist_ok=True)
    with RESULTS.open("w", newline="", encoding="utf-8") as stream:
        table = csv.DictWriter(stream, [field.name for field in fields(Comparison)], lineterminator="\n")
        table.writeheader()
        table.writerows(rows.values())
