"""`fsvm table`."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import click


@click.command("table")
@click.argument("results", type=click.Path(path_type=Path), default="results")
@click.option(
    "--format",
    "style",
    type=click.Choice(["markdown", "latex"]),
    default="markdown",
    show_default=True,
    help="LaTeX needs the package booktabs.",
)
def command(results: Path, style: Literal["markdown", "latex"]) -> None:
    """Print test results as tables for a paper, rounded to their uncertainty.

    RESULTS is the folder of one experiment, or one that holds several.
    """
    from fsvm_cli.console import write_for_machines
    from fsvm_cli.errors import DataError
    from fsvm_cli.experiment.provenance import is_collection, read_run
    from fsvm_cli.report.curve_table import curve_tables, read_measures
    from fsvm_cli.report.folder import CURVES_NAME, read_table, results_folders
    from fsvm_cli.report.printing import printed_table

    folders = [folder for folder in results_folders(results) if not is_collection(folder)]
    if not folders:
        raise DataError(f"{results}: no results here; 'fsvm run' makes them")
    for folder in folders:
        config, _ = read_run(folder)
        for table in curve_tables(read_table(folder / CURVES_NAME), read_measures(folder), config):
            write_for_machines(f"{printed_table(table, config.title, style)}\n")
