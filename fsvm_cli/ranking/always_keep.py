"""Features that stay whatever a ranking says: first in its order, before those that it ranks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from fsvm_cli.ranking.base import Ranker, Selector

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


def with_kept_first(scores: NDArray[np.float64], kept: Sequence[int]) -> NDArray[np.float64]:
    """Raise the scores of some features above all others, the first of them the highest.

    Parameters
    ----------
    scores : ndarray, shape (n_features,)
    kept : sequence of int
        Feature indices.
    """
    raised = scores.copy()
    largest = float(scores.max())
    step = max(1.0, abs(largest))
    for place, feature in enumerate(reversed(kept), start=1):
        raised[feature] = largest + place * step
    return raised


class AlwaysKeep(Selector, BaseEstimator):
    """A ranking in which some features come first, as known risk factors that a model must hold.

    The ranker sees them beside the others, so that a method which looks at features together ranks the others by what
    they add to these as to any.

    Parameters
    ----------
    ranker : Ranker
        Its own `n_features_to_select` is of no meaning.
    kept : sequence of int
        Feature indices, the first to be kept comes first.
    n_features_to_select : int or None, default=None
        Size of the selected subset, those that are always kept among them; half of the features where None.

    Attributes
    ----------
    ranker_ : Ranker
        Fitted.
    scores_ : ndarray, shape (n_features,)
        Those of the ranker, but for the features that are kept, whose scores lie above.
    ranking_ : ndarray of int, shape (n_features,)
        1 is best.
    support_ : ndarray of bool, shape (n_features,)
    n_features_in_ : int

    Examples
    --------
    >>> from fsvm_cli.ranking.always_keep import AlwaysKeep
    >>> from fsvm_cli import Fisher
    >>> X = [[0, 3, 1], [1, 1, 1], [0, 2, 2], [5, 3, 1], [6, 1, 2], [5, 2, 1]]
    >>> AlwaysKeep(Fisher(), [2]).fit(X, [0, 0, 0, 1, 1, 1]).ranking_.tolist()
    [2, 3, 1]
    """

    def __init__(self, ranker: Ranker, kept: Sequence[int] = (), n_features_to_select: int | None = None) -> None:
        self.ranker = ranker
        self.kept = kept
        self.n_features_to_select = n_features_to_select

    @property
    def cross_validates(self) -> bool:
        """Whether the ranker takes groups of samples."""
        return self.ranker.cross_validates

    def fit(self, X: Any, y: Any, groups: Any = None, sample_weight: Any = None) -> Self:
        """Rank the features; as in ``Ranker.fit``, or with weights ``SampleWeightRanker.fit``.

        Raises
        ------
        ValueError
            If a feature that is to be kept is not there or named twice, or there are more of them than are selected.
        """
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        self.ranker_ = clone(self.ranker).set_params(n_features_to_select=None).fit(X, y, groups, **weights)
        self.n_features_in_ = self.ranker_.n_features_in_
        kept, n_features = list(self.kept), self.n_features_in_
        n_selected = max(n_features // 2, 1) if self.n_features_to_select is None else self.n_features_to_select
        if len(set(kept)) < len(kept) or not all(0 <= feature < n_features for feature in kept):
            raise ValueError(f"kept is {kept}; name each feature once, by its index below {n_features}")
        if not max(len(kept), 1) <= n_selected <= n_features:
            raise ValueError(
                f"n_features_to_select is {n_selected}; X has {n_features} features, and {len(kept)} are always kept"
            )
        self.scores_ = with_kept_first(self.ranker_.scores_, kept)
        self.ranking_ = np.empty(n_features, dtype=np.intp)
        others = [feature for feature in np.argsort(self.ranker_.ranking_).tolist() if feature not in kept]
        self.ranking_[[*kept, *others]] = np.arange(1, n_features + 1)
        self.support_ = self.ranking_ <= n_selected
        return self

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        return self.support_
