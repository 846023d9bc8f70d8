"""Figures of merit as tables for people: numbers of features, or training rows, down; methods across."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fsvm_cli.evaluation.metrics import METRIC_TITLES
from fsvm_cli.report.approximations import in_words
from fsvm_cli.report.learning_rows import learning_rows
from fsvm_cli.report.measures import complete_trials_of
from fsvm_cli.report.numbers import briefly
from fsvm_cli.report.shortfalls import MACHINE, shortfalls, stopped_short, without_trials
from fsvm_cli.spec.classifiers import Classifier
from fsvm_cli.spec.nystroem_machine import LANDMARKS
from fsvm_cli.spec.sklearn_classifiers import LearnedKernel

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd

    from fsvm_cli.spec.protocol import Protocol
    from fsvm_cli.spec.schema import Config

KEY = ["ranking", "train_size", "n_features"]
"""What a mean and a measure are of."""

COLUMN_TITLES = {"n_features": "features", "train_size": "training rows"}


@dataclass(frozen=True)
class Estimate:
    """A mean in percent and the half-width of its 95 % interval; NaN where there is none."""

    mean: float
    half_width: float

    def __str__(self) -> str:
        if math.isnan(self.mean):  # there is no classifier in any trial
            return "–"
        return f"{self.mean:.2f}" if math.isnan(self.half_width) else f"{self.mean:.2f} ± {self.half_width:.2f}"


@dataclass(frozen=True)
class CurveTable:
    """One table of test results.

    Attributes
    ----------
    quantity : str
        What is measured, in which unit, and under which condition.
    columns : tuple of str
        Titles: of what leads down the table, then of each method.
    sizes : tuple of int
        What leads down the table; the last is that of all features, or of the largest training part.
    estimates : tuple of tuple of Estimate
        Of each size, one for each method.
    note : str
        What the numbers are, and how many trials they cover.
    """

    quantity: str
    columns: tuple[str, ...]
    sizes: tuple[int, ...]
    estimates: tuple[tuple[Estimate, ...], ...]
    note: str

    @property
    def rows(self) -> tuple[tuple[str, ...], ...]:
        """One text for each column."""
        return tuple(
            (str(size), *map(str, estimates)) for size, estimates in zip(self.sizes, self.estimates, strict=True)
        )


def curve_tables(curves: pd.DataFrame, measures: pd.DataFrame, config: Config) -> Iterator[CurveTable]:
    """Arrange the test rows of `curves.csv` as tables.

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
        estimates = tuple(tuple(_estimate(by_size[label].loc[size]) for label in labels) for size in sizes)
        complete = rows["ranking"].map(complete_trials).fillna(rows["n_trials"])
        note = (
            f"{_coverage(complete, config.protocol)}{without_trials(config, labels)}"
            f"{_certificate(rows, stopped_short(config, measures), config)}{_approximation(measures)}."
        )
        yield CurveTable(quantity, (COLUMN_TITLES[down], *labels), tuple(sizes), estimates, note)


def _parts(curves: pd.DataFrame, config: Config) -> Iterator[tuple[str, pd.DataFrame, str]]:
    """Yield what each table measures, its part of the curves, and which column of them leads down the table."""
    for metric, of_metric in curves.groupby("metric", sort=False):
        quantity = f"{METRIC_TITLES[str(metric)]} in %"
        if of_metric["train_size"].nunique() > 1:
            for size, rows in learning_rows(of_metric, config):
                yield f"{quantity}, {size} features", rows, "train_size"
        else:
            for train_size, rows in of_metric.groupby("train_size"):
                yield f"{quantity}, {train_size} training rows", rows, "n_features"


def _estimate(row: pd.Series) -> Estimate:
    return Estimate(100 * row["mean"], 50 * (row["ci_high"] - row["ci_low"]))


def _coverage(complete: pd.Series, protocol: Protocol) -> str:
    """Say how many trials are complete, by the counts of all points."""
    planned = protocol.splits
    n_trials = int(complete.min())
    splits = f"{n_trials} splits" if n_trials == planned else f"INCOMPLETE: {n_trials} of {planned} splits"
    if protocol.is_single_given:
        return "The split of the source, ± 95 % interval of the bootstrap over its test rows"
    return f"Mean ± 95 % interval over {splits}{' of the source' if protocol.is_given else ''}"


def _approximation(measures: pd.DataFrame) -> str:
    """Say how approximate the machines are, where any is."""
    n_landmarks = measures.loc[measures["measure"] == LANDMARKS, "mean"]
    return "" if n_landmarks.empty else f"; machines are approximate ({in_words(n_landmarks.max())})"


def _certificate(rows: pd.DataFrame, stopped: pd.DataFrame, config: Config) -> str:
    """Say whether machines reached their duality gap and ascents their rule; nothing where there is neither."""
    certificate = ""
    missed = rows[rows["n_unconverged"] > 0]
    if not missed.empty:
        by_words = missed.groupby(missed["ranking"].map(shortfalls(config)).fillna(MACHINE), sort=False)
        told = [f"in {n_unconverged} {words}" for words, n_unconverged in by_words["n_unconverged"].sum().items()]
        certificate = f"; of {int(rows['n_trials'].sum())} points, {', '.join(told)}"
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
