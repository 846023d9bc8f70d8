"""Tables on a terminal and the page, and in Markdown and LaTeX with numbers rounded to their uncertainty."""

from __future__ import annotations

import math
import re
import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from rich.table import Table

from fsvm_cli.console import visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

SIGNIFICANT_DIGITS = 2
"""Digits of an uncertainty that are written."""
DECIMALS_WITHOUT = 2
"""Of a number whose uncertainty is not known."""
PAGE_WIDTH_POINTS = 345.0
"""Width of the text in LaTeX's article at ten points."""
POINTS_OF_CAPITAL, POINTS_OF_SIGN, POINTS_OF_SPACE = 7.5, 5.2, 3.4
"""Of Computer Modern at ten points; a point and a comma are no wider than a space."""
COLUMN_GAP_POINTS = 12.0
"""Between two columns."""
ROWS_PER_PAGE = 36
NUMBER = re.compile(r"[\d.]+")
NEW_LINE = r"\\"
TITLE_CHARACTERS_PER_LINE = 14
"""Signs in a line of a column's title, at least."""
LATEX = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "±": r"$\pm$",
        "–": "--",
        **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    }
)
MARKDOWN = str.maketrans({sign: f"\\{sign}" for sign in "\\|*_`<[#"})


@dataclass(frozen=True)
class Estimate:
    """A mean in its unit, in most cases percent, and the half-width of its 95 % interval; NaN where there is none.

    Attributes
    ----------
    mean, half_width : float
    limits : (float, float) or None
        Of an interval that need not be symmetric, which is then written in its place.
    decimals : int
        Beside such limits; one more without.
    """

    mean: float
    half_width: float
    limits: tuple[float, float] | None = None
    decimals: int = 1

    def __str__(self) -> str:
        if math.isnan(self.mean):  # there is no classifier in any trial
            return "–"
        if self.limits is not None:
            mean, low, high = (f"{number:.{self.decimals}f}" for number in (self.mean, *self.limits))
            return f"{mean} [{low}, {high}]"
        numbers = (self.mean,) if math.isnan(self.half_width) else (self.mean, self.half_width)
        return " ± ".join(f"{number:.{self.decimals + 1}f}" for number in numbers)


@dataclass(frozen=True)
class ResultTable:
    """A table of results; the first cell of a row is its heading.

    Attributes
    ----------
    title : str
        What is measured, in which unit, and under which condition.
    columns : tuple of str
    rows : tuple of tuple of str or Estimate
    note : str
        Printed below the table: what the numbers are, and how many trials they cover.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str | Estimate, ...], ...]
    note: str = ""

    def on_terminal(self) -> Table:
        """Convert to a table of rich."""
        table = Table(title=self.title, title_justify="left")
        for name in self.columns:
            table.add_column(name, overflow="fold")
        for row in self.rows:
            table.add_row(*map(str, row))
        return table


def rounded(estimate: Estimate) -> tuple[str, str]:
    """Write a mean and its uncertainty, both to the decimal at which the uncertainty has two significant digits.

    Returns
    -------
    tuple of str
        The mean, and the uncertainty or an empty text; a dash for a mean that is not there.
    """
    if math.isnan(estimate.mean):
        return "–", ""
    if math.isnan(estimate.half_width):
        return f"{estimate.mean:.{DECIMALS_WITHOUT}f}", ""
    if estimate.half_width == 0.0:
        return f"{estimate.mean:.{DECIMALS_WITHOUT}f}", f"{0:.{DECIMALS_WITHOUT}f}"
    # The exponent of the rounded number: .0996 is .10, and no longer .100.
    exponent = int(f"{estimate.half_width:.{SIGNIFICANT_DIGITS - 1}e}".partition("e")[2])
    decimals = SIGNIFICANT_DIGITS - 1 - exponent
    if decimals >= 0:
        return f"{estimate.mean:.{decimals}f}", f"{estimate.half_width:.{decimals}f}"
    return f"{round(estimate.mean, decimals):.0f}", f"{round(estimate.half_width, decimals):.0f}"


def printed_table(table: ResultTable, caption: str, style: Literal["markdown", "latex"]) -> str:
    """Write a table as Markdown, or as LaTeX for the package booktabs.

    Parameters
    ----------
    table : ResultTable
        With a row for each size, and a column for each method.
    caption : str
        What the table is of.
    style : {"markdown", "latex"}
    """
    return _latex(table, caption) if style == "latex" else _markdown(table, caption)


def _titles_and_rows(table: ResultTable) -> tuple[list[str], list[list[str]]]:
    """Arrange methods across, or down where there are more of them than sizes."""
    rows = [
        [str(cell) if isinstance(cell, str) or cell.limits else " ± ".join(filter(None, rounded(cell))) for cell in row]
        for row in table.rows
    ]
    leading, *methods = map(visible, table.columns)
    if len(rows) >= len(methods):
        return [leading, *methods], rows
    sizes, *by_method = zip(*rows, strict=True)
    titles = [f"{size} {leading.removesuffix('s') if size == '1' else leading}" for size in sizes]
    return ["", *titles], [[method, *cells] for method, cells in zip(methods, by_method, strict=True)]


def _markdown(table: ResultTable, caption: str) -> str:
    titles, rows = _titles_and_rows(table)
    rule = ["---:" if titles[0] else ":---", *["---:"] * (len(titles) - 1)]
    lines = [
        [cell.translate(MARKDOWN) for cell in titles],
        rule,
        *([cell.translate(MARKDOWN) for cell in row] for row in rows),
    ]
    body = "".join(f"| {' | '.join(line)} |\n" for line in lines)
    heading = f"{caption}: test {table.title}"
    return f"**{visible(heading).translate(MARKDOWN)}**\n\n{body}\n{table.note}\n"


def _latex(table: ResultTable, caption: str) -> str:
    """Write as many floats as it takes for none to be wider or longer than a page."""
    titles, rows = _titles_and_rows(table)
    columns = list(zip(*rows, strict=True))
    lines_of = [
        textwrap.wrap(title, max(TITLE_CHARACTERS_PER_LINE, *map(len, column)))
        for title, column in zip(titles, columns, strict=True)
    ]
    widths = [max(map(_points, (*column, *lines))) for column, lines in zip(columns, lines_of, strict=True)]
    head, body = [_stacked(lines) for lines in lines_of], [[_in_latex(cell) for cell in row] for row in rows]
    parts = [
        [[row[column] for column in columns] for row in (head, *body[begin : begin + ROWS_PER_PAGE])]
        for columns in _columns_side_by_side(widths)
        for begin in range(0, len(body), ROWS_PER_PAGE)
    ]
    heading = f"{caption}: test {table.title}"
    if len(parts) == 1:
        return _float(parts[0], f"{heading}. {table.note}")
    notes = [table.note, *[""] * (len(parts) - 1)]
    return "\n".join(
        _float(part, f"{heading}, part {number} of {len(parts)}. {note}".strip())
        for number, (part, note) in enumerate(zip(parts, notes, strict=True), start=1)
    )


def _points(words: str) -> float:
    """Estimate how wide words are in LaTeX."""
    n_narrow, n_capitals = sum(sign in " .," for sign in words), sum(map(str.isupper, words))
    n_others = len(words) - n_narrow - n_capitals
    return n_narrow * POINTS_OF_SPACE + n_capitals * POINTS_OF_CAPITAL + n_others * POINTS_OF_SIGN


def _columns_side_by_side(widths: Sequence[float]) -> Iterator[list[int]]:
    """Group the columns that a page has room for; each group begins with the first, which leads down the table."""
    group = [0]
    for column in range(1, len(widths)):
        if len(group) > 1 and sum(COLUMN_GAP_POINTS + widths[each] for each in (*group, column)) > PAGE_WIDTH_POINTS:
            yield group
            group = [0]
        group.append(column)
    yield group


def _stacked(lines: Sequence[str]) -> str:
    if len(lines) > 1:
        return rf"\shortstack[r]{{{NEW_LINE.join(map(_in_latex, lines))}}}"
    return "".join(map(_in_latex, lines))


def _in_latex(words: str) -> str:
    estimate, _, uncertainty = words.partition(" ± ")
    if uncertainty and NUMBER.fullmatch(estimate) and NUMBER.fullmatch(uncertainty):
        return rf"${estimate} \pm {uncertainty}$"
    return words.translate(LATEX)


def _float(lines: Sequence[Sequence[str]], caption: str) -> str:
    head, *body = [f"{' & '.join(line)} \\\\" for line in lines]
    return "\n".join(
        [
            r"\begin{table}",
            r"\centering",
            f"\\caption{{{_in_latex(visible(caption))}}}",
            f"\\begin{{tabular}}{{{'r' if lines[0][0] else 'l'}{'r' * (len(lines[0]) - 1)}}}",
            r"\toprule",
            head,
            r"\midrule",
            *body,
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
            "",
        ]
    )
