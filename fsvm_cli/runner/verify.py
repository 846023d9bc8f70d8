"""Verifying a results folder: its store against config and data, and repeating trials."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from fsvm_cli.config_io import Document
from fsvm_cli.experiment.outcome import stored_outcome
from fsvm_cli.experiment.provenance import config_folder, describe_run, read_run
from fsvm_cli.runner.missing import flattened, missing_tasks
from fsvm_cli.runner.pools import SerialPool
from fsvm_cli.runner.tasks import Task
from fsvm_cli.spec.config import LoadedConfig

if TYPE_CHECKING:
    from pathlib import Path

    from fsvm_cli.experiment.experiment import Experiment, Trial
    from fsvm_cli.experiment.outcome import Outcome
    from fsvm_cli.store.store import Store

PARTS: tuple[Literal["train", "test"], ...] = ("train", "test")
SCORE_TOLERANCE = 1e-6
"""Relative to the largest score: what another BLAS or processor may change."""


def stored_config(folder: Path) -> LoadedConfig:
    """Load the config that a results folder was made from, as its `run.json` resolves it.

    Raises
    ------
    DataError
        If there is no `run.json`, or it is damaged.
    """
    config, run = read_run(folder)
    document = Document(str(folder), {}, {}, run["overrides"])
    return LoadedConfig(folder.name, config_folder(folder), config, document)


def changes_since_run(
    loaded: LoadedConfig, experiment: Experiment, store: Store, folder: Path
) -> dict[str, tuple[object, object]]:
    """Compare `run.json` with what a run would write now: then and now, by dotted name."""
    _, run = read_run(folder)
    then, now = flattened(run), flattened(describe_run(loaded, experiment, store))
    names = [name for name in {**then, **now} if not name.startswith("config.") and then.get(name) != now.get(name)]
    return {name: (then.get(name), now.get(name)) for name in names}


def stored_trials(experiment: Experiment, store: Store) -> list[Trial]:
    """List the planned trials of which the store holds every outcome."""
    missing = {task.trial for task in missing_tasks(experiment, store) if task.wanted}
    return [trial for trial in experiment.trials() if trial not in missing]


@dataclass(frozen=True)
class Repetition:
    """What trials gave when they were repeated.

    Attributes
    ----------
    n_identical : int
        Trials with the same numbers to the last digit.
    n_close : int
        Further trials with the same predictions, and scores within `SCORE_TOLERANCE`.
    differing : tuple of Trial
        All others.
    """

    n_identical: int
    n_close: int
    differing: tuple[Trial, ...]


def repeat(experiment: Experiment, store: Store, n_trials: int, rng: np.random.Generator) -> Repetition:
    """Run some of the stored trials again and compare scores, predictions and measures with the stored ones.

    Certificates are not compared: the path of the solver, and so their last digits, depend on which sizes were
    computed together.

    Parameters
    ----------
    experiment : Experiment
    store : Store
    n_trials : int
        How many, at least 1; all where the store has no more.
    rng : numpy.random.Generator
        Chooses the trials.
    """
    trials = stored_trials(experiment, store)
    chosen = [trials[number] for number in rng.permutation(len(trials))[:n_trials]]
    wanted = dict.fromkeys(experiment.numbers(), experiment.sizes)
    counts = {"identical": 0, "close": 0}
    differing = []
    with SerialPool([experiment]) as pool:
        for trial in chosen:
            (result,) = pool.submit([Task(0, trial, wanted)]).result()
            again = result.outcomes
            pairs = [(stored_outcome(store, experiment.key(number, trial)), again.get(number)) for number in wanted]
            if all(is_repeated(stored, found, experiment.sizes, 0.0) for stored, found in pairs):
                counts["identical"] += 1
            elif all(is_repeated(stored, found, experiment.sizes, SCORE_TOLERANCE) for stored, found in pairs):
                counts["close"] += 1
            else:
                differing.append(trial)
    return Repetition(counts["identical"], counts["close"], tuple(differing))


def is_repeated(stored: Outcome | None, found: Outcome | None, sizes: tuple[int, ...], tolerance: float) -> bool:
    """Whether two outcomes have the same scores, predictions and measures on subsets of some sizes."""
    if stored is None or found is None:
        return False
    scores, again = np.array(stored.scores), np.array(found.scores)
    largest = np.abs(scores).max(initial=0.0)
    return (
        np.allclose(again, scores, rtol=0.0, atol=tolerance * largest)
        and all(np.array_equal(stored.confusions(part, sizes), found.confusions(part, sizes)) for part in PARTS)
        and _measure_alike(stored, found, sizes, tolerance)
    )


def _measure_alike(stored: Outcome, found: Outcome, sizes: tuple[int, ...], tolerance: float) -> bool:
    """Compare what the classifiers of some sizes measured, each number by its own size."""
    if not stored.measures or not found.measures:
        return stored.measures == found.measures
    pairs = [
        (stored.measures[a], found.measures[b]) for a, b in zip(stored.rows(sizes), found.rows(sizes), strict=True)
    ]
    return all(
        before.keys() == after.keys()
        and np.allclose([*after.values()], [*before.values()], rtol=tolerance, atol=tolerance)
        for before, after in pairs
    )
