"""Average separation of the classes, the rival of hermes2000, equation (11)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fsvm_cli.ranking.base import Ranker

if TYPE_CHECKING:
    from numpy.typing import NDArray


class AverageSeparation(Ranker):
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

    def _scores(self, X: NDArray[np.float64], y: NDArray[np.intp], n_classes: int) -> NDArray[np.float64]:
        one_against_rest = [1] if n_classes == 2 else range(n_classes)
        total = _sum_of_distances(X)
        separations = []
        for code in one_against_rest:
            inside, outside = X[y == code], X[y != code]
            between = total - _sum_of_distances(inside) - _sum_of_distances(outside)
            separations.append(between / (len(inside) * len(outside)))
        scores: NDArray[np.float64] = np.mean(separations, axis=0)
        return scores


def _sum_of_distances(X: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sum of the distances over all unordered pairs of rows, shape (n_features,)."""
    n_samples = len(X)
    # In ascending order the i-th value is the larger of a pair i times and the smaller n - 1 - i times. Centring
    # keeps the cancellation small where the values lie far from zero.
    ascending = np.sort(X - X.mean(axis=0), axis=0)
    sums: NDArray[np.float64] = (2 * np.arange(n_samples) - n_samples + 1) @ ascending
    return sums
