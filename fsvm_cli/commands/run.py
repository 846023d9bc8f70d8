"""`fsvm run`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from fsvm_cli.experiment.config import LoadedConfig


@click.command("run")
@click.argument("configs", nargs=-1, required=True, metavar="CONFIG...")
@click.option(
    "--jobs",
    type=click.IntRange(min=1),
    default=lambda: len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
    show_default="all cores",
    help="Number of processes.",
)
@click.option("--splits", type=click.IntRange(min=1), help="Short for --set protocol.splits=N.")
@click.option("--set", "assignments", multiple=True, metavar="KEY=VALUE", help="Override a key by its dotted path.")
@click.option("--out", type=click.Path(path_type=Path), default="results", show_default=True, help="Folder of results.")
@click.option("--dry-run", is_flag=True, help="Say what would be done and how long it may take.")
@click.option("--fresh", is_flag=True, help="Start over; stored trials go once the new ones begin to come.")
def command(  # noqa: PLR0917 - click passes every option
    configs: tuple[str, ...],
    jobs: int,
    splits: int | None,
    assignments: tuple[str, ...],
    out: Path,
    dry_run: bool,
    fresh: bool,
) -> None:
    """Run experiments and write their tables and figures.

    CONFIG is the path of a config, or the name of one that comes with fsvm (such as wine). What the folder of results
    already holds is not computed again.
    """
    from fsvm_cli.errors import TrialsFailedError, UsageError
    from fsvm_cli.experiment.config import load_config

    overrides = (*assignments, *(() if splits is None else (f"protocol.splits={splits}",)))
    loaded = [load_config(config, overrides) for config in configs]
    names = [each.name for each in loaded]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"two configs are called '{name}' and would share a folder; rename one, or run them apart")
    failed = [each.name for each in loaded if not (_explain if dry_run else _run)(each, out / each.name, jobs, fresh)]
    if failed:
        raise TrialsFailedError(
            f"some trials of {', '.join(failed)} failed; the rest is kept, and running again tries them once more"
        )


def _announce(message: str) -> None:
    click.echo(message, err=True)


def _run(loaded: LoadedConfig, folder: Path, jobs: int, fresh: bool) -> bool:
    """Run one experiment; False where trials failed."""
    from fsvm_cli.commands.progress import progress_display
    from fsvm_cli.experiment.plan import plan
    from fsvm_cli.experiment.run import run
    from fsvm_cli.experiment.store import Store
    from fsvm_cli.report.results import draw_figures, write_tables
    from fsvm_cli.report.summary import print_summary

    experiment = plan(loaded, _announce)
    with Store(folder, writable=True, fresh=fresh) as store:
        try:
            with progress_display(loaded.name) as progress:
                summary = run(experiment, store, jobs, progress)
        except KeyboardInterrupt:
            store.commit()
            _announce(f"{folder}: the trials that were finished are kept; their tables are written by the next run")
            raise
        curves = write_tables(loaded, experiment, store, folder)
    for error, n_failed in summary.failures.items():
        _announce(f"{loaded.name}: {n_failed} of {summary.n_trials} trials failed: {error}")
    if curves.empty:
        return False
    figures = draw_figures(folder)
    print_summary(loaded, curves, folder, figures)
    return not summary.failures


def _explain(loaded: LoadedConfig, folder: Path, jobs: int, fresh: bool) -> bool:
    """Say what a run would do; always True."""
    from fsvm_cli.commands.progress import duration
    from fsvm_cli.experiment.plan import plan
    from fsvm_cli.experiment.run import estimate_seconds, missing_tasks
    from fsvm_cli.experiment.store import FILE_NAME, Store

    experiment = plan(loaded, _announce)
    n_trials = len(experiment.trials())
    store = Store(folder, writable=False) if (folder / FILE_NAME).exists() and not fresh else None
    try:
        tasks = missing_tasks(experiment, store)
        estimate = f", about {duration(estimate_seconds(experiment, store, tasks, jobs))}" if tasks else ""
    finally:
        if store is not None:
            store.close()
    click.echo(
        f"{loaded.name}: {n_trials} trials planned, {n_trials - len(tasks)} already done, {len(tasks)} to do{estimate} "
        f"with {jobs} {'job' if jobs == 1 else 'jobs'}; results in {folder}"
    )
    return True
