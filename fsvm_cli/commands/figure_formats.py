"""The option that says which files figures are written to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from collections.abc import Callable

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
