"""Tables for a paper or a web page: numbers rounded to what is known of them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

from fsvm_cli.terminal import visible

if TYPE_CHECKING:
    from fsvm_cli.report.curve_table import CurveTable, Estimate

SIGNIFICANT = 2
"""Digits of an uncertainty that are written."""
DECIMALS_WITHOUT = 2
"""Of a number whose uncertainty is not known."""
LATEX = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    }
)
MARKDOWN = str.maketrans({sign: f"\\{sign}" for sign in "\\|*_`<[#"})


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
        return f"{estimate.mean:.{DECIMALS_WITHOUT}f}", "0"
    # The exponent of the rounded number: .0996 is .10, and no longer .100.
    exponent = int(f"{estimate.half_width:.{SIGNIFICANT - 1}e}".partition("e")[2])
    decimals = SIGNIFICANT - 1 - exponent
    if decimals >= 0:
        return f"{estimate.mean:.{decimals}f}", f"{estimate.half_width:.{decimals}f}"
    return f"{round(estimate.mean, decimals):.0f}", f"{round(estimate.half_width, decimals):.0f}"


def printed_table(table: CurveTable, caption: str, style: Literal["markdown", "latex"]) -> str:
    """Write a table as Markdown, or as LaTeX for the package booktabs.

    Parameters
    ----------
    table : CurveTable
    caption : str
        What the table is of.
    style : {"markdown", "latex"}
    """
    return _latex(table, caption) if style == "latex" else _markdown(table, caption)


def _markdown(table: CurveTable, caption: str) -> str:
    columns = [visible(column).translate(MARKDOWN) for column in table.columns]
    lines = [columns, ["---:"] * len(columns)]
    for size, estimates in zip(table.sizes, table.estimates, strict=True):
        lines.append([str(size), *(" ± ".join(filter(None, rounded(each))) for each in estimates)])
    body = "".join(f"| {' | '.join(line)} |\n" for line in lines)
    heading = f"{caption}: test {table.quantity}"
    return f"**{visible(heading).translate(MARKDOWN)}**\n\n{body}\n{table.note}\n"


def _latex(table: CurveTable, caption: str) -> str:
    def cell(estimate: Estimate) -> str:
        mean, uncertainty = rounded(estimate)
        return f"${mean} \\pm {uncertainty}$" if uncertainty else mean.replace("–", "--")

    def text(words: str) -> str:
        return visible(words).translate(LATEX).replace("±", r"$\pm$")

    rows = [[str(size), *map(cell, estimates)] for size, estimates in zip(table.sizes, table.estimates, strict=True)]
    lines = [f"{' & '.join(row)} \\\\" for row in ([text(column) for column in table.columns], *rows)]
    return "\n".join(
        [
            r"\begin{table}",
            r"\centering",
            f"\\caption{{{text(f'{caption}: test {table.quantity}. {table.note}')}}}",
            f"\\begin{{tabular}}{{{'r' * len(table.columns)}}}",
            r"\toprule",
            lines[0],
            r"\midrule",
            *lines[1:],
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
            "",
        ]
    )
