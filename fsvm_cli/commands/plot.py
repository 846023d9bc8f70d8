"""`fsvm plot`."""

from __future__ import annotations

from pathlib import Path

import click


@click.command("plot")
@click.argument("results", type=click.Path(path_type=Path), default="results")
@click.option(
    "--format",
    "formats",
    type=click.Choice(["svg", "png", "pdf"]),
    multiple=True,
    default=("svg", "png"),
    show_default=True,
    help="File format; may be given more than once.",
)
def command(results: Path, formats: tuple[str, ...]) -> None:
    """Draw every figure again from stored results.

    RESULTS is the folder of one experiment, or one that holds several.
    """
    from fsvm_cli.errors import DataError
    from fsvm_cli.report.drawing import draw_figures
    from fsvm_cli.report.folder import results_folders

    folders = results_folders(results)
    if not folders:
        raise DataError(f"{results}: no results here; 'fsvm run' makes them")
    for folder in folders:
        for path in draw_figures(folder, formats):
            click.echo(path)
