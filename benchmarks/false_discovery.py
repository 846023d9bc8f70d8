"""`python -m benchmarks.false_discovery`: false discoveries of rankings with controls, on tables whose truth is known.

Each table has two classes by the sign of a sum of relevant columns and noise; the columns are normal, independent or
with correlations that fall off with their distance. Counted are the shares of irrelevant columns among the discoveries
at a rate of 10 %, none where there is no discovery, and the shares of the relevant ones that are discovered.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import click
import numpy as np
import pandas as pd

from fsvm_cli.evaluation.seeds import random_stream
from fsvm_cli.evaluation.statistics import mean_interval
from fsvm_cli.own_data.rank import rank_features, source_of_frame
from fsvm_cli.own_data.request import ranking_request

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fsvm_cli.evaluation.false_discovery import Controls

N_ROWS, N_COLUMNS, N_RELEVANT = 300, 50, 15
RATE = 0.1
SEED = 23


class Case(NamedTuple):
    """Which controls, on which tables, of which ranking."""

    controls: Controls
    correlation: float
    weight: float
    method: str


CASES = [
    Case("permuted", 0.0, 0.5, "fisher"),
    Case("permuted", 0.0, 0.5, "gradient-angle"),
    Case("permuted", 0.0, 0.0, "fisher"),
    Case("knockoffs", 0.5, 0.5, "fisher"),
    Case("knockoffs", 0.5, 0.5, "gradient-angle"),
    Case("knockoffs", 0.5, 0.0, "gradient-angle"),
]


def draw(rng: np.random.Generator, correlation: float, weight: float) -> tuple[pd.DataFrame, NDArray[np.bool_]]:
    """Draw a table; return also which columns are relevant."""
    places = np.arange(N_COLUMNS)
    sigma = correlation ** np.abs(np.subtract.outer(places, places)) if correlation else np.eye(N_COLUMNS)
    X = rng.standard_normal((N_ROWS, N_COLUMNS)) @ np.linalg.cholesky(sigma).T
    relevant = np.isin(places, rng.permutation(N_COLUMNS)[:N_RELEVANT])
    signs = rng.choice([-1.0, 1.0], N_COLUMNS)
    y = X @ (weight * signs * relevant) + rng.standard_normal(N_ROWS) > 0
    frame = pd.DataFrame(X, columns=[f"f{place}" for place in places]).assign(kind=np.where(y, "ill", "well"))
    return frame, relevant if weight else np.zeros(N_COLUMNS, dtype=bool)


def simulate(case: Case, number: int) -> tuple[float, float]:
    """Return the share of false discoveries of one table, and that of the relevant columns that are discovered."""
    frame, relevant = draw(random_stream(SEED, "table", number), case.correlation, case.weight)
    source = source_of_frame(frame, {"target": "kind"})
    ranking = rank_features(source, ranking_request(case.method, "standard"), fdr=case.controls)
    assert ranking.q_values is not None
    found = ranking.q_values <= RATE
    n_found, n_false = int(found.sum()), int((found & ~relevant).sum())
    return n_false / max(n_found, 1), float(found[relevant].mean()) if case.weight else np.nan


@click.command()
@click.option("--tables", default=200, show_default=True, help="Tables of each kind.")
def main(tables: int) -> None:
    """Print the shares as a table in Markdown."""
    print("| controls | columns | ranking | relevant | false among the discoveries, % | relevant ones found, % |")
    print("|---|---|---|---|---|---|")
    for case in CASES:
        shares = np.array([simulate(case, number) for number in range(tables)])
        false = mean_interval(shares[:, 0])
        kind = f"correlation {case.correlation}" if case.correlation else "independent"
        power = f"{100 * shares[:, 1].mean():.0f}" if case.weight else ""
        print(
            f"| {case.controls} | {kind} | {case.method} | {N_RELEVANT if case.weight else 0} of {N_COLUMNS} | "
            f"{100 * false.mean:.1f} [{100 * max(false.low, 0):.1f}, {100 * false.high:.1f}] | {power} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
