"""What trials call is compiled before them; another process that compiles is waited for, but not for ever."""

from __future__ import annotations

from typing import TYPE_CHECKING

import filelock
import pytest

from fsvm_cli.runner import warm_up

if TYPE_CHECKING:
    from collections.abc import Callable

    from fsvm_cli.experiment.experiment import Experiment


@pytest.mark.usefixtures("compiled_folder")
def test_a_process_that_keeps_the_lock_holds_nobody_up(
    planned: Callable[..., Experiment], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(warm_up, "LOCK_TIMEOUT_SECONDS", 0.01)
    experiment = planned()
    with filelock.FileLock(warm_up._lock_path(), thread_local=False):
        warm_up.warm_up([experiment])
    assert warm_up._mark(experiment).exists()


@pytest.mark.usefixtures("compiled_folder")
def test_experiments_that_differ_in_numbers_alone_are_compiled_for_once(planned: Callable[..., Experiment]) -> None:
    alike = [
        planned(classifier={"kernel": "gaussian", "theta": 1.0, "C": 1, "tune": {"C": C, "folds": 3}})
        for C in ([1.0, 10.0], [1e-3, 2.0, 1e300])
    ]
    assert warm_up._mark(alike[0]) == warm_up._mark(alike[1])
    assert warm_up._mark(planned(classifier={"kernel": "laplace", "theta": 1.0, "C": 1})) != warm_up._mark(planned())
