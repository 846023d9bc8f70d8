"""Small experiments, and stores to keep them in."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from fsvm_cli.experiment.outcome import stored_outcome
from fsvm_cli.experiment.running import compute_record, recorded_trial, tables_of
from fsvm_cli.experiment.trial import DrawnTrial, draw_parts
from fsvm_cli.runner.run import Job, open_local_pool, run
from fsvm_cli.store.store import Store

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

    from fsvm_cli.experiment.experiment import Experiment
    from fsvm_cli.experiment.outcome import Outcome

SMALL: dict[str, Any] = {
    "title": "A small experiment",
    "dataset": {"name": "noise20", "samples": 24},
    "scaling": "standard",
    "classifier": {"kernel": "linear", "C": 1, "tolerance": 0.01},
    "protocol": {"splits": 3, "train": "1/2", "seed": 7},
    "rankings": [{"method": "average-separation"}, {"method": "random"}],
    "subsets": [1, 5],
}


class Quiet:
    """Progress that remembers what it was told."""

    def __init__(self) -> None:
        self.told: list[tuple[int, ...]] = []

    def start(self, n_trials: int, n_done: int) -> None:
        self.told.append((n_trials, n_done))

    def advance(self, n_done: int) -> None:
        self.told.append((n_done,))


def run_job(experiment: Experiment, folder: Path, *, n_processes: int = 1, fresh: bool = False) -> Job:
    """Run one experiment into the store of a folder; the job's store is closed."""
    with Store(folder, writable=True, fresh=fresh) as store:
        job = Job(experiment, store, Quiet())
        assert list(run([job], partial(open_local_pool, n_processes))) == [0]
    return job


def recorded(experiment: Experiment, name: str) -> dict[str, pd.DataFrame]:
    """Compute the tables of a record, from data that nothing else has been fitted on."""
    trial = recorded_trial(experiment)
    return tables_of(compute_record(DrawnTrial(experiment, trial, draw_parts(experiment, trial)), name))


def stored(experiment: Experiment, folder: Path) -> dict[tuple[int, int, int], Outcome]:
    """Every planned outcome that a folder's store holds, by number of the competitor, training rows and split."""
    with Store(folder, writable=False) as store:
        found = {
            (place, trial.n_train, trial.split): stored_outcome(store, experiment.key(place, trial))
            for place in experiment.numbers()
            for trial in experiment.trials()
        }
    return {where: outcome for where, outcome in found.items() if outcome is not None}
