"""`python -m benchmarks.false_discovery`: false discoveries of rankings with controls, on tables whose truth is known.

Each table has two classes by the sign of a sum of relevant columns and noise; the columns are normal, independent or
with correlations that fall off with their distance. Counted are the shares of irrelevant columns among the discoveries
at a rate of 10 %, none where there is no discovery, and the shares of the relevant ones that are discovered.

On the same tables, where they are installed, hidimstat and knockpy with their own settings.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import warnings
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np
import pandas as pd
from scipy.stats import binomtest

from fsvm_cli.evaluation.seeds import random_stream
from fsvm_cli.evaluation.statistics import mean_interval
from fsvm_cli.own_data.rank import rank_features, source_of_frame
from fsvm_cli.own_data.request import ranking_request

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from fsvm_cli.evaluation.false_discovery import Controls

    Find = Callable[[pd.DataFrame, int], NDArray[np.bool_]]

RESULTS = Path("results/false-discovery.csv")
N_ROWS, N_COLUMNS, N_RELEVANT = 300, 50, 15
RATE = 0.1
SEED = 23


@dataclass(frozen=True)
class Case:
    """What finds columns, on which tables.

    Attributes
    ----------
    by : str
        A package and the statistic that it compares the columns and their controls by.
    controls : {"permuted", "knockoffs"}
    correlation : float
        Of neighbouring columns.
    weight : float
        Of a relevant column in the sum; 0: none is relevant.
    find : callable
        Tells which columns of a table are discovered; the number of the table seeds what is drawn.
    """

    by: str
    controls: Controls
    correlation: float
    weight: float
    find: Find


@dataclass(frozen=True)
class Measured:
    """A row of the table: means over the drawn tables in %, with intervals of 95 %."""

    by: str
    controls: str
    correlation: float
    n_relevant: int
    n_tables: int
    false: float
    false_low: float
    false_high: float
    found: float
    found_low: float
    found_high: float


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


def by_ranking(controls: Controls, method: str, frame: pd.DataFrame, number: int) -> NDArray[np.bool_]:  # noqa: ARG001
    """Find columns as `fsvm rank --fdr` does."""
    source = source_of_frame(frame, {"target": "kind"})
    ranking = rank_features(source, ranking_request(method, "standard"), fdr=controls)
    assert ranking.q_values is not None
    found: NDArray[np.bool_] = ranking.q_values <= RATE
    return found


def by_hidimstat(frame: pd.DataFrame, number: int) -> NDArray[np.bool_]:
    """Find columns by equicorrelated second-order knockoffs and the lasso, whose penalty is cross-validated."""
    X, y = frame.drop(columns="kind").to_numpy(), np.where(frame["kind"] == "ill", 1.0, -1.0)
    peer: Any = importlib.import_module("hidimstat").ModelXKnockoff(random_state=number)
    peer.fit_importance(X, y)
    return np.asarray(peer.fdr_selection(RATE), dtype=np.bool_)


def by_knockpy(frame: pd.DataFrame, number: int) -> NDArray[np.bool_]:
    """Find columns by knockoffs of minimum variance-based reconstructability, and l1-penalised logistic regression."""
    X, y = frame.drop(columns="kind").to_numpy(), np.where(frame["kind"] == "ill", 1.0, 0.0)
    np.random.seed(number)  # noqa: NPY002 - which it draws from
    peer: Any = importlib.import_module("knockpy.knockoff_filter").KnockoffFilter()
    return np.asarray(peer.forward(X, y, fdr=RATE) > 0, dtype=np.bool_)


PEERS: dict[str, tuple[str, Find]] = {
    "hidimstat": ("lasso", by_hidimstat),
    "knockpy": ("l1 logistic regression", by_knockpy),
}


def cases() -> Iterator[Case]:
    """Yield the cases, those of peers where they are installed."""
    of_ours: tuple[tuple[Controls, float, float, str], ...] = (
        ("permuted", 0.0, 0.5, "fisher"),
        ("permuted", 0.0, 0.5, "gradient-angle"),
        ("permuted", 0.0, 0.0, "fisher"),
        ("knockoffs", 0.5, 0.5, "fisher"),
        ("knockoffs", 0.5, 0.5, "gradient-angle"),
        ("knockoffs", 0.5, 0.5, "l1-logistic"),
        ("knockoffs", 0.5, 0.5, "knockoffs"),
        ("knockoffs", 0.5, 0.0, "gradient-angle"),
        ("knockoffs", 0.5, 0.0, "l1-logistic"),
        ("knockoffs", 0.5, 0.0, "knockoffs"),
    )
    for controls, correlation, weight, method in of_ours:
        yield Case(f"fsvm, {method}", controls, correlation, weight, partial(by_ranking, controls, method))
    for name, (statistic, find) in PEERS.items():
        if importlib.util.find_spec(name):
            by = f"{name} {importlib.metadata.version(name)}, {statistic}"
            for weight in (0.5, 0.0):
                yield Case(by, "knockoffs", 0.5, weight, find)


def measure(case: Case, n_tables: int) -> Measured:
    """Draw tables, and average over them."""
    shares = np.array([_shares(case, number) for number in range(n_tables)])
    false, found = mean_interval(shares[:, 0]), mean_interval(shares[:, 1])
    low, high = false.low, false.high
    if not case.weight:  # a share is 0 or 1
        low, high = binomtest(int(shares[:, 0].sum()), n_tables).proportion_ci()
    in_percent = 100 * np.clip([false.mean, low, high, found.mean, found.low, found.high], 0.0, 1.0)
    n_relevant = N_RELEVANT if case.weight else 0
    return Measured(case.by, case.controls, case.correlation, n_relevant, n_tables, *in_percent.tolist())


def _shares(case: Case, number: int) -> tuple[float, float]:
    """Return the share of false discoveries of one table, and that of the relevant columns that are discovered."""
    frame, relevant = draw(random_stream(SEED, "table", number), case.correlation, case.weight)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # peers warn of their own penalties, a hundred times in a table
        found = case.find(frame, number)
    n_found, n_false = int(found.sum()), int((found & ~relevant).sum())
    return n_false / max(n_found, 1), float(found[relevant].mean()) if case.weight else np.nan


@click.command()
@click.option("--tables", default=200, show_default=True, help="Tables of each kind.")
def main(tables: int) -> None:
    """Measure all cases, and write the table that `docs/generate.py` puts into the documentation."""
    for name in PEERS:
        if not importlib.util.find_spec(name):
            click.echo(f"{name} is not installed, and left out", err=True)
    rows = []
    for case in cases():
        rows.append(measure(case, tables))
        click.echo(rows[-1])
    names = [field.name for field in fields(Measured)]
    pd.DataFrame(rows, columns=names).to_csv(RESULTS, index=False, float_format="%.2f", lineterminator="\n")


if __name__ == "__main__":
    main()
