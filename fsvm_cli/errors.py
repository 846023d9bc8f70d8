"""Mistakes and mishaps that a person can mend: one or two lines each, and an exit code that says which kind."""

from __future__ import annotations

from typing import ClassVar


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
    none.csv: cannot be read (No such file or directory); give the path of a file that can be
    """

    exit_code = 3


class TrialsFailedError(FsvmError):
    """Some trials failed; what the others found is kept and usable."""

    exit_code = 4
