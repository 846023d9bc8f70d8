"""The tables of an experiment, from its stored outcomes: curves, scores, selected hyperparameters, selections."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from fsvm_cli.evaluation.stability import selection_stability
from fsvm_cli.evaluation.statistics import MeanInterval, mean_interval
from fsvm_cli.evidence.parameters import CAVEATS
from fsvm_cli.experiment.chance import chance_test
from fsvm_cli.experiment.compared_methods import further_random_orders
from fsvm_cli.experiment.provenance import describe_run
from fsvm_cli.experiment.records import record_kinds
from fsvm_cli.experiment.run_file import FILE_NAME as RUN_NAME
from fsvm_cli.experiment.run_file import written
from fsvm_cli.experiment.running import RECORD_TIMING_NOTES, record_key, tables_of
from fsvm_cli.experiment.selection import selection_experiment
from fsvm_cli.files import write_atomically
from fsvm_cli.ranking.ranks import ranks_of
from fsvm_cli.ranking.registry import ranking_methods
from fsvm_cli.report.complete_trials import collect
from fsvm_cli.report.curve_table import summarise_measures, with_machines
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
from fsvm_cli.report.intervals_for_new_rows import interval_for_new_rows
from fsvm_cli.report.numbers import DIGITS_OF_MACHINES, FLOAT_FORMAT, ROUNDING, as_csv, rounded_by_scale
from fsvm_cli.report.ranking_statistics import compare_rankings, summarise_rankings
from fsvm_cli.report.recommendation import recommendation, with_held_out_rows
from fsvm_cli.report.verdicts import Trials, table_of_verdicts

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from fsvm_cli.experiment.experiment import Experiment
    from fsvm_cli.report.complete_trials import CompleteTrials
    from fsvm_cli.spec.config import LoadedConfig
    from fsvm_cli.store.store import Store

CHOICE_COLUMNS = ["ranking", "train_size", "parameter", "value", "n_chosen", "n_trials"]


def summarise_chosen(collected: Mapping[tuple[str, int], CompleteTrials]) -> pd.DataFrame:
    """Count how often each value was chosen on the training part.

    Returns
    -------
    DataFrame
        One row per ranking, training size, parameter and value that was chosen at least once, ascending by value;
        without rows where nothing is chosen.
    """
    rows = []
    for (label, n_train), trials in collected.items():
        parameters = dict.fromkeys(name for chosen in trials.chosen for name in chosen)
        for parameter in parameters:
            counts = Counter(chosen[parameter] for chosen in trials.chosen if parameter in chosen)
            n_trials = len(trials.chosen)
            # A parameter may be a number or a word, as the step of a descent is.
            ascending = sorted(counts, key=lambda value: (isinstance(value, str), value))
            rows += [(label, n_train, parameter, _written(value), counts[value], n_trials) for value in ascending]
    return pd.DataFrame(rows, columns=CHOICE_COLUMNS)


def _written(value: float | int | str) -> str:
    """Write a value as in any other table; beside a word, pandas would write it by rules of its own."""
    return FLOAT_FORMAT % value if isinstance(value, float) else str(value)


def describe_choices(chosen: pd.DataFrame) -> list[str]:
    """Find the most frequently chosen value of each parameter of each ranking; of equals the first.

    What is no choice but a warning has a sentence of its own. Rankings of which the same is said stand together.
    """
    said: dict[str, list[str]] = {}
    for (label, n_train), rows in chosen.groupby(["ranking", "train_size"], sort=False):
        n_trials, warns = rows["n_trials"].iloc[0], rows["parameter"].isin(CAVEATS)
        often = rows.loc[rows[~warns].groupby("parameter", sort=False)["n_chosen"].idxmax()]
        of_all = "in one trial" if n_trials == 1 else f"most frequent values in {n_trials} trials"
        values = (
            f"{row.parameter} = {_shown(row.value)}{f' (in {row.n_chosen})' if n_trials > 1 else ''}"
            for row in often.itertuples()
        )
        said.setdefault(f"{n_train} rows: {of_all}: {', '.join(values)}.", []).append(str(label))
        for name, n_warned in rows[warns].groupby("parameter", sort=False)["n_chosen"].sum().items():
            warning = f"{n_train} rows: in {n_warned} of {n_trials} trials {CAVEATS[str(name)]}."
            said.setdefault(warning, []).append(str(label))
    return [f"{', '.join(labels)}, {sentence}" for sentence, labels in said.items()]


def _shown(value: object) -> str:
    """Write a value; where no parameter is a word, all values of the table have been read as fractions."""
    return f"{value:g}" if isinstance(value, float) else str(value)


SELECTION_COLUMNS = [
    "ranking",
    "train_size",
    "n_features",
    "stability",
    "stability_ci_low",
    "stability_ci_high",
    "recovered",
    "recovered_ci_low",
    "recovered_ci_high",
    "n_trials",
]


def summarise_selection(experiment: Experiment, collected: Mapping[tuple[str, int], CompleteTrials]) -> pd.DataFrame:
    """Summarise what the rankings keep, for each number of features but all.

    Returns
    -------
    DataFrame
        One row per ranking, training size and number of features. `stability` is Nogueira's index. `recovered` is the
        share of the truly relevant features that are kept, of as many as could be; empty where the truth is unknown.
    """
    worst_first = {ranking.label for ranking in experiment.config.rankings if ranking.order == "worst-first"}
    rows = [
        (label, n_train, *row)
        for (label, n_train), trials in collected.items()
        if trials.scores.shape[1]
        for row in _rows(experiment, trials, reverse=label in worst_first)
    ]
    return pd.DataFrame(rows, columns=SELECTION_COLUMNS)


def _rows(experiment: Experiment, trials: CompleteTrials, *, reverse: bool) -> Iterator[tuple[object, ...]]:
    n_features = trials.scores.shape[1]
    ranks = ranks_of(trials.scores, trials.priorities)
    if reverse:
        ranks = n_features + 1 - ranks
    relevant = experiment.source.relevant_features
    for size in trials.sizes[:-1]:
        kept = ranks <= size
        stability = selection_stability(kept) if len(kept) > 1 else None
        yield (
            size,
            *((stability.index, stability.low, stability.high) if stability else (None, None, None)),
            *(_recovered(kept, relevant, size) if relevant else (None, None, None)),
            len(kept),
        )


def _recovered(kept: NDArray[np.bool_], relevant: tuple[int, ...], size: int) -> tuple[float, float, float]:
    share = kept[:, list(relevant)].sum(axis=1) / min(size, len(relevant))
    found = mean_interval(share)
    return found.mean, found.low, found.high


CURVES = [
    "ranking",
    "train_size",
    "n_features",
    "metric",
    "part",
    "mean",
    "std",
    "ci_low",
    "ci_high",
    "n_trials",
    "n_unconverged",
]
NEW_CI = ["new_ci_low", "new_ci_high"]
SCORES = ["ranking", "feature", "mean", "std", "mean_rank", "n_trials"]


def summarise(
    experiment: Experiment, collected: Mapping[tuple[str, int], CompleteTrials]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Summarise what the trials of an experiment found.

    Returns
    -------
    curves : DataFrame
        One row per ranking, training size, number of features, metric and part: mean over trials with its standard
        deviation and 95 % interval; for a given split, which has one trial, the bootstrap interval of the test part.
        `n_unconverged` counts the trials in which a machine of the subset or of the ranking missed its duality gap, or
        an ascent on the evidence did not end by its rule; machines that were stopped on purpose have their gaps in
        the measures. Where the run ends in a recommendation, `new_ci_low` and `new_ci_high` are the interval for other
        rows of the same kind (`interval_for_new_rows`).
    scores : DataFrame
        One row per ranking and feature: mean score and rank over all trials of all training sizes. The scores of a
        ranking have the digits that the largest has; what would be 0 then, and is no rounding, has digits of its own.
    """
    curves = [(label, n_train, *row) for (label, n_train), trials in collected.items() for row in _curve_rows(trials)]
    trials_of: dict[str, list[CompleteTrials]] = {}
    for (label, _), trials in collected.items():
        if trials.scores.shape[1]:
            trials_of.setdefault(label, []).append(trials)
    names = experiment.source.feature_names
    by_machines = {
        ranking.label for ranking in experiment.config.rankings if ranking_methods()[ranking.method].trains_machines
    }
    scores = [
        row
        for label, found in trials_of.items()
        for row in _score_rows(label, names, found, 1.0 if label in by_machines else ROUNDING)
    ]
    table = pd.DataFrame(curves, columns=CURVES)
    if experiment.ends_in_recommendation:
        limits = [each for trials in collected.values() for each in _limits_for_new_rows(experiment, trials)]
        table[NEW_CI] = np.array(limits).reshape(-1, 2)
    return table, pd.DataFrame(scores, columns=SCORES)


def _limits_for_new_rows(experiment: Experiment, trials: CompleteTrials) -> Iterator[tuple[float, float]]:
    """Yield what belongs to the rows of `_curve_rows`; NaN for the training part."""
    for column in range(len(trials.sizes)):
        for (metric, part), values in trials.values.items():
            if part == "test":
                found = interval_for_new_rows(
                    experiment,
                    values[:, column],
                    trials.test_confusion[column],
                    metric,
                    trials.spread_of(metric, column),
                )
                yield found.low, found.high
            else:
                yield np.nan, np.nan


def _curve_rows(trials: CompleteTrials) -> Iterator[tuple[object, ...]]:
    for column, size in enumerate(trials.sizes):
        n_unconverged = int(np.count_nonzero(~trials.converged[:, column]))
        for (metric, part), values in trials.values.items():
            found = mean_interval(values[:, column])
            if found.n < len(values) and not trials.measures:
                # A mean over the trials whose curves reach so far would compare these with all.
                found = MeanInterval(np.nan, np.nan, np.nan, np.nan, found.n)
            intervals = trials.intervals.get((metric, part))
            low, high = intervals[column] if intervals else (found.low, found.high)
            yield size, metric, part, found.mean, found.std, low, high, found.n, n_unconverged


def summarise_changes(experiment: Experiment, collected: Mapping[tuple[str, int], CompleteTrials]) -> pd.DataFrame:
    """Summarise how far the curves of an experiment lie above their own ends, where all features are kept.

    Returns
    -------
    DataFrame
        As the curves, without `n_unconverged`: mean over trials of the difference on the same trial, with the interval
        of that mean.
    """
    rows = [
        (label, n_train, size, metric, part, found.mean, found.std, found.low, found.high, found.n)
        for (label, n_train), trials in collected.items()
        for column, size in enumerate(trials.sizes)
        for (metric, part), values in trials.values.items()
        for rows_of_part in [n_train if part == "train" else experiment.n_test[n_train]]
        for row in [0.0 if size == trials.sizes[-1] else 1 / rows_of_part]
        for found in [mean_interval(values[:, column] - values[:, -1], row)]
    ]
    return pd.DataFrame(rows, columns=CURVES[:-1])


def _score_rows(
    label: str, names: Sequence[str], found: Sequence[CompleteTrials], noise: float
) -> Iterator[tuple[object, ...]]:
    scores = np.concatenate([trials.scores for trials in found])
    of_features = np.ascontiguousarray(scores.T)
    stds = of_features.std(axis=1, ddof=1) if len(scores) > 1 else np.full(len(of_features), np.nan)
    spreads = rounded_by_scale(np.column_stack([of_features.mean(axis=1), stds]), DIGITS_OF_MACHINES, noise)
    mean_ranks = ranks_of(scores, np.concatenate([trials.priorities for trials in found])).mean(axis=0)
    for name, (mean, std), mean_rank in zip(names, spreads, mean_ranks, strict=True):
        yield label, name, mean, std, mean_rank, len(scores)


def write_tables(loaded: LoadedConfig, experiment: Experiment, store: Store, folder: Path) -> pd.DataFrame:
    """Write `run.json` and every table of an experiment; tables that are there and that it does not have go.

    Returns
    -------
    DataFrame
        The table `curves.csv`.
    """
    description = written(describe_run(loaded, experiment, store))
    collected = collect(experiment, store)
    within = selection_experiment(experiment)  # what has seen the test rows of a given split decides nothing
    test = chance_test(within or experiment)
    if test is not None:
        test.read(store)
    recommended = recommendation(within or experiment, collect(within, store) if within else collected, test)
    if within and not recommended.empty:
        recommended = with_held_out_rows(recommended, experiment, collected)
    further = {each.label for each in further_random_orders(experiment.config)}
    if experiment.ends_in_recommendation:
        collected = {key: trials for key, trials in collected.items() if key[0] not in further}
    stored = {name: store.record(record_key(experiment, name)) for name in experiment.config.record}
    records = {name: tables_of(record) for name, record in stored.items() if record is not None}
    tables = _tables(experiment, collected, recommended, records, overridden=bool(loaded.document.overrides))
    texts = {file_name: as_csv(table) for file_name, table in tables.items()}
    texts[SCORES_NAME] = as_csv(tables[SCORES_NAME], ratios=("mean", "std"))  # one ranking's unit is not another's
    kinds = record_kinds()
    for name, of_record in records.items():
        for part, table in of_record.items():
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
    lines = [f"{n_train},{split},,{seconds:.6f}\n" for n_train, split, seconds in store.timings()]
    lines += [f",,{name},{seconds}\n" for name, seconds in sorted(store.notes(RECORD_TIMING_NOTES).items())]
    write_atomically(folder / "timings.csv", ("train_size,split,record,seconds\n" + "".join(lines)).encode())
    return curves


def _tables(
    experiment: Experiment,
    collected: Mapping[tuple[str, int], CompleteTrials],
    recommended: pd.DataFrame,
    records: Mapping[str, Mapping[str, pd.DataFrame]],
    *,
    overridden: bool,
) -> dict[str, pd.DataFrame]:
    """Make the tables that an experiment has, but for those of its records."""
    curves, scores = summarise(experiment, collected)
    tables = {CURVES_NAME: curves, SCORES_NAME: scores}
    if experiment.config.rankings:
        tables[SELECTION_NAME] = summarise_selection(experiment, collected)
    if experiment.config.reference is not None:
        tables[CHANGES_NAME] = summarise_changes(experiment, collected)
    of_some = {
        CHOSEN_NAME: summarise_chosen(collected),
        MEASURES_NAME: summarise_measures(collected),
        RECOMMENDATION_NAME: recommended,
    }
    pairs = compare_rankings(experiment, collected, experiment.config.metrics[0], at_each_size=False)
    # Tests of pairs allow for new rows, of which one part in several orders says nothing.
    if not pairs.empty and experiment.config.protocol.row_order is None:
        tables[AREAS_NAME] = summarise_rankings(experiment, collected, experiment.config.metrics[0])
        tables[PAIRS_NAME] = pairs
    tables |= {file_name: table for file_name, table in of_some.items() if not table.empty}
    if experiment.config.expected:
        tables[VERDICTS_NAME] = table_of_verdicts(Trials(experiment, collected, records=records), overridden=overridden)
    return with_machines(tables, collected)
