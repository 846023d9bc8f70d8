"""The trials that the store lacks, a few bytes for each since there may be millions, and why they must run."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fsvm_cli.data.messages import shown
from fsvm_cli.experiment.experiment import CODE_KEY
from fsvm_cli.experiment.provenance import stored_parts
from fsvm_cli.experiment.running import record_key, recorded_trial
from fsvm_cli.runner.tasks import Task

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from fsvm_cli.experiment.experiment import Experiment
    from fsvm_cli.store.store import Store

if TYPE_CHECKING:
    Sizes = frozenset[int]
    Wanted = dict[int, tuple[int, ...]]
    Records = tuple[str, ...]
    Lacking = tuple[Wanted, Records]

KEY_DTYPE = np.dtype("S32")
TRIALS_PER_BLOCK = 1000
NO_SIZES: Sizes = frozenset()


class Coverage:
    """Which subset sizes are stored under which keys.

    Parameters
    ----------
    rows : iterable of (str, frozenset of int)
        Keys, ascending, each with the sizes that are stored under it.
    """

    def __init__(self, rows: Iterable[tuple[str, Sizes]]) -> None:
        numbers: dict[Sizes, int] = {}
        keys, codes = [np.empty(0, KEY_DTYPE)], [np.empty(0, np.int32)]
        rows = iter(rows)
        while block := list(itertools.islice(rows, TRIALS_PER_BLOCK)):
            keys.append(np.array([key for key, _ in block], KEY_DTYPE))
            codes.append(np.array([numbers.setdefault(sizes, len(numbers)) for _, sizes in block], np.int32))
        # An empty key ends the array, so that a search for a key above the largest ends there and finds nothing.
        self._keys = np.concatenate([*keys, np.zeros(1, KEY_DTYPE)])
        self._codes = np.concatenate([*codes, np.array([len(numbers)], np.int32)])
        self._sizes = [*numbers, NO_SIZES]

    def of(self, keys: Sequence[str]) -> list[Sizes]:
        """List the sizes that are stored under each of `keys`."""
        wanted = np.array(keys, KEY_DTYPE)
        nearest = np.searchsorted(self._keys[:-1], wanted)
        codes = np.where(self._keys[nearest] == wanted, self._codes[nearest], len(self._sizes) - 1)
        return [self._sizes[code] for code in codes.tolist()]


class MissingTasks:
    """The missing tasks, in the order of the plan, created one by one while they are iterated.

    Parameters
    ----------
    experiment : Experiment
    number : int
        Number of the experiment in the run.
    lacking : sequence of (dict, tuple of str)
        The distinct sets of missing results: subset sizes by number of the compared method, and records; empty where
        nothing is missing.
    codes : ndarray of int, shape (n_trials,)
        For each planned trial, the index of its set in `lacking`.
    """

    def __init__(
        self, experiment: Experiment, number: int, lacking: Sequence[Lacking], codes: NDArray[np.int32]
    ) -> None:
        self._experiment, self._number = experiment, number
        self._lacking, self._codes = lacking, codes
        self._n_tasks = sum(int(np.count_nonzero(codes == code)) for code, lacked in enumerate(lacking) if any(lacked))

    def __len__(self) -> int:
        return self._n_tasks

    def __iter__(self) -> Iterator[Task]:
        for trial, code in zip(self._experiment.trials(), self._codes, strict=True):
            wanted, records = self._lacking[code]
            if wanted or records:
                yield Task(self._number, trial, wanted, records)


def missing_tasks(experiment: Experiment, store: Store | None, number: int = 0) -> MissingTasks:
    """Find what the store does not hold yet.

    Parameters
    ----------
    experiment : Experiment
    store : Store or None
    number : int
        Number of the experiment in the run.
    """
    coverage = Coverage(() if store is None else store.covered_sizes())
    codes_of: dict[tuple[Sizes, ...], int] = {}
    codes = np.empty(experiment.n_trials(), np.int32)
    for begin, known in _known_sizes(experiment, coverage):
        codes[begin : begin + len(known)] = [codes_of.setdefault(each, len(codes_of)) for each in known]
    lacking: list[Lacking] = [(_wanted(experiment, known), ()) for known in codes_of]
    if records := missing_records(experiment, store):
        recorded = recorded_trial(experiment)
        index = next(index for index, trial in enumerate(experiment.trials()) if trial == recorded)
        wanted, _ = lacking[codes[index]]
        codes[index] = len(lacking)
        lacking.append((wanted, records))
    return MissingTasks(experiment, number, lacking, codes)


def missing_records(experiment: Experiment, store: Store | None) -> Records:
    """List the records of an experiment that the store does not hold."""
    names = experiment.config.record
    return tuple(name for name in names if store is None or store.record(record_key(experiment, name)) is None)


def _known_sizes(experiment: Experiment, coverage: Coverage) -> Iterator[tuple[int, list[tuple[Sizes, ...]]]]:
    """Yield blocks of planned trials: the index of the first trial, and the stored sizes of each compared method."""
    trials = experiment.trials()
    for begin in itertools.count(step=TRIALS_PER_BLOCK):
        block = list(itertools.islice(trials, TRIALS_PER_BLOCK))
        if not block:
            return
        known = [coverage.of([experiment.key(each, trial) for trial in block]) for each in experiment.numbers()]
        yield begin, list(zip(*known, strict=True))


def _wanted(experiment: Experiment, known: tuple[Sizes, ...]) -> Wanted:
    wanted = {
        compared_method: tuple(size for size in experiment.sizes if size not in sizes)
        for compared_method, sizes in enumerate(known)
    }
    return {compared_method: sizes for compared_method, sizes in wanted.items() if sizes}


EARLIER_CODE_PREFIX = "sources."
"""Prefix of the hashes of modules in the groups that earlier versions of fsvm stored."""


@dataclass(frozen=True)
class Explanation:
    """Why trials of one compared method must run.

    Attributes
    ----------
    compared_method : int
        Its number.
    n_missing : int
        Trials that must run.
    reasons : tuple of str
        As text, each with the number of trials where the key is known.
    """

    compared_method: int
    n_missing: int
    reasons: tuple[str, ...]


def explain(experiment: Experiment, store: Store | None, tasks: Iterable[Task]) -> list[Explanation]:
    """Explain, for each compared method of which something is missing, why its trials must run.

    Parameters
    ----------
    experiment : Experiment
    store : Store or None
    tasks : iterable of Task
        The missing tasks; iterated more than once.
    """
    known = [] if store is None else [json.loads(group) for group in store.groups()]
    failures = {} if store is None else store.failures()
    explanations = []
    for number in experiment.numbers():
        counts = _count_reasons(experiment, number, tasks, failures)
        if not counts:
            continue
        key_parts = experiment.key_parts(number)
        if key_parts in known:
            reasons = tuple(f"{count} {reason}" for reason, count in counts.items())
        else:
            parts = {} if store is None else stored_parts(store)
            reasons = (_what_changed(key_parts, known, experiment.code(number).parts, parts),)
        explanations.append(Explanation(number, counts.total(), reasons))
    return explanations


def _count_reasons(
    experiment: Experiment, compared_method: int, tasks: Iterable[Task], failures: dict[str, str]
) -> Counter[str]:
    """Count failed trials, trials without some sizes, and trials that never ran."""
    counts: Counter[str] = Counter()
    for task in tasks:
        if compared_method not in task.wanted:
            continue
        error = failures.get(experiment.key(compared_method, task.trial))
        if error is not None:
            reason, *_ = error.splitlines()
            counts[f"failed before ({reason})"] += 1
        elif task.wanted[compared_method] != experiment.sizes:
            counts["new subset sizes"] += 1
        else:
            counts["new, or not finished before"] += 1
    return counts


def _what_changed(
    key_parts: dict[str, Any],
    known: Sequence[dict[str, Any]],
    parts: Mapping[str, str],
    known_parts: Mapping[str, Mapping[str, str]],
) -> str:
    """Describe the differences from the most similar group that was run before."""
    own = flattened(key_parts)
    others = [flattened(group) for group in known]
    alike = [other for other in others if other.get("ranking.method") == own.get("ranking.method")]
    if not alike:
        return "never run here"
    differences = [_differences(own, other, parts, known_parts.get(str(other.get(CODE_KEY)))) for other in alike]
    return f"changed since it was run: {', '.join(min(differences, key=lambda each: each.counts).descriptions)}"


class _KeyDifferences(NamedTuple):
    """The differences between two groups, as text, and their numbers: of settings, and of changed functions."""

    descriptions: list[str]
    counts: tuple[int, int]


def _differences(
    own: dict[str, Any], other: dict[str, Any], parts: Mapping[str, str], known_parts: Mapping[str, str] | None
) -> _KeyDifferences:
    names = [name for name in {**own, **other} if own.get(name) != other.get(name)]
    descriptions = [
        name if name == "data" else f"{name} {other.get(name)} -> {own.get(name)}"
        for name in names
        if name != CODE_KEY and not name.startswith(EARLIER_CODE_PREFIX)
    ]
    if CODE_KEY not in names:
        return _KeyDifferences(descriptions, (len(descriptions), 0))
    if known_parts is None:
        return _KeyDifferences(
            [*descriptions, "the code, of which an older fsvm noted no functions"], (len(descriptions) + 1, len(parts))
        )
    changed = changed_parts(parts, known_parts)
    return _KeyDifferences([*descriptions, f"the code of {shown(changed)}"], (len(descriptions) + 1, len(changed)))


def changed_parts(parts: Mapping[str, str], before: Mapping[str, str]) -> list[str]:
    """List the functions whose code is new, or else those that were removed; moved and renamed ones are neither."""
    digests, digests_before = frozenset(parts.values()), frozenset(before.values())
    new = [name for name, digest in parts.items() if digest not in digests_before]
    gone = [name for name, digest in before.items() if digest not in digests]
    return new or gone or sorted(parts.keys() ^ before.keys()) or ["what refers to what"]


def flattened(content: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """Name every value by its dotted path."""
    flat: dict[str, Any] = {}
    for key, value in content.items():
        flat |= flattened(value, f"{prefix}{key}.") if isinstance(value, dict) else {f"{prefix}{key}": value}
    return flat
