"""What columns cost, and a recommendation that goes by it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

from fsvm_cli.errors import UsageError
from fsvm_cli.report.complete_trials import CompleteTrials
from fsvm_cli.report.recommendation import recommendation
from fsvm_cli.report.recommendation_in_words import describe_recommendation

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from fsvm_cli.experiment.experiment import Experiment

    Planned = Callable[..., Experiment]

N_SPLITS = 4
CHEAP, DEAR = [[4.0, 3.0, 2.0, 1.0]] * N_SPLITS, [[1.0, 2.0, 3.0, 4.0]] * N_SPLITS
"""Scores that rank the columns a, b, c, d in this order, and in the other."""


def experiment_on(planned: Planned, folder: Path, costs: Any) -> Experiment:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(60, 4)), columns=[*"abcd"]).assign(y=["ill", "well"] * 30)
    frame.to_csv(folder / "mine.csv", index=False)
    return planned(
        dataset={"file": "mine.csv", "target": "y"},
        protocol={"splits": N_SPLITS, "train": "2/3", "seed": 1},
        rankings=[{"method": "fisher"}, {"method": "pearson"}],
        subsets=[1, 2, 3],
        recommendation={"permutations": 0} | ({} if costs is None else {"costs": costs}),
    )


def trials(scores: list[list[float]], accuracy: list[float]) -> CompleteTrials:
    """Make the trials of a ranking whose accuracy on subsets of 1, 2, 3 and 4 columns is given."""
    values = np.array(accuracy) + np.array([-0.01, 0.0, 0.0, 0.01])[:, None]
    return CompleteTrials(
        splits=np.arange(N_SPLITS),
        sizes=(1, 2, 3, 4),
        values={("accuracy", "test"): values, ("accuracy", "train"): values},
        scores=np.array(scores),
        priorities=np.tile(np.arange(4), (N_SPLITS, 1)),
        converged=np.ones((N_SPLITS, 4), dtype=bool),
        facts={},
        intervals={},
        chosen=({},) * N_SPLITS,
        predictions=np.zeros((0, 0), dtype=np.intp),
        measures={},
        test_confusion=np.tile(np.array([[36, 4], [4, 36]]), (4, 1, 1)),
    )


def recommended(planned: Planned, folder: Path, costs: Any) -> tuple[pd.DataFrame, Experiment]:
    experiment = experiment_on(planned, folder, costs)
    ((n_train, _),) = experiment.n_test.items()
    collected = {
        ("fisher", n_train): trials(CHEAP, [0.7, 0.8, 0.9, 0.9]),
        ("pearson", n_train): trials(DEAR, [0.8, 0.9, 0.9, 0.9]),
    }
    return recommendation(experiment, collected, None), experiment


def test_without_costs_the_smallest_subset_is_recommended(planned: Planned, tmp_path: Path) -> None:
    table, _ = recommended(planned, tmp_path, None)
    (row,) = table[table["recommended"] == True].to_dict("records")  # noqa: E712 - the column holds NaN, too
    assert (row["ranking"], row["n_features"]) == ("pearson", 2)
    assert np.isnan(row["cost"])


def test_with_costs_the_cheapest_within_the_margin_is(planned: Planned, tmp_path: Path) -> None:
    table, experiment = recommended(planned, tmp_path, {"d": 400, "c": 2.5, "b": 1})
    (row,) = table[table["recommended"] == True].to_dict("records")  # noqa: E712
    assert (row["ranking"], row["n_features"], row["cost"]) == ("fisher", 3, 3.5)
    assert table.set_index("ranking").loc["pearson", "cost"] == 402.5
    said = [*describe_recommendation(table, experiment.config, tmp_path, tmp_path)]
    assert any(line.startswith("The columns cost 3.5, the mean over the splits") for line in said)
    even, _ = recommended(planned, tmp_path, {"a": 0})
    (row,) = even[even["recommended"] == True].to_dict("records")  # noqa: E712
    assert (row["ranking"], row["n_features"], row["cost"]) == ("pearson", 2, 0.0)


def test_the_cost_is_the_mean_over_splits(planned: Planned, tmp_path: Path) -> None:
    experiment = experiment_on(planned, tmp_path, {"a": 8})
    ((n_train, _),) = experiment.n_test.items()
    mixed = trials([*CHEAP[:3], *DEAR[:1]], [0.9, 0.9, 0.9, 0.9])
    table = recommendation(experiment, {("fisher", n_train): mixed}, None)
    assert table.set_index("ranking").loc["fisher", ["n_features", "cost"]].tolist() == [1, 6.0]


def test_costs_may_stand_in_a_file(planned: Planned, tmp_path: Path) -> None:
    (tmp_path / "costs.csv").write_text("column,cost\na,1\nd,400\n")
    assert experiment_on(planned, tmp_path, "costs.csv").config.recommendation.costs == {"a": 1.0, "d": 400.0}


@pytest.mark.parametrize(
    ("costs", "message"),
    [
        ({"aa": 1}, "has no feature 'aa'"),
        ({"a": -1}, "costs"),
        ("none.csv", r"none.csv: cannot be read"),
        ("bad.csv", r"bad.csv:3: is not a column with its cost; write the header 'column,cost'"),
        ("twice.csv", r"twice.csv:3: is not a column with its cost"),
        ("words.csv", r"words.csv:2: is not a column with its cost"),
    ],
)
def test_costs_that_cannot_be_are_refused(planned: Planned, tmp_path: Path, costs: Any, message: str) -> None:
    (tmp_path / "bad.csv").write_text("column,cost\na,1\nb,-2\n")
    (tmp_path / "twice.csv").write_text("column,cost\na,1\na,2\n")
    (tmp_path / "words.csv").write_text("name,price\na,1\n")
    with pytest.raises(UsageError, match=message):
        experiment_on(planned, tmp_path, costs)
