"""Which method to use, as read from committed results."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from fsvm_cli.commands.stats import ranks_for_machines
from fsvm_cli.report.folder import results_folders
from fsvm_cli.report.guidance import MethodGuide, guide
from fsvm_cli.report.ranks import RankComparison, areas_of, compare_over_experiments
from tests.helpers.calling import fsvm_here

RESULTS = Path(__file__).parents[2] / "results"
BEYOND = [folder for folder in results_folders(RESULTS) if folder.name.startswith("beyond-")]


@pytest.fixture(scope="module")
def comparison() -> RankComparison:
    compared = compare_over_experiments(areas_of(BEYOND))
    assert compared is not None
    return compared


@pytest.fixture(scope="module")
def found(comparison: RankComparison) -> MethodGuide:
    return guide(comparison, BEYOND)


def test_losses_at_a_tenth_of_the_features_are_those_of_the_tables(found: MethodGuide) -> None:
    losses = []
    for folder in BEYOND:
        curves = pd.read_csv(folder / "curves.csv")
        test = curves[(curves["metric"] == "accuracy") & (curves["part"] == "test")]
        d = test["n_features"].max()
        nearest = min(test["n_features"].unique(), key=lambda size: abs(size - d / 10))
        at = test[test["n_features"] == nearest].set_index("ranking")["mean"]
        losses.append(at.drop("all features", errors="ignore").max() - at["rfe"])
    methods = found.methods.set_index("ranking")
    assert methods.loc["rfe", "few_loss"] == pytest.approx(np.mean(losses))
    assert methods["mean_rank"].is_monotonic_increasing
    assert methods["stability"].drop("random").min() > methods.loc["random", "stability"]


def test_words_name_what_to_take_and_what_that_cost(found: MethodGuide) -> None:
    assert f"loses {100 * found.found.overall_losses.mean():.2f} points" in found.in_words()
    assert found.in_words().endswith(f"take {found.methods['ranking'][0]}.")


def test_stats_say_which_method_to_use(found: MethodGuide) -> None:
    answer = fsvm_here("stats", *BEYOND)
    assert answer.code == 0, answer.err
    assert found.in_words() in answer.out


def test_programs_get_what_people_read(comparison: RankComparison, found: MethodGuide) -> None:
    over = json.loads(json.dumps(ranks_for_machines(comparison, found), allow_nan=False))
    assert over["mean_ranks"] == {row["ranking"]: row["mean_rank"] for row in over["methods"]}
    assert [row["experiment"] for row in over["data_sets"]] == over["experiments"]
    losses = over["losses_on_unseen_data"]
    assert losses["best_mean_rank"] == found.found.overall_losses.tolist()
    assert len(losses["of_alike_data_sets"]) == len(losses["random"]) == len(BEYOND)


def test_seconds_are_those_of_every_data_set_or_not_told(comparison: RankComparison, tmp_path: Path) -> None:
    folders = [Path(shutil.copytree(folder, tmp_path / folder.name)) for folder in BEYOND]
    assert "seconds" not in guide(comparison, folders).methods
    rankings = comparison.areas.columns
    names = [folder.name for folder in BEYOND]
    times = pd.DataFrame([(name, each, i + 1) for i, name in enumerate(names) for each in rankings])
    times.columns = ["experiment", "ranking", "seconds"]
    times.to_csv(tmp_path / "method-times.csv", index=False)
    told = guide(comparison, folders)
    assert told.methods["seconds"].tolist() == [(len(names) + 1) / 2] * len(rankings)
    assert told.methods_table().columns[-1] == "seconds"
    assert {row[-1] for row in told.methods_table().rows} == {f"{(len(names) + 1) / 2:.2g}"}
    times[1:].to_csv(tmp_path / "method-times.csv", index=False)
    assert "seconds" not in guide(comparison, folders).methods
