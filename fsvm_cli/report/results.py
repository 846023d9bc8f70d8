"""One experiment's folder of results: its tables, from the store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fsvm_cli.experiment.provenance import describe_run
from fsvm_cli.experiment.recording import record_key, tables_of
from fsvm_cli.experiment.records.registry import record_kinds
from fsvm_cli.experiment.run_file import FILE_NAME as RUN_NAME
from fsvm_cli.experiment.run_file import written
from fsvm_cli.files import write_atomically
from fsvm_cli.report.approximations import with_machines
from fsvm_cli.report.choices import summarise_chosen
from fsvm_cli.report.complete_trials import collect
from fsvm_cli.report.folder import (
    AREAS_NAME,
    CHANGES_NAME,
    CHOSEN_NAME,
    CURVES_NAME,
    MEASURES_NAME,
    PAIRS_NAME,
    RECOMMENDATION_NAME,
    SCORES_NAME,
    SELECTION_NAME,
    TABLE_NAMES,
    VERDICTS_NAME,
    remove_figures,
)
from fsvm_cli.report.measures import summarise_measures
from fsvm_cli.report.numbers import DIGITS_OF_MACHINES, as_csv
from fsvm_cli.report.ranking_statistics import compare_rankings, summarise_rankings
from fsvm_cli.report.recommendation import recommendation
from fsvm_cli.report.selection import summarise_selection
from fsvm_cli.report.tables import summarise, summarise_changes
from fsvm_cli.report.trials import Trials
from fsvm_cli.report.verdicts import table_of_verdicts

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import pandas as pd

    from fsvm_cli.experiment.plan import Experiment
    from fsvm_cli.report.complete_trials import CompleteTrials
    from fsvm_cli.spec.config import LoadedConfig
    from fsvm_cli.store.store import Store


def write_tables(loaded: LoadedConfig, experiment: Experiment, store: Store, folder: Path) -> pd.DataFrame:
    """Write `run.json` and every table of an experiment; tables that are there and that it does not have go.

    Returns
    -------
    DataFrame
        The table `curves.csv`.
    """
    description = written(describe_run(loaded, experiment, store))
    collected = collect(experiment, store)
    tables = _tables(experiment, collected, overridden=bool(loaded.document.overrides))
    texts = {file_name: as_csv(table) for file_name, table in tables.items()}
    kinds = record_kinds()
    for name in experiment.config.record:
        record = store.record(record_key(experiment, name))
        for part, table in ({} if record is None else tables_of(record)).items():
            texts[f"{part}.csv"] = as_csv(table, DIGITS_OF_MACHINES, kinds[name].ratios(table), kinds[name].scales)
    # Not before all are made: where one fails, the folder keeps what it had, whose parts belong together.
    write_atomically(folder / RUN_NAME, description)
    for file_name, text in texts.items():
        write_atomically(folder / file_name, text.encode())
    of_records = {f"{table}.csv" for kind in kinds.values() for table in kind.tables}
    for file_name in {*TABLE_NAMES, *of_records} - {*texts}:
        (folder / file_name).unlink(missing_ok=True)
    curves = tables[CURVES_NAME]
    if curves.empty:
        remove_figures(folder, drawn=())
    lines = [f"{n_train},{split},{seconds:.6f}\n" for n_train, split, seconds in store.timings()]
    write_atomically(folder / "timings.csv", ("train_size,split,seconds\n" + "".join(lines)).encode())
    return curves


def _tables(
    experiment: Experiment, collected: Mapping[tuple[str, int], CompleteTrials], *, overridden: bool
) -> dict[str, pd.DataFrame]:
    """Make the tables that an experiment has, but for those of its records."""
    curves, scores = summarise(experiment, collected)
    tables = {CURVES_NAME: curves, SCORES_NAME: scores}
    if experiment.config.rankings:
        tables[SELECTION_NAME] = summarise_selection(experiment, collected)
    if experiment.config.reference is not None:
        tables[CHANGES_NAME] = summarise_changes(collected)
    of_some = {
        CHOSEN_NAME: summarise_chosen(collected),
        MEASURES_NAME: summarise_measures(collected),
        RECOMMENDATION_NAME: recommendation(experiment, collected),
    }
    pairs = compare_rankings(experiment, collected, experiment.config.metrics[0], at_each_size=False)
    if not pairs.empty:
        tables[AREAS_NAME] = summarise_rankings(experiment, collected, experiment.config.metrics[0])
        tables[PAIRS_NAME] = pairs
    tables |= {file_name: table for file_name, table in of_some.items() if not table.empty}
    if experiment.config.expected:
        tables[VERDICTS_NAME] = table_of_verdicts(Trials(experiment, collected), overridden=overridden)
    return with_machines(tables, collected)
