"""`python -m benchmarks [topic ...]`: all topics, or those that are named."""

from __future__ import annotations

import os
import sys
from functools import partial
from typing import TYPE_CHECKING

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as in a trial: parallel work is by processes

from benchmarks import (
    ascents,
    bounds,
    cold_fit,
    curves,
    end_to_end,
    evidence,
    gaussian_large,
    infoprop,
    kernel_learning,
    large_curves,
    linear,
    ranking,
    sentences,
    start_up,
    tuning,
)
from benchmarks.harness import report

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from benchmarks.harness import Comparison

TOPICS: dict[str, Callable[[], Iterable[Comparison]]] = {
    "wine": partial(curves.comparisons, "wine"),
    "wdbc": partial(curves.comparisons, "wdbc"),
    "large_curves": large_curves.comparisons,
    "slow_peers": large_curves.comparisons_of_minutes,
    "cold_fit": cold_fit.comparisons,
    "fewer_features": sentences.fewer_features,
    "embedded": sentences.embedded,
    "tuning": tuning.comparisons,
    "gaussian_large": gaussian_large.comparisons,
    "linear": linear.comparisons,
    "growth": linear.growth,
    "ranking": ranking.comparisons,
    "bounds": bounds.comparisons,
    "infoprop": infoprop.comparisons,
    "kernel_learning": kernel_learning.comparisons,
    "evidence": evidence.comparisons,
    "ascents": ascents.comparisons,
    "start_up": start_up.comparisons,
    "end_to_end": end_to_end.comparisons,
}


def main() -> int:
    names = sys.argv[1:] or list(TOPICS)
    if unknown := [name for name in names if name not in TOPICS]:
        print(f"no topic is called {unknown[0]!r}; there are {', '.join(TOPICS)}", file=sys.stderr)
        return 2
    report(row for name in names for row in TOPICS[name]())
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
