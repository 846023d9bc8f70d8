"""What a run prints at its end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from rich.table import Table

from fsvm_cli.console import open_console
from fsvm_cli.evaluation.metrics import METRIC_TITLES
from fsvm_cli.report.choices import describe_choices
from fsvm_cli.report.comparison import comparison_table, read_comparison
from fsvm_cli.report.folder import (
    CHOSEN_NAME,
    CURVES_NAME,
    OVERVIEW_NAME,
    RECOMMENDATION_NAME,
    SCORES_NAME,
    SELECTION_NAME,
    VERDICTS_NAME,
)
from fsvm_cli.report.recommended import describe_recommendation
from fsvm_cli.report.table_files import read_table
from fsvm_cli.spec.classifiers import Classifier

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import pandas as pd

    from fsvm_cli.spec.collection import LoadedCollection
    from fsvm_cli.spec.config import LoadedConfig
    from fsvm_cli.spec.schema import Config, Protocol

MAX_ROWS = 16


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
    for (metric, train_size), rows in curves[curves["part"] == "test"].groupby(["metric", "train_size"], sort=False):
        heading = f"{config.title}: test {METRIC_TITLES[str(metric)]} in %, {train_size} training rows"
        console.print(heading, style="bold", soft_wrap=True)
        console.print(_table(rows))
        console.print(f"{_coverage(rows, config.protocol)}{_certificate(rows, config)}.")
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
    console.print(f"\n{loaded.collection.title}: published / here", style="bold", soft_wrap=True)
    quantities = [column.removesuffix(", published") for column in map(str, overview) if column.endswith(", published")]
    table = Table()
    for title in ("experiment", *quantities):
        table.add_column(title, overflow="fold")
    for row in overview.to_dict("records"):
        pairs = [(row[f"{name}, published"], row[f"{name}, reproduced"]) for name in quantities]
        table.add_row(
            row["experiment"],
            *("" if np.isnan(found) else f"{printed:g} / {round(found, 2):g}" for printed, found in pairs),
        )
    console.print(table)
    counts = read_table(folder / VERDICTS_NAME)["verdict"].value_counts()
    console.print(f"{', '.join(f'{count} {verdict}' for verdict, count in counts.items())}; 'fsvm compare' shows each.")
    names = [VERDICTS_NAME, OVERVIEW_NAME, *(path.name for path in figures)]
    console.print(f"Written to {folder}: {', '.join(names)}", soft_wrap=True)


def _table(rows: pd.DataFrame) -> Table:
    table = Table()
    table.add_column("features", justify="right")
    labels = list(dict.fromkeys(rows["ranking"]))
    for label in labels:
        table.add_column(label, justify="right")
    by_size = {label: rows[rows["ranking"] == label].set_index("n_features") for label in labels}
    sizes = sorted(rows["n_features"].unique())
    every = -(-len(sizes) // MAX_ROWS)
    # The last row is that of all features.
    for size in sizes[(len(sizes) - 1) % every :: every]:
        table.add_row(str(size), *(_cell(by_size[label].loc[size]) for label in labels))
    return table


def _cell(row: pd.Series) -> str:
    half_width = 50 * (row["ci_high"] - row["ci_low"])
    spread = "" if half_width != half_width else f" ± {half_width:.2f}"  # noqa: PLR0124 - one trial has no spread: NaN
    return f"{100 * row['mean']:.2f}{spread}"


def _coverage(rows: pd.DataFrame, protocol: Protocol) -> str:
    planned = protocol.splits
    n_trials = int(rows["n_trials"].min())
    splits = f"{n_trials} splits" if n_trials == planned else f"INCOMPLETE: {n_trials} of {planned} splits"
    if protocol.is_given:
        return "The split of the source, ± 95 % interval of the bootstrap over its test rows"
    return f"Mean ± 95 % interval over {splits}"


def _certificate(rows: pd.DataFrame, config: Config) -> str:
    """Say whether the machines reached their duality gap; nothing where there are no machines."""
    n_unconverged = int(rows["n_unconverged"].sum())
    if n_unconverged:
        return f"; in {n_unconverged} of {int(rows['n_trials'].sum())} points a machine missed its duality gap"
    has_machines = any(isinstance(classifier, Classifier) for classifier in config.classifiers())
    return "; every machine reached its duality gap" if has_machines else ""
