"""One experiment's folder of results: tables from the store, figures from the tables."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from fsvm_cli.experiment.provenance import FILE_NAME as RUN_NAME
from fsvm_cli.experiment.provenance import describe_run, is_collection, read_run
from fsvm_cli.experiment.record import record_key, tables_of
from fsvm_cli.files import is_file, is_folder, write_atomically
from fsvm_cli.report.chosen import summarise_chosen
from fsvm_cli.report.samples import collect
from fsvm_cli.report.selection import summarise_selection
from fsvm_cli.report.tables import read_table, summarise, write_table
from fsvm_cli.report.trials import Trials
from fsvm_cli.report.verdicts import table_of_verdicts

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import pandas as pd

    from fsvm_cli.experiment.config import LoadedConfig
    from fsvm_cli.experiment.plan import Experiment
    from fsvm_cli.experiment.store import Store

FORMATS = ("svg", "png")
CURVES_NAME = "curves.csv"
SCORES_NAME = "scores.csv"
SELECTION_NAME = "selection.csv"
VERDICTS_NAME = "published.csv"
CHOSEN_NAME = "chosen.csv"
FIGURE_NAMES = tuple(
    f"{name}.{extension}"
    for name in ("*-vs-features", "*-vs-features-n*", "scores", "decision-field", "descent-path")
    for extension in (*FORMATS, "pdf")
)


def write_tables(loaded: LoadedConfig, experiment: Experiment, store: Store, folder: Path) -> pd.DataFrame:
    """Write `run.json` and every table of an experiment.

    Returns
    -------
    DataFrame
        The table `curves.csv`.
    """
    description = json.dumps(describe_run(loaded, experiment), indent=2, ensure_ascii=False)
    write_atomically(folder / RUN_NAME, (description + "\n").encode())
    collected = collect(experiment, store)
    curves, scores = summarise(experiment, collected)
    write_table(curves, folder / CURVES_NAME)
    write_table(scores, folder / SCORES_NAME)
    if experiment.config.rankings:
        write_table(summarise_selection(experiment, collected), folder / SELECTION_NAME)
    chosen = summarise_chosen(collected)
    if chosen.empty:
        (folder / CHOSEN_NAME).unlink(missing_ok=True)
    else:
        write_table(chosen, folder / CHOSEN_NAME)
    if experiment.config.expected:
        trials = Trials(experiment, collected)
        verdicts = table_of_verdicts(trials, overridden=bool(loaded.document.overrides))
        write_table(verdicts, folder / VERDICTS_NAME)
    for name in experiment.config.record:
        record = store.record(record_key(experiment, name))
        if record is not None:
            for table, frame in tables_of(record).items():
                write_table(frame, folder / f"{table}.csv")
    if curves.empty:
        _remove_figures(folder)
    lines = [f"{n_train},{split},{seconds:.6f}\n" for n_train, split, seconds in store.timings()]
    write_atomically(folder / "timings.csv", ("train_size,split,seconds\n" + "".join(lines)).encode())
    return curves


def _remove_figures(folder: Path) -> None:
    """Remove the figures of trials that no table shows any more."""
    for name in FIGURE_NAMES:
        for path in folder.glob(name):
            path.unlink()


def draw_figures(folder: Path, formats: Sequence[str] = FORMATS) -> list[Path]:
    """Draw every figure of an experiment, or of a collection, from its tables.

    Parameters
    ----------
    folder : Path
        Its results.
    formats : sequence of str
        Of svg, png, pdf.

    Returns
    -------
    list of Path
        The files.

    Raises
    ------
    DataError
        If `run.json` or a table is missing or damaged.
    """
    # matplotlib takes most of a second to import; a command that draws nothing does not wait for it.
    from fsvm_cli.report.curves import draw_curves  # noqa: PLC0415
    from fsvm_cli.report.decision_field import draw_decision_field  # noqa: PLC0415
    from fsvm_cli.report.descent_path import draw_descent_paths  # noqa: PLC0415
    from fsvm_cli.report.overview import draw_overview  # noqa: PLC0415
    from fsvm_cli.report.scores import draw_scores  # noqa: PLC0415

    if is_collection(folder):
        return draw_overview(read_table(folder / VERDICTS_NAME), folder, formats)
    config, run = read_run(folder)
    paths = []
    if config.rankings:
        paths += draw_curves(read_table(folder / CURVES_NAME), config, folder, formats)
        paths += draw_scores(read_table(folder / SCORES_NAME), config, folder, formats)
    if "decision-field" in config.record:
        field, points = read_table(folder / "field.csv"), read_table(folder / "points.csv")
        paths += draw_decision_field(field, points, config, run["data"], folder=folder, formats=formats)
    if "descent-path" in config.record:
        paths += draw_descent_paths(read_table(folder / "path.csv"), config, folder, formats)
    return paths


def results_folders(root: Path) -> list[Path]:
    """Find the results folders at or below `root`, sorted by name."""
    if is_file(root / RUN_NAME):
        return [root]
    if not is_folder(root):
        return []
    return sorted(path.parent for path in root.glob(f"*/{RUN_NAME}"))
