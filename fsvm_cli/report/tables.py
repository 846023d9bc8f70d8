"""The tables of an experiment, summarised from its stored outcomes."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from fsvm_cli.errors import DataError
from fsvm_cli.evaluation.metrics import METRICS
from fsvm_cli.evaluation.statistics import mean_interval
from fsvm_cli.files import write_atomically
from fsvm_cli.ranking.base import order_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from fsvm_cli.experiment.outcome import Outcome
    from fsvm_cli.experiment.plan import Experiment
    from fsvm_cli.experiment.schema import Ranking
    from fsvm_cli.experiment.store import Store

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
SCORES = ["ranking", "feature", "mean", "std", "mean_rank", "n_trials"]
ALL_FEATURES = "all features"

# More digits than a reader needs, fewer than another BLAS would change.
FLOAT_FORMAT = "%.9g"


def summarise(experiment: Experiment, store: Store) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Summarise what the store holds of an experiment.

    Returns
    -------
    curves : DataFrame
        One row per ranking, training size, number of features, metric and part: mean over trials with its standard
        deviation and 95 % interval. `n_unconverged` counts the trials in which a machine of the subset or of the
        ranking missed its duality gap.
    scores : DataFrame
        One row per ranking and feature: mean score and rank over all trials.
    """
    curves: list[tuple[object, ...]] = []
    scores: list[tuple[object, ...]] = []
    for ranking in experiment.rankings():
        label = ALL_FEATURES if ranking is None else ranking.label
        outcomes_by_size = _outcomes(experiment, store, ranking)
        for n_train, outcomes in outcomes_by_size.items():
            curves += ((label, n_train, *row) for row in _curve_rows(experiment, outcomes))
        if ranking is not None:
            everything = [outcome for outcomes in outcomes_by_size.values() for outcome in outcomes]
            scores += ((label, *row) for row in _score_rows(experiment.source.feature_names, everything))
    return pd.DataFrame(curves, columns=CURVES), pd.DataFrame(scores, columns=SCORES)


def _outcomes(experiment: Experiment, store: Store, ranking: Ranking | None) -> dict[int, list[Outcome]]:
    """Read the complete outcomes of a ranking, in the order of the splits, by training size."""
    keys = experiment.keys(ranking)
    found = dict(store.outcomes(list(keys.values())))
    result: dict[int, list[Outcome]] = {n_train: [] for n_train in experiment.n_test}
    for trial, key in keys.items():
        if key in found and set(experiment.sizes) <= set(found[key].subsets):
            result[trial.n_train].append(found[key])
    return result


def _curve_rows(experiment: Experiment, outcomes: Sequence[Outcome]) -> Iterator[tuple[object, ...]]:
    if not outcomes:
        return
    for size in experiment.sizes:
        results = [outcome.subsets[size] for outcome in outcomes]
        n_unconverged = sum(
            result.n_unconverged > 0 or not outcome.ranking_converged
            for result, outcome in zip(results, outcomes, strict=True)
        )
        parts = {"train": [result.train for result in results], "test": [result.test for result in results]}
        for metric in experiment.config.metrics:
            for part, confusions in parts.items():
                found = mean_interval(METRICS[metric](np.array(confusions)))
                yield size, metric, part, found.mean, found.std, found.low, found.high, found.n, n_unconverged


def _score_rows(feature_names: Sequence[str], outcomes: Sequence[Outcome]) -> Iterator[tuple[object, ...]]:
    if not outcomes:
        return
    scores = np.array([outcome.scores for outcome in outcomes])
    ranks = np.empty(scores.shape)
    for row, of_one_trial in zip(ranks, scores, strict=True):
        row[order_of(of_one_trial)] = np.arange(1, len(of_one_trial) + 1)
    for feature, name in enumerate(feature_names):
        found = mean_interval(scores[:, feature])
        yield name, found.mean, found.std, float(ranks[:, feature].mean()), found.n


def write_table(frame: pd.DataFrame, path: Path) -> None:
    """Write a table as CSV, the same bytes on every platform."""
    text = io.StringIO()
    frame.to_csv(text, index=False, float_format=FLOAT_FORMAT, lineterminator="\n")
    write_atomically(path, text.getvalue().encode())


def read_table(path: Path) -> pd.DataFrame:
    """Read what `write_table` wrote.

    Raises
    ------
    DataError
        If the file is missing or is no such table.
    """
    try:
        return pd.read_csv(path, keep_default_na=False, na_values=[""])
    except FileNotFoundError:
        raise DataError(f"{path}: no such table; 'fsvm run' makes it") from None
    except (OSError, ValueError) as error:
        raise DataError(f"{path}: cannot be read as a table ({error}); run the experiment again") from error
