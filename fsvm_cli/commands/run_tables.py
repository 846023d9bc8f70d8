"""What `fsvm run` writes and says of each experiment that has ended."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from fsvm_cli.byte_bar import is_quiet
from fsvm_cli.commands.verbosity import step, tell_time, tell_traceback
from fsvm_cli.errors import noting_failure

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime
    from pathlib import Path

    import pandas as pd

    from fsvm_cli.commands.workers import Workers
    from fsvm_cli.errors import FsvmError
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
        with step(f"tables of {self.loaded.name}"):
            self.curves = write_tables(self.loaded, job.experiment, job.store, self.folder)
        write_environment(self.folder, self.loaded, self.workers.words, job.n_to_run, self.begin)
        return functools.partial(show, self.folder, self.formats, has_figures=not self.curves.empty)

    def tell(self, job: Job, errors: list[FsvmError]) -> None:
        """Say what came of a job that is finished: which trials failed, and its summary.

        What its tables, figures, page or summary failed with is added to `errors`.
        """
        name = self.loaded.name
        for reason, n_failed in job.failures.items():
            click.echo(f"{name}: {n_failed} of {job.experiment.n_trials()} trials failed: {reason}", err=True)
            tell_traceback(job.tracebacks[reason])
        with noting_failure(errors, name, "a table"):
            shown: Shown = job.finished.result()
            errors += shown.failures
            for part, seconds in zip(("figures", "page"), shown.seconds, strict=True):
                tell_time(f"{part} of {name}", seconds)
            if not is_quiet():
                with noting_failure(errors, name, "the summary"):
                    self._print_summary(shown, job.experiment.source.caveats)

    def _print_summary(self, shown: Shown, caveats: Sequence[str]) -> None:
        from fsvm_cli.report.summary import print_summary

        if self.curves is not None and not self.curves.empty:
            print_summary(self.loaded, self.curves, self.folder, shown.figures, caveats)
            tell_page(shown.page)


def tell_page(page: Path | None) -> None:
    """Name what shows it all in a browser, where there is such a page."""
    if page is not None:
        click.echo(f"As a page, with all that is known of it: {page}")
