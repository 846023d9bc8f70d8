"""How much a command tells of its work: `--quiet` nothing but mistakes, `--verbose` times and tracebacks, too."""

from __future__ import annotations

import contextlib
import time
from typing import TYPE_CHECKING, Any, TypeVar

import click

from fsvm_cli.byte_bar import QUIET, is_quiet
from fsvm_cli.errors import ExperimentFailedError, FsvmError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

Command = TypeVar("Command", bound="Callable[..., Any]")

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
