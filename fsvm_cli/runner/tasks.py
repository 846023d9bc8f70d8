"""Tasks: a trial with the outcomes that are wanted of it; running a chunk of them where it was sent."""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from fsvm_cli.config_io import model_from_json
from fsvm_cli.experiment.experiment import Experiment
from fsvm_cli.experiment.running import TrialResult, run_trial
from fsvm_cli.runner.shared_arrays import Mapped
from fsvm_cli.spec.schema import Config

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from fsvm_cli.data.source import DataSource
    from fsvm_cli.experiment.experiment import Trial
    from fsvm_cli.runner.shared_arrays import SharedArrays


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
    """

    experiment: int
    trial: Trial
    wanted: Mapping[int, tuple[int, ...]]
    records: tuple[str, ...] = ()


@dataclass(frozen=True)
class PackedExperiment:
    """An experiment in the form in which it travels to a worker: its config's model is made anew there.

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
        """Pack, with large arrays among the shared ones where there are such."""
        source = experiment.source if shared is None else shared.share(experiment.source)
        return cls(experiment.config.model_dump_json(), source, experiment.sizes, experiment.n_test)

    def unpacked(self) -> Experiment:
        """Unpack."""
        source = self.source.load() if isinstance(self.source, Mapped) else self.source
        return Experiment(model_from_json(Config, self.config), source, self.sizes, self.n_test)


def run_tasks(experiments: Sequence[Experiment], tasks: Sequence[Task]) -> list[TrialResult]:
    """Run a chunk of tasks, one after the other.

    The caller sees to it that BLAS has one thread, so that no number depends on how many there are.
    """
    return [run_trial(experiments[task.experiment], task.trial, task.wanted, task.records) for task in tasks]


Result = TypeVar("Result")


def call_here(call: Callable[[], Result]) -> Future[Result]:
    """Make a call in this process, at once."""
    future: Future[Result] = Future()
    try:
        future.set_result(call())
    except Exception as error:  # noqa: BLE001 - raised again by `Future.result`
        future.set_exception(error)
    return future
