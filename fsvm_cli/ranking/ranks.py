"""Ranks of features, trial by trial, and the order by the mean rank of several rankings.

How many features make up a share of the relevance, gold2005, section 5.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING

import numpy as np

from fsvm_cli.ranking.base import RELATIVE_ROUNDING, order_of, tie_priority

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fsvm_cli.ranking.base import Ranker


def ranks_of(scores: NDArray[np.float64], priorities: NDArray[np.intp]) -> NDArray[np.intp]:
    """Rank the features of each trial, 1 is best.

    Parameters
    ----------
    scores : ndarray, shape (n_trials, n_features)
    priorities : ndarray of int, shape (n_trials, n_features)
        Of features that tie in a trial that with the least number has the better rank.
    """
    ranks = np.empty(scores.shape, dtype=np.intp)
    for row, of_one_trial, priority in zip(ranks, scores, priorities, strict=True):
        row[order_of(of_one_trial, priority)] = np.arange(1, len(of_one_trial) + 1)
    return ranks


def by_mean_rank(rankers: Sequence[Ranker]) -> Ranker:
    """Return the first of several fitted rankers, with scores that order the features by their mean rank over all.

    Parameters
    ----------
    rankers : sequence of Ranker
        One, which is returned as it is, or several runs of one method with other random numbers.

    Returns
    -------
    Ranker
        The score of a feature is the number of features less its mean rank. What else the first has found is kept.
    """
    first, *others = rankers
    if not others:
        return first
    mean = copy.copy(first)
    mean.scores_ = len(first.scores_) - np.mean([ranker.ranking_ for ranker in rankers], axis=0)
    priority = tie_priority(first.tie_seed, len(mean.scores_))
    mean.ranking_ = ranks_of(mean.scores_[None], priority[None])[0]
    mean.support_ = mean.ranking_ <= np.count_nonzero(first.support_)
    mean.converged_ = all(ranker.converged_ for ranker in rankers)
    return mean


def mid_ranks_of(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rank the features of each trial, 1 is best; those that tie share the mean of their ranks."""
    columns = np.broadcast_to(np.arange(scores.shape[1]), scores.shape)
    return (ranks_of(scores, columns) + ranks_of(scores, -columns)) / 2


def most_relevant(
    shares: NDArray[np.float64], relevance: float, priority: NDArray[np.intp] | None = None
) -> NDArray[np.intp]:
    """Return the fewest features, the best first, whose shares reach or exceed a relevance.

    Parameters
    ----------
    shares : ndarray, shape (n_features,)
        Not negative, with the sum 1; see `scores_are_shares`.
    relevance : float
        ω, between 0 and 1.
    priority : ndarray of int, shape (n_features,), optional
        As of `order_of`.

    Returns
    -------
    ndarray of int
        Feature indices, the best first; at least one.
    """
    order = order_of(shares, priority)
    reached = np.cumsum(shares[order])
    # A sum that is the relevance up to rounding has reached it.
    n_kept = int(np.count_nonzero(reached < relevance - RELATIVE_ROUNDING)) + 1
    return order[:n_kept]


def least_relevant(
    shares: NDArray[np.float64], relevance: float, priority: NDArray[np.intp] | None = None
) -> NDArray[np.intp]:
    """Return the features, the best first, that are left when the others have reached the rest of the relevance.

    Parameters
    ----------
    shares, priority
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
    left = order_of(shares, priority)[len(most_relevant(shares, 1.0 - relevance, priority)) :]
    if not len(left):
        raise ValueError(f"no feature is left where the others have a relevance of {1.0 - relevance:g}")
    return left
