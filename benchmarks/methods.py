"""`python -m benchmarks.methods`: how long each method takes to rank, on the first split of what compares methods."""

from __future__ import annotations

import sys
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from benchmarks.harness import RESULTS, timed
from fsvm_cli.experiment.plan import Trial, plan
from fsvm_cli.experiment.trial import DrawnTrial, draw_parts
from fsvm_cli.numerics import one_blas_thread
from fsvm_cli.report.folder import METHOD_TIMES_NAME, write_table
from fsvm_cli.spec.load import load_all

if TYPE_CHECKING:
    from fsvm_cli.evaluation.splits import Parts
    from fsvm_cli.experiment.plan import Experiment

REPEATS = 3


def times_of(experiment_name: str) -> list[tuple[str, str, float]]:
    """Measure each method of an experiment: its name, and the least processor seconds of a few fits."""
    (loaded,), _ = load_all([experiment_name])
    experiment = plan(loaded, print)
    first = Trial(min(experiment.n_test), 0)
    parts = draw_parts(experiment, first)
    return [
        (
            experiment_name,
            ranking.label,
            min(timed(partial(_rank, experiment, first, parts, number), time.process_time)[1] for _ in range(REPEATS)),
        )
        for number, ranking in enumerate(experiment.config.rankings)
    ]


@one_blas_thread()
def _rank(experiment: Experiment, first: Trial, parts: Parts, number: int) -> None:
    """Fit one method from data at hand, as a trial does."""
    config = experiment.config
    DrawnTrial(experiment, first, parts).ranker(config.rankings[number], config.classifier)


def main() -> None:
    rows = []
    for path in sorted(Path("configs").glob("beyond-*.yaml")):
        for row in times_of(path.stem):
            rows.append(row)
            sys.stdout.write(f"{row[0]}: {row[1]} {row[2]:.3g} s\n")
            sys.stdout.flush()
    table = pd.DataFrame(rows, columns=["experiment", "ranking", "seconds"])
    table["seconds"] = [float(f"{seconds:.3g}") for seconds in table["seconds"]]
    write_table(table, RESULTS.with_name(METHOD_TIMES_NAME))


if __name__ == "__main__":
    main()
