"""A config with a given split on a file of one's own: what is recommended has not seen its test rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

from fsvm_cli.experiment.chance import permuted_experiment
from fsvm_cli.experiment.selection import selection_experiment
from fsvm_cli.report.complete_trials import collect
from fsvm_cli.report.recommendation import recommendation, with_held_out_rows
from fsvm_cli.report.recommendation_in_words import describe_recommendation
from fsvm_cli.store.store import Store
from tests.helpers.small import run_job

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from fsvm_cli.experiment.experiment import Experiment

    Planned = Callable[..., Experiment]


def write_parts(folder: Path, test_labels: list[str]) -> dict[str, Any]:
    """Write training and test rows, of which the first column tells the class, and give the keys of the experiment."""
    rng = np.random.default_rng(0)
    for name, labels in (("train.csv", ["ill", "well"] * 24), ("test.csv", test_labels)):
        frame = pd.DataFrame(rng.normal(size=(len(labels), 4)), columns=list("abcd")).assign(y=labels)
        frame["a"] += 3 * (frame["y"] == "ill")
        frame.to_csv(folder / name, index=False)
    return {
        "dataset": {"file": "train.csv", "target": "y", "split": {"test_file": "test.csv"}},
        "protocol": {"splits": 1, "train": "given", "seed": 1},
        "rankings": [{"method": "fisher"}, {"method": "random"}],
        "subsets": [1, 2],
        "recommendation": {"permutations": 0, "splits": 4},
    }


def test_the_splits_divide_the_training_rows_alone(planned: Planned, tmp_path: Path) -> None:
    keys = write_parts(tmp_path, ["ill", "well"] * 10)
    experiment = planned(**keys)
    within = selection_experiment(experiment)
    assert within is not None
    assert not experiment.ends_in_recommendation
    assert within.ends_in_recommendation
    assert (within.n_test, within.n_trials()) == ({32: 16}, 4)
    for train, test in within.source.given_splits:
        assert sorted([*train, *test]) == list(range(48))
    assert not set(within.groups) & set(experiment.groups)
    permuted = permuted_experiment(within, 1).source.draw(np.random.default_rng(0))
    labels = experiment.source.draw(np.random.default_rng(0)).y
    np.testing.assert_array_equal(permuted.y[48:], labels[48:])
    assert (permuted.y[:48] != labels[:48]).any()
    np.testing.assert_array_equal(np.sort(permuted.y[:48]), np.sort(labels[:48]))
    assert selection_experiment(within) is None
    assert selection_experiment(planned(**keys | {"protocol": {"splits": 3, "train": "2/3", "seed": 1}})) is None


def test_test_rows_decide_nothing_and_tell_how_it_does(planned: Planned, tmp_path: Path) -> None:
    found = {}
    for name, labels in (("as they are", ["ill", "well"] * 10), ("all of one", ["well"] * 20)):
        folder = tmp_path / name
        folder.mkdir()
        experiment = planned(**write_parts(tmp_path, labels))
        run_job(experiment, folder)
        within = selection_experiment(experiment)
        assert within is not None
        with Store(folder, writable=False) as store:
            collected, inner = collect(experiment, store), collect(within, store)
        table = with_held_out_rows(recommendation(within, inner, None), experiment, collected)
        found[name] = table.set_index("ranking")
        row = table[table["recommended"]].iloc[0]
        trials = collected[row["ranking"], 48]
        expected = trials.values["accuracy", "test"][0, trials.sizes.index(row["n_features"])]
        assert row["held_out"] == expected
        assert row["held_out_ci_low"] <= expected <= row["held_out_ci_high"]
        said = " ".join(describe_recommendation(table, experiment.config, tmp_path, folder))
        assert "That is of 4 random splits of the training rows, which alone decided." in said
        assert f"On the 20 test rows that the config gives: accuracy {100 * expected:.1f} [" in said
        assert "The model, fitted on the training rows: fsvm export" in said
    one, other = found.values()
    # Warnings about columns are of the reader, which looks at all rows.
    decided = [column for column in one if not column.startswith("held_out") and column != "suspects"]
    pd.testing.assert_frame_equal(one[decided], other[decided])
    assert (one["n_trials"] == 4).all()


@pytest.mark.parametrize("split", [{"column": "part"}])
def test_a_column_that_divides_the_rows_does_as_well(planned: Planned, tmp_path: Path, split: dict[str, str]) -> None:
    keys = write_parts(tmp_path, ["ill", "well"] * 10)
    parts = [pd.read_csv(tmp_path / f"{part}.csv").assign(part=part) for part in ("test", "train")]
    pd.concat(parts).to_csv(tmp_path / "both.csv", index=False)
    within = selection_experiment(planned(**keys | {"dataset": {"file": "both.csv", "target": "y", "split": split}}))
    assert within is not None
    assert within.rows.tolist() == list(range(20, 68))
