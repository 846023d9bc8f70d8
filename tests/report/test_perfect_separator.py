"""A column that separates the classes without error, beside others: the table of scores still ranks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from click.testing import CliRunner

from fsvm_cli.cli import cli
from fsvm_cli.report.folder import read_table

if TYPE_CHECKING:
    import pytest


def test_the_table_of_scores_ranks_as_the_rankings_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    y = np.arange(40) % 2
    rng = np.random.default_rng(0)
    noise = {name: rng.standard_normal(40) + shift * y for name, shift in zip("bcd", (1.5, 0.6, 0.2), strict=True)}
    pd.DataFrame({"a": y.astype(float), **noise, "kind": np.where(y, "yes", "no")}).to_csv("mine.csv", index=False)
    content = {
        "title": "A perfect separator",
        "dataset": {"file": "mine.csv", "target": "kind"},
        "scaling": "standard",
        "classifier": {"kernel": "linear", "C": 1},
        "protocol": {"splits": 3, "train": "1/2", "seed": 0},
        "rankings": [{"method": "fisher"}, {"method": "pearson"}, {"method": "rfe"}],
        "subsets": [1],
    }
    Path("c.yaml").write_text(json.dumps(content), encoding="utf-8")
    result = CliRunner().invoke(cli, ["run", "c.yaml", "--jobs", "1"])
    assert result.exit_code == 0, result.output
    scores = read_table(next(Path("results").rglob("scores.csv")))
    assert scores.groupby("ranking")["mean"].max()["fisher"] > 1e20
    for _, own in scores.groupby("ranking"):
        assert own["mean"].nunique() == 4
        assert (own["mean"] > 0).all()
        assert own.nlargest(1, "mean")["feature"].item() == "a"
