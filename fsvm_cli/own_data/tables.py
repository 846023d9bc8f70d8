"""Printing of one ranking, or of several side by side, as a table, CSV or JSON."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Any

from rich.table import Table

from fsvm_cli.console import json_text, open_console, without_formulas, write_for_machines
from fsvm_cli.own_data.rank import places_in_words

if TYPE_CHECKING:
    from fsvm_cli.own_data.certify import ModelCertificate
    from fsvm_cli.own_data.rank import FeatureRanking
    from fsvm_cli.own_data.side_by_side import SideBySide

USUAL_RATE = 0.1
MAX_TABLE_ROWS = 1000
"""Of the printed table, which takes half a millisecond per row; CSV and JSON contain all features."""

MARKS = {"tied": " =", "copy": " c"}
"""After the rank of a feature that another one might have in its place, whatever the solver; or a copy of it."""


def print_ranking(ranking: FeatureRanking, style: str, *, for_spreadsheet: bool = False) -> None:
    """Print a ranking, best feature first; a column of words is one row, and JSON and the table show its words below.

    The table is cut after `MAX_TABLE_ROWS` features, with a remark.

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
            "n_with_score": ranking.n_with_score,
            "converged": ranking.converged,
            "chosen": ranking.chosen,
            **({} if ranking.controls is None else {"controls": ranking.controls}),
            "features": [row | _words_of(str(row["feature"]), ranking) for row in rows],
        }
        if ranking.certified is not None:
            content["certified"] = ranking.certified.summary
        write_for_machines(json_text(content))
    elif style == "csv":
        stream = io.StringIO()
        writer = csv.DictWriter(stream, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        text = stream.getvalue()
        write_for_machines(without_formulas(text) if for_spreadsheet else text)
    else:
        _print_ranking(ranking, rows)


def _print_ranking(ranking: FeatureRanking, rows: list[dict[str, Any]]) -> None:
    by_method = ["method_score"] if ranking.method_scores is not None else []
    ties = ["tied"] if ranking.tied.any() else []
    table = Table("rank", "feature", "score", *by_method, *(["q"] if ranking.controls else []), *ties)
    for column in (table.columns[0], *table.columns[2:]):
        column.justify = "right"
    for row in rows[:MAX_TABLE_ROWS]:
        mark = MARKS.get(row.get("verdict", ""), "")
        further = [f"{row['q_value']:.3f}"] if ranking.controls else []
        further += ["yes" if row["tied"] else ""] if ties else []
        scores = [f"{row[name]:.6g}" for name in ("score", *by_method)]
        table.add_row(f"{row['rank']}{mark}", str(row["feature"]), *scores, *further)
        for word, score in ranking.words.get(str(row["feature"]), {}).items():
            table.add_row("", f"  {word}", *[""] * len(by_method), f"{score:.6g}", style="dim")
    console = open_console()
    console.print(f"{ranking.method}: {len(rows)} features ranked on {ranking.n_samples} rows")
    if ranking.n_with_score < len(rows):
        console.print(f"{ranking.n_with_score} of {len(rows)} columns have a score")
    if ranking.chosen:
        console.print("chosen: " + ", ".join(f"{name} {value}" for name, value in ranking.chosen.items()))
    if ranking.q_values is not None:
        n_found = int((ranking.q_values <= USUAL_RATE).sum())
        by = {"permuted": "permuted controls", "knockoffs": "knockoffs"}[str(ranking.controls)]
        console.print(f"{n_found} features at a false discovery rate of {100 * USUAL_RATE:.0f} %, by {by}")
    console.print(table)
    if len(rows) > MAX_TABLE_ROWS:
        console.print(f"and {len(rows) - MAX_TABLE_ROWS:,} features more; --format csv lists all")
    if ranking.certified is not None:
        console.print(ranking.certified.summary)


def print_certificate(found: ModelCertificate, style: str) -> None:
    """Print what is certified of a model.

    Parameters
    ----------
    found : ModelCertificate
    style : {"table", "json"}
        JSON holds each row and each feature.
    """
    if style == "json":
        machines = [
            {
                "classes": each.name,
                "relative_gap": each.relative_gap,
                "distance_low": each.distance[0],
                "distance_high": each.distance[1],
                "norm": each.norm,
                "bias_low": each.bias[0],
                "bias_high": each.bias[1],
            }
            for each in found.machines
        ]
        content = {
            "machines": machines,
            "decided_predictions": found.decided_predictions.tolist(),
            "other_predictions": found.other_predictions.tolist(),
            "places": found.verdicts,
            "decided_sizes": found.decided_sizes.tolist(),
            "other_places": found.other_places,
            "remarks": list(found.remarks),
        }
        write_for_machines(json_text(content))
        return
    console = open_console()
    table = Table("machine", "relative gap", "distance to the optimum", "length of w")
    for column in table.columns[1:]:
        column.justify = "right"
    for each in found.machines:
        low, high = each.distance
        table.add_row(each.name, f"{each.relative_gap:.2g}", f"{low:.3g} to {high:.3g}", f"{each.norm:.4g}")
    console.print(table)
    decided = found.decided_predictions
    console.print(
        f"{int(decided.sum()):,} of {len(decided):,} predictions decided; {len(found.other_predictions):,} of them are "
        "others than the model's"
    )
    if found.verdicts is not None:
        places = places_in_words(found.verdicts, "places by the weights", found.decided_sizes, len(found.verdicts))
        console.print(f"{places}; the model gives {found.other_places:,} of the decided another")
    for remark in found.remarks:
        console.print(remark)


def _words_of(feature: str, ranking: FeatureRanking) -> dict[str, dict[str, float]]:
    """Return the additional key `words` of a row of JSON for a column of words."""
    return {"words": ranking.words[feature]} if feature in ranking.words else {}


def print_side_by_side(found: SideBySide, style: str, *, for_spreadsheet: bool = False) -> None:
    """Print the ranks of each feature by each method, by mean rank, and how far the methods agree.

    Parameters
    ----------
    found : SideBySide
    style : {"table", "csv", "json"}
    for_spreadsheet : bool
        Whether CSV is written by `without_formulas`.
    """
    rows, methods = _rows(found), [each.method for each in found.rankings]
    if style == "json":
        content = {
            "methods": methods,
            "n_samples": found.rankings[0].n_samples,
            "n_features": len(rows),
            "converged": all(each.converged for each in found.rankings),
            "features": rows,
            "agreement": [
                {"methods": list(pair), "spearman": round(value, 6)} for pair, value in found.agreement.items()
            ],
        }
        write_for_machines(json_text(content))
    elif style == "csv":
        stream = io.StringIO()
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(["rank", "feature", "index", "mean_rank", *methods])
        for row in rows:
            ranks = [row["ranks"][method] for method in methods]
            writer.writerow([row["rank"], row["feature"], row["index"], row["mean_rank"], *ranks])
        text = stream.getvalue()
        write_for_machines(without_formulas(text) if for_spreadsheet else text)
    else:
        _print_side_by_side(found, rows, methods)


def _rows(found: SideBySide) -> list[dict[str, Any]]:
    names, means = found.rankings[0].feature_names, found.mean_ranks
    return [
        {
            "rank": rank,
            "feature": names[index],
            "index": int(index),
            "mean_rank": float(means[index]),
            "ranks": {each.method: int(found.ranks[row, index]) for row, each in enumerate(found.rankings)},
        }
        for rank, index in enumerate(found.order, start=1)
    ]


def _print_side_by_side(found: SideBySide, rows: list[dict[str, Any]], methods: list[str]) -> None:
    table = Table("rank", "feature", "mean rank", *methods)
    for column in (table.columns[0], *table.columns[2:]):
        column.justify = "right"
    for row in rows[:MAX_TABLE_ROWS]:
        ranks = [str(row["ranks"][method]) for method in methods]
        table.add_row(str(row["rank"]), str(row["feature"]), f"{row['mean_rank']:.4g}", *ranks)
    console = open_console()
    console.print(
        f"{len(rows)} features of {found.rankings[0].n_samples} samples by {', '.join(methods)}; "
        "--method NAME ranks by one method, and shows its scores"
    )
    console.print(table)
    if len(rows) > MAX_TABLE_ROWS:
        console.print(f"and {len(rows) - MAX_TABLE_ROWS:,} features more; --format csv lists all")
    if found.agreement:
        pairs = "; ".join(f"{one} and {other} {value:.2f}" for (one, other), value in found.agreement.items())
        console.print(f"agreement of the ranks (Spearman; 1 is the same order): {pairs}")
