"""`fsvm stats`: rankings compared with each other."""

from __future__ import annotations

import io
import json
import shutil
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest

from fsvm_cli.evaluation.statistics import difference_interval, holm, p_value, practical_equivalence, standard_error
from fsvm_cli.experiment.plan import plan
from fsvm_cli.report.complete_trials import collect
from fsvm_cli.report.guidance import areas_table
from fsvm_cli.report.ranking_statistics import MARGIN, WHOLE_CURVE, area_under_curve, smallest_near_best
from fsvm_cli.runner.verify import stored_config
from fsvm_cli.store.store import Store
from tests.helpers.calling import fsvm_here, write_config

if TYPE_CHECKING:
    from pathlib import Path

RANKINGS = "[{method: average-separation}, {method: fisher}, {method: random}]"


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory, plain_figures: None) -> Path:
    folder = tmp_path_factory.mktemp("compared")
    configs = [
        write_config(folder, name, rankings=RANKINGS, protocol=f"{{splits: 4, train: 1/2, seed: {seed}}}")
        for seed, name in enumerate(("one", "two"))
    ]
    answer = fsvm_here("run", *configs, "--jobs", "1", "--out", folder / "results")
    assert answer.code == 0, answer.err
    return folder / "results"


def test_several_folders_are_as_the_folder_that_holds_them(results: Path) -> None:
    apart = fsvm_here("stats", results / "one", results / "two")
    assert apart.code == 0, apart.err
    assert apart.out == fsvm_here("stats", results).out


def test_folders_of_one_name_are_several_and_runs_with_overrides_are_named(results: Path, tmp_path: Path) -> None:
    for place, source in (("d1", "one"), ("d2", "two")):
        shutil.copytree(results / source, tmp_path / place / "results" / "data")
    run = tmp_path / "d2" / "results" / "data" / "run.json"
    content = json.loads(run.read_text())
    run.write_text(json.dumps(content | {"overrides": {"protocol.splits": 4}}))
    answer = fsvm_here("stats", tmp_path / "d1" / "results", tmp_path / "d2" / "results", "--format", "csv")
    assert answer.code == 0, answer.err
    assert set(pd.read_csv(io.StringIO(answer.out))["experiment"]) == {"d1/results/data", "d2/results/data"}
    assert "run with --splits, --rows or --set, and not counted over data sets: d2/results/data" in answer.err
    assert "no stored trials" not in answer.err


def test_each_pair_is_tested_at_each_size_and_over_the_whole_curve(results: Path) -> None:
    answer = fsvm_here("stats", results / "one", "--format", "csv")
    assert answer.code == 0, answer.err
    pairs = pd.read_csv(io.StringIO(answer.out))
    assert len(pairs) == 3 * 4
    with Store(results / "one", writable=False) as store:
        experiment = plan(stored_config(results / "one"), print)
        collected = collect(experiment, store)
    (n_test,) = experiment.n_test.values()
    sizes = np.array([1, 5, 20])
    curves = {label: trials.values["accuracy", "test"] for (label, _), trials in collected.items()}
    for size, rows in pairs.groupby("n_features"):
        found = []
        for row in rows.itertuples(index=False):
            first, second = (
                area_under_curve(curves[label], sizes) if size == WHOLE_CURVE else curves[label][:, sizes == size][:, 0]
                for label in (row.first, row.second)
            )
            interval = difference_interval(first - second, 0.0, 1 / n_test)  # each trial draws new data
            assert row.difference == pytest.approx(interval.mean, abs=1e-9)
            chances = practical_equivalence(first - second, 0.0, MARGIN, 1 / n_test)
            assert [row.first_worse, row.equivalent, row.first_better] == pytest.approx([*chances], abs=1e-6)
            found.append(p_value(interval))
        np.testing.assert_allclose(rows["p_holm"], holm(np.array(found)), rtol=1e-6)


def test_areas_are_means_over_the_features() -> None:
    values = np.array([[0.5, 0.7, 0.9], [1.0, 1.0, 1.0]])
    np.testing.assert_allclose(area_under_curve(values, np.array([1, 2, 4])), [(0.6 + 2 * 0.8) / 3, 1.0])
    np.testing.assert_array_equal(area_under_curve(values[:, :1], np.array([3])), [0.5, 1.0])


def test_no_interval_leaves_the_range_of_figures_of_merit() -> None:
    area = {"ranking": "a", "train_size": 40, "area": 0.915, "area_ci_low": 0.8236, "area_ci_high": 1.0064}
    rest = {"best_n_features": 5, "smallest_n_features": 3, "smallest_mean": 0.9625, "n_trials": 4}
    (row,) = areas_table(pd.DataFrame([area | rest | {"metric": "accuracy"}])).rows
    assert row[2] == "91.50 [82.36, 100.00]"
    (row,) = areas_table(pd.DataFrame([area | rest | {"metric": "log-loss"}])).rows
    assert row[2] == "0.92 [0.82, 1.01]"


def test_people_get_tables_and_the_ranks_over_experiments(results: Path) -> None:
    answer = fsvm_here("stats", results)
    assert answer.code == 0, answer.err
    for words in (
        "one\nEach ranking",
        "two\nEach ranking",
        "Pairs by area under the curve",
        "no two rankings stand in",
    ):
        assert words in answer.out
    at = fsvm_here("stats", results / "one", "--at", 5)
    assert "Pairs by 5 features" in at.out


def test_without_its_trials_an_experiment_is_read_from_its_tables(results: Path, tmp_path: Path) -> None:
    with_store = fsvm_here("stats", results / "one")
    shutil.copytree(results / "one", tmp_path / "one", ignore=shutil.ignore_patterns("trials.*"))
    assert fsvm_here("stats", tmp_path / "one").out == with_store.out
    at_a_size = fsvm_here("stats", tmp_path / "one", "--at", 5)
    assert at_a_size.code == 3


def test_programs_get_summaries_pairs_and_no_ranks_of_two_experiments(results: Path) -> None:
    found = json.loads(fsvm_here("stats", results, "--format", "json").out)
    assert list(found["experiments"]) == ["one", "two"]
    assert found["over_experiments"] == {}
    one = found["experiments"]["one"]
    assert [each["ranking"] for each in one["rankings"]] == ["average-separation", "fisher", "random"]
    assert len(one["pairs"]) == 3 * 4


def test_trials_without_a_machine_are_left_out(tmp_path: Path, plain_figures: None) -> None:
    config = write_config(
        tmp_path,
        "lots",
        dataset="{name: plane, samples: 60}",
        control="permute-labels",
        protocol="{splits: 6, train: 0.08, seed: 0}",
        classifier="{kernels: [{kernel: gaussian, theta: 0.1}], margin: hard}",
        alternatives="[{label: straight, classifier: {kernels: [{kernel: linear}], margin: hard}}]",
        rankings="[]",
        subsets="all",
    )
    assert fsvm_here("run", config, "--jobs", "1", "--out", tmp_path / "results").code == 0
    folder = tmp_path / "results" / "lots"
    curves = pd.read_csv(folder / "curves.csv").query("part == 'test'").set_index("ranking")
    n_straight = curves.loc["straight", "n_trials"]
    assert 2 <= n_straight < 6, "some trials have a machine, others none"
    (pair,) = pd.read_csv(folder / "pairs.csv").to_dict("records")
    assert pair["n_trials"] == n_straight
    assert np.isfinite([pair["difference"], pair["ci_low"], pair["p_holm"], pair["equivalent"]]).all()
    areas = pd.read_csv(folder / "areas.csv").set_index("ranking")
    assert areas.loc["straight", "area"] == pytest.approx(curves.loc["straight", "mean"])
    assert areas["n_trials"].to_dict() == {"all features": 6, "straight": n_straight}
    answer = fsvm_here("stats", folder)
    assert answer.code == 0, answer.err
    assert "nan" not in answer.out


def test_what_cannot_be_compared_is_said(results: Path, tmp_path: Path) -> None:
    for arguments, code, words in (
        ((tmp_path,), 3, "no stored trials here"),
        ((results / "one", "--at", 7), 2, "keeps no such number of features"),
    ):
        answer = fsvm_here("stats", *arguments)
        assert answer.code == code
        assert words in answer.err


def test_sizes_are_near_the_best_by_the_error_of_the_difference() -> None:
    rng = np.random.default_rng(5)
    # What is hard about the test rows is common to all sizes, and no reason to call them alike.
    common = 0.1 * rng.normal(size=(50, 1))
    behind = np.array([0.05, 0.004, 0.0])
    values = 0.8 + common - behind + 0.01 * rng.normal(size=(50, 3))
    assert smallest_near_best(values, 0.5) == (1, 2)
    assert smallest_near_best(0.8 + 0 * common - behind, 0.5) == (2, 2)
    assert smallest_near_best(np.full((2, 3), 0.7), 0.5) == (0, 0)


def test_the_corrected_error_of_many_splits_is_that_of_so_many_rows(rng: np.random.Generator) -> None:
    # A fixed classifier: splits differ by their test rows alone.
    correct = (rng.random(90) < 0.7).astype(float)
    accuracies = np.array([rng.permutation(correct)[:30].mean() for _ in range(20_000)])
    assert standard_error(accuracies, 30 / 60) == pytest.approx(correct.std(ddof=1) / np.sqrt(90), rel=0.03)
