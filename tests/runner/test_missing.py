"""What a store lacks, against a dictionary of what it has; and how little memory the plan takes."""

from __future__ import annotations

import tracemalloc
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from fsvm_cli.runner import missing
from fsvm_cli.runner.missing import Coverage, missing_tasks
from fsvm_cli.store.store import Store
from tests.helpers.small import run_job

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import pytest

    from fsvm_cli.experiment.experiment import Experiment

    Planned = Callable[..., Experiment]

KEYS = st.text("0123456789abcdef", min_size=1, max_size=32)
SIZES = st.frozensets(st.integers(1, 4))


@given(st.dictionaries(KEYS, SIZES), st.lists(KEYS))
def test_coverage_is_what_a_dictionary_says(stored: dict[str, frozenset[int]], others: list[str]) -> None:
    asked = [*others, *stored]
    found = Coverage(sorted(stored.items())).of(asked)
    assert found == [stored.get(key, frozenset()) for key in asked]


def test_trials_beyond_one_block_are_told_apart(
    planned: Planned, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(missing, "TRIALS_PER_BLOCK", 2)
    protocol = {"train": ["1/2", "1/3"], "seed": 7}
    run_job(planned(protocol=protocol | {"splits": 3}), tmp_path)
    with Store(tmp_path, writable=False) as store:
        tasks = missing_tasks(planned(protocol=protocol | {"splits": 5}), store, number=4)
    assert [(task.trial.n_train, task.trial.split) for task in tasks] == [(12, 3), (8, 3), (12, 4), (8, 4)]
    assert len(tasks) == 4
    assert {task.experiment for task in tasks} == {4}
    assert next(iter(tasks)).wanted == {0: (1, 5, 20), 1: (1, 5, 20)}


def test_the_plan_takes_a_few_bytes_per_trial(planned: Planned) -> None:
    n_trials = 20_000
    experiment = planned(protocol={"splits": n_trials, "train": "1/2", "seed": 7})
    tracemalloc.start()
    try:
        tasks = missing_tasks(experiment, None)
        assert sum(1 for _ in tasks) == n_trials
        assert tracemalloc.get_traced_memory()[0] < 10 * n_trials
    finally:
        tracemalloc.stop()
