"""Errors that users can resolve: messages of one or two lines, and an exit code for each kind."""

from __future__ import annotations

import contextlib
import sys
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Self

if TYPE_CHECKING:
    from collections.abc import Iterator


class FsvmError(Exception):
    """What went wrong and what to do next, in the words that the command line prints.

    Attributes
    ----------
    exit_code : int
        What the process ends with when this error ends it.

    See Also
    --------
    UsageError : Something that was asked for is wrong.
    DataError : Something that is needed is not there.

    Examples
    --------
    >>> from fsvm_cli import FsvmError, load_dataset
    >>> try:
    ...     load_dataset("vine")
    ... except FsvmError as error:
    ...     print(error)
    there is no data set 'vine'; did you mean 'wine'? ('fsvm datasets list' shows all)
    """

    exit_code: ClassVar[int] = 1


class UsageError(FsvmError):
    """A wrong option or argument, a config that is wrong, or an experiment that cannot be planned.

    See Also
    --------
    DataError : Something that is needed is not there.

    Examples
    --------
    >>> from fsvm_cli import UsageError, rank
    >>> try:
    ...     rank("wine", method="rfe", C="much")
    ... except UsageError as error:
    ...     print(error)
    C: classifier.C is 'much'; it should be a number
    """

    exit_code = 2


class DataError(FsvmError):
    """Data, a stored result or a place to put one that is missing, corrupt or out of reach.

    See Also
    --------
    UsageError : Something that was asked for is wrong.

    Examples
    --------
    >>> from fsvm_cli import DataError, load_dataset
    >>> try:
    ...     load_dataset({"file": "none.csv", "target": "kind"})
    ... except DataError as error:
    ...     print(error)
    none.csv: cannot be read (No such file or directory); check its path
    """

    exit_code = 3


class TrialsFailedError(FsvmError):
    """Some trials failed; what the others found is kept and usable."""

    exit_code = 4


class ExperimentFailedError(FsvmError):
    """A table, a figure or the page of one experiment failed; its trials and the other experiments are kept.

    Attributes
    ----------
    traceback : str
        Where in the code it failed, in Python's words.
    """

    exit_code = 4
    traceback: str = ""

    @classmethod
    def of(cls, where: str, what: str, error: BaseException) -> Self:
        """Make one of what was raised.

        Parameters
        ----------
        where : str
            The experiment, or its folder.
        what : str
            Which of its results failed.
        error : BaseException
        """
        failure = cls(f"{where}: {what} failed ({named(error)}); the rest is kept (--verbose shows the traceback)")
        failure.traceback = "".join(traceback.format_exception(error))
        return failure


class Terminated(BaseException):
    """The process was asked to end (SIGTERM: a batch system's time limit, a service manager); like Ctrl-C."""


@contextlib.contextmanager
def quiet_in_place() -> Iterator[None]:
    """Send what code from outside prints to stderr, not among the answers, and come back to the current folder."""
    with contextlib.redirect_stdout(sys.stderr), contextlib.chdir(Path.cwd()):
        yield


@contextlib.contextmanager
def contained(name: str) -> Iterator[None]:
    """Turn what a method from outside must not do into an error that names it: end the process, write into the data."""
    try:
        yield
    except (KeyboardInterrupt, Terminated):
        raise
    except ValueError as error:
        if not any(words in str(error) for words in ("read-only", "WRITEABLE")):  # numpy's
            raise
        raise RuntimeError(f"{name} writes into the samples that it is given ({error}); let it copy them") from error
    except Exception:
        raise
    except BaseException as end:
        raise RuntimeError(f"{name} would have ended the process ({named(end)})") from end


@contextlib.contextmanager
def noting_failure(errors: list[FsvmError], where: str, what: str) -> Iterator[None]:
    """Add a failure of the results of one experiment to `errors`, so that the other experiments continue.

    Parameters
    ----------
    errors : list of FsvmError
    where, what
        As in `ExperimentFailedError.of`.
    """
    try:
        yield
    except FsvmError as error:
        errors.append(error)
    except Exception as error:  # noqa: BLE001 - whatever its tables or figures raise is its own failure
        errors.append(ExperimentFailedError.of(where, what, error))


def named(error: BaseException) -> str:
    """Return type and first line of an exception."""
    return ": ".join([type(error).__name__, *str(error).splitlines()[:1]])
