"""Mutual information with the class, less what the features chosen before say: MIFS, a baseline of infoprop2001."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import numpy as np
from annotated_types import Ge

from fsvm_cli.ranking.base import Ranker
from fsvm_cli.ranking.greedy_information import select_greedily

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Mifs(Ranker):
    """What each feature says about the class that the features chosen before it do not say already, in bits.

    Features are chosen one by one. With S those that have been, the next is the feature j of the largest

        score_j = I(x_j; c) - beta Σ_{s in S} I(x_j; x_s)

    and this is its score: scores fall in the order of choice, below 0 where a feature repeats more than it says.
    Continuous features are quantised into bins of about equally many samples. O(n d² bins²) for d features.

    Use it to choose few features of many that repeat each other; not where features say something only together, which
    it cannot see.

    Parameters
    ----------
    beta : float, default=0.5
        Price of redundancy, at least 0; with 0 each feature is scored by itself.
    n_bins : int, default=10
        Bins of a feature, at least 2; a feature with no more distinct values than that keeps them.
    n_features_to_select : int or None, default=None
        Size of the selected subset; half of the features where None.
    tie_seed : int, default=0
        Breaks ties among features at random.

    Notes
    -----
    Source: Battiti (1994), one of the methods of Bollacker and Ghosh that infoprop2001 compares in Tables 2 and 3
    without stating beta or the bins; Battiti finds 0.5 to 1 appropriate. Information estimated from few samples in
    many bins is too large, for all features alike: use fewer bins where samples are few. A feature that is constant
    scores 0.

    See Also
    --------
    MutualInformation : Without regard to redundancy.
    Mrmr : Takes the mean of the redundancy.

    References
    ----------
    - infoprop2001: V. Sindhwani, P. Bhattacharya and S. Rakshit, SDM 2001; in full in `Ranker`.
    - R. Battiti, "Using Mutual Information for Selecting Features in Supervised Neural Net Learning", IEEE
      Transactions on Neural Networks 5(4), 1994, pages 537-550.

    Examples
    --------
    >>> from fsvm_cli import Mifs
    >>> Mifs().fit([[0, 3], [1, 1], [0, 2], [5, 3], [6, 1], [5, 2]], list("aaabbb")).ranking_.tolist()
    [1, 2]
    """

    method = "mifs"

    beta: Annotated[float, Ge(0)] = 0.5
    n_bins: Annotated[int, Ge(2)] = 10

    def _scores(self, X: NDArray[np.float64], y: NDArray[np.intp], n_classes: int) -> NDArray[np.float64]:  # noqa: ARG002
        scores = np.empty(X.shape[1])
        for feature, criterion in select_greedily(X, y, self.n_bins, lambda _: self.beta, self._priority):
            scores[feature] = criterion
        return scores
