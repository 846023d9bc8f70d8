"""Adopting stored outcomes after a change of the code: a sample of trials is repeated, and must be equal."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fsvm_cli.experiment.experiment import CODE
from fsvm_cli.experiment.outcome import stored_outcome
from fsvm_cli.experiment.provenance import ADOPTED, keep_group
from fsvm_cli.runner.missing import Coverage
from fsvm_cli.runner.session import open_local_pool
from fsvm_cli.runner.tasks import Task
from fsvm_cli.runner.verify import is_repeated

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fsvm_cli.experiment.experiment import Experiment, Trial
    from fsvm_cli.experiment.outcome import Outcome
    from fsvm_cli.store.store import Store

WHATEVER_CODE = frozenset({CODE, "sources"})
"""Ingredients of a key that hold the code, in this version of fsvm and in earlier ones."""


@dataclass(frozen=True)
class Adoption:
    """What came of the outcomes of one compared method that an earlier code computed.

    Attributes
    ----------
    label : str
        Of the compared method.
    n_repeated, n_trials : int
        Trials that were run again, and those that the earlier code computed.
    differing : tuple of Trial
        Trials that led to other numbers, or failed; where there are any, nothing was adopted.
    """

    label: str
    n_repeated: int
    n_trials: int
    differing: tuple[Trial, ...]


@dataclass(frozen=True)
class _Earlier:
    """What a store has of a compared method under an earlier code: what its keys are made of, and the trials."""

    group: str
    trials: Sequence[Trial]


def adopt(experiment: Experiment, store: Store, n_repeated: int, seed: int, n_processes: int = 1) -> list[Adoption]:
    """Repeat some trials of each compared method whose code has changed; where all are equal, take over the others.

    The scores, predictions and measures are compared to the last digit, and what was chosen. All outcomes of a compared
    method are taken over in one transaction: a process that is killed leaves them under the one key or the other.

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
        For each compared method of which the store has outcomes of an earlier code that it lacks of this one.

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
            store.add_note(ADOPTED, experiment.groups[number], json.dumps(account))
            store.commit()
    return adopted


def _earlier(experiment: Experiment, store: Store) -> dict[int, _Earlier]:
    """Find the outcomes of earlier codes; of several codes, those of the one that has most."""
    coverage = Coverage(store.covered_sizes())
    groups = [(group, _without_code(group)) for group in store.groups()]
    trials = list(experiment.trials())
    found: dict[int, _Earlier] = {}
    seen: set[str] = set()
    for number, mine in enumerate(experiment.groups):
        if mine in seen:  # rankings that differ in their labels alone have the same keys
            continue
        seen.add(mine)
        known = coverage.of([experiment.key(number, trial) for trial in trials])
        lacking = [trial for trial, sizes in zip(trials, known, strict=True) if not sizes]
        candidates = [
            _Earlier(group, _covered(coverage, lacking, [experiment.key_of(group, trial) for trial in lacking]))
            for group, content in groups
            if group != mine and content == _without_code(mine)
        ]
        best = max(candidates, key=lambda each: len(each.trials), default=None)
        if best is not None and best.trials:
            found[number] = best
    return found


def _covered(coverage: Coverage, trials: Sequence[Trial], keys: Sequence[str]) -> list[Trial]:
    return [trial for trial, sizes in zip(trials, coverage.of(keys), strict=True) if sizes]


def _without_code(group: str) -> dict[str, object]:
    return {name: value for name, value in json.loads(group).items() if name not in WHATEVER_CODE}


def _drawn(trials: Sequence[Trial], n: int, seed: int) -> list[Trial]:
    """Draw trials; compared methods with the same trials get the same ones, whose data are then drawn once."""
    return [trials[index] for index in np.random.default_rng(seed).permutation(len(trials))[:n].tolist()]


def _differing(
    experiment: Experiment,
    store: Store,
    earlier: Mapping[int, _Earlier],
    drawn: Mapping[int, Sequence[Trial]],
    n_processes: int,
) -> dict[int, list[Trial]]:
    """Run the drawn trials again, and list those that lead to other numbers, by compared method."""
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
    """Compare to the last digit, but for the duality gaps, which depend on what else was computed together."""
    if stored is None or found is None:
        return False
    same = stored.chosen == found.chosen and stored.ranking_converged == found.ranking_converged
    predictions = np.array_equal(stored.predictions, found.predictions)
    return same and predictions and is_repeated(stored, found, stored.sizes, tolerance=0.0)
