"""What `fsvm run --dry-run` prints."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import click

from fsvm_cli.commands.progress import duration
from fsvm_cli.runner.explain import explain
from fsvm_cli.runner.missing import missing_records, missing_tasks
from fsvm_cli.runner.session import estimate_seconds
from fsvm_cli.store.store import FILE_NAME, Store

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from fsvm_cli.commands.workers import Workers
    from fsvm_cli.experiment.plan import Experiment
    from fsvm_cli.spec.config import LoadedConfig


def explain_run(
    planned: Sequence[tuple[LoadedConfig, Experiment, Path]],
    workers: Workers,
    neighbour: Path | None,
    *,
    fresh: bool,
) -> None:
    """Say what a run would do, and why.

    Parameters
    ----------
    planned : sequence of (LoadedConfig, Experiment, Path)
        With the folder of the results.
    workers : Workers
    neighbour : Path or None
        A folder of results from which a run would take over what it can.
    fresh : bool
        Whether a run would begin anew.
    """
    for loaded, experiment, folder in planned:
        with contextlib.ExitStack() as stack:
            folders = () if fresh else (folder, *(() if neighbour is None else (neighbour / loaded.name,)))
            stored = next((each for each in folders if (each / FILE_NAME).exists()), None)
            store = None if stored is None else stack.enter_context(Store(stored, writable=False))
            tasks = missing_tasks(experiment, store)
            seconds = estimate_seconds(experiment, store, tasks, workers.number) if tasks else 0
            explanations = explain(experiment, store, tasks)
            records = missing_records(experiment, store)
        n_trials = experiment.n_trials()
        estimate = f", about {duration(seconds)}" if tasks else ""
        click.echo(
            f"{loaded.name}: {n_trials} trials planned, {n_trials - len(tasks)} already done, {len(tasks)} to "
            f"do{estimate} with {workers.words}; results in {folder}"
        )
        for explanation in explanations:
            label = experiment.competitors[explanation.competitor].label
            click.echo(f"  {label}: {explanation.n_missing} to do: {'; '.join(explanation.reasons)}")
        if records:
            click.echo(f"  recorded of the first split: {', '.join(records)}: new, or not finished before")
