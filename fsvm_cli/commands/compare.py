"""`fsvm compare`."""

from __future__ import annotations

from pathlib import Path

import click


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
def command(results: Path, style: str, claims: str) -> None:
    """Print what the papers claim beside what the trials found, with verdicts.

    RESULTS is the folder of one experiment, or one that holds several.
    """
    from fsvm_cli.console import open_console
    from fsvm_cli.errors import DataError, UsageError
    from fsvm_cli.report.comparison import comparison_table, format_comparison, read_comparison
    from fsvm_cli.report.folder import results_folders
    from fsvm_cli.terminal import write_for_machines

    folders = results_folders(results)
    if not folders:
        raise DataError(f"{results}: no results here; 'fsvm run' makes them")
    comparison = read_comparison(folders, claims)
    if claims != "*" and comparison.empty:
        raise UsageError(f"--claims {claims}: no claim in {results} is called so; leave it out to see them all")
    if style == "table":
        open_console().print(comparison_table(comparison))
    else:
        write_for_machines(format_comparison(comparison, style))
