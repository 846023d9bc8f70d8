"""Options that several commands share: formats, verbosity, spreadsheets, workers, reading of user files."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import click

from fsvm_cli.console import QUIET_KEY, is_quiet, without_formulas, write_for_machines
from fsvm_cli.errors import ExperimentFailedError, FsvmError, UsageError, noting_failure

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from fsvm_cli.experiment.experiment import Experiment
    from fsvm_cli.runner.pools import Pool

Command = TypeVar("Command", bound="Callable[..., Any]")


def with_formats(command: Command) -> Command:
    """Add the option `--format` to a command, as `formats`."""
    return click.option(
        "--format",
        "formats",
        type=click.Choice(["svg", "png", "pdf"]),
        multiple=True,
        default=("svg", "png"),
        show_default=True,
        help="File format of figures; may be given more than once.",
    )(command)


VERBOSE_KEY = "fsvm.verbose"


def with_verbosity(command: Command) -> Command:
    """Add the options `--quiet` and `--verbose` to a command."""
    for name, key, words in (
        ("--verbose", VERBOSE_KEY, "Print the time of each step, and the traceback of what failed."),
        ("--quiet", QUIET_KEY, "Print errors only."),
    ):
        command = click.option(name, is_flag=True, expose_value=False, callback=_noting(key), help=words)(command)
    return command


def _noting(key: str) -> Callable[[click.Context, click.Parameter, bool], None]:
    def note(ctx: click.Context, _: click.Parameter, value: bool) -> None:
        ctx.meta[key] = value
        if ctx.meta.get(QUIET_KEY) and ctx.meta.get(VERBOSE_KEY):
            raise click.UsageError("--quiet and --verbose exclude each other; leave out one", ctx)

    return note


def print_line(message: str, *, err: bool = False) -> None:
    """Print a line, unless the command was asked to be quiet."""
    if not is_quiet():
        click.echo(message, err=err)


@contextlib.contextmanager
def step(name: str) -> Iterator[None]:
    """Run a step, and print its time with `--verbose`."""
    begin = time.monotonic()
    yield
    print_time(name, time.monotonic() - begin)


SECONDS_BETWEEN_LINES = 10.0
"""Between two lines about the compilation."""


@contextlib.contextmanager
def compilation_progress() -> Iterator[None]:
    """Print how many functions numba has compiled so far, where none had been for these sources; not with `--quiet`.

    Nothing is printed where numba is not loaded at the start of the block, since filters need none of it.
    """
    from fsvm_cli.jit_cache import is_cold

    if is_quiet() or "numba" not in sys.modules or not is_cold():
        yield
        return
    from numba.core import event

    class Lines(event.Listener):
        begin = last_line = 0.0
        n_begun = n_compiled = 0

        def on_start(self, event: object) -> None:  # noqa: ARG002 - as numba calls it
            if not self.n_begun:
                self.begin = self.last_line = time.monotonic()
                print_line(
                    "compiling the numerical code, once on this machine: some 20 s",
                    err=True,
                )
            self.n_begun += 1

        def on_end(self, event: object) -> None:  # noqa: ARG002 - as numba calls it
            self.n_compiled += 1
            if time.monotonic() - self.last_line >= SECONDS_BETWEEN_LINES:
                self.print("so far")

        def print(self, when: str) -> None:
            self.last_line = time.monotonic()
            seconds = self.last_line - self.begin
            print_line(f"compiling: {self.n_compiled} functions {when}, {seconds:.0f} s", err=True)

    lines = Lines()
    with event.install_listener("numba:compile", lines):
        yield
    if lines.n_compiled:
        lines.print("in all")


def print_time(name: str, seconds: float) -> None:
    """Print the time of a step that was measured elsewhere, with `--verbose`."""
    if _is_verbose():
        click.echo(f"{name}: {seconds:.1f} s", err=True)


def print_traceback(traceback: str) -> None:
    """Print a traceback, with `--verbose`."""
    if traceback and _is_verbose():
        click.echo(traceback, err=True)


def raise_as_one(errors: Sequence[FsvmError]) -> None:
    """Print all errors but the first, with `--verbose` the tracebacks of all, and raise the first."""
    for error in errors:
        if isinstance(error, ExperimentFailedError):
            print_traceback(error.traceback)
    for error in errors[1:]:
        click.echo(f"fsvm: {error}", err=True)
    if errors:
        raise errors[0]


def readable(folders: Sequence[Path], read: Callable[[Path], object], errors: list[FsvmError]) -> list[Path]:
    """List the folders whose results can be read; the failures of the others are added to `errors`.

    A single folder is not tried: its failure ends the command anyway.

    Parameters
    ----------
    folders : sequence of Path
    read : callable
        Reads, of one folder, what the command needs of each.
    errors : list of FsvmError
    """
    if len(folders) == 1:
        return list(folders)
    kept = []
    for folder in folders:
        with noting_failure(errors, str(folder), "reading its results"):
            read(folder)
            kept.append(folder)
    if folders and not kept:
        raise_as_one(errors)
    return kept


def with_spreadsheet(command: Command) -> Command:
    """Add the option `--for-spreadsheet` to a command, as `for_spreadsheet`."""
    return click.option("--for-spreadsheet", is_flag=True, help=FOR_SPREADSHEET_HELP)(command)


FOR_SPREADSHEET_HELP = (
    "In CSV, put ' before texts that begin with =, +, - or @, which a spreadsheet would take for formulas."
)


def write_in_style(text: str, style: str, *, for_spreadsheet: bool) -> None:
    """Write text for other programs to standard output; CSV without formulas where this is asked for.

    Raises
    ------
    UsageError
        If `for_spreadsheet` and the style is not CSV.
    """
    check_spreadsheet(style, for_spreadsheet=for_spreadsheet)
    write_for_machines(without_formulas(text) if for_spreadsheet else text)


def check_spreadsheet(style: str, *, for_spreadsheet: bool) -> None:
    """Refuse `--for-spreadsheet` for what is not CSV."""
    if for_spreadsheet and style != "csv":
        raise UsageError("--for-spreadsheet applies to CSV only; add --format csv")


def _is_verbose() -> bool:
    context = click.get_current_context(silent=True)
    return context is not None and bool(context.meta.get(VERBOSE_KEY))


@dataclass(frozen=True)
class Workers:
    """What runs the trials: processes of this computer, or a Dask cluster.

    Attributes
    ----------
    words : str
        For people.
    number : int
        How many trials run at once; 1 for a cluster, whose size is unknown here.
    open_pool : callable
        As `fsvm_cli.runner.run.run` takes it.
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
    from fsvm_cli.runner.run import open_local_pool

    return open_local_pool(n_jobs, experiments, n_tasks)


def _n_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _once(_: click.Context, option: click.Parameter, values: tuple[str, ...]) -> str | None:
    """Refuse an option that is given twice, of which click takes the last without a word."""
    if len(values) > 1:
        raise UsageError(f"{option.opts[0]} is given {len(values)} times ({', '.join(values)}); give it once")
    return values[0] if values else None


_OPTIONS_OF_TABLE = (
    click.option("--target", multiple=True, callback=_once, metavar="COLUMN", help="Column that holds the class."),
    click.option(
        "--missing",
        type=click.Choice(["refuse", "drop", "mean", "median", "most-frequent", "indicator"]),
        multiple=True,
        callback=_once,
        default=["refuse"],
        show_default=True,
        help="How to treat missing values: refuse them, drop the rows, or fill in a value of the training rows; "
        "indicator: the mean, and a feature that marks the gaps.",
    ),
    click.option(
        "--categorical",
        type=click.Choice(["refuse", "one-hot", "ordinal"]),
        multiple=True,
        callback=_once,
        default=["refuse"],
        show_default=True,
        help="How to treat columns of words: refuse them, a feature for each word, or numbers in alphabetical order.",
    ),
    click.option(
        "--groups",
        multiple=True,
        callback=_once,
        metavar="COLUMN",
        help="Column of groups, not a feature: rows with the same value stay on one side of every split.",
    ),
    click.option("--dense", is_flag=True, help="Read a LIBSVM file into a full matrix, which most methods need."),
    click.option("--drop", multiple=True, metavar="COLUMN", help="Columns to leave out: a,b or --drop a --drop b."),
    click.option(
        "--words", multiple=True, metavar="COLUMN", help="Columns of words, also where these are digits or NA."
    ),
)
_OPTIONS_OF_TEXT = (
    click.option(
        "--separator",
        multiple=True,
        callback=_once,
        type=click.Choice([",", ";", "tab", "|", "space", ":"]),
        help="Field separator of a text file; by default recognised from the header.",
    ),
    click.option(
        "--encoding",
        multiple=True,
        callback=_once,
        metavar="NAME",
        help="Encoding of a text file, such as cp1252; UTF-8 and UTF-16 are recognised.",
    ),
    click.option("--no-header", is_flag=True, help="The first line of a text is a row; columns: column1, column2, ..."),
    click.option(
        "--decimal",
        multiple=True,
        callback=_once,
        type=click.Choice([".", ","]),
        help="Decimal mark; commas are recognised where they cannot be anything else.",
    ),
    click.option(
        "--sheet",
        multiple=True,
        callback=_once,
        metavar="NAME",
        help="Sheet of an Excel workbook; by default the first.",
    ),
    click.option(
        "--header-rows",
        multiple=True,
        callback=_once,
        metavar="N or A-B",
        help="Rows of a sheet that hold the names of columns: the first N, or A to B.",
    ),
    click.option(
        "--na",
        multiple=True,
        metavar="WORD",
        help="Word for a missing value; may be given more than once. A dash then counts as a word.",
    ),
)


def options_of_text(command: Command) -> Command:
    """Add the options about the format of a text, with the names that they have in configs."""
    return _with(_OPTIONS_OF_TEXT, command)


def options_of_table(command: Command) -> Command:
    """Add the options about features and classes of a table, with the names that they have in configs."""
    return _with(_OPTIONS_OF_TABLE, command)


def _with(options: Sequence[Callable[[Command], Command]], command: Command) -> Command:
    for option in reversed(options):
        command = option(command)
    return command
