"""Comparisons of rankings as tables for people."""

from __future__ import annotations

import numpy as np
import pandas as pd
from rich.table import Table

from fsvm_cli.evaluation.many_data_sets import mean_ranks
from fsvm_cli.report.comparison import SMALLEST_P


def summary_table(summary: pd.DataFrame, name: str) -> Table:
    """Arrange what `summarise_rankings` made."""
    table = Table(title=f"{name}: each ranking over its whole curve, in %", title_justify="left")
    for title in ("ranking", "training rows", "area under the curve", "best at", "smallest within 1 s.e.", "there"):
        table.add_column(title, overflow="fold")
    for row in summary.to_dict("records"):
        area = _interval(row["area"], row["area_ci_low"], row["area_ci_high"])
        n_train, best, smallest = (str(row[name]) for name in ("train_size", "best_n_features", "smallest_n_features"))
        table.add_row(row["ranking"], n_train, area, best, smallest, f"{100 * row['smallest_mean']:.2f}")
    return table


def pairs_table(pairs: pd.DataFrame, where: str) -> Table:
    """Arrange rows of what `compare_rankings` made, all of one number of features."""
    table = Table(title=f"Pairs by {where}, in points", title_justify="left")
    for title in ("first", "second", "training rows", "first - second", "p by Holm", "worse / same / better"):
        table.add_column(title, overflow="fold")
    for row in pairs.to_dict("records"):
        difference = _interval(row["difference"], row["ci_low"], row["ci_high"])
        chances = " / ".join(f"{row[column]:.2f}" for column in ("first_worse", "equivalent", "first_better"))
        table.add_row(row["first"], row["second"], str(row["train_size"]), difference, _p(row["p_holm"]), chances)
    return table


def ranks_table(summary: pd.DataFrame) -> tuple[Table | None, str]:
    """Compare rankings over experiments by the areas under their curves; of several training sizes by the largest.

    Returns
    -------
    Table or None
        None where fewer than two rankings stand in two experiments each.
    str
        What the table says, or why there is none.
    """
    largest = summary[summary["train_size"] == summary.groupby("experiment")["train_size"].transform("max")]
    areas = largest.pivot_table(index="experiment", columns="ranking", values="area", sort=False)
    shared = areas.dropna(axis="columns")
    if len(shared) < 2 or shared.shape[1] < 2:
        return None, "No two rankings stand in all of these experiments: nothing to compare over them."
    found = mean_ranks(shared.to_numpy())
    table = Table(title=f"Mean ranks over {len(shared)} experiments, by area under the curve", title_justify="left")
    for title in ("ranking", "mean rank"):
        table.add_column(title, overflow="fold")
    for place in np.argsort(found.ranks, kind="stable"):
        table.add_row(str(shared.columns[place]), f"{found.ranks[place]:.2f}")
    return table, (
        f"Friedman: chi-square {found.chi_square:.2f}, p {_p(found.p)}; mean ranks further apart than "
        f"{found.critical_difference:.2f} differ at the level .05 (Nemenyi)."
    )


def _interval(middle: float, low: float, high: float) -> str:
    return f"{100 * middle:.2f} [{100 * low:.2f}, {100 * high:.2f}]"


def _p(p: float) -> str:
    if pd.isna(p):
        return "–"
    return f"< {SMALLEST_P:g}" if p < SMALLEST_P else f"{p:.2g}"
