"""Backward elimination of features that an approximate Markov blanket makes redundant, a baseline of infoprop2001."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import numpy as np
from annotated_types import Ge

from fsvm_cli.ranking.base import Ranker, first_largest, order_of
from fsvm_cli.ranking.quantise import Indicators, code_entropy, combined, quantise

if TYPE_CHECKING:
    from numpy.typing import NDArray


class KollerSahami(Ranker):
    """How long a feature survives when the one that the others make most superfluous goes first.

    Of the features that are left, the blanket m_j of feature j holds the few k that make it most superfluous: those
    of smallest I(c; x_j | x_k). The feature goes of which the blanket leaves least to say about the class,

        Δ_j = Σ_{m,x} P̂(m_j = m, x_j = x) KL(P̂(c | m, x) ‖ P̂(c | m)) = I(c; x_j | m_j)

    Then the blankets are formed anew. The score is the number of features that went before, 0 to d - 1. Continuous
    features are quantised into bins of about equally many samples. O(n d² bins²) for the blankets of d features.

    Use it where many features repeat each other and samples are plenty; not beyond some hundred features.

    Parameters
    ----------
    blanket_size : int, default=2
        Features in a blanket, at least 0; with 0 features go by their own information alone.
    n_bins : int, default=4
        Bins of a feature, at least 2; a feature with no more distinct values than that keeps them.
    n_features_to_select : int or None, default=None
        Size of the selected subset; half of the features where None.
    tie_seed : int, default=0
        Breaks ties among features at random.

    Notes
    -----
    Source: Koller and Sahami (1996), whom infoprop2001 quotes in Table 1. They look at blankets of 0 to 2 features;
    more of them fragment the samples, and every Δ grows with the bias of its estimate. Of features with the same Δ
    the seed draws the one that goes first. A feature that is constant goes before any that is not superfluous.

    See Also
    --------
    Mifs : Greedy, forward.

    References
    ----------
    - infoprop2001: V. Sindhwani, P. Bhattacharya and S. Rakshit, SDM 2001; in full in `Ranker`.
    - D. Koller and M. Sahami, "Toward Optimal Feature Selection", International Conference on Machine Learning
      (ICML), 1996, pages 284-292.

    Examples
    --------
    >>> from fsvm_cli import KollerSahami
    >>> KollerSahami().fit([[0, 3], [1, 1], [0, 2], [5, 3], [6, 1], [5, 2]], list("aaabbb")).ranking_.tolist()
    [1, 2]
    """

    method = "koller-sahami"
    zero_says_nothing = False

    blanket_size: Annotated[int, Ge(0)] = 2
    n_bins: Annotated[int, Ge(2)] = 4

    def _scores(self, X: NDArray[np.float64], y: NDArray[np.intp], n_classes: int) -> NDArray[np.float64]:  # noqa: ARG002
        codes = quantise(X, self.n_bins)
        # Rows: the feature; columns: the one that may make it superfluous.
        left_to_say = pairwise_conditional_information(codes, y)
        np.fill_diagonal(left_to_say, np.inf)
        n_features = X.shape[1]
        scores, remaining = np.empty(n_features), list(range(n_features))
        blankets: dict[int, tuple[int, ...]] = {}
        loss = np.zeros(n_features)
        for eliminated in range(n_features):
            for feature in remaining:
                blanket = _blanket(left_to_say[feature], min(self.blanket_size, len(remaining) - 1), self._priority)
                if blankets.get(feature) != blanket:
                    blankets[feature] = blanket
                    loss[feature] = conditional_information(codes[:, feature], y, codes[:, blanket])
            gone = remaining[first_largest(-loss[remaining], -self._priority[remaining])]
            remaining.remove(gone)
            left_to_say[:, gone] = np.inf
            scores[gone] = eliminated
        return scores


def _blanket(left_to_say: NDArray[np.float64], size: int, priority: NDArray[np.intp]) -> tuple[int, ...]:
    return tuple(order_of(-left_to_say, priority)[:size].tolist())


def conditional_information(feature: NDArray[np.intp], y: NDArray[np.intp], given: NDArray[np.intp]) -> float:
    """Mutual information of a feature and the class, given other features.

    Parameters
    ----------
    feature, y : ndarray of int, shape (n_samples,)
        Codes.
    given : ndarray of int, shape (n_samples, n_given)
        Codes; there may be none.

    Returns
    -------
    float
        In bits, at least 0.
    """
    m = combined(np.zeros_like(y), *given.T)
    bits = (
        code_entropy(combined(y, m))
        - code_entropy(m)
        - code_entropy(combined(y, feature, m))
        + code_entropy(combined(feature, m))
    )
    return max(bits, 0.0)


def pairwise_conditional_information(codes: NDArray[np.intp], y: NDArray[np.intp]) -> NDArray[np.float64]:
    """I(c; x_j | x_k) for every pair of features.

    Parameters
    ----------
    codes : ndarray of int, shape (n_samples, n_features)
    y : ndarray of int, shape (n_samples,)

    Returns
    -------
    ndarray, shape (n_features, n_features)
        In bits, at least 0; j in rows, k in columns.
    """
    features = Indicators.of(codes)
    with_class, alone = np.empty((2, codes.shape[1], codes.shape[1]))
    of_class = np.empty(codes.shape[1])
    for k, given in enumerate(codes.T):
        both = combined(y, given)
        with_class[:, k] = features.joint_entropy(both)
        alone[:, k] = features.joint_entropy(given)
        of_class[k] = code_entropy(both) - code_entropy(given)
    return np.maximum(of_class - with_class + alone, 0)
