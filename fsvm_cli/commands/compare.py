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
def command(results: Path, style: str) -> None:
    """Print what the papers claim beside what the trials found, with verdicts.

    RESULTS is the folder of one experiment, or one that holds several.
    """
    from fsvm_cli.errors import DataError
    from fsvm_cli.report.comparison import format_comparison, read_comparison
    from fsvm_cli.report.results import results_folders

    folders = results_folders(results)
    if not folders:
        raise DataError(f"{results}: no results here; 'fsvm run' makes them")
    click.echo(format_comparison(read_comparison(folders), style), nl=False)
