"""`python -m benchmarks.recommendation`: what `fsvm init`, `run` and `export` come to on tables whose truth is known.

Each table has two classes and independent normal features, three of which differ in their means; numbers of rows and
features and the sizes of the differences are drawn. The config is the one that `fsvm init` writes. Asked is how often
the recommended features of the exported model hold all three, how often its interval holds the model's accuracy on
100,000 fresh rows, and the same for the number of features at which the mean is best. Nothing here decides about any
default.
"""

from __future__ import annotations

import tempfile
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np
import pandas as pd
from scipy.stats import binomtest

from fsvm_cli.data.source import open_source
from fsvm_cli.data.spec import FileSpec
from fsvm_cli.evaluation.seeds import random_stream
from fsvm_cli.experiment.export import export
from fsvm_cli.experiment.first_config import first_config
from fsvm_cli.experiment.plan import plan
from fsvm_cli.report.complete_trials import collect
from fsvm_cli.report.recommendation import recommendation
from fsvm_cli.runner.session import Job, open_local_pool, run
from fsvm_cli.spec.load import load_any
from fsvm_cli.store.store import Store

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fsvm_cli.experiment.plan import Experiment

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


def simulate(number: int, n_splits: int | None) -> dict[str, Any]:
    """Go from one table to its model, and look at it with fresh rows."""
    begin = time.process_time()
    rng = random_stream(SEED, "table", number)
    n_rows, n_features = int(rng.choice(ROWS)), int(rng.choice(FEATURES))
    differences = np.zeros(n_features)
    differences[:N_RELEVANT] = rng.uniform(*DIFFERENCES, N_RELEVANT)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        draw(rng, n_rows, differences).to_csv(folder / "mine.csv", index=False)
        experiment, table = _run(folder, n_splits)
    (row,) = table[table["recommended"]].to_dict("records")
    fresh = draw(rng, N_FRESH, differences)
    found = {"table": number, "rows": n_rows, "features": n_features, "method": row["method"]}
    for which, size in (("", row["n_features"]), ("best_", row["best_n_features"])):
        model = export(experiment, row["ranking"], int(size)).fitted()
        kept = model["selector"].get_support()
        found[f"{which}size"] = int(size)
        found[f"{which}relevant"] = int(kept[:N_RELEVANT].sum())
        found[f"{which}accuracy"] = float((model.predict(fresh) == fresh["kind"]).mean())
    found |= {key: row[key] for key in ("mean", "ci_low", "ci_high", "best_mean")}
    return found | {"cpu_seconds": time.process_time() - begin}


def _run(folder: Path, n_splits: int | None) -> tuple[Experiment, pd.DataFrame]:
    dataset = {"file": "mine.csv", "target": "kind"}
    source = open_source(FileSpec(**dataset), base_folder=folder, announce=lambda _: None)
    text = first_config(source, dataset, "Simulation", "benchmarks.recommendation")
    if n_splits is not None:
        text = text.replace("splits: 100", f"splits: {n_splits}")
    (folder / "mine.yaml").write_text(text, encoding="utf-8")
    experiment = plan(load_any(str(folder / "mine.yaml")), lambda _: None)
    with Store(folder, writable=True) as store:
        job = Job(experiment, store, Silent())
        list(run([job], partial(open_local_pool, 1)))
        return experiment, recommendation(experiment, collect(experiment, store))


def describe(found: pd.DataFrame) -> str:
    """Say how often the truth was found, with exact 95 % intervals of the shares."""
    n = len(found)
    holds = (found["ci_low"] <= found["accuracy"]) & (found["accuracy"] <= found["ci_high"])
    lines = [f"{n} tables, {found['cpu_seconds'].mean():.1f} CPU s each"]
    for title, which in (("recommended", ""), ("where the mean is best", "best_")):
        all_kept = found[f"{which}relevant"] == N_RELEVANT
        lines.append(
            f"{title}: {found[f'{which}size'].mean():.1f} features on average, of which "
            f"{found[f'{which}relevant'].mean():.1f} relevant; all {N_RELEVANT} in {_share(all_kept)} of the tables; "
            f"accuracy on fresh rows {100 * found[f'{which}accuracy'].mean():.1f} %"
        )
    above, below = found["accuracy"] > found["ci_high"], found["accuracy"] < found["ci_low"]
    lines.append(
        f"the interval holds the accuracy on fresh rows in {_share(holds)} of the tables; the accuracy lies above it "
        f"in {above.sum()}, below in {below.sum()}; the estimate is too high by "
        f"{100 * (found['mean'] - found['accuracy']).mean():.2f} percentage points on average"
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
    """Simulate, one line in FILE for each table, and print what they come to."""
    file.parent.mkdir(parents=True, exist_ok=True)
    found = pd.read_csv(file).to_dict("records") if file.exists() else []
    done = {row["table"] for row in found}
    for number in range(tables):
        if number not in done:
            found.append(simulate(number, splits))
            pd.DataFrame(found).to_csv(file, index=False)
            click.echo(found[-1])
    click.echo(describe(pd.DataFrame(found)))


if __name__ == "__main__":
    main()
