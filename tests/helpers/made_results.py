"""Results folders of experiments that compare methods, with values whose truth is known."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd

RESULTS = Path(__file__).parents[2] / "results"
N_SETS = 18


def written(folder: Path, values: pd.DataFrame, *, recovered: float | None = None) -> list[Path]:
    """Write results folders with one number of features beside all, where each method has the value of a table."""
    folders: list[Path] = []
    content = json.loads((RESULTS / "beyond-gaussian-wine" / "run.json").read_text())
    for name, row in values.iterrows():
        run = json.loads(json.dumps(content))
        run["data"] |= {"name": str(name), "n_samples": 100 + len(folders)}
        run["config"] |= {"rankings": [{"method": method} for method in values.columns], "subsets": [1, 13]}
        target = folder / str(name)
        target.mkdir(parents=True)
        (target / "run.json").write_text(json.dumps(run))
        common = {"train_size": 60 + len(folders), "n_trials": 5}
        curves = [
            {"ranking": method, **common, "n_features": size, "metric": "accuracy", "part": "test", "mean": value}
            for method, value in row.items()
            for size in (1, 13)
        ]
        pd.DataFrame(curves).to_csv(target / "curves.csv", index=False)
        kept = [
            {"ranking": method, **common, "n_features": 1, "stability": 0.5 + 0.1 * number, "recovered": recovered}
            for number, method in enumerate(values.columns)
        ]
        pd.DataFrame(kept).to_csv(target / "selection.csv", index=False)
        folders.append(target)
    return folders


def made(better: dict[str, float], *, spread: float = 0.01, seed: int = 0) -> pd.DataFrame:
    """Accuracies of methods on data sets, some better by a known amount."""
    rng = np.random.default_rng(seed)
    methods = ["fisher", "rfe", "relief-f", "forest", "mrmr", "random"]
    shifts = np.array([better.get(method, 0.0) for method in methods])
    level = rng.normal(0.8, 0.05, size=(N_SETS, 1))
    values = level + shifts + spread * rng.normal(size=(N_SETS, len(methods)))
    return pd.DataFrame(values, columns=methods, index=[f"set {number}" for number in range(N_SETS)])
