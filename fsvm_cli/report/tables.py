"""The tables of an experiment, summarised from its stored outcomes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from fsvm_cli.evaluation.statistics import mean_interval
from fsvm_cli.ranking.base import order_of
from fsvm_cli.report.numbers import DIGITS_OF_MACHINES, settled

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from fsvm_cli.experiment.plan import Experiment
    from fsvm_cli.report.samples import Samples

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
    experiment: Experiment, collected: Mapping[tuple[str, int], Samples]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Summarise what the trials of an experiment found.

    Returns
    -------
    curves : DataFrame
        One row per ranking, training size, number of features, metric and part: mean over trials with its standard
        deviation and 95 % interval; for a given split, which has one trial, the bootstrap interval of the test part.
        `n_unconverged` counts the trials in which a machine of the subset or of the ranking missed its duality gap.
    scores : DataFrame
        One row per ranking and feature: mean score and rank over all trials of all training sizes. The scores of a
        ranking have the digits that the largest has.
    """
    curves = [(label, n_train, *row) for (label, n_train), samples in collected.items() for row in _curve_rows(samples)]
    scores_of: dict[str, list[NDArray[np.float64]]] = {}
    for (label, _), samples in collected.items():
        if samples.scores.shape[1]:
            scores_of.setdefault(label, []).append(samples.scores)
    names = experiment.source.feature_names
    scores = [row for label, found in scores_of.items() for row in _score_rows(label, names, np.concatenate(found))]
    return pd.DataFrame(curves, columns=CURVES), pd.DataFrame(scores, columns=SCORES)


def _curve_rows(samples: Samples) -> Iterator[tuple[object, ...]]:
    for place, size in enumerate(samples.sizes):
        n_unconverged = int(np.count_nonzero(~samples.converged[:, place]))
        for (metric, part), values in samples.values.items():
            found = mean_interval(values[:, place])
            intervals = samples.intervals.get((metric, part))
            low, high = intervals[place] if intervals else (found.low, found.high)
            yield size, metric, part, found.mean, found.std, low, high, found.n, n_unconverged


def _score_rows(label: str, names: Sequence[str], scores: NDArray[np.float64]) -> Iterator[tuple[object, ...]]:
    found = [mean_interval(of_feature) for of_feature in scores.T]
    spreads = settled(np.array([(each.mean, each.std) for each in found]), DIGITS_OF_MACHINES)
    mean_ranks = ranks_of(scores).mean(axis=0)
    for name, (mean, std), mean_rank in zip(names, spreads, mean_ranks, strict=True):
        yield label, name, mean, std, mean_rank, len(scores)


def ranks_of(scores: NDArray[np.float64]) -> NDArray[np.intp]:
    """Rank the features of each trial, 1 is best.

    Parameters
    ----------
    scores : ndarray, shape (n_trials, n_features)
    """
    ranks = np.empty(scores.shape, dtype=np.intp)
    for row, of_one_trial in zip(ranks, scores, strict=True):
        row[order_of(of_one_trial)] = np.arange(1, len(of_one_trial) + 1)
    return ranks
