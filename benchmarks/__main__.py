"""`python -m benchmarks [topic ...]`: all topics, or those that are named."""

from __future__ import annotations

import os
import sys
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

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


class Topic(NamedTuple):
    """Rows of the table that belong together, and what the figure calls them."""

    title: str
    comparisons: Callable[[], Iterable[Comparison]]


TOPICS = {
    "wine": Topic("curves, wine", partial(curves.comparisons, "wine")),
    "wdbc": Topic("curves, WDBC", partial(curves.comparisons, "wdbc")),
    "large_curves": Topic("curves, 2,000 rows", large_curves.comparisons),
    "slow_peers": Topic("curves where libsvm is slow", large_curves.comparisons_of_minutes),
    "cold_fit": Topic("one machine, 2,000 rows", cold_fit.comparisons),
    "fewer_features": Topic("machines on fewer features", sentences.fewer_features),
    "embedded": Topic("KPD-SVM", sentences.embedded),
    "tuning": Topic("tuning", tuning.comparisons),
    "gaussian_large": Topic("Gaussian machines, many rows", gaussian_large.comparisons),
    "linear": Topic("linear machines, many rows", linear.comparisons),
    "growth": Topic("growth with the rows", linear.growth),
    "ranking": Topic("RELIEF-F and RFE", ranking.comparisons),
    "bounds": Topic("bounds on leave-one-out errors", bounds.comparisons),
    "infoprop": Topic("SVM-Infoprop", infoprop.comparisons),
    "kernel_learning": Topic("kernel learning", kernel_learning.comparisons),
    "evidence": Topic("draws from a posterior", evidence.comparisons),
    "ascents": Topic("ascents on the evidence", ascents.comparisons),
    "start_up": Topic("start of a command", start_up.comparisons),
    "end_to_end": Topic("fsvm run wine", end_to_end.comparisons),
}


def main() -> int:
    names = sys.argv[1:] or list(TOPICS)
    if unknown := [name for name in names if name not in TOPICS]:
        print(f"no topic is called {unknown[0]!r}; there are {', '.join(TOPICS)}", file=sys.stderr)
        return 2
    chosen = {TOPICS[name].title: TOPICS[name].comparisons for name in names}
    return 0 if report(chosen, all_of_them=len(names) == len(TOPICS)) else 1


if __name__ == "__main__":
    raise SystemExit(main())
