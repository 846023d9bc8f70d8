"""The power of the scorecard: how many printed numbers its rules would call reproduced by chance."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from rich.table import Table

from fsvm_cli.report.scorecard import PROVENANCES

if TYPE_CHECKING:
    from collections.abc import Sequence

DECIDED = ("reproduced", "differs", "inconclusive")
"""Verdicts by which something is said about a source."""
ACCEPTS = ("accepts_low", "accepts_high")
COLUMNS = ["rule fixed", "printed numbers", "reproduced", "by chance, other experiments", "by chance, same experiment"]


def power_of(comparison: pd.DataFrame) -> pd.DataFrame:
    """Give every claim the printed numbers of other claims about the same quantity, and count what its rule accepts.

    A rule so wide that it accepts most numbers of the kind finds agreement whatever is printed. What is expected of a
    random permutation of the numbers is computed exactly: nothing is drawn.

    Parameters
    ----------
    comparison : DataFrame
        From `fsvm_cli.report.scorecard.with_decisions`.

    Returns
    -------
    DataFrame
        One row for each time when rules were fixed, and one for all: how many printed numbers are judged, how many of
        them are reproduced, and how many would be expected to be if each were replaced by the number that another
        claim prints of the same quantity, in another experiment or in the same one. Of the claims that have no such
        other, none is expected. Without rows where no table says what its rules accept.
    """
    rows = _printed_numbers(comparison)
    counted = [
        (fixed, int(row.verdict == "reproduced"), *_chances(row, rows))
        for row in rows
        if row.verdict in DECIDED
        for fixed in (row.fixed, "all")
    ]
    table = pd.DataFrame(counted, columns=[COLUMNS[0], *COLUMNS[2:]])
    table.insert(1, COLUMNS[1], 1)
    totals = table.groupby(COLUMNS[0]).sum()
    in_order = [fixed for fixed in ("all", *PROVENANCES) if fixed in totals.index]
    return totals.loc[in_order[::-1]].reset_index()[COLUMNS]


def power_table(power: pd.DataFrame) -> Table:
    """Arrange the power for people."""
    table = Table(title="What the rules would accept by chance", title_justify="left")
    for name in power.columns:
        table.add_column(name, justify="left" if name == COLUMNS[0] else "right")
    for cells in power_cells(power):
        table.add_row(*cells)
    return table


def power_cells(power: pd.DataFrame) -> list[tuple[str, ...]]:
    """Write the power, with one decimal of what is expected."""
    return [
        (str(fixed) or "not said", str(printed), str(reproduced), f"{elsewhere:.1f}", f"{beside:.1f}")
        for fixed, printed, reproduced, elsewhere, beside in power.itertuples(index=False)
    ]


def _printed_numbers(comparison: pd.DataFrame) -> list[Any]:
    """List the rows that decide a claim about a number; tables of older versions do not say what rules accept."""
    if not set(ACCEPTS) <= set(comparison.columns):
        return []
    numbers = pd.to_numeric(comparison["published"], errors="coerce")
    is_number = comparison["decides"] & numbers.notna() & comparison[list(ACCEPTS)].notna().all(axis=1)
    rows = comparison.assign(printed=numbers, quantity=comparison["what"].map(quantity_of, na_action="ignore"))
    return list(rows[is_number].itertuples(index=False))


def quantity_of(what: str) -> str:
    """Name a quantity with its unit, without the ranking and the place: numbers of one may stand for each other."""
    name = re.split(r", | of '| \(", what, maxsplit=1)[0]
    units = re.findall(r"\(([^()]*)\)", what)
    return f"{name} ({units[-1]})" if units else name


def _chances(row: Any, rows: Sequence[Any]) -> tuple[float, float]:
    """Find the shares of the numbers of other claims, in other experiments and in the same, that a rule accepts."""
    alike = [other for other in rows if other.quantity == row.quantity]
    elsewhere = [other.printed for other in alike if other.experiment != row.experiment]
    # Two tables may print the number of one place.
    beside = [other.printed for other in alike if other.experiment == row.experiment and other.what != row.what]
    return _share_accepted(row, elsewhere), _share_accepted(row, beside)


def _share_accepted(row: Any, numbers: Sequence[float]) -> float:
    if not numbers:
        return 0.0
    return float(np.mean([row.accepts_low <= number <= row.accepts_high for number in numbers]))
