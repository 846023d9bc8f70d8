"""Correlation of the features with each other, the redundancy filter of jebara-slides."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fsvm_cli.ranking.base import SampleWeightRanker
from fsvm_cli.ranking.pearson import unit_columns

if TYPE_CHECKING:
    from numpy.typing import NDArray


class PearsonRedundancy(SampleWeightRanker):
    """How little each feature correlates with the others; the classes play no part.

    With r_jk the correlation of features j and k over all samples,

        score_j = 1 - mean_{k ≠ j} |r_jk|

    between 0 (a copy of all others, up to scale and sign) and 1 (uncorrelated with every one). What ranks low is
    redundant, not irrelevant: noise ranks high, and of two copies both rank low. Use it to thin out features before a
    method that looks at the classes, not in place of one. O(n d²) for d features.

    Parameters
    ----------
    n_features_to_select : int or None, default=None
        Size of the selected subset; half of the features where None.
    tie_seed : int, default=0
        Breaks ties among features at random.

    Notes
    -----
    Source: jebara-slides, "remove features that are too correlated on average". They print n + 1 for n in the
    denominator, which keeps the correlation of a feature with itself below 1. A feature that is constant correlates
    with none, and a feature without others scores 1.

    See Also
    --------
    Pearson : Correlation with the class.

    References
    ----------
    - jebara-slides: T. Jebara, "SVM Feature & Kernel Selection"; in full in `Ranker`.

    Examples
    --------
    >>> from fsvm_cli import PearsonRedundancy
    >>> PearsonRedundancy().fit([[0, 3], [1, 1], [0, 2], [5, 3], [6, 1], [5, 2]], list("aaabbb")).ranking_.tolist()
    [1, 2]
    """

    method = "pearson-redundancy"
    zero_says_nothing = False
    is_supervised = False

    def _scores(
        self,
        X: NDArray[np.float64],
        y: NDArray[np.intp],  # noqa: ARG002 - the contract of Ranker
        n_classes: int,  # noqa: ARG002 - as above
        weights: NDArray[np.float64] | None = None,
    ) -> NDArray[np.float64]:
        columns = unit_columns(X, weights)
        correlation = np.minimum(np.abs(columns.T @ columns), 1)
        np.fill_diagonal(correlation, 0)
        scores: NDArray[np.float64] = 1 - correlation.sum(axis=0) / max(X.shape[1] - 1, 1)
        return scores
