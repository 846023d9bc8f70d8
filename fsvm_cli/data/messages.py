"""Messages about data: names in them, suggestions, and all that keeps a table from being used in at most two lines."""

from __future__ import annotations

import difflib
import itertools
from typing import TYPE_CHECKING, NamedTuple

from fsvm_cli.console import brief, visible

if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_NAMES_SHOWN = 5
MAX_NAMES_COMPARED = 5000


def shown(names: Sequence[str], at_most: int = MAX_NAMES_SHOWN) -> str:
    """Join names for a message, the first few of many."""
    more = len(names) - at_most
    return ", ".join(visible(name) for name in names[:at_most]) + (f" and {more} more" if more > 0 else "")


def nearest(word: str, names: Sequence[str]) -> str:
    """Suggest names with a spelling similar to `word`, or else list the names."""
    by_lower_case = {name.lower(): name for name in names[:MAX_NAMES_COMPARED]}
    near = difflib.get_close_matches(word.lower(), by_lower_case, n=3, cutoff=0.6)
    if near:
        return "did you mean " + " or ".join(f"'{brief(by_lower_case[name])}'" for name in near) + "?"
    return f"there are: {shown(names, 40)}"


def numbered(n_features: int) -> tuple[str, ...]:
    """Names for features that have none: x1, x2, ..."""
    return tuple(f"x{number}" for number in range(1, n_features + 1))


MAX_SECOND_LINE_LENGTH = 800
"""Characters; of further issues only the column is named."""


class TableIssue(NamedTuple):
    """One thing that keeps a table from being used.

    Attributes
    ----------
    about : str
        What is wrong, in a few words: ``column 'age'``.
    text : str
        What is wrong with it and the remedy, which may be on a second line.
    """

    about: str
    text: str


def of_column(name: str, what: str) -> TableIssue:
    """Build the issue of a column from what is wrong with it and the remedy."""
    about = f"column '{brief(name)}'"
    return TableIssue(about, f"{about} {what}")


def issues_in_words(name: str, issues: Sequence[TableIssue]) -> str:
    """Write all issues of a table in at most two lines.

    The first line contains the first issue, the second as many others as fit into `MAX_SECOND_LINE_LENGTH`; the rest
    are listed by `TableIssue.about`.

    Parameters
    ----------
    name : str
        Of the table.
    issues : sequence of TableIssue
        One or more.
    """
    if len(issues) == 1:
        return f"{name}: {issues[0].text}"
    first, *others = [f"({number}) {_in_one_line(issue)}" for number, issue in enumerate(issues, start=1)]
    lengths = itertools.accumulate(len(other) + 1 for other in others)
    n_written = max(1, sum(length <= MAX_SECOND_LINE_LENGTH for length in lengths))
    unnamed = shown([issue.about for issue in issues[1 + n_written :]])
    rest = [f"More problems, shown in full once these are solved: {unnamed}."] if unnamed else []
    return f"{name}: {len(issues)} problems. {first}\n{' '.join([*others[:n_written], *rest])}"


def _in_one_line(issue: TableIssue) -> str:
    text = issue.text.replace("\n", ". ")
    return text if text.endswith((".", "?")) else f"{text}."
