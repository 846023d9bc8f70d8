"""The tables of an experiment, summarised from its stored outcomes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from fsvm_cli.evaluation.statistics import mean_interval
from fsvm_cli.ranking.ranks import ranks_of
from fsvm_cli.report.numbers import DIGITS_OF_MACHINES, rounded_alike

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from fsvm_cli.experiment.plan import Experiment
    from fsvm_cli.report.complete_trials import CompleteTrials

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
        the measures.
    scores : DataFrame
        One row per ranking and feature: mean score and rank over all trials of all training sizes. The scores of a
        ranking have the digits that the largest has.
    """
    curves = [(label, n_train, *row) for (label, n_train), trials in collected.items() for row in _curve_rows(trials)]
    scores_of: dict[str, list[NDArray[np.float64]]] = {}
    for (label, _), trials in collected.items():
        if trials.scores.shape[1]:
            scores_of.setdefault(label, []).append(trials.scores)
    names = experiment.source.feature_names
    scores = [row for label, found in scores_of.items() for row in _score_rows(label, names, np.concatenate(found))]
    return pd.DataFrame(curves, columns=CURVES), pd.DataFrame(scores, columns=SCORES)


def _curve_rows(trials: CompleteTrials) -> Iterator[tuple[object, ...]]:
    for column, size in enumerate(trials.sizes):
        n_unconverged = int(np.count_nonzero(~trials.converged[:, column]))
        for (metric, part), values in trials.values.items():
            found = mean_interval(values[:, column])
            intervals = trials.intervals.get((metric, part))
            low, high = intervals[column] if intervals else (found.low, found.high)
            yield size, metric, part, found.mean, found.std, low, high, found.n, n_unconverged


def summarise_changes(collected: Mapping[tuple[str, int], CompleteTrials]) -> pd.DataFrame:
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
        for found in [mean_interval(values[:, column] - values[:, -1])]
    ]
    return pd.DataFrame(rows, columns=CURVES[:-1])


def _score_rows(label: str, names: Sequence[str], scores: NDArray[np.float64]) -> Iterator[tuple[object, ...]]:
    found = [mean_interval(of_feature) for of_feature in scores.T]
    spreads = rounded_alike(np.array([(each.mean, each.std) for each in found]), DIGITS_OF_MACHINES)
    mean_ranks = ranks_of(scores).mean(axis=0)
    for name, (mean, std), mean_rank in zip(names, spreads, mean_ranks, strict=True):
        yield label, name, mean, std, mean_rank, len(scores)
