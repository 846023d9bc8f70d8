"""`fsvm plot`."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import TYPE_CHECKING

import click

from fsvm_cli.commands.options import with_formats, with_verbosity

if TYPE_CHECKING:
    from fsvm_cli.errors import FsvmError
    from fsvm_cli.report.scores import ScoreOrder


@click.command("plot")
@click.argument("results", type=click.Path(path_type=Path), default="results")
@with_formats
@click.option("--jobs", type=click.IntRange(min=1), show_default="all cores", help="Number of processes.")
@click.option(
    "--scores",
    "score_order",
    type=click.Choice(["score", "file"]),
    default="score",
    show_default=True,
    help="Order of the features in figures of scores: the best first, or as in the data.",
)
@click.option("--fresh", is_flag=True, help="Also draw figures that are up to date.")
@with_verbosity
def command(results: Path, formats: tuple[str, ...], jobs: int | None, score_order: ScoreOrder, fresh: bool) -> None:
    """Draw the figures of stored results whose tables, or whose drawing code, have changed.

    RESULTS is the folder of one experiment, or one that holds several.
    """
    import os

    from fsvm_cli.commands.options import print_line, raise_as_one, step
    from fsvm_cli.commands.progress import step_progress
    from fsvm_cli.errors import DataError
    from fsvm_cli.report.drawing import drawing_code, redraw
    from fsvm_cli.report.folder import FIGURES_NAME, results_folders
    from fsvm_cli.runner.worker_processes import call_for_each

    folders = results_folders(results)
    if not folders:
        raise DataError(f"{results}: no results here; 'fsvm run' makes them")
    if fresh:
        for folder in folders:
            (folder / FIGURES_NAME).unlink(missing_ok=True)
    draw = functools.partial(redraw, formats=formats, score_order=score_order, code=drawing_code())
    n_current = 0
    errors: list[FsvmError] = []
    with step("figures"), step_progress("figures", len(folders), "folders") as progress:
        for number, redrawn in enumerate(call_for_each(draw, folders, jobs or os.cpu_count() or 1), 1):
            n_current += 0 if redrawn.is_new else len(redrawn.paths)
            errors += redrawn.failures
            progress.advance(number)
            for path in redrawn.paths if redrawn.is_new else ():
                print_line(str(path))
    if n_current:
        print_line(f"{n_current} figures are up to date", err=True)
    raise_as_one(errors)
