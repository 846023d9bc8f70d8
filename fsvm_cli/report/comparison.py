"""The tables of verdicts of several experiments in one."""

from __future__ import annotations

import fnmatch
import json
from typing import TYPE_CHECKING, Any

import pandas as pd
from rich.table import Table
from rich.text import Text

from fsvm_cli.report.folder import VERDICTS_NAME
from fsvm_cli.report.numbers import as_csv
from fsvm_cli.report.table_files import read_table
from fsvm_cli.terminal import json_text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

COLOURS = {"reproduced": "green", "differs": "red", "inconclusive": "yellow", "not comparable": "dim", "fact": "dim"}


SMALLEST_P = 1e-4
"""Below, a p-value says no more."""


def read_comparison(folders: Sequence[Path], claims: str = "*") -> pd.DataFrame:
    """Read the verdicts of those experiments that claim something, with the experiment's name in front.

    A collection repeats verdicts of its experiments; each is listed once.

    Parameters
    ----------
    folders : sequence of Path
    claims : str
        Pattern, as of file names, that the identifiers of the claims match.
    """
    tables = []
    for folder in folders:
        if (folder / VERDICTS_NAME).exists():
            table = read_table(folder / VERDICTS_NAME)
            table = table[[fnmatch.fnmatchcase(claim, claims) for claim in table["id"]]]
            if "experiment" not in table:
                table.insert(0, "experiment", folder.resolve().name)
            tables.append(table)
    if not tables:
        return pd.DataFrame(columns=["experiment", "verdict"])
    return pd.concat(tables, ignore_index=True).drop_duplicates(["experiment", "id"], ignore_index=True)


def format_comparison(comparison: pd.DataFrame, style: str) -> str:
    """Write a comparison as text for other programs.

    Parameters
    ----------
    comparison : DataFrame
        From `read_comparison`.
    style : {"csv", "markdown", "json"}
    """
    return as_text(comparison, style, ("claim", "published", "reproduced", "verdict"), _cells(comparison))


def as_text(frame: pd.DataFrame, style: str, titles: Sequence[str], cells: Sequence[Sequence[str]]) -> str:
    """Write a table for other programs; in markdown, which people read, other cells stand in its place."""
    if style == "csv":
        return as_csv(frame)
    if style == "json":
        return json_text(json.loads(frame.to_json(orient="records")))
    rows = [titles, ["---"] * len(titles), *([cell.replace("|", "\\|") for cell in row] for row in cells)]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def comparison_table(comparison: pd.DataFrame) -> Table:
    """Arrange a comparison as a table for people."""
    table = Table()
    for title, ratio in (("claim", None), ("published", 3), ("reproduced", 4), ("verdict", None)):
        table.add_column(title, ratio=ratio, overflow="fold", no_wrap=title == "verdict")
    for claim, published, found, verdict in _cells(comparison):
        table.add_row(claim, published, found, Text(verdict, style=COLOURS[verdict]))
    return table


def _cells(comparison: pd.DataFrame) -> list[list[str]]:
    return [
        [_name(row, comparison), str(row.published), found_in_words(row), str(row.verdict)]
        for row in comparison.itertuples(index=False)
    ]


def _name(row: Any, comparison: pd.DataFrame) -> str:
    """Name a claim, with its experiment where there are several."""
    return str(row.id) if comparison["experiment"].nunique() == 1 else f"{row.experiment}: {row.id}"


def found_in_words(row: Any) -> str:
    """Say what was found, with its interval and in words what it is."""
    if pd.isna(row.reproduced):
        return str(row.rule)
    digits = ".2f" if abs(row.reproduced) >= 1.0 or row.reproduced == 0.0 else ".3g"
    interval = "" if pd.isna(row.ci_low) else f" [{row.ci_low:{digits}}, {row.ci_high:{digits}}]"
    trials = "trial" if row.n == 1 else "trials"
    obstacle = f" ({row.rule})" if row.verdict == "not comparable" else ""
    return f"{row.reproduced:{digits}}{interval} over {row.n} {trials}{_further(row)}{obstacle}: {row.what}"


def _further(row: Any) -> str:
    """Say what stands beside the interval that decides: Holm's p-value, and the answer for new data."""
    # Tables of older versions have no such columns.
    p_holm, new_data = getattr(row, "p_holm", None), getattr(row, "new_data", None)
    together = "" if pd.isna(p_holm) else f", p {'< 0.0001' if p_holm < SMALLEST_P else f'= {p_holm:.2g}'} by Holm"
    if pd.isna(new_data):
        return together
    return f"{together}; on new data [{row.new_data_low:.2f}, {row.new_data_high:.2f}], {new_data}"
