"""Rankings over several experiments: which are compared, the tests, and the diagram."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import wilcoxon

from fsvm_cli.report.folder import results_folders
from fsvm_cli.report.ranks import (
    MIN_DATA_SETS,
    areas_of,
    compare_over_experiments,
    critical_difference_diagram,
    groups_alike,
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
    assert groups_alike(ranks, 1.45) == [(0, 1), (1, 2), (2, 3)]
    assert groups_alike(ranks, 10.0) == [(0, 4)]
    assert groups_alike(ranks, 0.05) == []
    for first, last in groups_alike(ranks, 1.5):
        assert ranks[last] - ranks[first] <= 1.5


def test_the_diagram_is_the_same_each_time_and_names_every_ranking() -> None:
    rng = np.random.default_rng(0)
    columns = [f"method {number}" for number in range(5)]
    comparison = compare_over_experiments(pd.DataFrame(rng.normal(size=(6, 5)), columns=columns))
    assert comparison is not None
    drawing = critical_difference_diagram(comparison)
    assert drawing == critical_difference_diagram(comparison)
    assert all(f"<!-- {name}" in drawing.decode() or f"{name} -->" in drawing.decode() for name in columns)


def test_variants_leaks_and_worst_first_do_not_count(tmp_path: Path) -> None:
    areas = areas_of(results_folders(RESULTS))
    assert "infoprop-led24" in areas.index
    assert "infoprop-led24-literal" not in areas.index
    assert not [name for name in areas.columns if "leak" in name or "worst" in name or "least" in name]
    assert "wine" not in areas.index, "the data count once, with the first of their experiments"
    curves = pd.read_csv(RESULTS / "beyond-wine" / "curves.csv")
    curve = curves[(curves["ranking"] == "gradient-angle") & (curves["part"] == "test")]
    area = np.trapezoid(curve["mean"], curve["n_features"]) / np.ptp(curve["n_features"])
    assert areas.loc["beyond-wine", "gradient-angle"] == pytest.approx(area)
    figure = tmp_path / "ranks.svg"
    refused = fsvm_here("stats", RESULTS / "wine", "--figure", tmp_path / "ranks.txt")
    assert refused.code in {2, 3}
    assert not figure.exists()
