"""Comparisons of rankings as tables for people."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from rich.table import Table

from fsvm_cli.report.comparison import SMALLEST_P

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

    from fsvm_cli.report.ranks import RankComparison

ALLOWANCE = "Intervals of 95 % allow for the rows that random splits share (Nadeau and Bengio)."
CHANCES = (
    "The test allows for the rows that random splits share (Nadeau and Bengio). Worse, same, better: probabilities "
    "that the first is worse by more than a point, within a point, or better (Corani and Benavoli)."
)


@dataclass(frozen=True)
class Cells:
    """A table as texts: for a terminal, or a page."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""

    def on_terminal(self) -> Table:
        """Arrange it for a terminal."""
        table = Table(title=self.title, title_justify="left")
        for name in self.columns:
            table.add_column(name, overflow="fold")
        for row in self.rows:
            table.add_row(*row)
        return table


def areas_cells(areas: pd.DataFrame) -> Cells:
    """Arrange what `summarise_rankings` made."""
    rows = []
    for row in areas.to_dict("records"):
        # No figure of merit is outside this range; the interval of few trials may be.
        low, high = np.clip([row["area_ci_low"], row["area_ci_high"]], 0.0, 1.0)
        area = interval_in_words(row["area"], low, high)
        best, smallest = (_count(row[name]) for name in ("best_n_features", "smallest_n_features"))
        there = "–" if pd.isna(row["smallest_mean"]) else f"{100 * row['smallest_mean']:.2f}"
        rows.append((str(row["ranking"]), str(row["train_size"]), area, best, smallest, there, str(row["n_trials"])))
    columns = (
        "ranking",
        "training rows",
        "area under the curve",
        "best at",
        "smallest within 1 s.e.",
        "there",
        "trials",
    )
    return Cells("Each ranking over its whole curve, in %", columns, tuple(rows), ALLOWANCE)


def pairs_cells(pairs: pd.DataFrame, where: str = "area under the curve") -> Cells:
    """Arrange rows of what `compare_rankings` made, all of one number of features."""
    rows = []
    for row in pairs.to_dict("records"):
        difference = interval_in_words(row["difference"], row["ci_low"], row["ci_high"])
        labels = (str(row["first"]), str(row["second"]), str(row["train_size"]))
        rows.append((*labels, difference, in_words_of_p(row["p_holm"]), chances_in_words(row)))
    columns = ("first", "second", "training rows", "first - second", "p by Holm", "worse / same / better")
    return Cells(f"Pairs by {where}, in points", columns, tuple(rows), CHANCES)


def ranks_table(ranks: RankComparison) -> Table:
    """Arrange the mean ranks of rankings over experiments, the best first."""
    title = f"Mean ranks over {len(ranks.areas)} experiments, by area under the curve"
    table = Table(title=title, title_justify="left")
    for name in ("ranking", "mean rank"):
        table.add_column(name, overflow="fold")
    for index in np.argsort(ranks.found.ranks, kind="stable"):
        table.add_row(str(ranks.areas.columns[index]), f"{ranks.found.ranks[index]:.2f}")
    return table


def wilcoxon_table(ranks: RankComparison) -> Table:
    """Arrange the tests of pairs of rankings over experiments."""
    table = Table(title="Pairs over these experiments, by Wilcoxon's signed ranks", title_justify="left")
    for name in ("first", "second", "first is better in", "p", "p by Holm"):
        table.add_column(name, overflow="fold")
    for row in ranks.pairs.to_dict("records"):
        wins = f"{row['wins']} of {len(ranks.areas)}"
        table.add_row(
            row["first"],
            row["second"],
            wins,
            in_words_of_p(row["p"]),
            in_words_of_p(row["p_holm"]),
        )
    return table


def interval_in_words(middle: float, low: float, high: float) -> str:
    """Write a mean and its interval in per cent, or points; a dash for what is not there."""
    if pd.isna(middle):
        return "–"
    return f"{100 * middle:.2f} [{100 * low:.2f}, {100 * high:.2f}]"


def chances_in_words(row: Mapping[Hashable, Any]) -> str:
    """Write the probabilities that the first of a pair is worse, the same in practice, or better."""
    chances = [row[column] for column in ("first_worse", "equivalent", "first_better")]
    return "–" if any(map(pd.isna, chances)) else " / ".join(f"{chance:.2f}" for chance in chances)


def _count(number: Any) -> str:
    return "–" if pd.isna(number) else f"{number:.0f}"


def in_words_of_p(p: float) -> str:
    """Write a p-value."""
    if pd.isna(p):
        return "–"
    return f"< {SMALLEST_P:g}" if p < SMALLEST_P else f"{p:.2g}"
