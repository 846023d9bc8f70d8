"""What is left to do for an experiment whose trials are stored: partly here, partly wherever a core is idle."""

from __future__ import annotations

from collections import deque
from concurrent.futures import FIRST_COMPLETED, Future, wait
from typing import TYPE_CHECKING, Any, TypeVar

from fsvm_cli.errors import FsvmError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from fsvm_cli.runner.session import Job

    Call = Callable[[], Any]

Result = TypeVar("Result")

SECONDS_BETWEEN_LOOKS = 0.25
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
            yield from self.step(SECONDS_BETWEEN_LOOKS)

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
