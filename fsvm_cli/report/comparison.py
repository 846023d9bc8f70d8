"""The tables of verdicts of several experiments in one."""

from __future__ import annotations

import fnmatch
import io
import json
from typing import TYPE_CHECKING, Any

import pandas as pd
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from fsvm_cli.report.numbers import as_csv
from fsvm_cli.report.results import VERDICTS_NAME
from fsvm_cli.report.tables import read_table

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

COLOURS = {"reproduced": "green", "differs": "red", "inconclusive": "yellow", "not comparable": "dim"}
WIDTH_WITHOUT_TERMINAL = 160


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
    """Write a comparison as text.

    Parameters
    ----------
    comparison : DataFrame
        From `read_comparison`.
    style : {"table", "csv", "markdown", "json"}
    """
    if style == "csv":
        return as_csv(comparison)
    if style == "json":
        rows = json.loads(comparison.to_json(orient="records"))
        return json.dumps(rows, indent=2, ensure_ascii=False) + "\n"
    cells = [
        [_name(row, comparison), str(row.published), _found(row), str(row.verdict)]
        for row in comparison.itertuples(index=False)
    ]
    if style == "markdown":
        lines = ["| claim | published | reproduced | verdict |", "| --- | --- | --- | --- |"]
        lines += ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in cells]
        return "\n".join(lines) + "\n"
    return _table(cells)


def _name(row: Any, comparison: pd.DataFrame) -> str:
    """Name a claim, with its experiment where there are several."""
    return str(row.id) if comparison["experiment"].nunique() == 1 else f"{row.experiment}: {row.id}"


def _found(row: Any) -> str:
    """Say what was found, with its interval and in words what it is."""
    if pd.isna(row.reproduced):
        return str(row.rule)
    interval = "" if pd.isna(row.ci_low) else f" [{row.ci_low:.2f}, {row.ci_high:.2f}]"
    obstacle = f" ({row.rule})" if row.verdict == "not comparable" else ""
    return f"{row.reproduced:.2f}{interval} over {row.n} trials{obstacle}: {row.what}"


def _table(cells: list[list[str]]) -> str:
    table = Table()
    for title, ratio in (("claim", None), ("published", 3), ("reproduced", 4), ("verdict", None)):
        table.add_column(title, ratio=ratio, overflow="fold", no_wrap=title == "verdict")
    for claim, published, found, verdict in cells:
        table.add_row(
            escape(claim), escape(published), escape(found), f"[{COLOURS[verdict]}]{verdict}[/{COLOURS[verdict]}]"
        )
    terminal = Console()
    width = terminal.width if terminal.is_terminal else WIDTH_WITHOUT_TERMINAL
    console = Console(file=io.StringIO(), width=width, force_terminal=terminal.is_terminal, highlight=False)
    console.print(table)
    return str(console.file.getvalue())  # type: ignore[attr-defined]
