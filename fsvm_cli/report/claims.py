"""Claims for people: each once, with what other readings found below, and facts about the data apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from fsvm_cli.references import in_words
from fsvm_cli.report.comparison import found_in_words, is_about_data, printed_in_words, rule_beside, table_of_claims
from fsvm_cli.report.numbers import briefly
from fsvm_cli.report.scorecard import count_table

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from rich.table import Table

RESULTS = "Results"
FACTS = "Facts about the data, and how they were divided"


def tables_of_claims(comparison: pd.DataFrame) -> Iterator[Table]:
    """Arrange a comparison as tables for people: results, then facts about the data, then totals.

    Parameters
    ----------
    comparison : DataFrame
        From `with_decisions`.
    """
    rows = list(comparison.itertuples(index=False))
    several = comparison["experiment"].nunique() > 1
    others: dict[str, list[Any]] = {}
    for row in rows:
        if not row.decides:
            others.setdefault(str(row.id), []).append(row)
    for title, is_fact in ((RESULTS, False), (FACTS, True)):
        shown = [row for row in rows if row.decides and is_about_data(row) == is_fact]
        cells = [_cells(row, others.get(str(row.id), []), several=several) for row in shown]
        if cells:
            yield table_of_claims(cells, title)
    totals = count_table(comparison)
    totals.title = "Each claim once"
    totals.title_justify = "left"
    yield totals


def with_verdicts(comparison: pd.DataFrame, verdicts: Collection[str], *, whole_claims: bool) -> pd.DataFrame:
    """Pick the rows that have one of some verdicts, or all rows of the claims that are decided so."""
    has_one = comparison["verdict"].isin(verdicts)
    if whole_claims:
        has_one = comparison["id"].isin(comparison["id"][has_one & comparison["decides"]])
    return comparison[has_one]


def documents_in_words(comparison: pd.DataFrame) -> list[str]:
    """Write out the documents that a comparison is about, one line each."""
    keys = list(dict.fromkeys(comparison["document"]))
    return [f"{key}: {words}" for key in keys if (words := in_words(key)) != key]


def _cells(row: Any, others: list[Any], *, several: bool) -> list[str]:
    name = f"{row.id}\n{row.experiment}" if several else str(row.id)
    found = [found_in_words(row), *(f"{_briefly(each)} in {each.experiment}" for each in others)]
    return [name, printed_in_words(row), "\n".join(found), str(row.verdict), rule_beside(row)]


def _briefly(row: Any) -> str:
    """Say what another reading found."""
    return str(row.verdict) if pd.isna(row.reproduced) else f"{briefly(row.reproduced)}, {row.verdict},"
