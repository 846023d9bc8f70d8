"""A ranking of features as text."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Any

from rich.table import Table

from fsvm_cli.console import open_console
from fsvm_cli.terminal import json_text, without_formulas, write_for_machines

if TYPE_CHECKING:
    from fsvm_cli.experiment.rank import FeatureRanking

MOST_ROWS = 1000
"""Of the table for people, which takes half a millisecond a row; CSV and JSON hold every feature."""


def print_ranking(ranking: FeatureRanking, style: str, *, for_spreadsheet: bool = False) -> None:
    """Print a ranking, best feature first; a column of words is one row, and JSON and the table show its words below.

    The table ends after `MOST_ROWS` features, and says so.

    Parameters
    ----------
    ranking : FeatureRanking
    style : {"table", "csv", "json"}
    for_spreadsheet : bool
        Whether CSV is written by `without_formulas`.
    """
    rows = ranking.rows()
    if style == "json":
        content = {
            "method": ranking.method,
            "n_samples": ranking.n_samples,
            "n_features": len(ranking.feature_names),
            "converged": ranking.converged,
            "chosen": ranking.chosen,
            "features": [row | _words_of(str(row["feature"]), ranking) for row in rows],
        }
        write_for_machines(json_text(content))
    elif style == "csv":
        stream = io.StringIO()
        writer = csv.DictWriter(stream, ["rank", "feature", "index", "score"], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        text = stream.getvalue()
        write_for_machines(without_formulas(text) if for_spreadsheet else text)
    else:
        _print_table(ranking, rows)


def _print_table(ranking: FeatureRanking, rows: list[dict[str, Any]]) -> None:
    table = Table("rank", "feature", "score")
    table.columns[0].justify = table.columns[2].justify = "right"
    for row in rows[:MOST_ROWS]:
        table.add_row(str(row["rank"]), str(row["feature"]), f"{row['score']:.6g}")
        for word, score in ranking.words.get(str(row["feature"]), {}).items():
            table.add_row("", f"  {word}", f"{score:.6g}", style="dim")
    console = open_console()
    console.print(f"{ranking.method}: {len(rows)} features ranked on {ranking.n_samples} samples")
    if ranking.chosen:
        console.print("chosen: " + ", ".join(f"{name} {value}" for name, value in ranking.chosen.items()))
    console.print(table)
    if len(rows) > MOST_ROWS:
        console.print(f"and {len(rows) - MOST_ROWS:,} features more; --format csv lists all")


def _words_of(feature: str, ranking: FeatureRanking) -> dict[str, dict[str, float]]:
    """Give what a row says beside what every row does: the scores of the words, where it is a column of words."""
    return {"words": ranking.words[feature]} if feature in ranking.words else {}
