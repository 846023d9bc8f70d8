"""Experiments whose test rows come after their training rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

from fsvm_cli.errors import UsageError
from fsvm_cli.experiment.chance import permuted_experiment
from fsvm_cli.experiment.experiment import Trial
from fsvm_cli.experiment.trial import draw_parts

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from fsvm_cli.experiment.experiment import Experiment

    Planned = Callable[..., Experiment]


def visits(folder: Path, n_rows: int = 90) -> dict[str, Any]:
    """Write a table of which the first column tells the class, from day to day, and give the keys of its experiment."""
    rng = np.random.default_rng(0)
    y = rng.permutation(np.arange(n_rows) % 2)
    frame = pd.DataFrame(rng.normal(size=(n_rows, 3)), columns=["a", "b", "c"])
    frame["a"] += 2.5 * y
    frame["day"] = pd.date_range("2024-01-01", periods=n_rows)[rng.permutation(n_rows)].strftime("%Y-%m-%d")
    frame.assign(y=np.array(["ill", "well"])[y]).to_csv(folder / "visits.csv", index=False)
    return {
        "dataset": {"file": "visits.csv", "target": "y", "order_by": "day"},
        "protocol": {"splits": 4, "train": "before", "seed": 1},
        "rankings": [{"method": "fisher"}, {"method": "random"}],
        "subsets": [1, 2],
    }


def test_every_test_row_is_later_than_every_training_row(planned: Planned, tmp_path: Path) -> None:
    experiment = planned(**visits(tmp_path))
    days = pd.read_csv(tmp_path / "visits.csv")["day"].to_numpy()
    splits = experiment.source.given_splits
    assert len(splits) == experiment.n_trials() == 4
    for number, (train, test) in enumerate(splits):
        assert days[train].max() < days[test].min()
        parts = draw_parts(experiment, Trial(*experiment.n_test, number))
        assert (len(parts.y_train), len(parts.y_test)) == (len(train), len(test)) == (18 * (number + 1), 18)
    assert experiment.ends_in_recommendation


def test_keys_tell_origins_apart_and_the_test_for_chance_shares_them(planned: Planned, tmp_path: Path) -> None:
    keys = visits(tmp_path)
    experiment, fewer = planned(**keys), planned(**keys | {"protocol": keys["protocol"] | {"splits": 2}})
    assert not set(experiment.groups) & set(fewer.groups)
    first = permuted_experiment(experiment, 0)
    trial = next(first.trials())
    assert first.key(0, trial) == experiment.key(0, trial)
    assert permuted_experiment(experiment, 1).key(0, trial) != experiment.key(0, trial)


@pytest.mark.parametrize(
    ("dataset", "protocol", "message"),
    [
        ({"order_by": None, "drop": ["day"]}, {}, r"no column orders the rows of visits.csv; name one"),
        ({}, {"splits": 90}, r"90 splits in order need 91 rows, and there are 90; write fewer"),
        ({}, {"splits": 60}, r"origin 1 of 60: the training rows .*; write fewer splits"),
        ({}, {"test": 5}, r"'before' says which rows are tested: write it alone"),
    ],
)
def test_what_cannot_be_divided_so_is_refused(
    planned: Planned, tmp_path: Path, dataset: dict[str, Any], protocol: dict[str, Any], message: str
) -> None:
    keys = visits(tmp_path)
    if protocol.get("splits") == 60:
        table = pd.read_csv(tmp_path / "visits.csv").sort_values("day")
        table.iloc[:40, -1] = "ill"
        table.to_csv(tmp_path / "visits.csv", index=False)
    spec = {key: value for key, value in (keys["dataset"] | dataset).items() if value is not None}
    with pytest.raises(UsageError, match=message):
        planned(**keys | {"dataset": spec, "protocol": keys["protocol"] | protocol})
