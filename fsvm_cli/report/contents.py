"""The table of contents of a folder of results in Markdown, and the claims of its scorecard as tables on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pandas as pd

from fsvm_cli.console import visible
from fsvm_cli.experiment.run_file import report_damage, run_content
from fsvm_cli.files import is_file, write_atomically
from fsvm_cli.references import in_words
from fsvm_cli.report.comparison import (
    ClaimTable,
    badges,
    found_in_words,
    is_about_data,
    printed_in_words,
    read_comparison,
    rule_beside,
)
from fsvm_cli.report.folder import CONTENTS_NAME, name_of
from fsvm_cli.report.numbers import briefly
from fsvm_cli.report.printing import MARKDOWN
from fsvm_cli.report.scorecard import GRAVEST_FIRST, count_table, counts_of, others_in_words, with_decisions

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence
    from pathlib import Path

    from rich.table import Table

MADE_BY = "<!-- made by 'fsvm compare --scorecard', which writes it anew -->"
OTHERS = "Experiments of no document"
INTRODUCTION = (
    "One folder for each experiment: tables (CSV), figures (SVG), and `run.json`, which says what they came from. "
    "`fsvm report` makes one page of them all, with the evidence for each verdict. Each published claim counts once, "
    "by the experiment that decides it (`scorecard.csv`), or by readings of what its source leaves open "
    "(`readings.md`); below stands each experiment with all that it judges."
)


def write_contents(root: Path, folders: Sequence[Path], scorecard: pd.DataFrame) -> Path | None:
    """Write `README.md` beside the folders of results.

    Parameters
    ----------
    root : Path
        Holds the folders.
    folders : sequence of Path
        Results of experiments and collections.
    scorecard : DataFrame
        Of them all.

    Returns
    -------
    Path or None
        The file; None where a file of this name that fsvm has not written is left as it is.
    """
    path = root / CONTENTS_NAME
    if is_file(path) and not path.read_text(encoding="utf-8", errors="replace").startswith(MADE_BY):
        return None
    write_atomically(path, contents(folders, scorecard).encode())
    return path


def contents(folders: Sequence[Path], scorecard: pd.DataFrame) -> str:
    """Write the counts of a scorecard, and a line for each experiment, by documents."""
    counts = counts_of(scorecard)
    lines = [MADE_BY, "", "# Results", "", INTRODUCTION, "", *_table(counts.columns, counts.itertuples(index=False))]
    lines += ["", others] if (others := others_in_words(scorecard)) else []
    by_document: dict[str, list[tuple[str, ...]]] = {}
    decided = with_decisions(read_comparison(folders), folders)
    verdicts = {str(name): list(rows) for name, rows in decided.groupby("experiment")["verdict"]}
    for folder in folders:
        document, row = _experiment(folder, verdicts.get(name_of(folder), []))
        by_document.setdefault(document, []).append(row)
    for document, rows in sorted(by_document.items(), key=lambda each: (not each[0], each[0])):
        heading = [f"## {_plain(document)}", "", _plain(in_words(document))] if document else [f"## {OTHERS}"]
        lines += ["", *heading, "", *_table(("experiment", "what it is", "verdicts", "figures"), rows)]
    return "\n".join(lines) + "\n"


def _experiment(folder: Path, verdicts: list[str]) -> tuple[str, tuple[str, ...]]:
    """Give the document of an experiment, empty where it has none, and its line."""
    with report_damage(folder):
        config = run_content(folder)["config"]
        paper = config.get("paper") or {"key": "", "where": ""}
        document, title, where = paper["key"], config["title"], paper["where"]
    name = name_of(folder)
    judged = ", ".join(f"{verdicts.count(each)} {each}" for each in reversed(GRAVEST_FIRST) if each in verdicts)
    link = quote(name)
    figures = [f"[{path.stem}]({link}/{quote(path.name)})" for path in sorted(folder.glob("*.svg"))]
    what = _plain(f"{title} ({where})" if where else title)
    return document, (f"[{_plain(name)}]({link}/)", what, judged, " ".join(figures))


def _plain(text: str) -> str:
    return visible(text).translate(MARKDOWN)


def _table(columns: Iterable[object], rows: Iterable[Sequence[object]]) -> list[str]:
    lines = [tuple(columns), *(rows)]
    written = [f"| {' | '.join(map(str, line))} |" for line in lines]
    return [written[0], "|" + " --- |" * len(lines[0]), *written[1:]]


RESULTS = "Results"
FACTS = "Facts about the data, and how they were divided"


def tables_of_claims(comparison: pd.DataFrame) -> Iterator[ClaimTable | Table]:
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
        if not row.has_vote:
            others.setdefault(str(row.id), []).append(row)
    for title, is_fact in ((RESULTS, False), (FACTS, True)):
        shown = [row for row in rows if row.decides and is_about_data(row) == is_fact]
        cells = [_cells_of_claim(row, others.get(str(row.id), []), several=several) for row in shown]
        if cells:
            yield ClaimTable(cells, title)
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


def _cells_of_claim(row: Any, others: list[Any], *, several: bool) -> list[str]:
    name = f"{row.id}\n{row.experiment}" if several else str(row.id)
    found = [found_in_words(row), *(f"{_briefly(each)} in {each.experiment}" for each in others)]
    return [name, printed_in_words(row), "\n".join(found), badges(row), rule_beside(row)]


def _briefly(row: Any) -> str:
    """Give the verdict under another reading."""
    return str(row.verdict) if pd.isna(row.reproduced) else f"{briefly(row.reproduced)}, {row.verdict},"
