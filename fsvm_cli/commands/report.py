"""`fsvm report`."""

from __future__ import annotations

from pathlib import Path

import click

from fsvm_cli.commands.options import with_verbosity


@click.command("report")
@click.argument("results", type=click.Path(path_type=Path), default="results")
@click.option(
    "--out", type=click.Path(path_type=Path, dir_okay=False), help="File to write.  [default: RESULTS/index.html]"
)
@with_verbosity
def command(results: Path, out: Path | None) -> None:
    """Write all results as one page, which opens in any browser, without a network.

    RESULTS is the folder of one experiment, or one that holds several.
    """
    from fsvm_cli.commands.options import print_line, raise_as_one, step
    from fsvm_cli.errors import DataError, FsvmError
    from fsvm_cli.page.write import PAGE_NAME, write_page
    from fsvm_cli.report.folder import results_folders

    folders = results_folders(results)
    if not folders:
        raise DataError(f"{results}: no results here; 'fsvm run' makes them")
    failures: list[FsvmError] = []
    with step("page"):
        page = write_page(folders, out or results / PAGE_NAME, failures)
    print_line(str(page))
    raise_as_one(failures)
