"""`python -m benchmarks.methods`: how long each method takes to rank, on the first split of what compares methods."""

from __future__ import annotations

import sys
from pathlib import Path

import pandas as pd

from benchmarks.harness import RESULTS
from fsvm_cli.experiment.plan import plan
from fsvm_cli.experiment.trial import seconds_to_rank
from fsvm_cli.report.folder import METHOD_TIMES_NAME, write_table
from fsvm_cli.spec.load import load_all

REPEATS = 3


def times_of(experiment_name: str) -> list[tuple[str, str, float]]:
    """Measure each method of an experiment: its name, and the least processor seconds of a few fits."""
    (loaded,), _ = load_all([experiment_name])
    experiment = plan(loaded, print)
    of_fits = [seconds_to_rank(experiment) for _ in range(REPEATS)]
    return [(experiment_name, label, min(each[label] for each in of_fits)) for label in of_fits[0]]


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
