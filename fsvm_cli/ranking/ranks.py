"""Ranks of features, trial by trial.

How many features make up a share of the relevance, gold2005, section 5.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fsvm_cli.ranking.base import RELATIVE_ROUNDING, order_of

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


def most_relevant(shares: NDArray[np.float64], relevance: float) -> NDArray[np.intp]:
    """Return the fewest features, the best first, whose shares reach or exceed a relevance.

    Parameters
    ----------
    shares : ndarray, shape (n_features,)
        Not negative, with the sum 1; see `scores_are_shares`.
    relevance : float
        ω, between 0 and 1.

    Returns
    -------
    ndarray of int
        Feature indices, the best first; at least one.
    """
    order = order_of(shares)
    reached = np.cumsum(shares[order])
    # A sum that is the relevance up to rounding has reached it.
    n_kept = int(np.count_nonzero(reached < relevance - RELATIVE_ROUNDING)) + 1
    return order[:n_kept]


def least_relevant(shares: NDArray[np.float64], relevance: float) -> NDArray[np.intp]:
    """Return the features, the best first, that are left when the others have reached the rest of the relevance.

    Parameters
    ----------
    shares : ndarray, shape (n_features,)
        As for `most_relevant`.
    relevance : float
        ω, between 0 and 1: those that are left have no more.

    Returns
    -------
    ndarray of int
        Feature indices, the best first.

    Raises
    ------
    ValueError
        If none is left.
    """
    left = order_of(shares)[len(most_relevant(shares, 1.0 - relevance)) :]
    if not len(left):
        raise ValueError(f"no feature is left where the others have a relevance of {1.0 - relevance:g}")
    return left
