"""What keeps a table from being used: all of it in one message, which has two lines whatever there is to say."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, NamedTuple

from fsvm_cli.data.phrases import shown
from fsvm_cli.terminal import brief

if TYPE_CHECKING:
    from collections.abc import Sequence

LONGEST_LINE = 800
"""Characters that the second line has for mistakes; what finds no room is named, and told when those are mended."""


class Mistake(NamedTuple):
    """Something to be mended.

    Attributes
    ----------
    about : str
        What is wrong, in a few words: ``column 'age'``.
    text : str
        What is wrong with it, and what can be done; a second line may say the latter.
    """

    about: str
    text: str


def of_column(name: str, what: str) -> Mistake:
    """Say what is wrong with a column, and what can be done."""
    about = f"column '{brief(name)}'"
    return Mistake(about, f"{about} {what}")


def told(name: str, mistakes: Sequence[Mistake]) -> str:
    """Tell everything that is wrong with a table in at most two lines.

    The first line tells the first mistake, the second one the others, as many as have room; those beyond are named.

    Parameters
    ----------
    name : str
        Of the table.
    mistakes : sequence of Mistake
        One or more.
    """
    if len(mistakes) == 1:
        return f"{name}: {mistakes[0].text}"
    first, *others = [f"({number}) {_in_one_line(mistake)}" for number, mistake in enumerate(mistakes, start=1)]
    lengths = itertools.accumulate(len(other) + 1 for other in others)
    n_told = max(1, sum(length <= LONGEST_LINE for length in lengths))
    unnamed = shown([mistake.about for mistake in mistakes[1 + n_told :]])
    rest = [f"And more, told when these are mended: {unnamed}."] if unnamed else []
    return f"{name}: {len(mistakes)} things are to be mended. {first}\n{' '.join([*others[:n_told], *rest])}"


def _in_one_line(mistake: Mistake) -> str:
    text = mistake.text.replace("\n", ". ")
    return text if text.endswith((".", "?")) else f"{text}."
