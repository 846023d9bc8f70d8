"""What classifiers measured on the training parts: margins, weights of kernels, whether there is a machine at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from fsvm_cli.evaluation.statistics import mean_interval
from fsvm_cli.report.folder import MEASURES_NAME
from fsvm_cli.report.numbers import DIGITS_OF_MACHINES, rounded_alike
from fsvm_cli.report.table_files import read_table
from fsvm_cli.spec.learner import FOUND

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from fsvm_cli.report.complete_trials import CompleteTrials

COLUMNS = ["ranking", "train_size", "n_features", "measure", "mean", "std", "ci_low", "ci_high", "n_trials"]


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
    return pd.DataFrame(rows, columns=COLUMNS)


def read_measures(folder: Path) -> pd.DataFrame:
    """Read the measures of a results folder; without rows where nothing is measured."""
    path = folder / MEASURES_NAME
    return read_table(path) if path.exists() else pd.DataFrame(columns=COLUMNS)


def complete_trials_of(measures: pd.DataFrame) -> dict[str, int]:
    """Count by ranking the trials that are complete, with a machine or without one, where there may be none."""
    counted = measures[measures["measure"] == FOUND]
    return {str(label): int(rows["n_trials"].max()) for label, rows in counted.groupby("ranking")}


def describe_measures(measures: pd.DataFrame) -> list[str]:
    """Say of each ranking what was measured on average, with all features, and how often there was no machine."""
    sentences = []
    for (label, n_train), rows in measures.groupby(["ranking", "train_size"], sort=False):
        with_all = rows[rows["n_features"] == rows["n_features"].max()]
        values = [f"{row.measure} {row.mean:.3g}" for row in with_all.itertuples() if row.measure != FOUND]
        for row in with_all[(with_all["measure"] == FOUND) & (with_all["mean"] < 1.0)].itertuples():
            n_without = round((1.0 - row.mean) * row.n_trials)
            values.append(f"no machine in {n_without} of {row.n_trials} trials, which do not count")
        sentences.append(f"{label}, {n_train} rows: {', '.join(values)}.")
    return sentences
