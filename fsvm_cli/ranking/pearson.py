"""Correlation of each feature with the class."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fsvm_cli.ranking.base import SampleWeightRanker
from fsvm_cli.svm.labels import machine_labels

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Pearson(SampleWeightRanker):
    """Absolute correlation of each feature with the class.

    With μ and σ the mean and standard deviation (over n) of a feature and of the labels y = ±1,

        score_j = |Σ_i (x_ij - μ_j) (y_i - μ_y)| / (n σ_j σ_y)

    between 0 and 1. Several classes are compared one against the rest, and the scores averaged over the classes. The
    score measures how well a straight line separates the classes; a feature that acts through its square, or together
    with another one, scores near 0. O(n) per feature. It does not depend on the scale of the features.

    Use it as a quick baseline before a linear machine; not before one whose kernel is chosen for curved boundaries.

    Parameters
    ----------
    n_features_to_select : int or None, default=None
        Size of the selected subset; half of the features where None.
    tie_seed : int, default=0
        Breaks ties among features at random.

    Notes
    -----
    Source: the baseline of Weston et al. (2000), on which jebara-slides reports. The slides themselves print the
    correlation of two features, with n + 1 for n, which keeps the correlation of a feature with itself below 1:
    see the method pearson-redundancy. A feature that is constant scores 0.

    See Also
    --------
    PearsonRedundancy : Correlation of the features with each other.
    Fisher : Distance of the means in units of the spread.

    References
    ----------
    - jebara-slides: T. Jebara, "SVM Feature & Kernel Selection"; in full in `Ranker`.
    - J. Weston, S. Mukherjee, O. Chapelle, M. Pontil, T. Poggio and V. Vapnik, "Feature Selection for SVMs",
      Advances in Neural Information Processing Systems 13, 2000, pages 668-674.

    Examples
    --------
    >>> from fsvm_cli import Pearson
    >>> Pearson().fit([[0, 3], [1, 1], [0, 2], [5, 3], [6, 1], [5, 2]], list("aaabbb")).ranking_.tolist()
    [1, 2]
    """

    method = "pearson"
    accepts_sparse = True
    scores_columns_apart = True

    def _scores(
        self,
        X: NDArray[np.float64],
        y: NDArray[np.intp],
        n_classes: int,
        weights: NDArray[np.float64] | None = None,
    ) -> NDArray[np.float64]:
        labels = unit_columns(machine_labels(y, n_classes)[0].T, weights)
        scores: NDArray[np.float64] = np.minimum(np.abs(labels.T @ unit_columns(X, weights)), 1).mean(axis=0)
        return scores


def unit_columns(X: NDArray[np.float64], weights: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
    """Centre each column and scale it to unit length, so that inner products are correlations.

    Parameters
    ----------
    X : ndarray, shape (n_samples, n_columns)
    weights : ndarray, shape (n_samples,), optional
        Of the samples, > 0, whose roots multiply the rows of what is returned.

    Returns
    -------
    ndarray, shape (n_samples, n_columns)
        Zero where a column is constant.
    """
    # Differences from the first row are exact zeros where a column is constant; differences from its mean need not be.
    centred = X - X[0]
    centred /= np.maximum(np.abs(centred).max(axis=0), np.finfo(np.float64).tiny)
    centred -= np.average(centred, axis=0, weights=weights)
    if weights is not None:
        centred *= np.sqrt(weights)[:, None]
    lengths = np.linalg.norm(centred, axis=0)
    columns: NDArray[np.float64] = centred / np.where(lengths > 0, lengths, 1)
    return columns
