"""Figures of merit as tables: from `curves.csv` and `measures.csv` to what the terminal, papers and the page show."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from fsvm_cli.evaluation.metrics import has_positive_class, metric_title, needs_scores, unit_of
from fsvm_cli.evaluation.statistics import mean_interval
from fsvm_cli.learners.base import MACHINE_FOUND
from fsvm_cli.learners.machine import NYSTROEM_LANDMARKS
from fsvm_cli.report.complete_trials import MACHINE, convergence_warnings, stopped_short, without_trials
from fsvm_cli.report.folder import (
    AREAS_NAME,
    CHANGES_NAME,
    CURVES_NAME,
    MEASURES_NAME,
    PAIRS_NAME,
    RECOMMENDATION_NAME,
    VERDICTS_NAME,
    read_table,
)
from fsvm_cli.report.numbers import DIGITS_OF_MACHINES, briefly, rounded_alike
from fsvm_cli.report.printing import Estimate, ResultTable
from fsvm_cli.spec.classifiers import Classifier, LearnedKernel
from fsvm_cli.spec.rankings import ALL_FEATURES

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Mapping, Sequence
    from pathlib import Path

    from fsvm_cli.report.complete_trials import CompleteTrials
    from fsvm_cli.spec.protocol import Protocol
    from fsvm_cli.spec.schema import Config

MEASURE_COLUMNS = ["ranking", "train_size", "n_features", "measure", "mean", "std", "ci_low", "ci_high", "n_trials"]


def summarise_measures(collected: Mapping[tuple[str, int], CompleteTrials]) -> pd.DataFrame:
    """Summarise what was measured over the trials in which there is a classifier.

    Returns
    -------
    DataFrame
        One row per ranking, training size, number of features and measure; without rows where nothing is measured.
        `n_trials` counts the trials that have the measure.
    """
    rows = []
    for (label, n_train), trials in collected.items():
        for name, values in trials.measures.items():
            for column, size in enumerate(trials.sizes):
                found = mean_interval(values[:, column])
                numbers = np.array([found.mean, found.std, found.low, found.high])
                rows.append((label, n_train, size, name, *rounded_alike(numbers, DIGITS_OF_MACHINES), found.n))
    return pd.DataFrame(rows, columns=MEASURE_COLUMNS)


def read_measures(folder: Path) -> pd.DataFrame:
    """Read the measures of a results folder; without rows where nothing is measured."""
    path = folder / MEASURES_NAME
    return read_table(path) if path.exists() else pd.DataFrame(columns=MEASURE_COLUMNS)


def complete_trials_of(measures: pd.DataFrame) -> dict[str, int]:
    """Count by ranking the trials that are complete, with a machine or without one, where there may be none."""
    counted = measures[measures["measure"] == MACHINE_FOUND]
    return {str(label): int(rows["n_trials"].max()) for label, rows in counted.groupby("ranking")}


def describe_measures(measures: pd.DataFrame) -> list[str]:
    """Summarise the mean measures of each ranking on all features, and the number of trials without a machine."""
    sentences = []
    for (label, n_train), rows in measures.groupby(["ranking", "train_size"], sort=False):
        with_all = rows[rows["n_features"] == rows["n_features"].max()]
        values = [f"{row.measure} {row.mean:.3g}" for row in with_all.itertuples() if row.measure != MACHINE_FOUND]
        for row in with_all[(with_all["measure"] == MACHINE_FOUND) & (with_all["mean"] < 1.0)].itertuples():
            n_without = round((1.0 - row.mean) * row.n_trials)
            values.append(f"no machine in {n_without} of {row.n_trials} trials, which do not count")
        sentences.append(f"{label}, {n_train} rows: {', '.join(values)}.")
    return sentences


MAX_SIZES = 4
"""Of more numbers of retained features, so many are shown."""


def in_hundredths(rows: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Scale rows of `curves.csv` so that a hundred times their numbers are in the unit in which the metric is drawn."""
    factor = unit_of(metric).factor / 100
    numbers = ["mean", "std", "ci_low", "ci_high"]
    return rows if factor == 1.0 else rows.assign(**{name: factor * rows[name] for name in numbers})


def sizes_shown(n_features: Sequence[int]) -> list[int]:
    """Choose the numbers of retained features that have learning curves of their own.

    Parameters
    ----------
    n_features : sequence of int
        Those that were evaluated, ascending; the last is that of all features.

    Returns
    -------
    list of int
        All but the last, or of many a few that lie evenly among them; the last where there is no other.
    """
    *subsets, all_features = n_features
    if not subsets:
        return [all_features]
    indices = np.linspace(0, len(subsets) - 1, min(len(subsets), MAX_SIZES)).round().astype(int)
    return [subsets[index] for index in np.unique(indices)]


def learning_rows(curves: pd.DataFrame, config: Config) -> Iterator[tuple[int, pd.DataFrame]]:
    """Yield the numbers of retained features that have learning curves, each with its rows, by training size.

    Where the rankings share a machine, that on all features is among the rows, under its own label.

    Parameters
    ----------
    curves : DataFrame
        Rows of the table `curves.csv` of one metric and part.
    config : Config
    """
    if curves.empty:
        return
    sizes = sorted(curves["n_features"].unique())
    ranked = curves["ranking"].isin([ranking.label for ranking in config.rankings])
    # A method may have failed at some training sizes, and another not.
    on_all = curves[(curves["n_features"] == sizes[-1]) & ranked].drop_duplicates("train_size")
    for size in sizes_shown(sizes):
        rows = [curves[curves["n_features"] == size]]
        if config.shares_classifier and size < sizes[-1]:
            rows.append(on_all.assign(ranking=ALL_FEATURES))
        yield int(size), pd.concat(rows).sort_values("train_size", kind="stable")


if TYPE_CHECKING:
    ByCurve = Mapping[tuple[str, int], str]

EXACT = "exact"
OF_MACHINES = (CURVES_NAME, CHANGES_NAME, AREAS_NAME, PAIRS_NAME, RECOMMENDATION_NAME, VERDICTS_NAME)
"""What is measured with a classifier; rankings train exact machines."""


def in_words(n_landmarks: float) -> str:
    """Name an approximate machine."""
    return f"Nyström, {n_landmarks:.0f} landmarks"


def with_machines(
    tables: Mapping[str, pd.DataFrame], collected: Mapping[tuple[str, int], CompleteTrials]
) -> dict[str, pd.DataFrame]:
    """Add the column `machines` to tables of an experiment that has approximate ones; else leave the tables.

    Parameters
    ----------
    tables : mapping of str to DataFrame
        By the names of their files.
    collected : mapping of (str, int) to CompleteTrials
        By label and number of training rows.
    """
    approximate = {
        where: in_words(float(np.nanmax(trials.measures[NYSTROEM_LANDMARKS])))
        for where, trials in collected.items()
        if NYSTROEM_LANDMARKS in trials.measures
    }
    if not approximate:
        return dict(tables)
    return {
        name: table.assign(machines=[_of_row(row, approximate) for row in table.to_dict("records")])
        if name in OF_MACHINES
        else table
        for name, table in tables.items()
    }


def _of_row(row: Mapping[Hashable, object], approximate: ByCurve) -> str:
    """Name the machines by which a row was measured; of all curves where the row names none."""
    labels = {row[column] for column in ("ranking", "first", "second") if column in row}
    n_train = row.get("train_size")
    found = {
        words
        for (label, size), words in approximate.items()
        if (not labels or label in labels) and n_train in {None, size}
    }
    return " / ".join(sorted(found)) or EXACT


KEY = ["ranking", "train_size", "n_features"]
"""What a mean and a measure are of."""

ENDED = "; –: the curve ends, since fewer columns have a score in some trial"

COLUMN_TITLES = {"n_features": "features", "train_size": "training rows"}


def curve_tables(curves: pd.DataFrame, measures: pd.DataFrame, config: Config) -> Iterator[ResultTable]:
    """Arrange the test rows of `curves.csv` as tables of a row per size and an `Estimate` per method.

    Parameters
    ----------
    curves : DataFrame
        The table `curves.csv`.
    measures : DataFrame
        The table `measures.csv`, without rows where there is none.
    config : Config
    """
    complete_trials = complete_trials_of(measures)
    for quantity, rows, down in _parts(curves[curves["part"] == "test"], config):
        labels = list(dict.fromkeys(rows["ranking"]))
        by_size = {label: rows[rows["ranking"] == label].set_index(down) for label in labels}
        sizes = sorted(map(int, rows[down].unique()))
        cells: tuple[tuple[str | Estimate, ...], ...] = tuple(
            (str(size), *(_estimate(by_size[label].loc[size]) for label in labels)) for size in sizes
        )
        complete = rows["ranking"].map(complete_trials).fillna(rows["n_trials"].where(rows["mean"].notna()))
        for_new_rows = _of_new_rows(rows)
        note = (
            f"{_coverage(complete, config.protocol, str(rows['metric'].iloc[0]), for_new_rows=bool(for_new_rows))}"
            f"{for_new_rows}"
            f"{without_trials(config, labels)}{ENDED if (rows['mean'].isna() & complete.isna()).any() else ''}"
            f"{_certificate(rows, stopped_short(config, measures), config)}{_approximation(measures)}"
            f"{_positive_class(str(rows['metric'].iloc[0]), config)}."
        )
        yield ResultTable(quantity, (COLUMN_TITLES[down], *labels), cells, note)


def _parts(curves: pd.DataFrame, config: Config) -> Iterator[tuple[str, pd.DataFrame, str]]:
    """Yield what each table measures, its part of the curves, and which column of them leads down the table."""
    for metric, of_metric in curves.groupby("metric", sort=False):
        quantity = f"{metric_title(str(metric))} in {unit_of(str(metric)).symbol}"
        if of_metric["train_size"].nunique() > 1:
            for size, rows in learning_rows(of_metric, config):
                yield f"{quantity}, {size} features", rows, "train_size"
        else:
            for train_size, rows in of_metric.groupby("train_size"):
                yield f"{quantity}, {train_size} training rows", rows, "n_features"


def _estimate(row: pd.Series) -> Estimate:
    limits = row.get("new_ci_low", np.nan), row.get("new_ci_high", np.nan)
    is_for_new_rows = not np.isnan(limits).any()
    unit = unit_of(row["metric"])
    half_width = unit.factor * (row["ci_high"] - row["ci_low"]) / 2
    scaled = (unit.factor * limits[0], unit.factor * limits[1]) if is_for_new_rows else None
    return Estimate(unit.factor * row["mean"], half_width, scaled, unit.decimals)


def _coverage(complete: pd.Series, protocol: Protocol, metric: str, *, for_new_rows: bool) -> str:
    """Format the number of complete trials, from the counts of all points."""
    splits = protocol.trials_in_words(int(complete.min()))
    if protocol.is_single_given:
        by = "for other test rows" if needs_scores(metric) else "of the bootstrap over its test rows"
        return f"The split of the source, ± 95 % interval {by}"
    interval = "" if for_new_rows else " ± 95 % interval"
    return f"Mean{interval} over {splits}{' of the source' if protocol.is_given else ''}"


def _of_new_rows(rows: pd.DataFrame) -> str:
    """Tell which question the intervals answer, where they are for other rows; and how exact the means are."""
    if "new_ci_low" not in rows or rows["new_ci_low"].isna().all():
        return ""
    unit = unit_of(rows["metric"].iloc[0])
    half_width = unit.factor * (rows["ci_high"] - rows["ci_low"]).max() / 2
    alone = (
        ""
        if np.isnan(half_width)
        else "; the mean over all splits of these rows alone, which is another question, is known to "
        f"± {half_width:.{unit.decimals}f} at most (ci_low and ci_high in {CURVES_NAME})"
    )
    return f" [95 % interval for other rows of the same kind, as in the recommendation]{alone}"


def _positive_class(metric: str, config: Config) -> str:
    """Name the positive class of a metric that has one."""
    if not has_positive_class(metric):
        return ""
    return f"; positive class: {'the rarer one' if config.positive is None else config.positive}"


def _approximation(measures: pd.DataFrame) -> str:
    """Describe the approximation of the machines, where any is approximate."""
    n_landmarks = measures.loc[measures["measure"] == NYSTROEM_LANDMARKS, "mean"]
    return "" if n_landmarks.empty else f"; machines are approximate ({in_words(n_landmarks.max())})"


def _certificate(rows: pd.DataFrame, stopped: pd.DataFrame, config: Config) -> str:
    """Describe whether machines reached their duality gap and ascents their rule; empty where there is neither."""
    certificate = ""
    missed = rows[rows["n_unconverged"] > 0]
    if not missed.empty:
        by_words = missed.groupby(missed["ranking"].map(convergence_warnings(config)).fillna(MACHINE), sort=False)
        notes = [f"in {n_unconverged} {words}" for words, n_unconverged in by_words["n_unconverged"].sum().items()]
        certificate = f"; of {int(rows['n_trials'].sum())} points, {', '.join(notes)}"
    gaps = rows.merge(stopped[[*KEY, "mean"]], on=KEY, suffixes=("", "_gap"))["mean_gap"]
    if not gaps.empty:
        certificate += (
            f"; {len(gaps)} of the {len(rows)} means are of machines that were stopped before they reached their "
            f"duality gap, at gaps of up to {briefly(gaps.max())}"
        )
    if certificate:
        return certificate
    shown = config.classifiers_shown()
    has_machines = any(isinstance(classifier, Classifier | LearnedKernel) for classifier in shown)
    return "; every machine reached its duality gap" if has_machines else ""
