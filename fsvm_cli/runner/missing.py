"""What the store lacks of an experiment, in a few bytes a trial: there may be millions of trials."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

from fsvm_cli.experiment.recording import record_key, recorded_trial
from fsvm_cli.runner.tasks import Task

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from fsvm_cli.experiment.plan import Experiment
    from fsvm_cli.store.store import Store

    Sizes = frozenset[int]
    Wanted = dict[int, tuple[int, ...]]
    Records = tuple[str, ...]
    Lacking = tuple[Wanted, Records]

KEY_TYPE = np.dtype("S32")
BLOCK = 1000
NOTHING: Sizes = frozenset()


class Coverage:
    """Which subset sizes are stored under which keys.

    Parameters
    ----------
    rows : iterable of (str, frozenset of int)
        Keys, ascending, each with the sizes that are stored under it.
    """

    def __init__(self, rows: Iterable[tuple[str, Sizes]]) -> None:
        numbers: dict[Sizes, int] = {}
        keys, codes = [np.empty(0, KEY_TYPE)], [np.empty(0, np.int32)]
        rows = iter(rows)
        while block := list(itertools.islice(rows, BLOCK)):
            keys.append(np.array([key for key, _ in block], KEY_TYPE))
            codes.append(np.array([numbers.setdefault(sizes, len(numbers)) for _, sizes in block], np.int32))
        # The last key is followed by one that is none, at which a search for a larger key ends.
        self._keys = np.concatenate([*keys, np.zeros(1, KEY_TYPE)])
        self._codes = np.concatenate([*codes, np.array([len(numbers)], np.int32)])
        self._sizes = [*numbers, NOTHING]

    def of(self, keys: Sequence[str]) -> list[Sizes]:
        """List the sizes that are stored under each of `keys`."""
        asked = np.array(keys, KEY_TYPE)
        nearest = np.searchsorted(self._keys[:-1], asked)
        codes = np.where(self._keys[nearest] == asked, self._codes[nearest], len(self._sizes) - 1)
        return [self._sizes[code] for code in codes.tolist()]


class MissingTasks:
    """What is missing, in the order of the plan; each task is made when it is asked for.

    Parameters
    ----------
    experiment : Experiment
    number : int
        Number of the experiment in the run.
    lacking : sequence of (dict, tuple of str)
        The different things that trials lack: subset sizes by number of the competitor, and records; or nothing.
    codes : ndarray of int, shape (n_trials,)
        For each planned trial, what it lacks, by index into `lacking`.
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
    """Yield, block by block with its beginning, which sizes of each competitor each planned trial has."""
    trials = experiment.trials()
    for begin in itertools.count(step=BLOCK):
        block = list(itertools.islice(trials, BLOCK))
        if not block:
            return
        known = [coverage.of([experiment.key(each, trial) for trial in block]) for each in experiment.numbers()]
        yield begin, list(zip(*known, strict=True))


def _wanted(experiment: Experiment, known: tuple[Sizes, ...]) -> Wanted:
    wanted = {
        competitor: tuple(size for size in experiment.sizes if size not in sizes)
        for competitor, sizes in enumerate(known)
    }
    return {competitor: sizes for competitor, sizes in wanted.items() if sizes}
