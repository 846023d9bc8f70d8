"""`fsvm compare`."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import TYPE_CHECKING, TextIO, cast

import click

from fsvm_cli.commands.options import check_spreadsheet, raise_as_one, readable, with_spreadsheet, write_in_style

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    from rich.console import Console


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
    type=click.Choice(["reproduced", "differs", "inconclusive", "undecided by the source", "not comparable", "fact"]),
    multiple=True,
    help="Only claims with this verdict; may be given more than once.",
)
@click.option(
    "--scorecard",
    is_flag=True,
    help="One row per published claim, decided by its main experiment; written to RESULTS/scorecard.csv, too, with a "
    "table of contents in RESULTS/README.md, what the papers' experiments come to in RESULTS/findings.md, and what "
    "each reading of what they leave open says of each claim in RESULTS/readings.md.",
)
@click.option(
    "--readings",
    is_flag=True,
    help="Claims whose source leaves something open: what each reading of it says of each claim, as tables.",
)
@with_spreadsheet
def command(  # noqa: PLR0917 - click passes every option
    results: Path,
    style: str,
    claims: str,
    verdicts: tuple[str, ...],
    scorecard: bool,
    readings: bool,
    for_spreadsheet: bool,
) -> None:
    """Print published beside obtained values, with verdicts.

    RESULTS is the folder of one experiment, or one that holds several. A claim that several experiments judge
    stands there once, with what its main experiment found, and what the others did below; with --format csv or json
    each has a row, and the column 'decides' tells them apart. On a terminal, what is longer than a screen is shown
    by a pager (less, or the program that the environment variable PAGER names; PAGER=cat for none). Of a difference
    on the same splits, the interval in brackets is that of its mean over the splits, which decides; the one for new
    data stands beside it. A published claim that says several things has a row for each here, so that totals are
    larger than those of --scorecard.
    """
    from fsvm_cli.errors import DataError, FsvmError, UsageError
    from fsvm_cli.report.folder import results_folders

    check_spreadsheet(style, for_spreadsheet=for_spreadsheet)
    folders = results_folders(results)
    if not folders:
        raise DataError(f"{results}: no results here; 'fsvm run' makes them")
    if scorecard:
        if readings or folders == [results] or claims != "*" or verdicts:
            raise UsageError(
                "a scorecard is of all claims of all results in a folder; name the folder that holds them, "
                "without --claims, --verdict and --readings"
            )
        # A scorecard that lacks an experiment would be wrong in its totals: the first failure ends it.
        _print_scorecard(results, folders, style, for_spreadsheet=for_spreadsheet)
        return
    if readings:
        _print_readings(results, folders, style, claims, for_spreadsheet=for_spreadsheet)
        return
    errors: list[FsvmError] = []
    read = readable(folders, _read_claims, errors)
    _print_comparison(results, read, style, claims, verdicts, for_spreadsheet=for_spreadsheet)
    raise_as_one(errors)


def _read_claims(folder: Path) -> pd.DataFrame:
    from fsvm_cli.report.comparison import read_comparison
    from fsvm_cli.report.scorecard import with_decisions

    return with_decisions(read_comparison([folder]), [folder])


def _print_comparison(
    results: Path, folders: Sequence[Path], style: str, claims: str, verdicts: tuple[str, ...], *, for_spreadsheet: bool
) -> None:
    from fsvm_cli.console import open_console
    from fsvm_cli.errors import UsageError
    from fsvm_cli.report.comparison import format_comparison, read_comparison
    from fsvm_cli.report.contents import documents_in_words, tables_of_claims, with_verdicts
    from fsvm_cli.report.scorecard import with_decisions

    comparison = read_comparison(folders, claims)
    if claims != "*" and comparison.empty:
        raise UsageError(f"--claims {claims}: no claim in {results} matches; leave it out to see them all")
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
    with console.capture() as printed:
        for table in tables_of_claims(comparison):
            console.print(table)
        for line in documents_in_words(comparison):
            console.print(line, soft_wrap=True)
    _print_by_pages(printed.get(), console)


def _print_by_pages(text: str, console: Console) -> None:
    """Print what a console has drawn; on a terminal, by a pager where it has more lines than the terminal."""
    stream = cast("TextIO", console.file)
    if console.is_terminal and text.count("\n") >= console.height:
        # With --RAW-CONTROL-CHARS less shows colours, with --quit-if-one-screen it ends where nothing is left out.
        os.environ.setdefault("LESS", "FRX")
        with contextlib.redirect_stdout(stream):
            click.echo_via_pager(text, color=not console.no_color)
        return
    stream.write(text)
    stream.flush()


def _print_readings(results: Path, folders: Sequence[Path], style: str, claims: str, *, for_spreadsheet: bool) -> None:
    from rich.table import Table

    from fsvm_cli.console import open_console
    from fsvm_cli.errors import UsageError
    from fsvm_cli.report.comparison import as_text, read_comparison
    from fsvm_cli.report.readings import tables_of_readings
    from fsvm_cli.report.scorecard import with_decisions

    comparison = read_comparison(folders, claims)
    by_document = tables_of_readings(comparison, with_decisions(comparison, folders), folders)
    tables = [table for of_document in by_document.values() for table in of_document]
    if not tables:
        raise UsageError(
            f"{results}: no claim that matches {claims} has several readings; 'fsvm compare' shows them all"
        )
    for table in tables:
        titles, cells = [str(title) for title in table], table.to_numpy().tolist()
        if style != "table":
            write_in_style(as_text(table, style, titles, cells), style, for_spreadsheet=for_spreadsheet)
            continue
        drawn = Table(*titles, show_lines=True)
        for row in cells:
            drawn.add_row(*row)
        open_console().print(drawn)


def _print_scorecard(results: Path, folders: Sequence[Path], style: str, *, for_spreadsheet: bool) -> None:
    from fsvm_cli.console import open_console
    from fsvm_cli.report.comparison import read_comparison
    from fsvm_cli.report.contents import write_contents
    from fsvm_cli.report.findings import write_findings
    from fsvm_cli.report.folder import CONTENTS_NAME, SCORECARD_NAME
    from fsvm_cli.report.readings import write_readings
    from fsvm_cli.report.scorecard import (
        count_table,
        format_scorecard,
        lenient_rules,
        lenient_table,
        power_of,
        power_table,
        scorecard_table,
        with_decisions,
        write_scorecard,
    )

    rows = write_scorecard(results, folders)
    listed = write_contents(results, folders, rows)
    findings = write_findings(results, folders)
    readings = write_readings(results, folders)
    if style != "table":
        write_in_style(format_scorecard(rows, style), style, for_spreadsheet=for_spreadsheet)
        return
    console = open_console()
    console.print(scorecard_table(rows))
    console.print(count_table(rows))
    decided = with_decisions(read_comparison(folders), folders)
    for table, arrange in ((power_of(decided), power_table), (lenient_rules(decided), lenient_table)):
        if not table.empty:
            console.print(arrange(table))
    written = [results / SCORECARD_NAME, *filter(None, [listed]), *findings, *filter(None, [readings])]
    console.print(f"Written to {', '.join(map(str, written))}", soft_wrap=True)
    if listed is None:
        console.print(f"{results / CONTENTS_NAME} was not written by fsvm, and is left as it is.", soft_wrap=True)
