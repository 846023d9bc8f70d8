"""A run: what is missing in the store is computed and stored."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from fsvm_cli.experiment.executors import Task, execute, run_task
from fsvm_cli.experiment.record import record_key, record_of

if TYPE_CHECKING:
    from fsvm_cli.experiment.plan import Experiment
    from fsvm_cli.experiment.store import Store


class Progress(Protocol):
    """Is told how far a run is."""

    def start(self, n_trials: int, n_done: int) -> None:
        """Say how many trials there are, and how many of them are stored already."""

    def advance(self, n_done: int) -> None:
        """Say how many trials are durable now."""


@dataclass(frozen=True)
class RunSummary:
    """What a run did.

    Attributes
    ----------
    n_trials : int
        Planned trials.
    n_run : int
        Trials that this run worked on.
    failures : dict of str to int
        How many trials failed with each error.
    """

    n_trials: int
    n_run: int
    failures: dict[str, int]


def missing_tasks(experiment: Experiment, store: Store | None) -> list[Task]:
    """List what the store does not hold yet, in the order of the plan."""
    covered = {} if store is None else store.covered_sizes()
    wanted_of: dict[object, dict[int, tuple[int, ...]]] = {trial: {} for trial in experiment.trials()}
    for place, ranking in enumerate(experiment.rankings()):
        for trial, key in experiment.keys(ranking).items():
            missing = tuple(size for size in experiment.sizes if size not in covered.get(key, ()))
            if missing:
                wanted_of[trial][place] = missing
    return [Task(trial, wanted_of[trial]) for trial in experiment.trials() if wanted_of[trial]]


def run(experiment: Experiment, store: Store, jobs: int, progress: Progress) -> RunSummary:
    """Compute and store what is missing.

    Parameters
    ----------
    experiment : Experiment
    store : Store
        Open for writing.
    jobs : int
        Number of processes.
    progress : Progress

    Raises
    ------
    DataError
        If the store cannot be written, or workers keep dying; what was finished is kept.
    """
    keys = [experiment.keys(ranking) for ranking in experiment.rankings()]
    tasks = missing_tasks(experiment, store)
    n_trials = len(experiment.trials())
    n_durable = n_trials - len(tasks)
    progress.start(n_trials, n_durable)
    failures: dict[str, int] = {}
    n_pending = 0
    for result in execute(experiment, tasks, jobs):
        trial = result.task.trial
        for place, outcome in result.outcomes.items():
            store.add(keys[place][trial], outcome)
        if result.error is None:
            store.add_timing(trial.n_train, trial.split, result.seconds)
        else:
            failures[result.error] = failures.get(result.error, 0) + 1
            for place in result.task.wanted:
                store.add_failure(keys[place][trial], result.error)
        n_pending += 1
        if store.commit_if_due():
            n_durable, n_pending = n_durable + n_pending, 0
            progress.advance(n_durable)
    for name in experiment.config.record:
        if store.record(record_key(experiment, name)) is None:
            store.add_record(record_key(experiment, name), record_of(experiment, name))
    store.commit()
    progress.advance(n_durable + n_pending)
    return RunSummary(n_trials, len(tasks), failures)


def estimate_seconds(experiment: Experiment, store: Store | None, tasks: list[Task], jobs: int) -> float:
    """Estimate how long `tasks` will take, from the times of stored trials or else by running the first one."""
    timings = [] if store is None else [seconds for _, _, seconds in store.timings()]
    if not timings:
        timings = [run_task(experiment, tasks[0]).seconds]
    return len(tasks) * sum(timings) / len(timings) / min(jobs, len(tasks))
