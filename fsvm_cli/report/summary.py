"""The summary that `fsvm run` prints at its end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from rich.table import Table

from fsvm_cli.console import open_console
from fsvm_cli.references import in_words
from fsvm_cli.report.comparison import comparison_table, read_comparison
from fsvm_cli.report.curve_table import curve_tables, describe_measures, read_measures
from fsvm_cli.report.folder import (
    CHOSEN_NAME,
    CURVES_NAME,
    MEASURES_NAME,
    OVERVIEW_NAME,
    RECOMMENDATION_NAME,
    SCORES_NAME,
    SELECTION_NAME,
    VERDICTS_NAME,
    read_table,
)
from fsvm_cli.report.recommendation_in_words import describe_recommendation
from fsvm_cli.report.tables import describe_choices

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import pandas as pd
    from rich.console import Console

    from fsvm_cli.report.printing import ResultTable
    from fsvm_cli.spec.collection import LoadedCollection
    from fsvm_cli.spec.config import LoadedConfig
    from fsvm_cli.spec.schema import Paper

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
    measures = read_measures(folder)
    for table in curve_tables(curves, measures, config):
        console.print(f"{config.title}: test {table.title}", style="bold", soft_wrap=True)
        console.print(_thinned(table))
        console.print(table.note)
    for sentence in describe_measures(measures):
        console.print(sentence, soft_wrap=True)
    is_chosen = (folder / CHOSEN_NAME).exists()
    for sentence in describe_choices(read_table(folder / CHOSEN_NAME)) if is_chosen else ():
        console.print(sentence, soft_wrap=True)
    for caveat in caveats:
        console.print(f"Note: {caveat}", style="bold", soft_wrap=True)
    is_recommended = (folder / RECOMMENDATION_NAME).exists()
    if is_recommended:
        recommended = read_table(folder / RECOMMENDATION_NAME)
        for sentence in describe_recommendation(recommended, config, loaded.folder, folder):
            console.print(sentence, soft_wrap=True)
    if config.expected:
        console.print(comparison_table(read_comparison([folder])))
    if loaded.document.overrides:
        changed = ", ".join(f"{key}={value}" for key, value in loaded.document.overrides.items())
        of_paper = "" if config.paper is None else ": no statement about the paper"
        console.print(f"Run with overrides ({changed}){of_paper}.")
    tables = [CURVES_NAME, SCORES_NAME]
    tables += [SELECTION_NAME] if config.rankings else []
    tables += [CHOSEN_NAME] if is_chosen else []
    tables += [MEASURES_NAME] if not measures.empty else []
    tables += [RECOMMENDATION_NAME] if is_recommended else []
    tables += [VERDICTS_NAME] if config.expected else []
    _tell_source(console, config.paper)
    names = [*tables, *(path.name for path in figures)]
    console.print(f"Written to {folder}: {', '.join(names)}", soft_wrap=True)


def print_overview(loaded: LoadedCollection, overview: pd.DataFrame, folder: Path, figures: Sequence[Path]) -> None:
    """Print the numbers of a document's table beside those of its experiments, and where the files are.

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
    _tell_source(console, loaded.collection.paper)
    names = [VERDICTS_NAME, OVERVIEW_NAME, *(path.name for path in figures)]
    console.print(f"Written to {folder}: {', '.join(names)}", soft_wrap=True)


def _tell_source(console: Console, paper: Paper | None) -> None:
    """Name in full the document that is reproduced."""
    if paper is not None:
        console.print(f"{paper.where} of {in_words(paper.key)}", soft_wrap=True)


def _thinned(table: ResultTable) -> Table:
    """Show of a long table every so many rows, and the last."""
    shown = Table()
    for number, title in enumerate(table.columns):
        shown.add_column(title, justify="right", overflow="fold" if number else "ellipsis")
    every = -(-len(table.rows) // MAX_ROWS)
    for row in table.rows[(len(table.rows) - 1) % every :: every]:
        shown.add_row(*map(str, row))
    return shown
