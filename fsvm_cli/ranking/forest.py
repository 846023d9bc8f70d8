"""Importance in a random forest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from annotated_types import Ge
from sklearn.utils import check_random_state

from fsvm_cli.ranking.base import Ranker
from fsvm_cli.ranking.content import steps_from_zero

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from sklearn.ensemble import RandomForestClassifier


class Forest(Ranker):
    """How much the splits by a feature purify the nodes of the trees of a random forest.

    The score is the decrease of the Gini impurity that a feature's splits bring about, each weighted by the share of
    the samples that reach it, added up over a tree and averaged over the trees; the scores add up to 1. O(d^½ n log n)
    for a tree.

    Use it where features act together or in steps, and their scales are not comparable; not to compare features of few
    values with features of many, which find a split more easily, nor where copies of a feature shall all score high.

    Parameters
    ----------
    n_trees : int, default=200
        At least 1. Scores of fewer trees hang more on what is drawn.
    random_state : int, RandomState or None, default=0
        Of the samples of each tree, and the features of each split.
    n_features_to_select : int or None, default=None
        Size of the selected subset; half of the features where None.
    tie_seed : int, default=0
        Breaks ties among features at random.

    Notes
    -----
    Source: Breiman (2001), as scikit-learn's ``RandomForestClassifier`` computes it. A present-day reference: no
    document of this project uses it. Features are drawn in an order by their values, not by their place in the table,
    and a value counts as its place among those of its column, so that units and offsets change nothing and a sparse
    matrix has the trees of the full one.

    See Also
    --------
    Boruta : Asks whether such an importance is more than chance.
    Shap : How much a feature moves the votes of such a forest.

    References
    ----------
    - L. Breiman, "Random Forests", Machine Learning 45(1), 2001, pages 5-32.

    Examples
    --------
    >>> from fsvm_cli import Forest
    >>> X, y = [[0, 3], [1, 1], [0, 2], [5, 3], [6, 1], [5, 2]], list("aaabbb")
    >>> Forest(random_state=0).fit(X, y).ranking_.tolist()
    [1, 2]
    """

    method = "forest"
    accepts_sparse = True
    passed_down = frozenset({"random_state"})
    goes_by_content = True
    scores_are_shares = True

    n_trees: Annotated[int, Ge(1)] = 200
    random_state: int | np.random.RandomState | None = 0

    def _scores(self, X: NDArray[np.float64], y: NDArray[np.intp], n_classes: int) -> NDArray[np.float64]:  # noqa: ARG002
        return importances(X, y, self.n_trees, check_random_state(self.random_state))


def importances(X: Any, y: NDArray[np.intp], n_trees: int, random_state: np.random.RandomState) -> NDArray[np.float64]:
    """Return each feature's share of the decrease of impurity in a random forest, shape (n_features,)."""
    shares: NDArray[np.float64] = grown(X, y, n_trees, random_state)[0].feature_importances_
    return shares


def grown(
    X: Any, y: NDArray[np.intp], n_trees: int, random_state: np.random.RandomState
) -> tuple[RandomForestClassifier, Any]:
    """Grow a forest on the places of the values in their columns; return it, and the places, sparse where X is."""
    from sklearn.ensemble import RandomForestClassifier  # noqa: PLC0415 - slow to import, and seldom needed

    steps = steps_from_zero(X)
    return RandomForestClassifier(n_estimators=n_trees, random_state=random_state, n_jobs=1).fit(steps, y), steps
