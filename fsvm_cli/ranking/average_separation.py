"""Average separation of the classes, the rival of hermes2000, equation (11)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from fsvm_cli.ranking.base import SampleWeightRanker

if TYPE_CHECKING:
    from numpy.typing import NDArray


class AverageSeparation(SampleWeightRanker):
    """Mean distance between samples of opposite classes, feature by feature.

        score_j = mean of |x_kj - x_lj| over all pairs of a sample k of one class and a sample l of the other

    Several classes are compared one against the rest, and the distances averaged over the classes, as the document does
    with its own score. The sums cost O(n log n) per feature. The scores have the unit of the feature: scale the
    features first, or the one with the largest numbers wins.

    Use it as the baseline of hermes2000; not where features are noisy to different degrees, since spread within the
    classes counts as separation.

    Parameters
    ----------
    n_features_to_select : int or None, default=None
        Size of the selected subset; half of the features where None.
    tie_seed : int, default=0
        Breaks ties among features at random.

    Notes
    -----
    Source: hermes2000, equation (11). It prints a norm of a difference of scalars, which is the absolute value, and
    leaves the factor open; the mean makes sets of different sizes comparable.

    See Also
    --------
    Fisher : The same distance in units of the spread.

    References
    ----------
    - hermes2000: L. Hermes and J. M. Buhmann, ICPR 2000; in full in `Ranker`.

    Examples
    --------
    >>> from fsvm_cli import AverageSeparation
    >>> AverageSeparation().fit([[0, 3], [1, 1], [0, 2], [5, 3], [6, 1], [5, 2]], list("aaabbb")).ranking_.tolist()
    [1, 2]
    """

    method = "average-separation"
    accepts_sparse = True
    scores_columns_apart = True

    def _scores(
        self,
        X: NDArray[np.float64],
        y: NDArray[np.intp],
        n_classes: int,
        weights: NDArray[np.float64] | None = None,
    ) -> NDArray[np.float64]:
        one_against_rest = [1] if n_classes == 2 else range(n_classes)
        total = _sum_of_distances(X, weights)
        separations = []
        for code in one_against_rest:
            inside, outside = y == code, y != code
            of_parts = [None if weights is None else weights[own] for own in (inside, outside)]
            between = total - _sum_of_distances(X[inside], of_parts[0]) - _sum_of_distances(X[outside], of_parts[1])
            sizes = (np.count_nonzero(own) if weights is None else weights[own].sum() for own in (inside, outside))
            separations.append(between / math.prod(sizes))
        scores: NDArray[np.float64] = np.mean(separations, axis=0)
        return scores


def _sum_of_distances(X: NDArray[np.float64], weights: NDArray[np.float64] | None) -> NDArray[np.float64]:
    """Sum of the distances over all unordered pairs of rows, each times both weights, shape (n_features,)."""
    # In ascending order a value is the larger of a pair with all before it, and the smaller with all behind. Centring
    # keeps the cancellation small where the values lie far from zero.
    centred = X - X.mean(axis=0)
    sums: NDArray[np.float64]
    if weights is None:
        n_samples = len(X)
        sums = (2 * np.arange(n_samples) - n_samples + 1) @ np.sort(centred, axis=0)
    else:
        order = np.argsort(centred, axis=0)
        own = weights[order]
        up_to = np.cumsum(own, axis=0)
        sums = (own * (2.0 * up_to - own - up_to[-1]) * np.take_along_axis(centred, order, axis=0)).sum(axis=0)
    return sums
