"""What `fsvm run` writes and says of each experiment that has ended."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from fsvm_cli.byte_bar import is_quiet
from fsvm_cli.commands.verbosity import step, tell_time

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime
    from pathlib import Path

    import pandas as pd

    from fsvm_cli.commands.workers import Workers
    from fsvm_cli.page.write import Shown
    from fsvm_cli.runner.session import Job
    from fsvm_cli.spec.config import LoadedConfig


@dataclass
class Tables:
    """The tables of an experiment, which the process writes that has its store."""

    loaded: LoadedConfig
    folder: Path
    workers: Workers
    begin: datetime
    formats: Sequence[str]
    curves: pd.DataFrame | None = None

    def write(self, job: Job) -> Callable[[], Shown]:
        """Write the tables of a job that has ended; what is left is to show them."""
        from fsvm_cli.experiment.provenance import write_environment
        from fsvm_cli.page.write import show
        from fsvm_cli.report.results import write_tables

        if job.error is not None:
            raise job.error
        write_environment(self.folder, self.loaded, self.workers.words, job.n_to_run, self.begin)
        with step(f"tables of {self.loaded.name}"):
            self.curves = write_tables(self.loaded, job.experiment, job.store, self.folder)
        return functools.partial(show, self.folder, self.formats, has_figures=not self.curves.empty)


def report_of(tables: Tables, job: Job) -> Callable[[], None]:
    """Take what came of a job; what is left is to print its summary."""
    from fsvm_cli.report.summary import print_summary

    shown: Shown = job.finished.result()
    loaded, curves = tables.loaded, tables.curves
    for name, seconds in zip(("figures", "page"), shown.seconds, strict=True):
        tell_time(f"{name} of {loaded.name}", seconds)

    def report() -> None:
        for error, n_failed in job.failures.items():
            click.echo(f"{loaded.name}: {n_failed} of {job.experiment.n_trials()} trials failed: {error}", err=True)
        if curves is not None and not curves.empty and not is_quiet():
            print_summary(loaded, curves, tables.folder, shown.figures, job.experiment.source.caveats)
            tell_page(shown.page)

    return report


def tell_page(page: Path) -> None:
    """Name what shows it all in a browser."""
    click.echo(f"As a page, with all that is known of it: {page}")
