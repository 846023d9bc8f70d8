"""Ranks of features, trial by trial."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fsvm_cli.ranking.base import order_of

if TYPE_CHECKING:
    from numpy.typing import NDArray


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
