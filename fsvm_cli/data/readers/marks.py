"""What people write where a value is missing."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from fsvm_cli.data.phrases import shown
from fsvm_cli.terminal import brief

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

MARKS_AMONG_WORDS = frozenset({"", "-", "--", "–", "—", "n/a", "#n/a", "#nv", "#value!", "#div/0!"})
"""What stands for a missing value in a column of words; in small letters, without blanks."""
MARKS_AMONG_NUMBERS = MARKS_AMONG_WORDS | {".", "?", "na", "nan", "null", "none"}
"""The same where the other values of a column are numbers, so that words cannot be meant."""
_SIGNS = re.compile(r"[-+±/–—−]+")


def is_mark(value: str, marks: Collection[str]) -> bool:
    """Tell whether a value is one of the marks, in capitals or not and with blanks around it or not."""
    return value.strip().lower() in marks


def marks_among_words(values: Sequence[str]) -> list[str]:
    """List which of the different values of a column of words stand for a missing one.

    A dash is a word where others are signs too, such as ``+``, and where a single word stands beside the marks: a
    column of ``x`` and ``-`` tells by the dash that there is no x.
    """
    marks = [value for value in values if is_mark(value, MARKS_AMONG_WORDS)]
    words = {value.strip() for value in values} - {mark.strip() for mark in marks}
    is_told_by_signs = any(_SIGNS.fullmatch(word) for word in words)
    return [] if len(words) < 2 or is_told_by_signs else marks


def found_in(name: str, marks: Sequence[str], n_rows: int) -> str:
    """Say which marks a column has, and in how many rows."""
    return f"'{brief(name)}' ({shown([brief(repr(mark)) for mark in marks])} in {n_rows} rows)"
