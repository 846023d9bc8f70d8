"""Importance in random forests beside that of permuted features: Boruta."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import scipy.sparse as sp
from annotated_types import Ge
from sklearn.utils import check_random_state

from fsvm_cli.numerics import row_blocks
from fsvm_cli.ranking.base import Ranker
from fsvm_cli.ranking.forest import importances

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Boruta(Ranker):
    """How often a feature is more important in a random forest than the best of features that say nothing.

    In each round every feature gets a shadow, the same values in a random order, and a forest is grown on both. A
    feature whose importance is above that of all shadows has a hit. The score is the share of the rounds with a hit,
    plus the mean importance, which is small beside it and orders features with as many hits. A score near 0 says that
    nothing tells the feature from chance. O(rounds d^½ n log n) for each tree.

    Use it to ask which features are relevant at all, copies of others among them, whatever the form of their relation
    to the class; not for the smallest set to predict by, nor with thousands of features, which take long.

    Parameters
    ----------
    rounds : int, default=10
        At least 1.
    n_trees : int, default=50
        Of each forest, at least 1.
    random_state : int, RandomState or None, default=0
        Of the shadows and the forests.
    n_features_to_select : int or None, default=None
        Size of the selected subset; half of the features where None.
    tie_seed : int, default=0
        Breaks ties among features at random.

    Notes
    -----
    Source: Kursa and Rudnicki (2010), whose test is left out that rejects features between the rounds, since all are
    to be ranked; and whose importance is that of permuted samples out of the bag, here the decrease of impurity. A
    present-day reference: no document of this project uses it.

    See Also
    --------
    Forest : The importance alone.

    References
    ----------
    - M. B. Kursa and W. R. Rudnicki, "Feature Selection with the Boruta Package", Journal of Statistical Software
      36(11), 2010.

    Examples
    --------
    >>> from fsvm_cli import Boruta
    >>> X, y = [[0, 3], [1, 1], [0, 2], [5, 3], [6, 1], [5, 2]], list("aaabbb")
    >>> Boruta(random_state=0).fit(X, y).ranking_.tolist()
    [1, 2]
    """

    method = "boruta"
    accepts_sparse = True
    passed_down = frozenset({"random_state"})
    goes_by_content = True

    rounds: Annotated[int, Ge(1)] = 10
    n_trees: Annotated[int, Ge(1)] = 50
    random_state: int | np.random.RandomState | None = 0

    def _scores(self, X: NDArray[np.float64], y: NDArray[np.intp], n_classes: int) -> NDArray[np.float64]:  # noqa: ARG002
        random_state = check_random_state(self.random_state)
        d = X.shape[1]
        found = np.zeros(d)
        for _ in range(self.rounds):
            shares = importances(with_shadows(X, random_state), y, self.n_trees, random_state)
            found += (shares[:d] > shares[d:].max()) + shares[:d]
        return found / self.rounds


def with_shadows(X: Any, random_state: np.random.RandomState) -> Any:
    """Return the features and, beside them, the values of each in an order of its own; sparse where they are."""
    if not sp.issparse(X):
        return np.hstack([X, _shadows(X, random_state)])
    by_column = sp.csc_array(X)
    blocks = (by_column[:, own].toarray() for own in row_blocks(X.shape[1], X.shape[0]))
    return sp.hstack([by_column, *(sp.csc_array(_shadows(block, random_state)) for block in blocks)])


def _shadows(X: NDArray[np.float64], random_state: np.random.RandomState) -> NDArray[np.float64]:
    return np.column_stack([random_state.permutation(column) for column in X.T])
