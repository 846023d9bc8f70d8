"""`python -m benchmarks.recommendation`: what `fsvm init`, `run` and `export` come to on tables whose truth is known.

Each table has two classes and independent normal features, three of which differ in their means; numbers of rows and
features and the sizes of the differences are drawn. The config is the one that `fsvm init` writes. Asked is how often
the recommended features of the exported model hold all three, and how often its interval holds the model's accuracy on
100,000 fresh rows; the same of rules that are not fsvm's (`RULES`). Nothing here decides about any default.
"""

from __future__ import annotations

import json
import re
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click
import numpy as np
import pandas as pd
from scipy.stats import binomtest

from fsvm_cli.data.opening import open_source
from fsvm_cli.data.source_spec import FileSpec
from fsvm_cli.evaluation.seeds import random_stream
from fsvm_cli.evaluation.statistics import difference_interval, standard_error
from fsvm_cli.experiment.plan import plan
from fsvm_cli.own_data.export import export
from fsvm_cli.own_data.init import first_config
from fsvm_cli.ranking.random_order import RandomOrder
from fsvm_cli.report.complete_trials import collect
from fsvm_cli.report.ranking_statistics import is_near
from fsvm_cli.report.recommendation import recommendation
from fsvm_cli.runner.run import Job, open_local_pool, run
from fsvm_cli.spec.load import load_all
from fsvm_cli.store.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from fsvm_cli.experiment.experiment import Experiment
    from fsvm_cli.report.complete_trials import CompleteTrials

ROWS = (60, 120, 240)
FEATURES = (8, 20)
N_RELEVANT = 3
DIFFERENCES = (0.6, 1.4)
"""Of the means, in standard deviations: from hardly to plainly visible in so many rows."""
N_FRESH = 100_000
SEED = 17


class Silent:
    """Progress that nobody watches."""

    def start(self, n_trials: int, n_done: int) -> None:
        """Say nothing."""

    def advance(self, n_done: int) -> None:
        """Say nothing."""


def draw(rng: np.random.Generator, n_rows: int, differences: NDArray[np.float64]) -> pd.DataFrame:
    """Draw a table; the first features are the relevant ones."""
    y = rng.permutation(np.arange(n_rows) % 2)
    X = rng.standard_normal((n_rows, len(differences))) + y[:, None] * differences
    frame = pd.DataFrame(X, columns=[f"f{feature}" for feature in range(len(differences))])
    return frame.assign(kind=np.where(y, "ill", "well"))


class Curve(NamedTuple):
    """The accuracy of a ranking's subsets on the splits, shape (n_splits, n_sizes), features in ascending number."""

    ranking: str
    values: NDArray[np.float64]
    sizes: NDArray[np.int64]

    def best(self) -> int:
        """Give the place of the best mean."""
        return int(np.argmax(self.values.mean(axis=0)))


def near_in_pairs(curves: list[Curve], ratio: float) -> tuple[str, int]:
    """Take the fewest features within one standard error of the difference from the best of all means."""
    reference = max((each.values[:, each.best()] for each in curves), key=np.mean)
    choices = []
    for ranking, values, sizes in curves:
        own = values[:, np.argmax(values.mean(axis=0))]
        chosen = int(np.argmax(is_near(own[:, None] - values, ratio)))
        if is_near(reference - values[:, chosen], ratio):
            choices.append((int(sizes[chosen]), -values[:, chosen].mean(), ranking))
    size, _, ranking = min(choices)
    return ranking, size


def near_one_by_one(curves: list[Curve], ratio: float) -> tuple[str, int]:
    """Take the fewest features of those that a 95 % test ties, each near its best by the error of that accuracy."""
    at_choice = []
    for _, values, _ in curves:
        best = np.argmax(values.mean(axis=0))
        means = values.mean(axis=0)
        at_choice.append(int(np.argmax(means >= means[best] - standard_error(values[:, best], ratio) - 1e-12)))
    chosen = [each.values[:, place] for each, place in zip(curves, at_choice, strict=True)]
    reference = max(chosen, key=np.mean)
    size, _, ranking = min(
        (int(each.sizes[place]), -values.mean(), each.ranking)
        for each, place, values in zip(curves, at_choice, chosen, strict=True)
        if difference_interval(reference - values, ratio).low <= 0
    )
    return ranking, size


def best_mean(curves: list[Curve], ratio: float) -> tuple[str, int]:  # noqa: ARG001 - as the other rules
    """Take the best of all means."""
    best = max(curves, key=lambda each: each.values.mean(axis=0).max())
    return best.ranking, int(best.sizes[best.best()])


def within_margin(curves: list[Curve], ratio: float, points: float = 1.0) -> tuple[str, int]:  # noqa: ARG001
    """Take the fewest features whose mean lies at most so many points behind the best of all means."""
    highest = max(each.values.mean(axis=0).max() for each in curves)
    choices = []
    for ranking, values, sizes in curves:
        means = values.mean(axis=0)
        near = np.flatnonzero(means >= highest - points / 100 - 1e-12)
        choices += [(int(sizes[place]), -means[place], ranking) for place in near[:1]]
    size, _, ranking = min(choices)
    return ranking, size


RULES: dict[str, Callable[[list[Curve], float], tuple[str, int]]] = {
    "recommended": within_margin,
    "within one standard error": near_in_pairs,
    "as if splits shared no rows": lambda curves, ratio: near_in_pairs(curves, 0 * ratio),
    "by the error of the accuracy, then a test": near_one_by_one,
    "best mean": best_mean,
}
"""The first is fsvm's."""


def simulate(number: int, n_splits: int | None) -> list[dict[str, Any]]:
    """Go from one table to its models, one for each rule, and look at them with fresh rows."""
    begin = time.process_time()
    rng = random_stream(SEED, "table", number)
    n_rows, n_features = int(rng.choice(ROWS)), int(rng.choice(FEATURES))
    differences = np.zeros(n_features)
    differences[:N_RELEVANT] = rng.uniform(*DIFFERENCES, N_RELEVANT)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        draw(rng, n_rows, differences).to_csv(folder / "mine.csv", index=False)
        experiment, collected = _run(folder, n_splits)
    table = recommendation(experiment, collected, None)
    (row,) = table[table["recommended"]].to_dict("records")
    ((n_train, n_test),) = experiment.n_test.items()
    ratio = n_test / n_train
    curves = {
        label: Curve(label, trials.values["accuracy", "test"], np.array(trials.sizes))
        for (label, _), trials in collected.items()
        if not label.startswith(RandomOrder.method)
    }
    choices = {rule: choose([*curves.values()], ratio) for rule, choose in RULES.items()}
    assert choices["recommended"] == (row["ranking"], row["n_features"]), "the rule is not that of fsvm"
    fresh = draw(rng, N_FRESH, differences)
    models = {choice: export(experiment, *choice).fitted() for choice in set(choices.values())}
    accuracies = {choice: float((model.predict(fresh) == fresh["kind"]).mean()) for choice, model in models.items()}
    seconds = time.process_time() - begin
    found = []
    for rule, (ranking, size) in choices.items():
        values = curves[ranking].values[:, curves[ranking].sizes == size].ravel()
        interval = difference_interval(values, ratio)
        found.append(
            {
                "table": number,
                "rule": rule,
                "rows": n_rows,
                "features": n_features,
                "method": ranking,
                "size": size,
                "relevant": int(models[ranking, size]["selector"].get_support()[:N_RELEVANT].sum()),
                "accuracy": accuracies[ranking, size],
                "mean": interval.mean,
                "ci_low": max(interval.low, 0.0),
                "ci_high": min(interval.high, 1.0),
                "cpu_seconds": seconds,
            }
        )
    return found


def _run(folder: Path, n_splits: int | None) -> tuple[Experiment, dict[tuple[str, int], CompleteTrials]]:
    dataset = {"file": "mine.csv", "target": "kind"}
    source = open_source(FileSpec.model_validate(dataset), base_folder=folder, announce=lambda _: None)
    text = first_config(source, dataset, "Simulation", "benchmarks.recommendation")
    if n_splits is not None:
        text = re.sub(r"splits: \d+  # random", f"splits: {n_splits}  # random", text)
    text = text.replace("permutations: 39", "permutations: 0")  # there is signal in every table
    (folder / "mine.yaml").write_text(text, encoding="utf-8")
    (config,), _ = load_all([str(folder / "mine.yaml")])
    experiment = plan(config, lambda _: None)
    with Store(folder, writable=True) as store:
        job = Job(experiment, store, Silent())
        list(run([job], partial(open_local_pool, 1)))
        return experiment, collect(experiment, store)


def describe(found: pd.DataFrame) -> str:
    """Say how often the truth was found, with exact 95 % intervals of the shares."""
    lines = [f"{found['table'].nunique()} tables, {found['cpu_seconds'].mean():.1f} CPU s each"]
    for rule in RULES:
        own = found[found["rule"] == rule]
        holds = (own["ci_low"] <= own["accuracy"]) & (own["accuracy"] <= own["ci_high"])
        above, below = own["accuracy"] > own["ci_high"], own["accuracy"] < own["ci_low"]
        lines.append(
            f"{rule}: {own['size'].mean():.1f} features on average, of which {own['relevant'].mean():.1f} relevant; "
            f"all {N_RELEVANT} in {_share(own['relevant'] == N_RELEVANT)} of the tables; accuracy on fresh rows "
            f"{100 * own['accuracy'].mean():.1f} %, which the interval holds in {_share(holds)} of the tables (above "
            f"it in {above.sum()}, below in {below.sum()}); the estimate is too high by "
            f"{100 * (own['mean'] - own['accuracy']).mean():.2f} percentage points on average"
        )
    return "\n".join(lines)


def _share(is_so: pd.Series[bool]) -> str:
    interval = binomtest(int(is_so.sum()), len(is_so)).proportion_ci()
    return f"{100 * is_so.mean():.0f} % [{100 * interval.low:.0f}, {100 * interval.high:.0f}]"


@click.command()
@click.option("--tables", default=20, show_default=True, help="How many; those that FILE holds stay.")
@click.option("--splits", type=int, help="Random splits of each table; by default as `fsvm init` writes.")
@click.option("--out", "file", default="build/recommendation.csv", show_default=True, type=click.Path(path_type=Path))
def main(tables: int, splits: int | None, file: Path) -> None:
    """Simulate, one line in FILE for each table and rule, and print what they come to."""
    file.parent.mkdir(parents=True, exist_ok=True)
    found: list[dict[str, Any]] = json.loads(pd.read_csv(file).to_json(orient="records")) if file.exists() else []
    done = {row["table"] for row in found}
    for number in range(tables):
        if number not in done:
            found += simulate(number, splits)
            pd.DataFrame(found).to_csv(file, index=False)
            click.echo(found[-len(RULES)])
    click.echo(describe(pd.DataFrame(found)))


if __name__ == "__main__":
    main()
