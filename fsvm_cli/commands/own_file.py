"""Options of the commands that read a file of the user's own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])

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
    click.option("--na", multiple=True, metavar="WORD", help="What stands for a missing value; may be given again."),
)


def options_of_text(command: Command) -> Command:
    """Add the options that say how a text holds its table, by the names that they have in configs."""
    for option in reversed(_OPTIONS_OF_TEXT):
        command = option(command)
    return command
