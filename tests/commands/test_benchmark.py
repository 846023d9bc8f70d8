"""`fsvm benchmark`: one method, also from outside, run on all of the comparison."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest

from fsvm_cli.commands.benchmark import _print_places
from fsvm_cli.report.method_values import method_values
from tests.helpers.calling import CHECKOUT, fsvm_here, write_config
from tests.helpers.made_results import made, written

if TYPE_CHECKING:
    from pathlib import Path

COMMAND = (sys.executable, "-m", "fsvm_cli", "benchmark")
TINY = """
from fsvm_cli import Ranker

class LastFirst(Ranker):
    method = "last-first"

    def _scores(self, X, y, n_classes):
        return 1.0 * (X.mean(axis=0) > -1e9) * range(X.shape[1])
"""


@pytest.fixture
def experiments(tmp_path: Path) -> list[Path]:
    """Write two small experiments, in place of those of the comparison."""
    return [
        write_config(tmp_path, name, protocol=f"{{splits: 2, train: 1/2, seed: {seed}}}", subsets="[1, 5, 20]")
        for seed, name in enumerate(("one", "two"))
    ]


def test_its_rows_are_those_of_its_results_and_a_second_run_computes_nothing(
    experiments: list[Path], tmp_path: Path
) -> None:
    arguments = ("benchmark", "pearson", *experiments, "--jobs", "1", "--out", tmp_path / "out")
    arguments += ("--against", tmp_path / "none")
    answer = fsvm_here(*arguments)
    assert answer.code == 0, answer.err
    table = pd.read_csv(tmp_path / "out" / "pearson.csv")
    assert table["experiment"].tolist() == ["one"] * 3 + ["two"] * 3
    assert table["ranking"].unique().tolist() == ["pearson", "fisher", "random"]
    assert (table["machine"] == "linear").all()
    assert (table["seconds"] >= 0).all()
    for name, rows in table.groupby("experiment"):
        values = method_values(tmp_path / "out" / str(name))
        for column in ("area", "at_10", "at_50", "stability", "recovered"):
            assert rows[column].tolist() == pytest.approx(values.loc[rows["ranking"], column].tolist())
    assert "pearson and references" in answer.out
    again = fsvm_here(*arguments)
    assert again.code == 0, again.err
    for name in ("one", "two"):
        environment = json.loads((tmp_path / "out" / name / "environment.json").read_text())
        assert environment["trials_run"] == 0
    pd.testing.assert_frame_equal(
        pd.read_csv(tmp_path / "out" / "pearson.csv").drop(columns="seconds"), table.drop(columns="seconds")
    )


@pytest.mark.slow
def test_a_class_from_outside_is_run_by_workers_that_know_it(experiments: list[Path], tmp_path: Path) -> None:
    (tmp_path / "tiny.py").write_text(TINY)
    process = subprocess.run(
        [*COMMAND, "tiny:LastFirst", *map(str, experiments), "--quick", "--jobs", "2"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), str(CHECKOUT)])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 0, process.stderr
    table = pd.read_csv(tmp_path / "benchmark" / "last-first-quick" / "last-first.csv")
    own = table[table["ranking"] == "last-first"]
    assert own["experiment"].tolist() == ["one", "two"]
    # Its scores are places, and drawn data come with their columns in another order on each split.
    assert (own["stability"] < 0.5).all()
    assert "too few splits to place the method among the others" in process.stdout


def test_a_full_run_is_placed_among_all_others_and_references_are_checked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    values = made({"rfe": 0.06, "random": -0.1}, spread=0.004).rename(index=lambda name: str(name).replace(" ", "-"))
    written(tmp_path, values)
    rows = [
        {"machine": "gaussian", "experiment": name, "ranking": ranking, "area": area, "recovered": np.nan}
        for name, row in values.iterrows()
        for ranking, area in (("mine", row["rfe"] + 0.0005), ("fisher", row["fisher"]), ("random", row["random"]))
    ]
    _print_places(pd.DataFrame(rows), "mine", tmp_path)
    told = capsys.readouterr().out
    assert told.startswith("gaussian machines: mean rank 1.00, place 1 of 7 over 18 data sets. ")
    assert "within 1 point of rfe" in told
    assert "came to other values" not in told
    moved = pd.DataFrame(rows).assign(area=lambda table: table["area"] + 0.01 * (table["ranking"] == "fisher"))
    _print_places(moved, "mine", tmp_path)
    assert "fisher, random came to other values with gaussian machines" in capsys.readouterr().out
    _print_places(pd.DataFrame(rows), "mine", tmp_path / "none")
    assert "no results of the comparison with gaussian machines" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("method", "words"),
    [
        ("no-such-method", "no ranking method has this name"),
        ("no_such_module:Mine", "No module named 'no_such_module'"),
        ("json:JSONDecoder", "has no attribute 'method'"),
        ("fisher:", "write module:Class"),
    ],
)
def test_what_is_no_method_is_refused_with_what_to_write(method: str, words: str, tmp_path: Path) -> None:
    answer = fsvm_here("benchmark", method, "--out", tmp_path)
    assert answer.code == 2
    assert words in answer.err
    assert not list(tmp_path.iterdir())
