"""Rankings over several experiments: which are compared, the tests, and the diagram."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import wilcoxon

from fsvm_cli.experiment.provenance import read_run
from fsvm_cli.report.folder import results_folders
from fsvm_cli.report.ranks import (
    MIN_DATA_SETS,
    ON_ALL,
    areas_of,
    compare_over_experiments,
    comparisons_of,
    critical_difference_diagram,
    groups_alike,
    loss_heat_map,
    machine_of,
    place_in_words,
)
from tests.helpers.calling import fsvm_here

RESULTS = Path(__file__).parents[2] / "results"
NONE = np.nan


def test_rankings_that_share_most_experiments_are_compared() -> None:
    areas = pd.DataFrame(
        {
            "a": [0.9, 0.8, 0.7, 0.9, 0.6, 0.5],
            "b": [0.8, 0.7, 0.8, 0.5, 0.4, 0.3],
            "c": [0.7, 0.6, 0.5, 0.4, NONE, NONE],
            "d": [NONE, NONE, NONE, NONE, 0.4, 0.1],
        },
        index=list("uvwxyz"),
    )
    found = compare_over_experiments(areas)
    assert found is not None
    assert list(found.areas.columns) == ["a", "b", "c"]
    assert list(found.areas.index) == list("uvwx")
    np.testing.assert_allclose(found.found.ranks, [5 / 4, 7 / 4, 3])
    first = found.pairs.iloc[0]
    assert (first["first"], first["second"], first["wins"]) == ("a", "b", 3)
    assert first["p"] == wilcoxon([0.1, 0.1, -0.1, 0.4]).pvalue
    assert compare_over_experiments(areas[["a", "d"]]) is None
    assert compare_over_experiments(areas.iloc[: MIN_DATA_SETS - 1]) is None


def test_bars_join_the_longest_runs_of_ranks_that_do_not_differ() -> None:
    ranks = np.array([1.0, 1.5, 2.9, 3.0, 5.0])
    apart = np.abs(ranks[:, None] - ranks)
    assert groups_alike(apart > 1.45) == [(0, 1), (1, 2), (2, 3)]
    assert groups_alike(apart > 10.0) == [(0, 4)]
    assert groups_alike(apart > 0.05) == []
    differ = np.zeros((4, 4), dtype=bool)
    differ[0, 2] = differ[2, 0] = True  # as tests of pairs may, though the last is further away
    assert groups_alike(differ) == [(0, 1), (1, 3)]


def test_the_diagram_is_the_same_each_time_and_names_every_ranking() -> None:
    rng = np.random.default_rng(0)
    columns = [f"method {number}" for number in range(5)]
    comparison = compare_over_experiments(pd.DataFrame(rng.normal(size=(6, 5)), columns=columns))
    assert comparison is not None
    for draw in (critical_difference_diagram, loss_heat_map):
        drawing = draw(comparison)
        assert drawing == draw(comparison)
        assert all(f"<!-- {name}" in drawing.decode() or f"{name} -->" in drawing.decode() for name in columns)


def test_the_heat_map_shows_every_loss_and_names_without_what_all_share() -> None:
    rng = np.random.default_rng(2)
    areas = pd.DataFrame(rng.uniform(0.6, 0.9, size=(5, 3)), index=[f"beyond-linear-{name}" for name in "stuvw"])
    comparison = compare_over_experiments(areas.rename(columns=str))
    assert comparison is not None
    texts = re.findall(r"<!-- (.*?) -->", loss_heat_map(comparison).decode())
    losses = 100 * (areas.max(axis=1).to_numpy()[:, None] - areas.to_numpy())
    shown = [text for text in texts if re.fullmatch(r"[\d.]+", text)]
    expected = [f"{loss:.1f}" if loss < 9.95 else f"{loss:.0f}" for loss in losses.ravel()]
    assert sorted(shown) == sorted([*expected, "0", "1", "2"])
    assert set("stuvw") <= set(texts)


def test_what_is_said_of_pairs_is_what_the_tests_found() -> None:
    rng = np.random.default_rng(4)
    level = rng.normal(0.8, 0.05, size=(18, 1))
    shifts = np.array([0.05, 0.0, 0.0, -0.05])
    areas = pd.DataFrame(level + shifts + 0.004 * rng.normal(size=(18, 4)), columns=["a", "b", "random", "d"])
    comparison = compare_over_experiments(areas)
    assert comparison is not None
    words = comparison.in_words()
    assert "5 of 6 pairs differ at the level .05 (Wilcoxon, Holm)" in words
    assert "5 of 6 pairs differ by more than 1 point of area and 1 by less; of the other 0 these data" in words
    assert "(without random orders < 0.0001)" in words
    few = compare_over_experiments(areas.iloc[:6])
    assert few is not None
    assert "(Nemenyi)" in few.in_words()
    alike = compare_over_experiments(pd.DataFrame(level + 0.01 * rng.normal(size=(18, 3)), columns=list("abc")))
    assert alike is not None
    assert "these data do not tell the rankings apart" in alike.in_words()
    assert not alike.pairs["differ"].any()


def test_the_place_of_one_ranking_is_told_beside_those_of_which_the_data_do_not_tell() -> None:
    rng = np.random.default_rng(6)
    level = rng.normal(0.8, 0.05, size=(18, 1))
    steady = level + np.array([0.05, 0.0, 0.0, -0.05]) + 0.003 * rng.normal(size=(18, 4))
    unsteady = level + 0.01 + 0.06 * rng.normal(size=(18, 1))
    columns = ["above", "mine", "alike", "below", "unsteady"]
    comparison = compare_over_experiments(pd.DataFrame(np.hstack([steady, unsteady]), columns=columns))
    assert comparison is not None
    words = place_in_words(comparison, "mine")
    assert words.startswith(f"mean rank {comparison.found.ranks[1]:.2f}, place ")
    assert (
        "With probability 0.95 better by more than 1 point of area than below; worse by more than 1 point of area than "
        "above; within 1 point of alike; of 1 others these data do not tell." in words
    )
    turned = compare_over_experiments(comparison.areas[columns[::-1]])
    assert turned is not None
    assert place_in_words(turned, "mine") == words


def test_rankings_that_stand_in_all_data_sets_are_compared_alone_too(monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.random.default_rng(3).uniform(0.6, 0.9, size=(8, 6))
    values[4:, 3:] = np.nan
    areas = pd.DataFrame(values, index=[f"set {each}" for each in range(8)], columns=list("abcdef"))
    monkeypatch.setattr("fsvm_cli.report.ranks.areas_of", lambda folders: areas)
    folder = results_folders(RESULTS / "beyond-gaussian-wine")
    found = comparisons_of(folder)
    assert [(machine, each.areas.shape) for machine, each in found.items()] == [
        (f"gaussian{ON_ALL}", (8, 3)),
        ("gaussian", (4, 6)),
    ]
    areas["b"] = np.nan
    assert list(comparisons_of(folder)) == ["gaussian"]


def test_machines_are_compared_apart_and_drawn_data_are_left_to_recovery() -> None:
    found = comparisons_of(results_folders(RESULTS))
    assert "gaussian" in found
    for machine, comparison in found.items():
        for name in comparison.areas.index:
            folder = RESULTS / name
            assert machine_of(read_run(folder)[0]) == machine.removesuffix(ON_ALL)
            selected = pd.read_csv(folder / "selection.csv") if (folder / "selection.csv").exists() else None
            assert selected is None or selected["recovered"].isna().all()


def test_variants_leaks_and_worst_first_do_not_count(tmp_path: Path) -> None:
    folders = results_folders(RESULTS)
    areas = areas_of([each for each in folders if not each.name.startswith("beyond-") or each.name.endswith("-wine")])
    assert "infoprop-led24" in areas.index
    assert "infoprop-led24-literal" not in areas.index
    assert not [name for name in areas.columns if "leak" in name or "worst" in name or "least" in name]
    assert "wine" not in areas.index, "the data count once, with the first of their experiments"
    curves = pd.read_csv(RESULTS / "beyond-gaussian-wine" / "curves.csv")
    curve = curves[(curves["ranking"] == "gradient-angle") & (curves["part"] == "test")]
    area = np.trapezoid(curve["mean"], curve["n_features"]) / np.ptp(curve["n_features"])
    assert areas.loc["beyond-gaussian-wine", "gradient-angle"] == pytest.approx(area)
    figure = tmp_path / "ranks.svg"
    refused = fsvm_here("stats", RESULTS / "wine", "--figure", tmp_path / "ranks.txt")
    assert refused.code in {2, 3}
    assert not figure.exists()
