"""Every figure of a folder of results, from its tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fsvm_cli.experiment.provenance import is_collection, read_run
from fsvm_cli.experiment.records.base import ToDraw
from fsvm_cli.experiment.records.registry import record_kinds
from fsvm_cli.report.compared import draw_compared
from fsvm_cli.report.convergence import draw_convergence
from fsvm_cli.report.curves import draw_changes, draw_curves, existing_components
from fsvm_cli.report.folder import (
    CHANGES_NAME,
    CURVES_NAME,
    FORMATS,
    SCORES_NAME,
    SELECTION_NAME,
    VERDICTS_NAME,
    remove_figures,
)
from fsvm_cli.report.forest import draw_forest
from fsvm_cli.report.learning_curves import draw_learning_curves
from fsvm_cli.report.measures import complete_trials_of, read_measures
from fsvm_cli.report.overview import draw_overview
from fsvm_cli.report.scores import draw_scores
from fsvm_cli.report.stability import draw_stability
from fsvm_cli.report.styles import styles_of
from fsvm_cli.report.table_files import read_table
from fsvm_cli.spec.selections import RelevanceSubsets

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from fsvm_cli.report.scores import ScoreOrder
    from fsvm_cli.spec.schema import Config


def draw_figures(folder: Path, formats: Sequence[str] = FORMATS, score_order: ScoreOrder = "score") -> list[Path]:
    """Draw every figure of an experiment, or of a collection, from its tables; figures of what it no longer has go.

    Parameters
    ----------
    folder : Path
        Its results.
    formats
        As in `fsvm_cli.figures.save`.
    score_order : {"score", "file"}
        Order of the features in the figure of the scores.

    Returns
    -------
    list of Path
        The files.

    Raises
    ------
    DataError
        If `run.json` or a table is missing or damaged.
    """
    if is_collection(folder):
        return draw_overview(read_table(folder / VERDICTS_NAME), folder, formats)
    config, run = read_run(folder)
    paths = []
    n_classes = len(run["data"]["class_names"])
    curves = existing_components(read_table(folder / CURVES_NAME), config, n_classes)
    if len(config.protocol.train) > 1:
        selection = read_table(folder / SELECTION_NAME) if config.rankings else None
        paths += draw_learning_curves(curves, selection, config, folder, formats)
    if config.alternatives or (config.rankings and isinstance(config.subsets, RelevanceSubsets)):
        complete = complete_trials_of(read_measures(folder))
        paths += draw_compared(curves, complete, config, folder, formats)
    elif config.rankings:
        paths += draw_curves(curves, config, folder, formats)
    paths += draw_convergence(curves, read_measures(folder), config, folder, formats)
    if config.rankings:
        if config.reference is not None:
            changes = existing_components(read_table(folder / CHANGES_NAME), config, n_classes)
            paths += draw_changes(changes, config, folder, formats)
        paths += draw_scores(read_table(folder / SCORES_NAME), config, folder, formats, score_order)
        if (folder / SELECTION_NAME).exists():
            paths += draw_stability(curves, read_table(folder / SELECTION_NAME), config, folder, formats)
    if config.expected and (folder / VERDICTS_NAME).exists():
        paths += draw_forest(read_table(folder / VERDICTS_NAME), config.title, folder, formats)
    paths += _draw_records(folder, config, run["data"], formats)
    remove_figures(folder, drawn=paths)
    return paths


def _draw_records(folder: Path, config: Config, data: Mapping[str, Any], formats: Sequence[str]) -> list[Path]:
    """Draw what was recorded of a split; of a record whose trial failed, which the run has told, there is no table."""
    styles = {label: style.of_line() for label, style in styles_of(config).items()}
    paths = []
    for name in config.record:
        record = record_kinds()[name]
        if any((folder / f"{table}.csv").exists() for table in record.tables):
            tables = {table: read_table(folder / f"{table}.csv") for table in record.tables}
            paths += record.draw(ToDraw(tables, config, data, styles, folder, formats))
    return paths
