"""Options of the commands that read a file of the user's own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])

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
