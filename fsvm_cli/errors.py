"""Mistakes and mishaps that a person can mend: one or two lines each, and an exit code that says which kind."""

from __future__ import annotations

from typing import ClassVar


class FsvmError(Exception):
    """What went wrong and what to do next, in the words that the command line prints.

    Attributes
    ----------
    exit_code : int
        What the process ends with when this error ends it.
    """

    exit_code: ClassVar[int] = 1


class UsageError(FsvmError):
    """A wrong option or argument, a config that is wrong, or an experiment that cannot be planned."""

    exit_code = 2


class DataError(FsvmError):
    """Data, a stored result or a place to put one that is missing, corrupt or out of reach."""

    exit_code = 3


class TrialsFailedError(FsvmError):
    """Some trials failed; what the others found is kept and usable."""

    exit_code = 4
