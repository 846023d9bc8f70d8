"""`fsvm compare`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Sequence


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
def command(results: Path, style: str, claims: str, verdicts: tuple[str, ...], scorecard: bool) -> None:
    """Print what the papers claim beside what the trials found, with verdicts.

    RESULTS is the folder of one experiment, or one that holds several. A claim that several experiments judge stands
    there once, with what its main experiment found, and what the others did below; with --format csv or json each has a
    row, and the column 'decides' tells them apart. Of a difference on the same splits, the interval in brackets is that
    of its mean over the splits, which decides; the one for new data stands beside it. A published claim that says
    several things has a row for each here, so that totals are larger than those of --scorecard.
    """
    from fsvm_cli.console import open_console
    from fsvm_cli.errors import DataError, UsageError
    from fsvm_cli.report.claims import documents_in_words, tables_of_claims, with_verdicts
    from fsvm_cli.report.comparison import format_comparison, read_comparison
    from fsvm_cli.report.folder import results_folders
    from fsvm_cli.report.scorecard import with_decisions
    from fsvm_cli.terminal import write_for_machines

    folders = results_folders(results)
    if not folders:
        raise DataError(f"{results}: no results here; 'fsvm run' makes them")
    if scorecard:
        _print_scorecard(results, folders, style, is_part=claims != "*" or bool(verdicts))
        return
    comparison = read_comparison(folders, claims)
    if claims != "*" and comparison.empty:
        raise UsageError(f"--claims {claims}: no claim in {results} is called so; leave it out to see them all")
    comparison = with_decisions(comparison, folders)
    if verdicts:
        comparison = with_verdicts(comparison, verdicts, whole_claims=style == "table")
    if style != "table":
        write_for_machines(format_comparison(comparison, style))
        return
    console = open_console()
    if comparison.empty:
        console.print("No claims with this verdict." if verdicts else "These experiments claim nothing.")
        return
    for table in tables_of_claims(comparison):
        console.print(table)
    for line in documents_in_words(comparison):
        console.print(line, soft_wrap=True)


def _print_scorecard(results: Path, folders: Sequence[Path], style: str, *, is_part: bool) -> None:
    from fsvm_cli.console import open_console
    from fsvm_cli.errors import UsageError
    from fsvm_cli.report.comparison import read_comparison
    from fsvm_cli.report.contents import write_contents
    from fsvm_cli.report.folder import CONTENTS_NAME, SCORECARD_NAME
    from fsvm_cli.report.power import power_of, power_table
    from fsvm_cli.report.scorecard import (
        count_table,
        format_scorecard,
        scorecard_table,
        with_decisions,
        write_scorecard,
    )
    from fsvm_cli.terminal import write_for_machines

    if folders == [results] or is_part:
        raise UsageError(
            "a scorecard is of all claims of all results in a folder; name the folder that holds them, "
            "without --claims and --verdict"
        )
    rows = write_scorecard(results, folders)
    listed = write_contents(results, folders, rows)
    if style != "table":
        write_for_machines(format_scorecard(rows, style))
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
        console.print(f"{results / CONTENTS_NAME} is somebody else's, and is left as it is.", soft_wrap=True)
