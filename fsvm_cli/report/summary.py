"""What a run prints at its end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from rich.table import Table

from fsvm_cli.console import open_console
from fsvm_cli.evaluation.metrics import METRIC_TITLES
from fsvm_cli.report.choices import describe_choices
from fsvm_cli.report.comparison import comparison_table, read_comparison
from fsvm_cli.report.folder import (
    CHOSEN_NAME,
    CURVES_NAME,
    MEASURES_NAME,
    OVERVIEW_NAME,
    RECOMMENDATION_NAME,
    SCORES_NAME,
    SELECTION_NAME,
    VERDICTS_NAME,
)
from fsvm_cli.report.learning_rows import learning_rows
from fsvm_cli.report.measures import COLUMNS, complete_trials_of, describe_measures
from fsvm_cli.report.recommended import describe_recommendation
from fsvm_cli.report.shortfalls import MACHINE, shortfalls
from fsvm_cli.report.table_files import read_table
from fsvm_cli.spec.classifiers import Classifier, LearnedKernel

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from fsvm_cli.spec.collection import LoadedCollection
    from fsvm_cli.spec.config import LoadedConfig
    from fsvm_cli.spec.schema import Config, Protocol

MAX_ROWS = 16
COLUMN_TITLES = {"n_features": "features", "train_size": "training rows"}


def print_summary(
    loaded: LoadedConfig, curves: pd.DataFrame, folder: Path, figures: Sequence[Path], caveats: Sequence[str]
) -> None:
    """Print the test curves of an experiment, what they cover, and where the files are.

    Parameters
    ----------
    loaded : LoadedConfig
    curves : DataFrame
        The table `curves.csv`.
    folder : Path
        Where the results are.
    figures : sequence of Path
        The pictures that were drawn.
    caveats : sequence of str
        What every report on these data must say.
    """
    config = loaded.config
    console = open_console()
    console.print()
    is_measured = (folder / MEASURES_NAME).exists()
    measures = read_table(folder / MEASURES_NAME) if is_measured else pd.DataFrame(columns=COLUMNS)
    complete_trials = complete_trials_of(measures)
    for heading, rows, down in _tables_shown(curves[curves["part"] == "test"], config):
        console.print(f"{config.title}: test {heading}", style="bold", soft_wrap=True)
        console.print(_table(rows, down))
        complete = rows["ranking"].map(complete_trials).fillna(rows["n_trials"])
        console.print(f"{_coverage(complete, config.protocol)}{_certificate(rows, config)}.")
    for sentence in describe_measures(measures):
        console.print(sentence, soft_wrap=True)
    is_chosen = (folder / CHOSEN_NAME).exists()
    for sentence in describe_choices(read_table(folder / CHOSEN_NAME)) if is_chosen else ():
        console.print(sentence, soft_wrap=True)
    for caveat in caveats:
        console.print(f"Mind: {caveat}", style="bold", soft_wrap=True)
    is_recommended = (folder / RECOMMENDATION_NAME).exists()
    if is_recommended:
        for sentence in describe_recommendation(read_table(folder / RECOMMENDATION_NAME), config, loaded.folder):
            console.print(sentence, soft_wrap=True)
    if config.expected:
        console.print(comparison_table(read_comparison([folder])))
    if loaded.document.overrides:
        changed = ", ".join(f"{key}={value}" for key, value in loaded.document.overrides.items())
        console.print(f"Run with overrides ({changed}): no statement about the paper.")
    tables = [CURVES_NAME, SCORES_NAME]
    tables += [SELECTION_NAME] if config.rankings else []
    tables += [CHOSEN_NAME] if is_chosen else []
    tables += [MEASURES_NAME] if is_measured else []
    tables += [RECOMMENDATION_NAME] if is_recommended else []
    tables += [VERDICTS_NAME] if config.expected else []
    names = [*tables, *(path.name for path in figures)]
    console.print(f"Written to {folder}: {', '.join(names)}", soft_wrap=True)


def print_overview(loaded: LoadedCollection, overview: pd.DataFrame, folder: Path, figures: Sequence[Path]) -> None:
    """Print what a document's table says beside what its experiments found, and where the files are.

    Parameters
    ----------
    loaded : LoadedCollection
    overview : DataFrame
        The table `overview.csv`.
    folder : Path
        Where the results are.
    figures : sequence of Path
        The pictures that were drawn.
    """
    console = open_console()
    quantities = [column.removesuffix(", published") for column in map(str, overview) if column.endswith(", published")]
    order = ": published / here" if quantities else ""
    console.print(f"\n{loaded.collection.title}{order}", style="bold", soft_wrap=True)
    table = Table()
    for title in ("experiment", *quantities):
        table.add_column(title, overflow="fold")
    for row in overview.to_dict("records"):
        pairs = [(row[f"{name}, published"], row[f"{name}, reproduced"]) for name in quantities]
        table.add_row(
            row["experiment"],
            *("" if np.isnan(found) else f"{printed:g} / {round(found, 2):g}" for printed, found in pairs),
        )
    if quantities:
        console.print(table)
    verdicts = read_table(folder / VERDICTS_NAME)
    own = verdicts[verdicts["experiment"] == loaded.name]
    if not own.empty:
        console.print(comparison_table(own))
    counts = verdicts["verdict"].value_counts()
    console.print(f"{', '.join(f'{count} {verdict}' for verdict, count in counts.items())}; 'fsvm compare' shows each.")
    names = [VERDICTS_NAME, OVERVIEW_NAME, *(path.name for path in figures)]
    console.print(f"Written to {folder}: {', '.join(names)}", soft_wrap=True)


def _tables_shown(curves: pd.DataFrame, config: Config) -> Iterator[tuple[str, pd.DataFrame, str]]:
    """Yield the heading of each table, its part of the curves, and which column of them leads down the table."""
    for metric, of_metric in curves.groupby("metric", sort=False):
        quantity = f"{METRIC_TITLES[str(metric)]} in %"
        if of_metric["train_size"].nunique() > 1:
            for size, rows in learning_rows(of_metric, config):
                yield f"{quantity}, {size} features", rows, "train_size"
        else:
            for train_size, rows in of_metric.groupby("train_size"):
                yield f"{quantity}, {train_size} training rows", rows, "n_features"


def _table(rows: pd.DataFrame, down: str) -> Table:
    table = Table()
    table.add_column(COLUMN_TITLES[down], justify="right")
    labels = list(dict.fromkeys(rows["ranking"]))
    for label in labels:
        table.add_column(label, justify="right", overflow="fold")
    by_size = {label: rows[rows["ranking"] == label].set_index(down) for label in labels}
    sizes = sorted(rows[down].unique())
    every = -(-len(sizes) // MAX_ROWS)
    # The last row is that of all features, or of the largest training part.
    for size in sizes[(len(sizes) - 1) % every :: every]:
        table.add_row(str(size), *(_cell(by_size[label].loc[size]) for label in labels))
    return table


def _cell(row: pd.Series) -> str:
    if np.isnan(row["mean"]):  # there is no classifier in any trial
        return "–"
    half_width = 50 * (row["ci_high"] - row["ci_low"])
    spread = "" if half_width != half_width else f" ± {half_width:.2f}"  # noqa: PLR0124 - one trial has no spread: NaN
    return f"{100 * row['mean']:.2f}{spread}"


def _coverage(complete: pd.Series, protocol: Protocol) -> str:
    """Say how many trials are complete, by the counts of all points."""
    planned = protocol.splits
    n_trials = int(complete.min())
    splits = f"{n_trials} splits" if n_trials == planned else f"INCOMPLETE: {n_trials} of {planned} splits"
    if protocol.is_single_given:
        return "The split of the source, ± 95 % interval of the bootstrap over its test rows"
    return f"Mean ± 95 % interval over {splits}{' of the source' if protocol.is_given else ''}"


def _certificate(rows: pd.DataFrame, config: Config) -> str:
    """Say whether machines reached their duality gap and ascents their rule; nothing where there is neither."""
    missed = rows[rows["n_unconverged"] > 0]
    if not missed.empty:
        by_words = missed.groupby(missed["ranking"].map(shortfalls(config)).fillna(MACHINE), sort=False)
        told = [f"in {n_unconverged} {words}" for words, n_unconverged in by_words["n_unconverged"].sum().items()]
        return f"; of {int(rows['n_trials'].sum())} points, {', '.join(told)}"
    shown = config.classifiers_shown()
    has_machines = any(isinstance(classifier, Classifier | LearnedKernel) for classifier in shown)
    return "; every machine reached its duality gap" if has_machines else ""
