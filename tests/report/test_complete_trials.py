"""What the tables are made of, read from the store block by block."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING

import numpy as np

from fsvm_cli.report import complete_trials
from fsvm_cli.report.complete_trials import CompleteTrials, collect
from fsvm_cli.store.store import Store
from tests.helpers.small import run_job

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import pytest

    from fsvm_cli.experiment.experiment import Experiment


def test_the_size_of_the_blocks_makes_no_difference(
    planned: Callable[..., Experiment], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tune = [{"C": [0.1, 1, 10], "folds": 2}]
    experiment = planned(classifier={"kernel": "linear", "C": 1, "tolerance": 0.01, "tune": tune})
    run_job(experiment, tmp_path)
    with Store(tmp_path, writable=False) as store:
        at_once = collect(experiment, store)
        monkeypatch.setattr(complete_trials, "OUTCOMES_AT_ONCE", 2)
        in_blocks = collect(experiment, store)
    assert at_once.keys() == in_blocks.keys()
    for which, expected in at_once.items():
        for field in fields(CompleteTrials):
            one, other = getattr(expected, field.name), getattr(in_blocks[which], field.name)
            np.testing.assert_equal(other, one, err_msg=field.name)
        assert len(expected.chosen) == len(expected.facts["major-class"]) == 3
