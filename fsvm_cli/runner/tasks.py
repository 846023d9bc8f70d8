"""Tasks, running a chunk of them on a worker, and finishing the experiments whose tasks have ended."""

from __future__ import annotations

from collections import deque
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from fsvm_cli.config_io import model_from_json
from fsvm_cli.errors import FsvmError
from fsvm_cli.experiment.plan import Experiment
from fsvm_cli.experiment.running import TrialResult, run_trial
from fsvm_cli.runner.shared_arrays import Mapped
from fsvm_cli.spec.schema import Config

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from fsvm_cli.data.source import DataSource
    from fsvm_cli.experiment.plan import Trial
    from fsvm_cli.runner.session import Job
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
        By number of the competitor, the subset sizes that are wanted.
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


if TYPE_CHECKING:
    Call = Callable[[], Any]

Result = TypeVar("Result")

SECONDS_BETWEEN_POLLS = 0.25
"""How long Ctrl-C may wait where a wait for workers cannot be interrupted."""


def call_here(call: Callable[[], Result]) -> Future[Result]:
    """Make a call in this process, at once."""
    future: Future[Result] = Future()
    try:
        future.set_result(call())
    except Exception as error:  # noqa: BLE001 - whoever asks for the result is told
        future.set_exception(error)
    return future


class Finishing:
    """Finishes the jobs of a run that have ended.

    Parameters
    ----------
    jobs : sequence of Job

    Attributes
    ----------
    begin_call : callable
        Begins the call that a job gives: `call_here`, or the method `call` of a pool, once there is one.
    """

    def __init__(self, jobs: Sequence[Job]) -> None:
        self.begin_call: Callable[[Call], Future[Any]] = call_here
        self._jobs = jobs
        self._waiting: deque[int] = deque()
        self._begun: dict[Future[Any], tuple[int, Call | None]] = {}

    def add(self, *numbers: int) -> None:
        """Add jobs that have ended, by their numbers in the run."""
        self._waiting.extend(numbers)

    def step(self, seconds: float = 0.0) -> Iterator[int]:
        """Begin to finish one job at most, and yield the numbers of those that are finished.

        Parameters
        ----------
        seconds : float, default=0.0
            How long to wait for one, where no other job is to be begun.
        """
        if self._waiting:
            self._begin(self._waiting.popleft())
        wait(self._begun, 0.0 if self._waiting else seconds, FIRST_COMPLETED)
        for future in [each for each in self._begun if each.done()]:  # which `wait` does not say of one just cancelled
            number, call = self._begun.pop(future)
            # Its worker may have been lost; where the call itself failed, it fails again.
            is_lost = future.cancelled() or not isinstance(future.exception(), FsvmError | None)
            self._jobs[number].finished = call_here(call) if is_lost and call is not None else future
            yield number

    def rest(self) -> Iterator[int]:
        """Finish all that were added."""
        while self._waiting or self._begun:
            yield from self.step(SECONDS_BETWEEN_POLLS)

    def _begin(self, number: int) -> None:
        job, call = self._jobs[number], None
        try:
            call = None if job.finish is None else job.finish(job)
            future = call_here(_nothing) if call is None else self.begin_call(call)
        except Exception as error:  # noqa: BLE001 - as in `call_here`
            future = Future()
            future.set_exception(error)
        self._begun[future] = number, call


def _nothing() -> None:
    """Do nothing."""
