"""A ranking of features as text."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

if TYPE_CHECKING:
    from fsvm_cli.experiment.rank import FeatureRanking


def format_ranking(ranking: FeatureRanking, style: str) -> str:
    """Write a ranking, best feature first; a column of words is one row, and JSON and the table show its words below.

    Parameters
    ----------
    ranking : FeatureRanking
    style : {"table", "csv", "json"}
    """
    rows = [
        {
            "rank": rank,
            "feature": ranking.feature_names[index],
            "index": int(index),
            "score": float(ranking.scores[index]),
        }
        for rank, index in enumerate(ranking.order, start=1)
    ]
    stream = io.StringIO()
    if style == "json":
        content = {
            "method": ranking.method,
            "n_samples": ranking.n_samples,
            "n_features": len(ranking.feature_names),
            "converged": ranking.converged,
            "features": [row | _words_of(str(row["feature"]), ranking) for row in rows],
        }
        return json.dumps(content, indent=2, ensure_ascii=False) + "\n"
    if style == "csv":
        writer = csv.DictWriter(stream, ["rank", "feature", "index", "score"], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        return stream.getvalue()
    table = Table("rank", "feature", "score")
    table.columns[0].justify = table.columns[2].justify = "right"
    for row in rows:
        table.add_row(str(row["rank"]), str(row["feature"]), f"{row['score']:.6g}")
        for word, score in ranking.words.get(str(row["feature"]), {}).items():
            table.add_row("", f"  {word}", f"{score:.6g}", style="dim")
    console = Console(file=stream, width=100, highlight=False, markup=False)
    console.print(f"{ranking.method}: {len(rows)} features ranked on {ranking.n_samples} samples")
    console.print(table)
    return stream.getvalue()


def _words_of(feature: str, ranking: FeatureRanking) -> dict[str, dict[str, float]]:
    """Give what a row says beside what every row does: the scores of the words, where it is a column of words."""
    return {"words": ranking.words[feature]} if feature in ranking.words else {}
