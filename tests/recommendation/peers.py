"""What is recommended beside what three peers select, by the accuracy of each model on fresh rows.

`python -m tests.recommendation.peers --tables 20` draws tables of five kinds. On each it runs the config of
`fsvm init`, with fewer splits, and without a test against chance, since all tables have signal; and it fits recursive
elimination with cross-validation, logistic regression with the 1-norm, and a random forest on what permuted features
show to matter.
"""

from __future__ import annotations

import re
import tempfile
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import RFECV
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LogisticRegressionCV
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from fsvm_cli.evaluation.seeds import random_stream
from fsvm_cli.evaluation.statistics import mean_interval
from fsvm_cli.experiment.plan import plan
from fsvm_cli.own_data.export import export
from fsvm_cli.own_data.init import first_config
from fsvm_cli.own_data.rank import source_of
from fsvm_cli.spec.load import load_all
from tests.recommendation.campaign import N_FRESH, SEED, recommended

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

Model = tuple[float, int]
"""Accuracy on fresh rows, and number of features."""


def drawn(kind: str, rng: np.random.Generator, n: int) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Draw rows of a kind of table."""
    n_classes = 3 if kind == "three classes" else 2
    y = rng.integers(0, n_classes, n)
    if kind == "three of twenty":
        X = rng.standard_normal((n, 20))
        X[:, :3] += 0.9 * y[:, None]
    elif kind == "ten of thirty":
        X = rng.standard_normal((n, 30))
        X[:, :10] += 0.45 * y[:, None]
    elif kind == "two together":
        X = rng.standard_normal((n, 8))
        y = (X[:, 0] * X[:, 1] > 0).astype(np.intp)
    elif kind == "copies":
        X = rng.standard_normal((n, 24))
        latent = rng.standard_normal((n, 3)) + y[:, None]
        X[:, :12] = np.repeat(latent, 4, axis=1) + 0.5 * X[:, :12]
    else:
        X = rng.standard_normal((n, 12))
        X[:, :2] += 1.5 * np.array([[0, 0], [1, 0], [0.5, 0.9]])[y]
    return X, y


KINDS = ("three of twenty", "ten of thirty", "two together", "copies", "three classes")


def ours(X: NDArray[np.float64], y: NDArray[np.intp], fresh: tuple[Any, Any], n_splits: int) -> Model:
    """Run the config of `fsvm init`, and export what is recommended."""
    frame = pd.DataFrame(X, columns=[f"f{j}" for j in range(X.shape[1])])
    with tempfile.TemporaryDirectory() as name:
        file = Path(name) / "mine.csv"
        frame.assign(y=y).to_csv(file, index=False)
        source = source_of(str(file), {"target": "y"}, lambda _: None)
        text = first_config(source, {"file": str(file), "target": "y"}, "Peers", "peers")
        text = re.sub(r"splits: \d+  # random", f"splits: {n_splits}  # random", text)
        (Path(name) / "mine.yaml").write_text(text.replace("permutations: 39", "permutations: 0"))
        (config,), _ = load_all([str(Path(name) / "mine.yaml")])
        experiment = plan(config, lambda _: None)
        (row,) = recommended(experiment).query("recommended == True").to_dict("records")
        model = export(experiment, row["ranking"], int(row["n_features"])).fitted()
    predicted = model.predict(pd.DataFrame(fresh[0], columns=frame.columns))
    return float((predicted.astype(str) == fresh[1].astype(str)).mean()), int(row["n_features"])


def eliminated(X: NDArray[np.float64], y: NDArray[np.intp], fresh: tuple[Any, Any], seed: int) -> Model:
    """Recursive elimination with cross-validation, of a linear machine with C = 1."""
    scaler = StandardScaler().fit(X)
    model = RFECV(SVC(kernel="linear", C=1), cv=5).fit(scaler.transform(X), y)
    return float(model.score(scaler.transform(fresh[0]), fresh[1])), int(model.n_features_)


def sparse_logistic(X: NDArray[np.float64], y: NDArray[np.intp], fresh: tuple[Any, Any], seed: int) -> Model:
    """Logistic regression with the 1-norm, whose price is chosen by cross-validation."""
    scaler = StandardScaler().fit(X)
    model = LogisticRegressionCV(
        Cs=10,
        cv=5,
        l1_ratios=(1,),
        solver="saga",
        max_iter=500,
        tol=1e-3,
        random_state=seed,
        use_legacy_attributes=True,
    )
    model.fit(scaler.transform(X), y)
    kept = int((np.abs(model.coef_).max(axis=0) > 0).sum())
    return float(model.score(scaler.transform(fresh[0]), fresh[1])), kept


def permuted_forest(X: NDArray[np.float64], y: NDArray[np.intp], fresh: tuple[Any, Any], seed: int) -> Model:
    """A random forest on the features whose permutation costs accuracy on left-out rows, by two standard deviations."""
    X_train, X_out, y_train, y_out = train_test_split(X, y, test_size=1 / 3, stratify=y, random_state=seed)
    forest = RandomForestClassifier(100, random_state=seed).fit(X_train, y_train)
    found = permutation_importance(forest, X_out, y_out, n_repeats=10, random_state=seed)
    kept = np.flatnonzero(found.importances_mean > 2 * found.importances_std)
    kept = kept if len(kept) else np.arange(X.shape[1])
    model = RandomForestClassifier(100, random_state=seed).fit(X[:, kept], y)
    return float(model.score(fresh[0][:, kept], fresh[1])), len(kept)


PEERS: dict[str, Callable[..., Model]] = {
    "RFECV, linear": eliminated,
    "L1-logistic": sparse_logistic,
    "permutation-forest": permuted_forest,
}


def compare(number: int, n_splits: int) -> list[dict[str, Any]]:
    """Let all models learn from one table."""
    kind = KINDS[number % len(KINDS)]
    rng = random_stream(SEED, "peers", number)
    X, y = drawn(kind, rng, int(rng.integers(80, 161)))
    fresh = drawn(kind, rng, N_FRESH)
    models = {"fsvm": ours(X, y, fresh, n_splits)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of machines that miss their tolerance
        models |= {name: fit(X, y, fresh, number) for name, fit in PEERS.items()}
    return [
        {
            "table": number,
            "kind": kind,
            "model": name,
            "accuracy": 100 * accuracy,
            "features": n,
            "share": 100 * n / X.shape[1],
        }
        for name, (accuracy, n) in models.items()
    ]


@click.command()
@click.option("--tables", default=20, show_default=True)
@click.option("--splits", default=10, show_default=True)
@click.option("--out", type=click.Path(path_type=Path), help="A line for each table and model.")
def main(tables: int, splits: int, out: Path | None) -> None:
    """Go through the tables, and print means, and the differences to each peer with 95 % intervals over tables."""
    rows: list[dict[str, Any]] = []
    for number in range(tables):
        rows += compare(number, splits)
        if out is not None:
            pd.DataFrame(rows).to_csv(out, index=False)
    found = pd.DataFrame(rows)
    click.echo(found.groupby("model")[["accuracy", "features", "share"]].mean().round(1).to_string())
    accuracy = found.pivot(index="table", columns="model", values="accuracy")
    click.echo(found.pivot_table(index="kind", columns="model", values="accuracy").round(1).to_string())
    for name in PEERS:
        difference = mean_interval((accuracy["fsvm"] - accuracy[name]).to_numpy())
        click.echo(f"fsvm - {name}: {difference.mean:.1f} [{difference.low:.1f}, {difference.high:.1f}] points")


if __name__ == "__main__":
    main()
