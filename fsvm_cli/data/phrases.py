"""Names in messages."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from fsvm_cli.terminal import brief, visible

if TYPE_CHECKING:
    from collections.abc import Sequence

NAMES_SHOWN = 5
NAMES_COMPARED = 5000


def shown(names: Sequence[str], at_most: int = NAMES_SHOWN) -> str:
    """Join names for a message, the first few of many."""
    more = len(names) - at_most
    return ", ".join(visible(name) for name in names[:at_most]) + (f" and {more} more" if more > 0 else "")


def nearest(word: str, names: Sequence[str]) -> str:
    """Say which of `names` the reader may have meant by `word`, or else which there are."""
    by_lower_case = {name.lower(): name for name in names[:NAMES_COMPARED]}
    near = difflib.get_close_matches(word.lower(), by_lower_case, n=3, cutoff=0.6)
    if near:
        return "did you mean " + " or ".join(f"'{brief(by_lower_case[name])}'" for name in near) + "?"
    return f"there are: {shown(names, 40)}"


def numbered(n_features: int) -> tuple[str, ...]:
    """Names for features that have none: x1, x2, ..."""
    return tuple(f"x{number}" for number in range(1, n_features + 1))
