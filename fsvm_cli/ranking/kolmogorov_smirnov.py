"""Kolmogorov-Smirnov statistic of each feature, jebara-slides."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from fsvm_cli.ranking.base import SampleWeightRanker
from fsvm_cli.svm.labels import machine_labels

if TYPE_CHECKING:
    from numpy.typing import NDArray


class KolmogorovSmirnov(SampleWeightRanker):
    """Largest distance between the distribution of a feature over all samples and over those of one class.

    With P̂ the relative frequency among all n samples,

        score_j = √n sup_q |P̂(x_j ≤ q) - P̂(x_j ≤ q | y = 1)|

    between 0 and √n. Several classes are compared one against the rest, and the scores averaged over the classes. The
    score finds any difference in distribution, not only of the means, and does not change when a feature is
    transformed monotonically. It looks at one feature at a time. O(n log n) per feature.

    Use it where outliers or odd units would mislead a filter by means; not for features of few values or for those that
    act together.

    Parameters
    ----------
    variant : {"two-sided", "as-printed"}, default="two-sided"
        "as-printed" has no absolute value, so that a feature whose values are lower in class 1 scores 0.
    n_features_to_select : int or None, default=None
        Size of the selected subset; half of the features where None.
    tie_seed : int, default=0
        Breaks ties among features at random.

    Notes
    -----
    Source: jebara-slides, which lack the absolute value. With n₀ samples outside the class the two-sided score is the
    statistic of the two-sample test times n₀ / √n. P̂(x ≤ q | y = 1) is conditional: read as a joint probability it
    would make the score of every feature the frequency of the other class.

    See Also
    --------
    Fisher : Compares means only.

    References
    ----------
    - jebara-slides: T. Jebara, "SVM Feature & Kernel Selection"; in full in `Ranker`.

    Examples
    --------
    >>> from fsvm_cli import KolmogorovSmirnov
    >>> KolmogorovSmirnov().fit([[0, 3], [1, 1], [0, 2], [5, 3], [6, 1], [5, 2]], list("aaabbb")).ranking_.tolist()
    [1, 2]
    """

    method = "kolmogorov-smirnov"
    accepts_sparse = True
    scores_columns_apart = True

    variant: Literal["two-sided", "as-printed"] = "two-sided"

    def _scores(
        self,
        X: NDArray[np.float64],
        y: NDArray[np.intp],
        n_classes: int,
        weights: NDArray[np.float64] | None = None,
    ) -> NDArray[np.float64]:
        weights = np.ones(len(X)) if weights is None else weights
        total = weights.sum()
        order = np.argsort(X, axis=0)
        ascending = np.take_along_axis(X, order, axis=0)
        # The distributions step at the last of equal values.
        steps = np.vstack([ascending[1:] > ascending[:-1], np.ones((1, X.shape[1]), dtype=bool)])
        overall = np.cumsum(weights[order], axis=0) / total
        distances = []
        for labels in machine_labels(y, n_classes)[0]:
            in_class = np.where(labels > 0, weights, 0.0)
            difference = overall - np.cumsum(in_class[order], axis=0) / in_class.sum()
            if self.variant == "two-sided":
                difference = np.abs(difference)
            distances.append(np.max(difference, axis=0, where=steps, initial=0.0))
        scores: NDArray[np.float64] = np.sqrt(total) * np.mean(distances, axis=0)
        return scores
