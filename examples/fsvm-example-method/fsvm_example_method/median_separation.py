"""Distance of the class medians, a filter that a few wild values do not mislead."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import numpy as np
from annotated_types import Gt

from fsvm_cli.ranking.base import Ranker

if TYPE_CHECKING:
    from numpy.typing import NDArray


class MedianSeparation(Ranker):
    """Distance of the class medians over the spread within the classes, feature by feature.

    With m± the medians of a feature in the two classes, a± the medians of the distances from them, and r its range,

        score_j = |m⁺ - m⁻| / (a⁺ + a⁻ + floor r)

    Several classes are compared one against the rest, and the scores averaged over the classes. O(n) per feature.

    Use it as the Fisher score, where some values are far off; not on features of 0 and 1, whose medians say little.

    Parameters
    ----------
    floor : float, default=0.01
        Smallest spread that counts, above 0, as a part of the feature's range.
    n_features_to_select : int or None, default=None
        Size of the selected subset; half of the features where None.
    """

    method = "median-separation"

    floor: Annotated[float, Gt(0)] = 0.01

    def _scores(self, X: NDArray[np.float64], y: NDArray[np.intp], n_classes: int) -> NDArray[np.float64]:
        scores = [self._separation(X[y == code], X[y != code], np.ptp(X, axis=0)) for code in range(n_classes)]
        mean: NDArray[np.float64] = np.mean(scores, axis=0)
        return mean

    def _separation(
        self, positive: NDArray[np.float64], negative: NDArray[np.float64], ranges: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        medians = np.median(positive, axis=0), np.median(negative, axis=0)
        spread = np.median(np.abs(positive - medians[0]), axis=0) + np.median(np.abs(negative - medians[1]), axis=0)
        # A constant feature separates nothing.
        width = np.where(ranges > 0, spread + self.floor * ranges, 1)
        separation: NDArray[np.float64] = np.abs(medians[0] - medians[1]) / width
        return separation
