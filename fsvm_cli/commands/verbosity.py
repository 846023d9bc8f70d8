"""How much a command tells of its work: `--quiet` nothing but mistakes, `--verbose` the time of each step, too."""

from __future__ import annotations

import contextlib
import time
from typing import TYPE_CHECKING, Any, TypeVar

import click

from fsvm_cli.byte_bar import QUIET, is_quiet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Command = TypeVar("Command", bound="Callable[..., Any]")

VERBOSE = "fsvm.verbose"


def with_verbosity(command: Command) -> Command:
    """Give a command the options `--quiet` and `--verbose`."""
    for name, key, words in (
        ("--verbose", VERBOSE, "Tell how long each step took."),
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
    context = click.get_current_context(silent=True)
    if context is not None and context.meta.get(VERBOSE):
        click.echo(f"{name}: {seconds:.1f} s", err=True)
