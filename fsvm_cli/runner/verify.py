"""Verification of a results folder: its store against config and data, repeated trials, adoption of stored outcomes.

Outcomes are adopted after a change of the code where a sample of trials is repeated, and equal.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from fsvm_cli.config_io import Document
from fsvm_cli.experiment.experiment import CODE_KEY
from fsvm_cli.experiment.outcome import stored_outcome
from fsvm_cli.experiment.provenance import ADOPTION_NOTES, config_folder, describe_run, keep_group, read_run
from fsvm_cli.runner.missing import Coverage, flattened, missing_tasks
from fsvm_cli.runner.pools import SerialPool
from fsvm_cli.runner.run import open_local_pool
from fsvm_cli.runner.tasks import Task
from fsvm_cli.spec.config import LoadedConfig

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from fsvm_cli.experiment.experiment import Experiment, Trial
    from fsvm_cli.experiment.outcome import Outcome
    from fsvm_cli.store.store import Store

PARTS: tuple[Literal["train", "test"], ...] = ("train", "test")
SCORE_TOLERANCE = 1e-6
"""Relative to the largest score; differences between BLAS libraries and processors are below it."""


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
    """Compare `run.json` with what a run would write now; differing values, then and now, by dotted name."""
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
    """Comparison of repeated trials with their stored outcomes.

    Attributes
    ----------
    n_identical : int
        Trials whose numbers are equal to the last digit.
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
    """Compare the measures of the classifiers of some sizes, with the tolerance relative to each number."""
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


CODE_KEYS = frozenset({CODE_KEY, "sources"})
"""Parts of a key that hold hashes of the code, in this version of fsvm and in earlier ones."""


@dataclass(frozen=True)
class Adoption:
    """Result of `adopt` for one compared method with outcomes of an earlier code.

    Attributes
    ----------
    label : str
        Of the compared method.
    n_repeated, n_trials : int
        Trials that were run again, and those that the earlier code computed.
    differing : tuple of Trial
        Repeated trials with other numbers, or that failed; if there are any, nothing was adopted.
    """

    label: str
    n_repeated: int
    n_trials: int
    differing: tuple[Trial, ...]


@dataclass(frozen=True)
class _Earlier:
    """Stored outcomes of a compared method under an earlier code: the parts of their keys, and their trials."""

    group: str
    trials: Sequence[Trial]


def adopt(experiment: Experiment, store: Store, n_repeated: int, seed: int, n_processes: int = 1) -> list[Adoption]:
    """Repeat some trials of each compared method whose code has changed; if all are equal, adopt the others.

    Scores, predictions, measures and selected hyperparameters are compared to the last digit. All outcomes of a
    compared method are adopted in one transaction: a killed process leaves them under one key or the other.

    Parameters
    ----------
    experiment : Experiment
    store : Store
        Open for writing.
    n_repeated : int
        Trials to repeat of each compared method, at least 1; all where there are no more.
    seed : int
        Draws them.
    n_processes : int, default=1
        Processes that repeat them.

    Returns
    -------
    list of Adoption
        For each compared method whose outcomes are stored under an earlier code and missing under this one.

    Raises
    ------
    DataError
        If the store is damaged or cannot be written.
    """
    earlier = _earlier(experiment, store)
    drawn = {number: _drawn(each.trials, n_repeated, seed) for number, each in earlier.items()}
    differing = _differing(experiment, store, earlier, drawn, n_processes)
    adopted = []
    for number, each in earlier.items():
        label = experiment.compared_methods[number].label
        adopted.append(Adoption(label, len(drawn[number]), len(each.trials), tuple(differing[number])))
        if not differing[number]:
            for trial in each.trials:
                store.rename(experiment.key_of(each.group, trial), experiment.key(number, trial))
            keep_group(store, experiment, number)
            account = {"repeated": len(drawn[number]), "of": len(each.trials), "seed": seed}
            store.add_note(ADOPTION_NOTES, experiment.groups[number], json.dumps(account))
            store.commit()
    return adopted


def _earlier(experiment: Experiment, store: Store) -> dict[int, _Earlier]:
    """Find the outcomes of earlier codes; of several codes, those of the code with most outcomes."""
    coverage = Coverage(store.covered_sizes())
    groups = [(group, _without_code(group)) for group in store.groups()]
    trials = list(experiment.trials())
    found: dict[int, _Earlier] = {}
    seen: set[str] = set()
    for number, current in enumerate(experiment.groups):
        if current in seen:  # rankings that differ only in their labels have the same keys
            continue
        seen.add(current)
        known = coverage.of([experiment.key(number, trial) for trial in trials])
        lacking = [trial for trial, sizes in zip(trials, known, strict=True) if not sizes]
        candidates = [
            _Earlier(group, _covered(coverage, lacking, [experiment.key_of(group, trial) for trial in lacking]))
            for group, content in groups
            if group != current and content == _without_code(current)
        ]
        best = max(candidates, key=lambda each: len(each.trials), default=None)
        if best is not None and best.trials:
            found[number] = best
    return found


def _covered(coverage: Coverage, trials: Sequence[Trial], keys: Sequence[str]) -> list[Trial]:
    return [trial for trial, sizes in zip(trials, coverage.of(keys), strict=True) if sizes]


def _without_code(group: str) -> dict[str, object]:
    return {name: value for name, value in json.loads(group).items() if name not in CODE_KEYS}


def _drawn(trials: Sequence[Trial], n: int, seed: int) -> list[Trial]:
    """Draw trials; compared methods with the same trials get the same draw, so that data are drawn once."""
    return [trials[index] for index in np.random.default_rng(seed).permutation(len(trials))[:n].tolist()]


def _differing(
    experiment: Experiment,
    store: Store,
    earlier: Mapping[int, _Earlier],
    drawn: Mapping[int, Sequence[Trial]],
    n_processes: int,
) -> dict[int, list[Trial]]:
    """Repeat the drawn trials, and list those with other numbers, by compared method."""
    differing: dict[int, list[Trial]] = {number: [] for number in earlier}
    trials = dict.fromkeys(trial for of_method in drawn.values() for trial in of_method)
    if not trials:
        return differing
    with open_local_pool(n_processes, [experiment], len(trials)) as pool:
        begun = []
        for trial in trials:
            stored = {
                number: stored_outcome(store, experiment.key_of(earlier[number].group, trial))
                for number, of_method in drawn.items()
                if trial in of_method
            }
            wanted = {number: outcome.sizes for number, outcome in stored.items() if outcome is not None}
            begun.append((trial, stored, pool.submit([Task(0, trial, wanted)])))
        for trial, stored, future in begun:
            (result,) = future.result()
            for number, outcome in stored.items():
                if not _is_equal(outcome, result.outcomes.get(number)):
                    differing[number].append(trial)
    return differing


def _is_equal(stored: Outcome | None, found: Outcome | None) -> bool:
    """Compare to the last digit, except duality gaps, which depend on the sizes that were computed together."""
    if stored is None or found is None:
        return False
    same = stored.chosen == found.chosen and stored.ranking_converged == found.ranking_converged
    predictions = np.array_equal(stored.predictions, found.predictions)
    return same and predictions and is_repeated(stored, found, stored.sizes, tolerance=0.0)
