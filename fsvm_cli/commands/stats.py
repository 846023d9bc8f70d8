"""`fsvm stats`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd


@click.command("stats")
@click.argument("results", type=click.Path(path_type=Path), default="results")
@click.option("--at", "size", type=click.IntRange(min=1), help="Compare at this number of features, not over all.")
@click.option(
    "--format",
    "style",
    type=click.Choice(["table", "csv"]),
    default="table",
    show_default=True,
    help="With csv, every pair at every number of features.",
)
def command(results: Path, size: int | None, style: str) -> None:
    """Compare the rankings of experiments with each other.

    RESULTS is the folder of one experiment, or one that holds several: then their ranks over the experiments are
    compared, too. Intervals and p-values allow for the rows that random splits share (Nadeau and Bengio), p-values for
    being several (Holm).
    """
    from fsvm_cli.errors import DataError
    from fsvm_cli.experiment.provenance import is_collection
    from fsvm_cli.report.folder import results_folders
    from fsvm_cli.report.numbers import as_csv
    from fsvm_cli.store.store import FILE_NAME
    from fsvm_cli.terminal import write_for_machines

    folders = [folder for folder in results_folders(results) if not is_collection(folder)]
    with_store = [folder for folder in folders if (folder / FILE_NAME).exists()]
    if not with_store:
        raise DataError(f"{results}: no stored trials here; 'fsvm run' makes them")
    compared = [_compared(folder) for folder in with_store]
    if style == "csv":
        write_for_machines(as_csv(_stacked([pairs for _, pairs in compared])))
        return
    for folder, (summary, pairs) in zip(with_store, compared, strict=True):
        _print(folder.resolve().name, summary, pairs, size)
    if len(with_store) > 1:
        _print_ranks(_stacked([summary for summary, _ in compared]))
    if without := len(folders) - len(with_store):
        click.echo(f"{without} of {len(folders)} experiments have no stored trials here, and are left out", err=True)


def _compared(folder: Path) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Summary and pairs of one experiment, by its first figure of merit."""
    from fsvm_cli.errors import DataError
    from fsvm_cli.experiment.plan import plan
    from fsvm_cli.report.complete_trials import collect
    from fsvm_cli.report.ranking_statistics import compare_rankings, summarise_rankings
    from fsvm_cli.runner.verify import stored_config
    from fsvm_cli.store.store import Store

    experiment = plan(stored_config(folder), lambda message: click.echo(message, err=True))
    with Store(folder, writable=False) as store:
        collected = collect(experiment, store)
    if not collected:
        raise DataError(f"{folder}: the store holds no trial of this config, data and code; 'fsvm run' makes them")
    metric = experiment.config.metrics[0]
    summary, pairs = (make(experiment, collected, metric) for make in (summarise_rankings, compare_rankings))
    name = folder.resolve().name
    return summary.assign(experiment=name), pairs.assign(experiment=name)


def _stacked(tables: Sequence[pd.DataFrame]) -> pd.DataFrame:
    import pandas as pd

    stacked = pd.concat(tables, ignore_index=True)
    return stacked[["experiment", *(column for column in stacked if column != "experiment")]]


def _print(name: str, summary: pd.DataFrame, pairs: pd.DataFrame, size: int | None) -> None:
    from fsvm_cli.console import open_console
    from fsvm_cli.errors import UsageError
    from fsvm_cli.report.ranking_statistics import WHOLE_CURVE
    from fsvm_cli.report.statistics_tables import pairs_table, summary_table

    shown = pairs[pairs["n_features"] == (size or WHOLE_CURVE)]
    if size and len(pairs) and shown.empty:
        raise UsageError(f"--at {size}: {name} keeps no such number of features")
    console = open_console()
    console.print(summary_table(summary, name))
    console.print(pairs_table(shown, "area under the curve" if size is None else f"{size} features"))


def _print_ranks(summary: pd.DataFrame) -> None:
    from fsvm_cli.console import open_console
    from fsvm_cli.report.statistics_tables import ranks_table

    table, note = ranks_table(summary)
    console = open_console()
    if table is not None:
        console.print(table)
    console.print(note, soft_wrap=True)
