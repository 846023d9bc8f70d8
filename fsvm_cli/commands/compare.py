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
    "--scorecard",
    is_flag=True,
    help="One row per published claim, decided by its main experiment; written to RESULTS/scorecard.csv, too.",
)
def command(results: Path, style: str, claims: str, scorecard: bool) -> None:
    """Print what the papers claim beside what the trials found, with verdicts.

    RESULTS is the folder of one experiment, or one that holds several. Of a difference on the same splits, the interval
    in brackets is that of its mean over the splits, which decides; the one for new data stands beside it.
    """
    from fsvm_cli.console import open_console
    from fsvm_cli.errors import DataError, UsageError
    from fsvm_cli.report.comparison import comparison_table, format_comparison, read_comparison
    from fsvm_cli.report.folder import results_folders
    from fsvm_cli.terminal import write_for_machines

    folders = results_folders(results)
    if not folders:
        raise DataError(f"{results}: no results here; 'fsvm run' makes them")
    if scorecard:
        _print_scorecard(results, folders, style, claims)
        return
    comparison = read_comparison(folders, claims)
    if claims != "*" and comparison.empty:
        raise UsageError(f"--claims {claims}: no claim in {results} is called so; leave it out to see them all")
    if style == "table":
        open_console().print(comparison_table(comparison))
    else:
        write_for_machines(format_comparison(comparison, style))


def _print_scorecard(results: Path, folders: Sequence[Path], style: str, claims: str) -> None:
    from fsvm_cli.console import open_console
    from fsvm_cli.errors import UsageError
    from fsvm_cli.report.folder import SCORECARD_NAME
    from fsvm_cli.report.scorecard import count_table, format_scorecard, scorecard_table, write_scorecard
    from fsvm_cli.terminal import write_for_machines

    if folders == [results] or claims != "*":
        raise UsageError(
            "a scorecard is of all claims of all results in a folder; name the folder that holds them, without --claims"
        )
    rows = write_scorecard(results, folders)
    if style != "table":
        write_for_machines(format_scorecard(rows, style))
        return
    console = open_console()
    console.print(scorecard_table(rows))
    console.print(count_table(rows))
    console.print(f"Written to {results / SCORECARD_NAME}", soft_wrap=True)
