"""`fsvm compare`: claims beside results, and the scorecard with its table of contents in Markdown."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import pandas as pd

from fsvm_cli.commands.options import check_spreadsheet, raise_as_one, readable, with_spreadsheet, write_in_style
from fsvm_cli.console import visible
from fsvm_cli.experiment.run_file import report_damage, run_content
from fsvm_cli.files import is_file, write_atomically
from fsvm_cli.references import in_words
from fsvm_cli.report.comparison import (
    found_in_words,
    is_about_data,
    printed_in_words,
    read_comparison,
    read_verdicts,
    rule_beside,
    table_of_claims,
)
from fsvm_cli.report.folder import CONTENTS_NAME, VERDICTS_NAME
from fsvm_cli.report.numbers import briefly
from fsvm_cli.report.printing import MARKDOWN
from fsvm_cli.report.scorecard import GRAVEST_FIRST, count_table, counts_of, with_decisions

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from rich.table import Table

MADE_BY = "<!-- made by 'fsvm compare --scorecard', which writes it anew -->"
OTHERS = "Experiments of no document"
INTRODUCTION = (
    "One folder for each experiment: tables (CSV), figures (SVG), and `run.json`, which says what they came from. "
    "`fsvm report` makes one page of them all, with the evidence for each verdict. Each published claim counts once, "
    "by the experiment that decides it (`scorecard.csv`); below stands each experiment with all that it judges."
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
    by_document: dict[str, list[tuple[str, ...]]] = {}
    for folder in folders:
        document, row = _experiment(folder)
        by_document.setdefault(document, []).append(row)
    for document, rows in sorted(by_document.items(), key=lambda each: (not each[0], each[0])):
        heading = [f"## {_plain(document)}", "", _plain(in_words(document))] if document else [f"## {OTHERS}"]
        lines += ["", *heading, "", *_table(("experiment", "what it is", "verdicts", "figures"), rows)]
    return "\n".join(lines) + "\n"


def _experiment(folder: Path) -> tuple[str, tuple[str, ...]]:
    """Give the document of an experiment, empty where it has none, and its line."""
    with report_damage(folder):
        config = run_content(folder)["config"]
        paper = config.get("paper") or {"key": "", "where": ""}
        document, title, where = paper["key"], config["title"], paper["where"]
    name = folder.resolve().name
    verdicts = list(read_verdicts(folder / VERDICTS_NAME)["verdict"]) if is_file(folder / VERDICTS_NAME) else []
    judged = ", ".join(f"{verdicts.count(each)} {each}" for each in reversed(GRAVEST_FIRST) if each in verdicts)
    figures = [f"[{path.stem}]({name}/{path.name})" for path in sorted(folder.glob("*.svg"))]
    what = _plain(f"{title} ({where})" if where else title)
    return document, (f"[{_plain(name)}]({name}/)", what, judged, " ".join(figures))


def _plain(text: str) -> str:
    return visible(text).translate(MARKDOWN)


def _table(columns: Iterable[object], rows: Iterable[Sequence[object]]) -> list[str]:
    lines = [tuple(columns), *(rows)]
    written = [f"| {' | '.join(map(str, line))} |" for line in lines]
    return [written[0], "|" + " --- |" * len(lines[0]), *written[1:]]


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
        cells = [_cells_of_claim(row, others.get(str(row.id), []), several=several) for row in shown]
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


def _cells_of_claim(row: Any, others: list[Any], *, several: bool) -> list[str]:
    name = f"{row.id}\n{row.experiment}" if several else str(row.id)
    found = [found_in_words(row), *(f"{_briefly(each)} in {each.experiment}" for each in others)]
    return [name, printed_in_words(row), "\n".join(found), str(row.verdict), rule_beside(row)]


def _briefly(row: Any) -> str:
    """Say what another reading found."""
    return str(row.verdict) if pd.isna(row.reproduced) else f"{briefly(row.reproduced)}, {row.verdict},"


@click.command("compare")
@click.argument("results", type=click.Path(path_type=Path), default="results")
@click.option(
    "--format",
    "style",
    type=click.Choice(["table", "csv", "markdown", "json"]),
    default="table",
    show_default=True,
    help="How to print the comparison.",
)
@click.option(
    "--claims",
    default="*",
    metavar="PATTERN",
    help="Only claims whose identifiers match, as in 'infoprop2001.t5.*', a table over several experiments.",
)
@click.option(
    "--verdict",
    "verdicts",
    type=click.Choice(["reproduced", "differs", "inconclusive", "not comparable", "fact"]),
    multiple=True,
    help="Only claims with this verdict; may be given more than once.",
)
@click.option(
    "--scorecard",
    is_flag=True,
    help="One row per published claim, decided by its main experiment; written to RESULTS/scorecard.csv, too, with a "
    "table of contents in RESULTS/README.md.",
)
@with_spreadsheet
def command(  # noqa: PLR0917 - click passes every option
    results: Path, style: str, claims: str, verdicts: tuple[str, ...], scorecard: bool, for_spreadsheet: bool
) -> None:
    """Print what the papers claim beside what the trials found, with verdicts.

    RESULTS is the folder of one experiment, or one that holds several. A claim that several experiments judge stands
    there once, with what its main experiment found, and what the others did below; with --format csv or json each has a
    row, and the column 'decides' tells them apart. Of a difference on the same splits, the interval in brackets is that
    of its mean over the splits, which decides; the one for new data stands beside it. A published claim that says
    several things has a row for each here, so that totals are larger than those of --scorecard.
    """
    from fsvm_cli.errors import DataError, FsvmError, UsageError
    from fsvm_cli.report.folder import results_folders

    check_spreadsheet(style, for_spreadsheet=for_spreadsheet)
    folders = results_folders(results)
    if not folders:
        raise DataError(f"{results}: no results here; 'fsvm run' makes them")
    if scorecard:
        if folders == [results] or claims != "*" or verdicts:
            raise UsageError(
                "a scorecard is of all claims of all results in a folder; name the folder that holds them, "
                "without --claims and --verdict"
            )
        # A scorecard that lacks an experiment would be wrong in its totals: the first failure ends it.
        _print_scorecard(results, folders, style, for_spreadsheet=for_spreadsheet)
        return
    errors: list[FsvmError] = []
    read = readable(folders, _read_claims, errors)
    _print_comparison(results, read, style, claims, verdicts, for_spreadsheet=for_spreadsheet)
    raise_as_one(errors)


def _read_claims(folder: Path) -> pd.DataFrame:
    return with_decisions(read_comparison([folder]), [folder])


def _print_comparison(
    results: Path, folders: Sequence[Path], style: str, claims: str, verdicts: tuple[str, ...], *, for_spreadsheet: bool
) -> None:
    from fsvm_cli.console import open_console
    from fsvm_cli.errors import UsageError
    from fsvm_cli.report.comparison import format_comparison

    comparison = read_comparison(folders, claims)
    if claims != "*" and comparison.empty:
        raise UsageError(f"--claims {claims}: no claim in {results} is called so; leave it out to see them all")
    comparison = with_decisions(comparison, folders)
    if verdicts:
        comparison = with_verdicts(comparison, verdicts, whole_claims=style == "table")
    if style != "table":
        write_in_style(format_comparison(comparison, style), style, for_spreadsheet=for_spreadsheet)
        return
    console = open_console()
    if comparison.empty:
        console.print("No claims with this verdict." if verdicts else "These experiments claim nothing.")
        return
    for table in tables_of_claims(comparison):
        console.print(table)
    for line in documents_in_words(comparison):
        console.print(line, soft_wrap=True)


def _print_scorecard(results: Path, folders: Sequence[Path], style: str, *, for_spreadsheet: bool) -> None:
    from fsvm_cli.console import open_console
    from fsvm_cli.report.folder import SCORECARD_NAME
    from fsvm_cli.report.scorecard import format_scorecard, power_of, power_table, scorecard_table, write_scorecard

    rows = write_scorecard(results, folders)
    listed = write_contents(results, folders, rows)
    if style != "table":
        write_in_style(format_scorecard(rows, style), style, for_spreadsheet=for_spreadsheet)
        return
    console = open_console()
    console.print(scorecard_table(rows))
    console.print(count_table(rows))
    power = power_of(with_decisions(read_comparison(folders), folders))
    if not power.empty:
        console.print(power_table(power))
    written = [results / SCORECARD_NAME, *filter(None, [listed])]
    console.print(f"Written to {', '.join(map(str, written))}", soft_wrap=True)
    if listed is None:
        console.print(f"{results / CONTENTS_NAME} was not written by fsvm, and is left as it is.", soft_wrap=True)
