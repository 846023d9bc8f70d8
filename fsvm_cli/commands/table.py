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
    from fsvm_cli.commands.options import raise_as_one
    from fsvm_cli.console import write_for_machines
    from fsvm_cli.errors import DataError, FsvmError, noting_failure
    from fsvm_cli.experiment.provenance import is_collection, read_run
    from fsvm_cli.report.curve_table import curve_tables, read_measures
    from fsvm_cli.report.folder import CURVES_NAME, read_table, results_folders
    from fsvm_cli.report.printing import printed_table

    folders = results_folders(results)
    errors: list[FsvmError] = []
    n_experiments = 0
    for folder in folders:
        with noting_failure(errors, str(folder), "its tables"):
            if is_collection(folder):
                continue
            n_experiments += 1
            config, _ = read_run(folder)
            for table in curve_tables(read_table(folder / CURVES_NAME), read_measures(folder), config):
                write_for_machines(f"{printed_table(table, config.title, style)}\n")
    raise_as_one(errors)
    if not n_experiments:
        raise DataError(f"{results}: no results here; 'fsvm run' makes them")
