"""What an earlier code computed is adopted where trials that are drawn lead to the same numbers, and only there."""

from __future__ import annotations

import dataclasses
import json
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import numpy as np
import pytest

from fsvm_cli.experiment.outcome import stored_outcome
from fsvm_cli.experiment.provenance import adoptions
from fsvm_cli.runner.missing import missing_tasks
from fsvm_cli.runner.verify import adopt
from fsvm_cli.store.store import Store
from tests.helpers.calling import CHECKOUT
from tests.helpers.small import run_job, stored

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from fsvm_cli.experiment.experiment import Experiment

    Planned = Callable[..., Experiment]

EDITED = "fsvm_cli.evaluation.splits.random_split"
OF_RANDOM = "fsvm_cli.ranking.random_order.RandomOrder"


def n_missing(experiment: Experiment, folder: Path) -> int:
    with Store(folder, writable=False) as store:
        return len(missing_tasks(experiment, store))


@pytest.mark.parametrize("n_processes", [1, 2])
def test_what_repeats_is_adopted_without_being_run(
    planned: Planned, tmp_path: Path, edit_code: Callable[[str], None], n_processes: int
) -> None:
    before = planned()
    run_job(before, tmp_path)
    outcomes = stored(before, tmp_path)
    edit_code(EDITED)
    after = planned()
    assert n_missing(after, tmp_path) == 3
    with Store(tmp_path, writable=True) as store:
        found = adopt(after, store, n_repeated=2, seed=5, n_processes=n_processes)
        assert [(each.label, each.n_repeated, each.n_trials, each.differing) for each in found] == [
            ("average-separation", 2, 3, ()),
            ("random", 2, 3, ()),
        ]
        account = {"repeated": 2, "of": 3, "seed": 5}
        assert adoptions(after, store) == {"average-separation": account, "random": account}
        assert adoptions(before, store) == {}
        assert not adopt(after, store, n_repeated=2, seed=5)
    assert n_missing(after, tmp_path) == 0
    assert stored(after, tmp_path) == outcomes


@pytest.mark.parametrize("change", ["test", "scores", "measures"])
def test_what_differs_in_a_repeated_trial_is_left_as_it_is(
    planned: Planned, tmp_path: Path, edit_code: Callable[[str], None], change: str
) -> None:
    before = planned()
    run_job(before, tmp_path)
    with Store(tmp_path, writable=True) as store:
        for trial in before.trials():
            key = before.key(1, trial)
            outcome = stored_outcome(store, key)
            assert outcome is not None
            changes = {
                "test": outcome.test[:, ::-1],
                "scores": (np.nextafter(outcome.scores[0], 2.0), *outcome.scores[1:]),
                "measures": ({"other": 1.0},) * len(outcome.sizes),
            }
            store.put(key, dataclasses.replace(outcome, **{change: changes[change]}).packed())
    outcomes = stored(before, tmp_path)
    edit_code(EDITED)
    after = planned()
    with Store(tmp_path, writable=True) as store:
        of_first, of_second = adopt(after, store, n_repeated=2, seed=5)
        assert not of_first.differing
        assert len(of_second.differing) == 2
        assert list(adoptions(after, store)) == ["average-separation"]
    assert {where[0] for where in stored(after, tmp_path)} == {0}
    assert stored(before, tmp_path) == {where: outcome for where, outcome in outcomes.items() if where[0] == 1}


def test_what_the_code_still_leads_to_is_left_alone(
    planned: Planned, tmp_path: Path, edit_code: Callable[[str], None]
) -> None:
    run_job(planned(), tmp_path)
    edit_code(OF_RANDOM)
    with Store(tmp_path, writable=True) as store:
        (only,) = adopt(planned(), store, n_repeated=9, seed=0)
    assert (only.label, only.n_repeated, only.n_trials) == ("random", 3, 3)


def test_outcomes_of_other_settings_or_data_are_no_candidates(
    planned: Planned, tmp_path: Path, edit_code: Callable[[str], None]
) -> None:
    run_job(planned(scaling="none"), tmp_path)
    edit_code(EDITED)
    with Store(tmp_path, writable=True) as store:
        assert not adopt(planned(), store, n_repeated=1, seed=0)


def test_outcomes_that_were_keyed_by_modules_are_adopted(planned: Planned, tmp_path: Path) -> None:
    experiment = planned()
    run_job(experiment, tmp_path)
    with Store(tmp_path, writable=True) as store:
        for number, group in enumerate(experiment.groups):
            content = {name: value for name, value in json.loads(group).items() if name != "code"}
            older = json.dumps(content | {"sources": {"fsvm_cli.svm": "0123"}}, sort_keys=True)
            store.add_group(older)
            for trial in experiment.trials():
                store.rename(experiment.key(number, trial), experiment.key_of(older, trial))
    assert n_missing(experiment, tmp_path) == 3
    with Store(tmp_path, writable=True) as store:
        assert len(adopt(experiment, store, n_repeated=1, seed=0)) == 2
    assert n_missing(experiment, tmp_path) == 0


KILLED = """
import os, signal, sys
from pathlib import Path
from fsvm_cli.store.store import Store
with Store(Path(sys.argv[1]), writable=True) as store:
    renames = [line.split() for line in sys.stdin]
    for number, (old, new) in enumerate(renames):
        if number == int(sys.argv[2]):
            os.kill(os.getpid(), signal.SIGKILL)
        store.rename(old, new)
    store.commit()
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.slow
@pytest.mark.parametrize("n_before", [1, 2, 3])
def test_a_kill_amid_the_adoption_loses_nothing(
    planned: Planned, tmp_path: Path, edit_code: Callable[[str], None], n_before: int
) -> None:
    before = planned(rankings=[{"method": "random"}])
    run_job(before, tmp_path)
    outcomes = stored(before, tmp_path)
    edit_code(EDITED)
    after = planned(rankings=[{"method": "random"}])
    renames = "".join(f"{before.key(0, trial)} {after.key(0, trial)}\n" for trial in before.trials())
    process = subprocess.run(
        [sys.executable, "-c", KILLED, str(tmp_path), str(n_before)],
        input=renames,
        text=True,
        check=False,
        cwd=CHECKOUT,
    )
    assert process.returncode == -signal.SIGKILL
    left, other = (before, after) if n_before < 3 else (after, before)
    assert stored(left, tmp_path) == outcomes
    assert not stored(other, tmp_path)
    with Store(tmp_path, writable=True) as store:
        assert len(adopt(after, store, n_repeated=1, seed=0)) == (n_before < 3)
    assert stored(after, tmp_path) == outcomes
