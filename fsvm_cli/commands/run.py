"""`fsvm run`: running experiments, writing their tables and figures, and `--dry-run`."""

from __future__ import annotations

import contextlib
import functools
import importlib
import threading
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from fsvm_cli.commands import completion
from fsvm_cli.commands.options import (
    compilation_progress,
    print_line,
    print_time,
    print_traceback,
    raise_as_one,
    step,
    with_formats,
    with_verbosity,
)
from fsvm_cli.commands.progress import duration
from fsvm_cli.console import is_quiet
from fsvm_cli.data.source import metadata_of
from fsvm_cli.errors import DataError, noting_failure
from fsvm_cli.experiment.chance import chance_test, permuted_experiment
from fsvm_cli.experiment.selection import selection_experiment
from fsvm_cli.runner.folders import neighbours_of
from fsvm_cli.runner.missing import explain, missing_records, missing_tasks
from fsvm_cli.runner.run import estimate_seconds
from fsvm_cli.store.store import FILE_NAME, Store
from fsvm_cli.validation import ONE_CLASS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pandas as pd

    from fsvm_cli.commands.options import Workers
    from fsvm_cli.errors import FsvmError
    from fsvm_cli.experiment.experiment import Experiment
    from fsvm_cli.page.write import Presentation
    from fsvm_cli.runner.pools import Pool
    from fsvm_cli.runner.run import Job
    from fsvm_cli.spec.collection import LoadedCollection
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

    def write(self, job: Job) -> Callable[[], Presentation]:
        """Write the tables of a job that has ended; what is left is to show them."""
        from fsvm_cli.experiment.provenance import write_environment
        from fsvm_cli.page.write import show
        from fsvm_cli.report.tables import write_tables

        if job.error is not None:
            raise job.error
        with step(f"tables of {self.loaded.name}"):
            self.curves = write_tables(self.loaded, job.experiment, job.store, self.folder)
        write_environment(self.folder, self.loaded, self.workers.words, job.n_to_run, self.begin)
        return functools.partial(show, self.folder, self.formats, has_figures=not self.curves.empty)

    def print_outcome(self, job: Job, errors: list[FsvmError]) -> None:
        """Print failed trials and the summary of a finished job.

        What its tables, figures, page or summary failed with is added to `errors`.
        """
        name = self.loaded.name
        self._print_failures(job)
        with noting_failure(errors, name, "a table"):
            shown: Presentation = job.finished.result()
            errors += shown.failures
            for part, seconds in zip(("figures", "page"), shown.seconds, strict=True):
                print_time(f"{part} of {name}", seconds)
            if not is_quiet():
                with noting_failure(errors, name, "the summary"):
                    self._print_summary(shown, job.experiment.source.caveats)

    def _print_failures(self, job: Job) -> None:
        """Print each reason with its trials; of training parts that hold one class, which all methods refuse, one."""
        n_trials, n_of_one_class = job.experiment.n_trials(), 0
        for reason, n_failed in job.failures.items():
            if reason.endswith(ONE_CLASS):
                n_of_one_class = max(n_of_one_class, n_failed)
            else:
                click.echo(f"{self.loaded.name}: {n_failed} of {n_trials} trials failed: {reason}", err=True)
            print_traceback(job.tracebacks[reason])
        if not n_of_one_class:
            return
        protocol = self.loaded.config.protocol
        has_groups = metadata_of(job.experiment.source).n_groups is not None
        can_share = not (protocol.stratified or protocol.is_listed or has_groups)
        shares = "give both parts the shares of the classes (stratified: true), or " if can_share else ""
        click.echo(
            f"{self.loaded.document.where(('protocol',))}: {n_of_one_class} of {n_trials} trials failed: the training "
            f"part holds only one class; {shares}train on more rows",
            err=True,
        )

    def _print_summary(self, shown: Presentation, caveats: Sequence[str]) -> None:
        from fsvm_cli.report.summary import print_summary

        if self.curves is not None and not self.curves.empty:
            print_summary(self.loaded, self.curves, self.folder, shown.figures, caveats)
            print_page(shown.page)


def print_page(page: Path | None) -> None:
    """Print the path of the page, if there is one."""
    if page is not None:
        click.echo(f"As a page, with all that is known of it: {page}")


def explain_run(
    planned: Sequence[tuple[LoadedConfig, Experiment, Path]],
    workers: Workers,
    *,
    reuses: bool,
    fresh: bool,
) -> None:
    """Print what a run would do, and why.

    Parameters
    ----------
    planned : sequence of (LoadedConfig, Experiment, Path)
        With the folder of the results.
    workers : Workers
    reuses : bool
        Whether a run would take over what other folders of results hold of it.
    fresh : bool
        Whether a run would begin anew.
    """
    for loaded, experiment, folder in planned:
        with contextlib.ExitStack() as stack:
            folders = () if fresh else (folder, *(neighbours_of(folder) if reuses else ()))
            stores = []
            for each in folders:
                # Of another run, a store that cannot be read is ignored.
                with contextlib.suppress(*(() if each == folder else (DataError,))):
                    if (each / FILE_NAME).exists():
                        stores.append(stack.enter_context(Store(each, writable=False)))
            store = min((*stores, None), key=lambda each: len(missing_tasks(experiment, each)))
            tasks = missing_tasks(experiment, store)
            seconds = estimate_seconds(experiment, store, tasks, workers.number) if tasks else 0
            explanations = explain(experiment, store, tasks)
            records = missing_records(experiment, store)
            within = selection_experiment(experiment)
            n_within = 0 if within is None else len(missing_tasks(within, store))
            test = chance_test(within or experiment)
            if test is not None and store is not None:
                test.read(store)
        n_trials = experiment.n_trials()
        estimate = f", about {duration(seconds)}" if tasks else ""
        click.echo(
            f"{loaded.name}: {n_trials} trials planned, {n_trials - len(tasks)} already done, {len(tasks)} to "
            f"do{estimate} with {workers.words}; results in {folder}"
        )
        if n_within:
            click.echo(f"  then {n_within} trials within the training rows, which decide what is recommended")
        if test is not None and not test.is_decided:
            n_at_once = permuted_experiment(within or experiment, 0).n_trials()
            n_left = n_at_once * (test.n_permutations - len(test.permuted))
            click.echo(f"  then at most {n_left} trials with labels permuted, to test against chance; fewer on noise")
        for explanation in explanations:
            label = experiment.compared_methods[explanation.compared_method].label
            click.echo(f"  {label}: {explanation.n_missing} to do: {'; '.join(explanation.reasons)}")
        if records:
            click.echo(f"  recorded of the first split: {', '.join(records)}: new, or not finished before")


if TYPE_CHECKING:
    Planned = list[tuple[LoadedConfig, Experiment, Path]]


@click.command("run")
@click.argument("configs", nargs=-1, required=True, metavar="CONFIG...", shell_complete=completion.configs)
@click.option("--jobs", type=click.IntRange(min=1), show_default="all cores", help="Number of processes.")
@click.option(
    "--dask",
    metavar="ADDRESS",
    help="Run on a Dask cluster: tcp://host:port of its scheduler, or local:N for N workers on this machine.",
)
@click.option(
    "--splits", type=click.IntRange(min=1), help="Number of random splits; data that come with a split keep it."
)
@click.option(
    "--rows",
    type=click.IntRange(min=2),
    help="Train on this many random rows and test on as many, whatever the config says: a quick try of every step.",
)
@click.option("--set", "assignments", multiple=True, metavar="KEY=VALUE", help="Override a key by its dotted path.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="Folder of results: by default 'results', and with --splits, --rows or --set one in 'results/with-overrides'.",
)
@with_formats
@click.option("--overwrite", is_flag=True, help="Replace results of another config, or full results by partial ones.")
@click.option("--dry-run", is_flag=True, help="Print the planned trials and the estimated time, without running.")
@click.option("--fresh", is_flag=True, help="Start over; stored trials are deleted when the first new ones are stored.")
@with_verbosity
def command(  # noqa: PLR0917 - click passes every option
    configs: tuple[str, ...],
    jobs: int | None,
    dask: str | None,
    splits: int | None,
    rows: int | None,
    assignments: tuple[str, ...],
    out: Path | None,
    formats: tuple[str, ...],
    overwrite: bool,
    dry_run: bool,
    fresh: bool,
) -> None:
    """Run experiments and write their tables and figures.

    CONFIG is the path of a config, or the name of one that comes with fsvm (such as wine). fsvm writes the results
    to results/NAME. With --splits, --rows or --set it writes them to results/with-overrides/OVERRIDES/NAME, which
    keeps all other results unchanged. Stored trials are not computed again. If one of several experiments fails, the
    others still finish. A config that lists experiments runs them and collects their claims in a table.
    """
    from fsvm_cli.commands.options import choose_workers
    from fsvm_cli.errors import FsvmError
    from fsvm_cli.runner.worker_processes import quiet_children, start_loading

    workers = choose_workers(jobs, dask)
    if not dry_run:
        quiet_children()
        asks_for_one_trial = len(configs) == 1 and splits == 1
        if workers.number > 1 and not asks_for_one_trial:
            start_loading()

    # These load the libraries, which workers do meanwhile.
    from fsvm_cli.experiment.plan import plan
    from fsvm_cli.runner.folders import check_replaceable, default_results_folder
    from fsvm_cli.spec.load import load_all

    assignments += _of_rows(rows)
    errors: list[FsvmError] = []
    planned: Planned = []
    with step("configs"):
        experiments, collections = load_all(configs, assignments, splits)
    reuses = out is None and not fresh
    if out is None:
        out = default_results_folder(experiments[0])
    for loaded in experiments:
        try:
            check_replaceable(loaded, out / loaded.name, overwrite=overwrite)
            with step(f"data of {loaded.name}"):
                planned.append((loaded, plan(loaded, _announce), out / loaded.name))
        except FsvmError as error:
            errors.append(error)
    for collection in list(collections):
        try:
            check_replaceable(collection, out / collection.name, overwrite=overwrite)
        except FsvmError as error:
            errors.append(error)
            collections.remove(collection)
    if dry_run:
        explain_run(planned, workers, reuses=reuses, fresh=fresh)
        for collection in collections:
            n_members = len(collection.members)
            click.echo(
                f"{collection.name}: collects claims of {n_members} experiments; results in {out / collection.name}"
            )
    else:
        errors += _run(planned, collections, out, workers, formats, fresh=fresh, reuses=reuses)
    raise_as_one(errors)


def _of_rows(rows: int | None) -> tuple[str, ...]:
    """Return the overrides of --rows; claims about other sizes of the parts are then not judged."""
    if rows is None:
        return ()
    # Rows drawn at random have no given split, whose order could be drawn.
    return f"protocol.train={rows}", f"protocol.test={rows}", "protocol.row_order=null"


def _announce(message: str) -> None:
    print_line(message, err=True)


def _run(
    planned: Planned,
    collections: Sequence[LoadedCollection],
    out: Path,
    workers: Workers,
    formats: Sequence[str],
    *,
    fresh: bool,
    reuses: bool,
) -> list[FsvmError]:
    """Run the experiments and collect what collections ask for; the errors of those that did not succeed."""
    from fsvm_cli.commands.progress import progress_display
    from fsvm_cli.errors import FsvmError, TrialsFailedError, noting_failure
    from fsvm_cli.runner.folders import copy_from_folder
    from fsvm_cli.runner.run import Job, run
    from fsvm_cli.store.store import Store

    # Its libraries take a second to load, in which the first trials run.
    threading.Thread(target=importlib.import_module, args=("fsvm_cli.report.tables",), daemon=True).start()
    begin = datetime.now(UTC)
    errors: list[FsvmError] = []
    begun: list[tuple[Tables, Job]] = []
    finished: list[int] = []

    def open_pool(experiments: Sequence[Experiment], n_tasks: int) -> Pool:
        with compilation_progress():
            return workers.open_pool(experiments, n_tasks)

    with contextlib.ExitStack() as stack:
        display = stack.enter_context(progress_display())
        for loaded, experiment, folder in planned:
            try:
                store = stack.enter_context(Store(folder, writable=True, fresh=fresh))
                for neighbour in neighbours_of(folder) if reuses else ():
                    copy_from_folder(experiment, store, neighbour)
                tables = Tables(loaded, folder, workers, begin, formats)
                progress = display.of(loaded.name)
                job = Job(experiment, store, progress, tables.write)
                job.test_progress = display.of(f"{loaded.name}, with labels permuted, at most")
                begun.append((tables, job))
            except FsvmError as error:
                errors.append(error)
        ended = stack.enter_context(contextlib.closing(run([job for *_, job in begun], open_pool)))
        stack.enter_context(step("all trials, tables and figures"))
        try:
            finished.extend(ended)
        except FsvmError as error:
            errors.append(error)
    for number in finished:
        tables, job = begun[number]
        tables.print_outcome(job, errors)
    written = {tables.loaded.name for tables, _ in begun if tables.curves is not None}
    for collection in collections:
        with noting_failure(errors, collection.name, "a table, figure or page"):
            errors += _collect(collection, written, out, workers, begin, formats)
    failed = [tables.loaded.name for tables, job in begun if job.failures]
    if failed:
        errors.append(
            TrialsFailedError(
                f"some trials of {', '.join(failed)} failed; the rest is kept, and running again tries them once more"
            )
        )
    return errors


def _collect(  # noqa: PLR0917 - as above
    loaded: LoadedCollection, written: set[str], out: Path, workers: Workers, begin: datetime, formats: Sequence[str]
) -> list[FsvmError]:
    """Write and print a collection whose experiments have been written; what its figures and page failed with."""
    from fsvm_cli.errors import DataError
    from fsvm_cli.experiment.provenance import write_environment
    from fsvm_cli.page.write import show
    from fsvm_cli.report.overview import write_overview
    from fsvm_cli.report.summary import print_overview

    missing = [member.name for member in loaded.members if member.name not in written]
    if missing:
        raise DataError(f"{loaded.name}: not collected, for lack of the results of {', '.join(missing)}")
    folder = out / loaded.name
    overview = write_overview(loaded, out, folder)
    write_environment(folder, loaded, workers.words, 0, begin)
    shown = show(folder, formats, has_figures=True)
    if not is_quiet():
        print_overview(loaded, overview, folder, shown.figures)
        print_page(shown.page)
    return shown.failures
