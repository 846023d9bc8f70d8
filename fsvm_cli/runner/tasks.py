"""What workers receive: chunks of tasks, and experiments, whose large arrays are in one file that all workers map."""

from __future__ import annotations

import contextlib
import mmap
import pickle
import shutil
import tempfile
import time
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import filelock

from fsvm_cli.config_io import model_from_json
from fsvm_cli.experiment.chance import permuted_experiment
from fsvm_cli.experiment.experiment import Experiment
from fsvm_cli.experiment.running import TrialResult, run_trial
from fsvm_cli.experiment.selection import selection_experiment
from fsvm_cli.spec.schema import Config

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from fsvm_cli.data.source import DataSource
    from fsvm_cli.experiment.experiment import Trial

MIN_SHARED_BYTES = 1 << 24
"""Smaller arrays are sent to each worker: mapping them would save no memory worth the file."""

ALIGNMENT_BYTES = 64
"""Of arrays in the file, for vector instructions."""

SHARED_FOLDER_PREFIX = "fsvm-shared-"
OWNER_LOCK_NAME = "owner.lock"
"""Locked for the lifetime of the run, however it ends."""

MIN_ABANDONED_AGE_SECONDS = 60.0
"""Age of a folder without a lock above which its run was killed; a younger one may not have locked it yet."""


@dataclass(frozen=True, slots=True)
class Task:
    """A trial of one of a run's experiments.

    Attributes
    ----------
    experiment : int
        Number of the experiment in the run.
    trial : Trial
    wanted : mapping of int to tuple of int
        By number of the compared method, the subset sizes that are wanted.
    records : tuple of str
        The records of the trial that are wanted, by their names.
    permutation : int
        Of the labels, for the test whether anything is better than chance: then the experiment is that of
        `fsvm_cli.experiment.chance.permuted_experiment`; else 0.
    within : bool
        Whether it is a trial within the training rows of a given split: then the experiment is that of
        `fsvm_cli.experiment.selection.selection_experiment`.
    """

    experiment: int
    trial: Trial
    wanted: Mapping[int, tuple[int, ...]]
    records: tuple[str, ...] = ()
    permutation: int = 0
    within: bool = False


@dataclass(frozen=True)
class Mapped:
    """An object whose large arrays lie in a file.

    Attributes
    ----------
    pickled : bytes
        All but the arrays.
    path : str
        The file.
    extents : tuple of (int, int)
        Where each array begins in it, and its bytes.
    """

    pickled: bytes
    path: str
    extents: tuple[tuple[int, int], ...]

    def load(self) -> Any:
        """Rebuild the object; its large arrays are read-only views of the file."""
        with Path(self.path).open("rb") as stream:
            content = memoryview(mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ))
        arrays = [content[begin : begin + size] for begin, size in self.extents]
        return pickle.loads(self.pickled, buffers=arrays)  # noqa: S301 - of this run's own process


class SharedArrays:
    """The files of a run, in a folder of their own among the temporary files.

    After a killed run its last worker removes the folder, or else the next run.
    """

    def __init__(self) -> None:
        self._folder: Path | None = None
        self._owner: filelock.BaseFileLock | None = None

    @property
    def folders(self) -> tuple[str, ...]:
        """Folders to remove at the end, also by a worker if this process was killed."""
        return () if self._folder is None else (str(self._folder),)

    def share(self, thing: Any) -> Any:
        """Return the `Mapped` form of an object; the object itself if it has no large array or the disk is full."""
        arrays: list[memoryview] = []

        def is_small(buffer: pickle.PickleBuffer) -> bool:
            raw = buffer.raw()
            if raw.nbytes >= MIN_SHARED_BYTES:
                arrays.append(raw)
            return raw.nbytes < MIN_SHARED_BYTES

        pickled = pickle.dumps(thing, protocol=5, buffer_callback=is_small)
        if not arrays:
            return thing
        try:
            return Mapped(pickled, *self._write(arrays))
        except OSError:
            return thing

    def _write(self, arrays: Sequence[memoryview]) -> tuple[str, tuple[tuple[int, int], ...]]:
        if self._folder is None:
            _remove_abandoned()
            self._folder = Path(tempfile.mkdtemp(prefix=SHARED_FOLDER_PREFIX))
            self._owner = filelock.FileLock(self._folder / OWNER_LOCK_NAME, timeout=0)
            self._owner.acquire()
        extents = []
        with tempfile.NamedTemporaryFile(dir=self._folder, delete=False) as stream:
            for array in arrays:
                stream.seek(-stream.tell() % ALIGNMENT_BYTES, 1)
                extents.append((stream.tell(), array.nbytes))
                stream.write(array)
        return stream.name, tuple(extents)

    def remove(self) -> None:
        """Remove the files; workers that have mapped them keep them until they end."""
        if self._owner is not None:
            self._owner.release(force=True)
        remove_folders(self.folders)


def _remove_abandoned() -> None:
    """Remove the folders of runs that were killed together with all their workers."""
    for folder in Path(tempfile.gettempdir()).glob(f"{SHARED_FOLDER_PREFIX}*"):
        with contextlib.suppress(OSError, filelock.Timeout):
            if time.time() - folder.stat().st_mtime > MIN_ABANDONED_AGE_SECONDS:
                with filelock.FileLock(folder / OWNER_LOCK_NAME, timeout=0):
                    remove_folders([str(folder)])


def remove_folders(folders: Sequence[str]) -> None:
    """Remove folders of shared arrays, as far as they are still there."""
    for folder in folders:
        with contextlib.suppress(OSError):
            shutil.rmtree(folder)


@dataclass(frozen=True)
class PackedExperiment:
    """An experiment in the form that is sent to a worker, which validates the config again.

    Attributes
    ----------
    config : str
    source : DataSource or Mapped
        Mapped where its arrays are large, and workers of the same computer share them.
    sizes, n_test
        As of `Experiment`.
    """

    config: str
    source: DataSource | Mapped
    sizes: tuple[int, ...]
    n_test: dict[int, int]

    @classmethod
    def of(cls, experiment: Experiment, shared: SharedArrays | None = None) -> PackedExperiment:
        """Pack an experiment; large arrays go to the shared file if one is given."""
        source = experiment.source if shared is None else shared.share(experiment.source)
        return cls(experiment.config.model_dump_json(), source, experiment.sizes, experiment.n_test)

    def unpacked(self) -> Experiment:
        """Rebuild the experiment."""
        source = self.source.load() if isinstance(self.source, Mapped) else self.source
        return Experiment(model_from_json(Config, self.config), source, self.sizes, self.n_test)


def run_tasks(experiments: Sequence[Experiment], tasks: Sequence[Task]) -> list[TrialResult]:
    """Run a chunk of tasks, one after the other.

    The caller must limit BLAS to one thread, so that no number depends on the number of threads.
    """
    return [run_trial(_experiment_of(experiments, task), task.trial, task.wanted, task.records) for task in tasks]


def _experiment_of(experiments: Sequence[Experiment], task: Task) -> Experiment:
    experiment = experiments[task.experiment]
    if task.within:
        within = selection_experiment(experiment)
        assert within is not None, "whose tasks these are"
        experiment = within
    return permuted_experiment(experiment, task.permutation) if task.permutation else experiment


Result = TypeVar("Result")


def call_here(call: Callable[[], Result]) -> Future[Result]:
    """Make a call immediately, in this process."""
    future: Future[Result] = Future()
    try:
        future.set_result(call())
    except Exception as error:  # noqa: BLE001 - raised again by `Future.result`
        future.set_exception(error)
    return future
