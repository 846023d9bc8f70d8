"""A config that collects the claims of several experiments, through every command."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import pytest

from fsvm_cli.report.folder import read_table
from tests.helpers.calling import fsvm_here, hashes, write_config

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.helpers.calling import Answer

    Call = Callable[..., Answer]

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("plain_figures")]

CLAIMS = """
  - {id: doc.t5.size, kind: problem, where: T, claim: c, fact: n_features, published: 20, decimals: 0, tolerance: 1}
  - {id: doc.t5.best, kind: single-run, where: T, claim: c, at: {metric: accuracy}, published: 60, decimals: 0}
  - {id: doc.t1.best, kind: single-run, where: T, claim: c, at: {metric: accuracy}, published: 70, decimals: 0}
"""
COLLECTION = "title: All of them\nexperiments: [b, a]\nclaims: doc.t5.*\n"


def write_configs(folder: Path) -> Path:
    for name, seed in (("a", 1), ("b", 2)):
        write_config(folder, name, protocol=f"{{splits: 4, train: 1/2, seed: {seed}}}", expected=CLAIMS)
    (folder / "all.yaml").write_text(COLLECTION)
    return folder / "all.yaml"


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory, plain_figures: None) -> Path:
    folder = tmp_path_factory.mktemp("finished")
    answer = fsvm_here("run", write_configs(folder), "--jobs", "1", "--out", folder / "results")
    assert answer.code == 0, answer.err
    assert "All of them: published / here" in answer.out
    return folder


def test_its_tables_hold_the_claims_of_its_experiments(finished: Path) -> None:
    results = finished / "results"
    published = read_table(results / "all" / "published.csv")
    own = [read_table(results / name / "published.csv").iloc[:2] for name in ("b", "a")]
    pd.testing.assert_frame_equal(published.drop(columns="experiment"), pd.concat(own, ignore_index=True))
    overview = read_table(results / "all" / "overview.csv").set_index("experiment")
    accuracy = "test accuracy, all features (%)"
    assert overview.index.tolist() == ["b", "a"]
    assert overview[f"{accuracy}, published"].tolist() == [60, 60]
    assert overview[f"{accuracy}, reproduced"].tolist() == [table["reproduced"].iloc[1] for table in own]


def test_run_with_its_experiments_in_any_order_it_is_the_same_bytes(finished: Path, tmp_path: Path) -> None:
    names = [finished / f"{name}.yaml" for name in ("all", "b", "a")]
    assert fsvm_here("run", *names, "--jobs", "2", "--out", tmp_path).code == 0
    assert hashes(tmp_path / "all") == hashes(finished / "results" / "all")


def test_it_is_planned_checked_drawn_and_verified(call: Call, finished: Path) -> None:
    config, folder = finished / "all.yaml", finished / "results" / "all"
    plan = call("run", config, "--dry-run", "--out", finished / "results").out.splitlines()
    assert [line.split(":")[0] for line in plan] == ["b", "a", "all"]
    assert "4 already done, 0 to do" in plan[0]
    assert plan[2] == f"all: collects claims of 2 experiments; results in {folder}"
    assert call("check", config).out == f"{config}: correct\n"
    before = hashes(folder)
    assert call("plot", folder, "--format", "svg").out == f"{folder / 'overview.svg'}\n"
    assert hashes(folder) == before
    answer = call("verify", finished / "results")
    assert answer.code == 0, answer.err
    assert f"{folder}: every table and figure is what the results of its experiments lead to" in answer.out


def test_a_comparison_of_all_results_lists_each_claim_once(call: Call, finished: Path) -> None:
    lines = call("compare", finished / "results", "--format", "csv").out.splitlines()[1:]
    assert sorted(",".join(line.split(",")[:2]) for line in lines) == [
        f"{name},doc.{claim}" for name in ("a", "b") for claim in ("t1.best", "t5.best", "t5.size")
    ]


def test_results_that_no_longer_fit_together_are_told(call: Call, tmp_path: Path) -> None:
    config, results = write_configs(tmp_path), tmp_path / "results"
    assert call("run", config, "--jobs", "1").code == 0
    write_config(tmp_path, "a", protocol="{splits: 5, train: 1/2, seed: 1}", expected=CLAIMS)
    assert call("run", tmp_path / "a.yaml", "--jobs", "1").code == 0
    answer = call("verify", results / "all")
    assert answer.code == 3
    assert f"{results / 'all'}: published.csv is not what the stored results lead to" in answer.err
    (results / "b" / "published.csv").unlink()
    answer = call("verify", results / "all")
    assert answer.code == 3
    assert f"{results / 'b'}: no published.csv here for all to collect; 'fsvm run' makes it" in answer.err


def test_an_experiment_without_results_leaves_nothing_to_collect(call: Call, tmp_path: Path) -> None:
    config = write_configs(tmp_path)
    write_config(tmp_path, "b", dataset="{file: missing.csv, target: y}", expected=CLAIMS)
    answer = call("run", config, "--jobs", "1")
    assert answer.code == 3
    assert "missing.csv" in answer.err
    assert "all: not collected, for lack of the results of b" in answer.err
    assert (tmp_path / "results" / "a" / "published.csv").exists()
    assert not (tmp_path / "results" / "all").exists()
