"""One experiment's folder of results: tables from the store, figures from the tables."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from fsvm_cli.experiment.provenance import FILE_NAME as RUN_NAME
from fsvm_cli.experiment.provenance import describe_run, is_collection, read_run
from fsvm_cli.experiment.recording import record_key, tables_of
from fsvm_cli.experiment.records.registry import record_kinds
from fsvm_cli.files import is_file, is_folder, write_atomically
from fsvm_cli.report.choices import summarise_chosen
from fsvm_cli.report.numbers import DIGITS_OF_MACHINES
from fsvm_cli.report.samples import collect
from fsvm_cli.report.selection import summarise_selection
from fsvm_cli.report.tables import read_table, summarise, write_table
from fsvm_cli.report.trials import Trials
from fsvm_cli.report.verdicts import table_of_verdicts
from fsvm_cli.spec.records import RECORD_NAMES

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    import pandas as pd

    from fsvm_cli.experiment.plan import Experiment
    from fsvm_cli.spec.config import LoadedConfig
    from fsvm_cli.store.store import Store

FORMATS = ("svg", "png")
CURVES_NAME = "curves.csv"
SCORES_NAME = "scores.csv"
SELECTION_NAME = "selection.csv"
VERDICTS_NAME = "published.csv"
CHOSEN_NAME = "chosen.csv"
TABLE_NAMES = (
    *(CURVES_NAME, SCORES_NAME, SELECTION_NAME, CHOSEN_NAME, VERDICTS_NAME),
    *("overview.csv", "field.csv", "points.csv", "path.csv"),
)
FIGURE_NAMES = tuple(
    f"{name}.{extension}"
    for name in ("*-vs-features", "*-vs-features-n*", "scores", *RECORD_NAMES, "overview")
    for extension in (*FORMATS, "pdf")
)


def write_tables(loaded: LoadedConfig, experiment: Experiment, store: Store, folder: Path) -> pd.DataFrame:
    """Write `run.json` and every table of an experiment; tables that are there and that it does not have go.

    Returns
    -------
    DataFrame
        The table `curves.csv`.
    """
    description = json.dumps(describe_run(loaded, experiment), indent=2, ensure_ascii=False)
    write_atomically(folder / RUN_NAME, (description + "\n").encode())
    collected = collect(experiment, store)
    curves, scores = summarise(experiment, collected)
    tables = {CURVES_NAME: curves, SCORES_NAME: scores}
    if experiment.config.rankings:
        tables[SELECTION_NAME] = summarise_selection(experiment, collected)
    chosen = summarise_chosen(collected)
    if not chosen.empty:
        tables[CHOSEN_NAME] = chosen
    if experiment.config.expected:
        trials = Trials(experiment, collected)
        tables[VERDICTS_NAME] = table_of_verdicts(trials, overridden=bool(loaded.document.overrides))
    recorded: dict[str, pd.DataFrame] = {}
    for name in experiment.config.record:
        record = store.record(record_key(experiment, name))
        if record is not None:
            recorded |= {f"{part}.csv": frame for part, frame in tables_of(record).items()}
    for file_name, table in tables.items():
        write_table(table, folder / file_name)
    for file_name, table in recorded.items():
        write_table(table, folder / file_name, DIGITS_OF_MACHINES)
    for file_name in {*TABLE_NAMES} - {*tables, *recorded}:
        (folder / file_name).unlink(missing_ok=True)
    if curves.empty:
        _remove_figures(folder, drawn=())
    lines = [f"{n_train},{split},{seconds:.6f}\n" for n_train, split, seconds in store.timings()]
    write_atomically(folder / "timings.csv", ("train_size,split,seconds\n" + "".join(lines)).encode())
    return curves


def _remove_figures(folder: Path, drawn: Iterable[Path]) -> None:
    """Remove the figures of what no table shows any more; those of `drawn` stay, in every format."""
    kept = {path.stem for path in drawn}
    for path in {path for name in FIGURE_NAMES for path in folder.glob(name)}:
        if path.stem not in kept:
            path.unlink()


def draw_figures(folder: Path, formats: Sequence[str] = FORMATS) -> list[Path]:
    """Draw every figure of an experiment, or of a collection, from its tables; figures of what it no longer has go.

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
    from fsvm_cli.report.overview import draw_overview  # noqa: PLC0415
    from fsvm_cli.report.scores import draw_scores  # noqa: PLC0415

    if is_collection(folder):
        return draw_overview(read_table(folder / VERDICTS_NAME), folder, formats)
    config, run = read_run(folder)
    paths = []
    if config.rankings:
        paths += draw_curves(read_table(folder / CURVES_NAME), config, folder, formats)
        paths += draw_scores(read_table(folder / SCORES_NAME), config, folder, formats)
    for name in config.record:
        record = record_kinds()[name]
        tables = {table: read_table(folder / f"{table}.csv") for table in record.tables}
        paths += record.draw(tables, config, run["data"], folder, formats)
    _remove_figures(folder, drawn=paths)
    return paths


def results_folders(root: Path) -> list[Path]:
    """Find the results folders at or below `root`, sorted by name."""
    if is_file(root / RUN_NAME):
        return [root]
    if not is_folder(root):
        return []
    return sorted(path.parent for path in root.glob(f"*/{RUN_NAME}"))
