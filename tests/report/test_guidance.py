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
from fsvm_cli.report.ranks import RankComparison, comparisons_of
from tests.helpers.calling import fsvm_here
from tests.helpers.made_results import made, written

RESULTS = Path(__file__).parents[2] / "results"
BEYOND = [folder for folder in results_folders(RESULTS) if folder.name.startswith("beyond-")]


@pytest.fixture(scope="module")
def comparison() -> RankComparison:
    return comparisons_of(BEYOND)["gaussian"]


@pytest.fixture(scope="module")
def found(comparison: RankComparison) -> MethodGuide:
    return guide(comparison, BEYOND)


def test_losses_at_a_tenth_of_the_features_are_those_of_the_tables(found: MethodGuide) -> None:
    losses = []
    for name in found.data_sets.index:
        curves = pd.read_csv(RESULTS / name / "curves.csv")
        test = curves[(curves["metric"] == "accuracy") & (curves["part"] == "test")]
        d = test["n_features"].max()
        nearest = min(test["n_features"].unique(), key=lambda size: abs(size - d / 10))
        at = test[test["n_features"] == nearest].set_index("ranking")["mean"]
        losses.append(at.reindex(found.methods["ranking"]).max() - at["rfe"])
    methods = found.methods.set_index("ranking")
    assert methods.loc["rfe", "loss_at_10"] == pytest.approx(np.mean(losses))
    assert methods["mean_rank"].is_monotonic_increasing
    assert methods["stability"].drop("random").min() > methods.loc["random", "stability"]


def test_stats_say_which_method_to_use(found: MethodGuide, tmp_path: Path) -> None:
    answer = fsvm_here("stats", *BEYOND, "--heat-map", tmp_path / "map.svg")
    assert answer.code == 0, answer.err
    assert found.in_words() in answer.out
    assert list(tmp_path.glob("map*.svg"))


def test_programs_get_what_people_read(comparison: RankComparison, found: MethodGuide) -> None:
    over = json.loads(json.dumps(ranks_for_machines(comparison, found), allow_nan=False))
    assert over["mean_ranks"] == pytest.approx({row["ranking"]: row["mean_rank"] for row in over["methods"]})
    assert [row["experiment"] for row in over["data_sets"]] == over["experiments"]
    assert over["guidance"] == found.in_words()
    assert [each["held"] for each in over["rules"]] == [each.held for each in found.rules]


def guide_of(folder: Path, values: pd.DataFrame) -> MethodGuide:
    folders = written(folder, values)
    (comparison,) = comparisons_of(folders).values()
    return guide(comparison, folders)


def test_a_method_that_is_better_is_named_with_what_it_lost_and_what_is_as_good(tmp_path: Path) -> None:
    values = made({"rfe": 0.06, "relief-f": 0.06, "random": -0.1}, spread=0.004)
    found = guide_of(tmp_path, values)
    words = found.in_words()
    assert found.rules[0].held
    named = found.candidates[found.rules[0].rule.below]
    assert named in {"rfe", "relief-f"}
    tested = values.loc[found.data_sets.index[~found.data_sets["is_first"]], list(found.candidates)]
    losses = 100 * (tested.max(axis=1) - tested[named])
    at_random = 100 * (tested.max(axis=1) - tested.mean(axis=1))
    assert f"{named} held: it lost {losses.mean():.2f} points of area to the best method there" in words
    assert f"where one drawn at random loses {at_random.mean():.2f}" in words
    assert "random" not in found.candidates, "nobody would choose a random order"
    (other,) = {"rfe", "relief-f"} - {named}
    assert found.alike == (other,)
    assert f"The same in practice, within 1 point with a probability of 0.95 or more: {other}; " in words
    assert "the most stable relief-f (0.70)" in words


def test_among_equal_methods_the_data_do_not_tell(tmp_path: Path) -> None:
    found = guide_of(tmp_path, made({"random": -0.1}))
    words = found.in_words()
    assert words.startswith("These data do not tell which method to use: ")
    assert f"the single method proposed, {found.candidates[found.rules[0].rule.below]}, lost " in words


def test_recovery_is_that_of_experiments_with_drawn_data_on_the_same_machine(tmp_path: Path) -> None:
    folders = written(tmp_path / "real", made({}))
    drawn = [
        *written(tmp_path / "one", made({}).iloc[:1].rename(index={"set 0": "drawn 0"}), recovered=0.25),
        *written(tmp_path / "two", made({}).iloc[:1].rename(index={"set 0": "drawn 1"}), recovered=0.75),
    ]
    (comparison,) = comparisons_of([*folders, *drawn]).values()
    assert list(comparison.areas.index) == sorted(made({}).index)
    found = guide(comparison, [*folders, *drawn])
    assert found.methods["recovered"].tolist() == [0.5] * 6
    assert "recovered" in found.methods_table().columns
    assert "recovered" not in guide(comparison, folders).methods


def test_seconds_are_those_of_every_data_set_or_not_told(comparison: RankComparison, tmp_path: Path) -> None:
    names = list(comparison.areas.index)
    folders = [Path(shutil.copytree(RESULTS / name, tmp_path / name)) for name in names]
    assert "seconds" not in guide(comparison, folders).methods
    rankings = comparison.areas.columns
    times = pd.DataFrame([(name, each, i + 1) for i, name in enumerate(names) for each in rankings])
    times.columns = ["experiment", "ranking", "seconds"]
    times.to_csv(tmp_path / "method-times.csv", index=False)
    told = guide(comparison, folders)
    assert told.methods["seconds"].tolist() == [(len(names) + 1) / 2] * len(rankings)
    assert told.methods_table().columns[-1] == "seconds"
    assert {row[-1] for row in told.methods_table().rows} == {f"{(len(names) + 1) / 2:.2g}"}
    times[1:].to_csv(tmp_path / "method-times.csv", index=False)
    assert "seconds" not in guide(comparison, folders).methods
