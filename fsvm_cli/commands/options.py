"""The option that says which files figures are written to.

How much a command tells of its work: `--quiet` nothing but mistakes, `--verbose` times and tracebacks, too.

Who runs the trials of `fsvm run`, as its options say.

Options of the commands that read a file of the user's own.
"""

from __future__ import annotations

import contextlib
import os
import time
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import click

from fsvm_cli.console import QUIET, is_quiet
from fsvm_cli.errors import ExperimentFailedError, FsvmError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from fsvm_cli.experiment.plan import Experiment
    from fsvm_cli.runner.pools import Pool

Command = TypeVar("Command", bound="Callable[..., Any]")


def with_formats(command: Command) -> Command:
    """Give a command the option `--format`, as `formats`."""
    return click.option(
        "--format",
        "formats",
        type=click.Choice(["svg", "png", "pdf"]),
        multiple=True,
        default=("svg", "png"),
        show_default=True,
        help="File format of figures; may be given more than once.",
    )(command)


VERBOSE = "fsvm.verbose"


def with_verbosity(command: Command) -> Command:
    """Give a command the options `--quiet` and `--verbose`."""
    for name, key, words in (
        ("--verbose", VERBOSE, "Tell how long each step took, and where in the code something failed."),
        ("--quiet", QUIET, "Tell nothing but mistakes."),
    ):
        command = click.option(name, is_flag=True, expose_value=False, callback=_noting(key), help=words)(command)
    return command


def _noting(key: str) -> Callable[[click.Context, click.Parameter, bool], None]:
    def note(ctx: click.Context, _: click.Parameter, value: bool) -> None:
        ctx.meta[key] = value
        if ctx.meta.get(QUIET) and ctx.meta.get(VERBOSE):
            raise click.UsageError("--quiet and --verbose ask for opposite things; leave out one", ctx)

    return note


def tell(message: str, *, err: bool = False) -> None:
    """Print a line, unless the command was asked to be quiet."""
    if not is_quiet():
        click.echo(message, err=err)


@contextlib.contextmanager
def step(name: str) -> Iterator[None]:
    """Run a step, and tell how long it took where that was asked for."""
    begin = time.monotonic()
    yield
    tell_time(name, time.monotonic() - begin)


def tell_time(name: str, seconds: float) -> None:
    """Tell how long a step took, wherever it was taken, where that was asked for."""
    if _is_verbose():
        click.echo(f"{name}: {seconds:.1f} s", err=True)


def tell_traceback(traceback: str) -> None:
    """Print where in the code something failed, where that was asked for."""
    if traceback and _is_verbose():
        click.echo(traceback, err=True)


def raise_as_one(errors: Sequence[FsvmError]) -> None:
    """Raise the first error after telling the others, and tracebacks where these were asked for."""
    for error in errors:
        if isinstance(error, ExperimentFailedError):
            tell_traceback(error.traceback)
    for error in errors[1:]:
        click.echo(f"fsvm: {error}", err=True)
    if errors:
        raise errors[0]


def _is_verbose() -> bool:
    context = click.get_current_context(silent=True)
    return context is not None and bool(context.meta.get(VERBOSE))


@dataclass(frozen=True)
class Workers:
    """Who runs the trials.

    Attributes
    ----------
    words : str
        For people.
    number : int
        How many trials run at once; 1 where only the cluster knows.
    open_pool : callable
        As `fsvm_cli.runner.session.run` takes it.
    """

    words: str
    number: int
    open_pool: Callable[[Sequence[Experiment], int], Pool]


def choose_workers(jobs: int | None, dask: str | None) -> Workers:
    """Choose by ``--jobs`` and ``--dask``; all cores of this machine where both are None.

    Raises
    ------
    UsageError
        If both are given, or Dask is not installed.
    """
    from fsvm_cli.errors import UsageError

    if dask is None:
        n_jobs = jobs or _n_cores()
        words = f"{n_jobs} {'job' if n_jobs == 1 else 'jobs'}"
        return Workers(words, n_jobs, partial(_open_local_pool, n_jobs))
    if jobs is not None:
        raise UsageError("--jobs is for processes of this machine, --dask for a cluster; give one of the two")
    try:
        from fsvm_cli.runner.dask_pool import DaskPool
    except ImportError as error:
        raise UsageError(
            "--dask needs the package distributed, which is not installed; pip install distributed"
        ) from error
    return Workers(f"Dask at {dask}", 1, lambda experiments, _: DaskPool(experiments, dask))


def _open_local_pool(n_jobs: int, experiments: Sequence[Experiment], n_tasks: int) -> Pool:
    from fsvm_cli.runner.session import open_local_pool

    return open_local_pool(n_jobs, experiments, n_tasks)


def _n_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


_OPTIONS_OF_TABLE = (
    click.option("--target", metavar="COLUMN", help="Column that holds the class."),
    click.option(
        "--missing",
        type=click.Choice(["refuse", "drop", "mean", "median", "most-frequent", "indicator"]),
        default="refuse",
        show_default=True,
        help="What to do about missing values: drop the rows, or fill them by what training rows show; "
        "indicator: by the mean, with a feature that tells where.",
    ),
    click.option(
        "--categorical",
        type=click.Choice(["refuse", "one-hot", "ordinal"]),
        default="refuse",
        show_default=True,
        help="What to do about columns of words: a feature for each word, or numbers in the order of the alphabet.",
    ),
    click.option(
        "--groups",
        metavar="COLUMN",
        help="Column that is no feature: its rows with the same value stay on one side of every split.",
    ),
    click.option("--dense", is_flag=True, help="Read a LIBSVM file into a full matrix, which most methods need."),
    click.option(
        "--drop", multiple=True, metavar="COLUMN", help="Columns that are no features: a,b or --drop a --drop b."
    ),
)
_OPTIONS_OF_TEXT = (
    click.option(
        "--separator",
        type=click.Choice([",", ";", "tab", "|", "space", ":"]),
        help="Between the fields of a text; by default, what the header says.",
    ),
    click.option("--encoding", metavar="NAME", help="Of a text, such as cp1252; UTF-8 and UTF-16 are recognised."),
    click.option(
        "--decimal",
        type=click.Choice([".", ","]),
        help="What stands before decimals; commas are recognised where they cannot be anything else.",
    ),
    click.option(
        "--na",
        multiple=True,
        metavar="WORD",
        help="What stands for a missing value; may be given again. A dash among words is a word then.",
    ),
)


def options_of_text(command: Command) -> Command:
    """Add the options that say how a text holds its table, by the names that they have in configs."""
    return _with(_OPTIONS_OF_TEXT, command)


def options_of_table(command: Command) -> Command:
    """Add the options that say how a table becomes numbers and classes, by the names that they have in configs."""
    return _with(_OPTIONS_OF_TABLE, command)


def _with(options: Sequence[Callable[[Command], Command]], command: Command) -> Command:
    for option in reversed(options):
        command = option(command)
    return command
