"""Mutual information with the class, less the mean of what the features chosen before say: mRMR."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import numpy as np
from annotated_types import Ge

from fsvm_cli.ranking.base import Ranker
from fsvm_cli.ranking.greedy_information import select_greedily

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Mrmr(Ranker):
    """Place in the order of choice by minimal redundancy and maximal relevance.

    Features are chosen one by one. With S those that have been, the next is the feature j of the largest

        I(x_j; c) - (1/|S|) Σ_{s in S} I(x_j; x_s)

    The score is the place in this order: d for the feature that is chosen first, 1 for the last. Continuous features
    are quantised into bins of about equally many samples. O(n d² bins²) for d features.

    Use it to choose few features of many that repeat each other, without a price of redundancy to be tuned; not where
    features say something only together, which it cannot see.

    Parameters
    ----------
    n_bins : int, default=10
        Bins of a feature, at least 2; a feature with no more distinct values than that keeps them.
    n_features_to_select : int or None, default=None
        Size of the selected subset; half of the features where None.
    tie_seed : int, default=0
        Breaks ties among features at random.

    Notes
    -----
    Source: Peng et al. (2005), the difference of relevance and redundancy; the quotient is their alternative. A
    present-day reference: no document of this project uses it. They quantise at the mean and one standard deviation
    beside it, into three values.

    See Also
    --------
    Mifs : Adds redundancy up, at a price.

    References
    ----------
    - H. Peng, F. Long and C. Ding, "Feature Selection Based on Mutual Information: Criteria of Max-Dependency,
      Max-Relevance, and Min-Redundancy", IEEE Transactions on Pattern Analysis and Machine Intelligence 27(8), 2005,
      pages 1226-1238.

    Examples
    --------
    >>> from fsvm_cli import Mrmr
    >>> Mrmr().fit([[0, 3], [1, 1], [0, 2], [5, 3], [6, 1], [5, 2]], list("aaabbb")).ranking_.tolist()
    [1, 2]
    """

    method = "mrmr"

    n_bins: Annotated[int, Ge(2)] = 10

    def _scores(self, X: NDArray[np.float64], y: NDArray[np.intp], n_classes: int) -> NDArray[np.float64]:  # noqa: ARG002
        scores = np.empty(X.shape[1])
        chosen = select_greedily(X, y, self.n_bins, lambda n_chosen: 1 / max(n_chosen, 1), self._priority)
        for n_chosen, (feature, _) in enumerate(chosen):
            scores[feature] = X.shape[1] - n_chosen
        return scores
