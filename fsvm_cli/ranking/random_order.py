"""Random order, the baseline of hermes2000, Figures 2 and 3."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sklearn.utils import check_random_state

from fsvm_cli.ranking.base import SampleWeightRanker

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class RandomOrder(SampleWeightRanker):
    """Every order of the features is equally likely, whatever the data.

    The scores are uniform random numbers, drawn in O(d).

    Use it as the control beside which a method must do better; not to rank features.

    Parameters
    ----------
    random_state : int, RandomState or None, default=0
    n_features_to_select : int or None, default=None
        Size of the selected subset; half of the features where None.
    tie_seed : int, default=0
        Breaks ties among features at random.

    See Also
    --------
    Fisher : A first method to hold against it.

    References
    ----------
    - hermes2000: L. Hermes and J. M. Buhmann, ICPR 2000; in full in `Ranker`.

    Examples
    --------
    >>> from fsvm_cli import RandomOrder
    >>> RandomOrder(random_state=0).fit([[0, 3], [1, 1], [0, 2], [5, 3], [6, 1], [5, 2]], list("aaabbb")).ranking_.size
    2
    """

    method = "random"
    is_supervised = False
    is_control = True
    accepts_sparse = True
    passed_down = frozenset({"random_state"})

    random_state: int | np.random.RandomState | None = 0

    def _scores(
        self,
        X: NDArray[np.float64],
        y: NDArray[np.intp],  # noqa: ARG002 - nothing is looked at
        n_classes: int,  # noqa: ARG002
        weights: NDArray[np.float64] | None = None,  # noqa: ARG002
    ) -> NDArray[np.float64]:
        scores: NDArray[np.float64] = check_random_state(self.random_state).random_sample(X.shape[1])
        return scores
