"""How often the recommendation is wrong, over made tables whose truth is known.

`python -m tests.recommendation.campaign noise --tables 200` counts tables without any signal on which something is
found, `signal` those with signal, and `coverage` how often the interval of the best mean's margin holds the accuracy of
the exported model on fresh rows. Each prints exact 95 % intervals of the shares.
"""

from __future__ import annotations

import json
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np
import pandas as pd
from scipy.stats import binomtest

from fsvm_cli.config_io import model_from_json
from fsvm_cli.data.dataset import Dataset
from fsvm_cli.data.source import fixed_source
from fsvm_cli.evaluation.metrics import METRICS, confusion_matrix
from fsvm_cli.evaluation.seeds import random_stream
from fsvm_cli.experiment.chance import chance_test
from fsvm_cli.experiment.experiment import Experiment
from fsvm_cli.own_data.export import export
from fsvm_cli.report.complete_trials import collect
from fsvm_cli.report.recommendation import ALL, MAJORITY, recommendation
from fsvm_cli.spec.schema import Config
from fsvm_cli.store.store import Store
from tests.helpers.small import run_job

if TYPE_CHECKING:
    from numpy.typing import NDArray

SEED = 43
N_FRESH = 20_000
RANKINGS = ("fisher", "mutual-information", "random")


@dataclass(frozen=True)
class Problem:
    """A table with normal features.

    Attributes
    ----------
    counts : tuple of int
        Rows of each class.
    n_features : int
    differences : tuple of float
        Of the means of neighbouring classes, for the first features.
    rows_per_group : int
        1 where each row stands for itself; the rows of a group share a class, and half of their features' variance.
    """

    counts: tuple[int, ...]
    n_features: int
    differences: tuple[float, ...] = ()
    rows_per_group: int = 1


NOISE = (
    Problem((30, 30), 10),
    Problem((20, 20), 30),
    Problem((48, 12), 8),
    Problem((24, 24, 24), 6),
    Problem((30, 30), 6, rows_per_group=3),
)
SIGNAL = (
    Problem((40, 40), 10, (1.2, 1.0)),
    Problem((64, 16), 10, (1.2, 1.0)),
    Problem((40, 40), 10, (0.5, 0.5, 0.5)),
)


def of_few_rows(number: int) -> Problem:
    """Draw a problem for the coverage: every fourth is balanced, the others have 5 to 30 rows of one class."""
    rng = random_stream(SEED, "problem", number)
    differences = tuple(rng.uniform(0.5, 1.5, 3).tolist())
    counts = (50, 50) if number % 4 == 0 else (int(rng.integers(60, 150)), int(rng.integers(5, 31)))
    return Problem(counts, 8, differences)


def drawn(
    problem: Problem, rng: np.random.Generator, counts: tuple[int, ...] = ()
) -> tuple[NDArray[np.float64], NDArray[np.intp], NDArray[np.int64] | None]:
    """Draw the rows of a problem, or other numbers of rows of its classes."""
    y = np.repeat(np.arange(len(problem.counts)), counts or problem.counts)
    X = rng.standard_normal((len(y), problem.n_features))
    groups = None
    if problem.rows_per_group > 1:
        groups = np.arange(len(y)) // problem.rows_per_group
        X = np.sqrt(0.5) * (X + rng.standard_normal((groups[-1] + 1, problem.n_features))[groups])
    X[:, : len(problem.differences)] += y[:, None] * np.array(problem.differences)
    return X, y, groups


def experiment_on(problem: Problem, rng: np.random.Generator, n_splits: int, permutations: int = 39) -> Experiment:
    """Make an experiment on a drawn table."""
    X, y, groups = drawn(problem, rng)
    n, d = X.shape
    names = tuple(f"f{feature}" for feature in range(d))
    classes = tuple(f"c{code}" for code in range(len(problem.counts)))
    digest = np.random.default_rng(int(rng.integers(2**31))).bytes(32).hex()
    dataset = Dataset(name="made", X=X, y=y, feature_names=names, class_names=classes, sha256=digest, groups=groups)
    is_balanced = len(set(problem.counts)) == 1
    content = {
        "title": "made",
        "dataset": {"file": "made.csv", "target": "kind"},
        "scaling": "standard",
        "classifier": {"kernel": "linear", "C": 1} | ({} if is_balanced else {"class_weight": "balanced"}),
        "protocol": {"splits": n_splits, "train": "2/3", "seed": int(rng.integers(2**31))},
        "rankings": [{"method": method} for method in RANKINGS],
        "metrics": ["accuracy" if is_balanced else "balanced-accuracy"],
        "recommendation": {"permutations": permutations},
    }
    sizes = tuple(sorted({1, 2, 4, d}))
    n_train = 2 * n // 3
    config = model_from_json(Config, json.dumps(content))
    return Experiment(config, fixed_source(dataset), sizes, {n_train: n - n_train})


def recommended(experiment: Experiment) -> pd.DataFrame:
    """Run an experiment, and return the table of its recommendation."""
    with tempfile.TemporaryDirectory() as name:
        job = run_job(experiment, Path(name))
        assert job.error is None
        with Store(Path(name), writable=False) as store:
            test = chance_test(experiment)
            if test is not None:
                test.read(store)
            return recommendation(experiment, collect(experiment, store), test)


def find(problem: Problem, number: int) -> dict[str, Any]:
    """Test one table against chance, and its rankings against random orders."""
    table = recommended(experiment_on(problem, random_stream(SEED, "table", number), 5))
    return {
        "problem": str(problem),
        "found": table["chance"].iloc[0] == "found",
        "recommended": bool(table["recommended"].any()),
        "permutations": int(table["n_permutations"].iloc[0]),
        "better than random": bool((table["p_random"] <= 0.05).any()),
    }


def cover(number: int, n_splits: int = 25) -> dict[str, Any]:
    """Hold the interval of the subset that the rule takes against the exported model on fresh rows."""
    problem = of_few_rows(number)
    experiment = experiment_on(problem, random_stream(SEED, "covered", number), n_splits, permutations=0)
    table = recommended(experiment)
    rankings = table[~table["ranking"].isin([ALL, MAJORITY, "random"])]
    near = rankings[rankings["best_mean"] >= rankings["best_mean"].max() - 0.01]
    row = near.sort_values(["n_features", "mean"], ascending=[True, False]).iloc[0]
    model = export(experiment, row["ranking"], int(row["n_features"])).fitted()
    shares = np.array(problem.counts) / sum(problem.counts)
    X, y, _ = drawn(problem, random_stream(SEED, "fresh", number), tuple((N_FRESH * shares).astype(int).tolist()))
    frame = pd.DataFrame(X, columns=experiment.source.feature_names)
    predicted = np.array([experiment.source.class_names.index(name) for name in model.predict(frame)])
    truth = float(METRICS[row["metric"]](confusion_matrix(y, predicted, len(problem.counts))))
    return {
        "problem": "balanced" if len(set(problem.counts)) == 1 else "few rows of a class",
        "n_rarest": min(problem.counts),
        "mean": row["mean"],
        "low": row["ci_low"],
        "high": row["ci_high"],
        "truth": truth,
        "held": row["ci_low"] <= truth <= row["ci_high"],
        "better than random": bool((table["p_random"] <= 0.05).any()),
    }


def _share(is_so: pd.Series[bool]) -> str:
    interval = binomtest(int(is_so.sum()), len(is_so)).proportion_ci()
    limits = f"[{100 * interval.low:.1f}, {100 * interval.high:.1f}]"
    return f"{is_so.sum()} of {len(is_so)}, {100 * is_so.mean():.1f} % {limits}"


@click.command()
@click.argument("kind", type=click.Choice(["noise", "signal", "coverage"]))
@click.option("--tables", default=20, show_default=True)
@click.option("--first", default=0, show_default=True, help="Number of the first table.")
@click.option("--out", type=click.Path(path_type=Path), help="A line for each table.")
def main(kind: str, tables: int, first: int, out: Path | None) -> None:
    """Go through made tables, and print the shares with exact 95 % intervals."""
    problems = {"noise": NOISE, "signal": SIGNAL}.get(kind, ())
    rows = []
    for number in range(first, first + tables):
        rows.append(cover(number) if kind == "coverage" else find(problems[number % len(problems)], number))
        if out is not None:
            pd.DataFrame(rows).to_csv(out, index=False)
    found = pd.DataFrame(rows)
    for name, of_problem in [("all", found), *found.groupby("problem")]:
        shares = [f"{column}: {_share(of_problem[column])}" for column in found if found[column].dtype == bool]
        click.echo(f"{name}\n  " + "\n  ".join(shares))
    if kind == "coverage":
        width = 100 * (found["high"] - found["low"]).groupby(found["problem"]).mean().round(3)
        click.echo(f"mean width in points: {width.to_dict()}")
    else:
        click.echo(f"permutations on average: {found['permutations'].mean():.1f}")


if __name__ == "__main__":
    main()
