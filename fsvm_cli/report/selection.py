"""Which features each ranking keeps: how stable the choice is, and how much of the truth it finds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from fsvm_cli.evaluation.stability import selection_stability
from fsvm_cli.evaluation.statistics import mean_interval
from fsvm_cli.ranking.ranks import ranks_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import numpy as np
    from numpy.typing import NDArray

    from fsvm_cli.experiment.plan import Experiment
    from fsvm_cli.report.complete_trials import CompleteTrials

COLUMNS = [
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
    return pd.DataFrame(rows, columns=COLUMNS)


def _rows(experiment: Experiment, trials: CompleteTrials, *, reverse: bool) -> Iterator[tuple[object, ...]]:
    n_features = trials.scores.shape[1]
    ranks = ranks_of(trials.scores)
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
