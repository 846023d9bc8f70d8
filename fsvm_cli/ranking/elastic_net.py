"""Regression of the class on the features with a penalty between the 1-norm and the square: the elastic net."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import scipy.sparse as sp
from annotated_types import Gt, Le

from fsvm_cli.numerics import value_ranges
from fsvm_cli.ranking.penalty_path import PenaltyPath

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

TOLERANCE = 1e-5
MAX_ITERATIONS = 20_000


class ElasticNet(PenaltyPath):
    """How early a feature gets a weight as a regression with both penalties is allowed more of them.

    The model minimises Σ_i (y_i - b - w x_i)² / (2n) + a (m |w|₁ + (1 - m) |w|²/2), with y_i = ±1 and m the `mixing`.
    Above a largest a all weights are 0; as a falls geometrically over `decades`, more and more are not. The score is
    the number of models on this path that use the feature, plus its share of |w|₁ in the last; it is the mean over the
    classes, each against the rest. O(n d) for a step of a model.

    Use it with many features that come in groups of much alike ones, all of which are wanted; not where a small set
    shall say as much, nor where features act only together.

    Parameters
    ----------
    mixing : float, default=0.5
        Share of the 1-norm, above 0 and at most 1, where it is the lasso.
    n_steps : int, default=20
        Models on the path, at least 1.
    decades : float, default=3.0
        By how many powers of ten the smallest a is below the largest, above 0.
    n_features_to_select : int or None, default=None
        Size of the selected subset; half of the features where None.
    tie_seed : int, default=0
        Breaks ties among features at random.

    Notes
    -----
    Source: Zou and Hastie (2005), without the correction of the shrinkage, which moves no weight away from 0; by
    scikit-learn's coordinate descent. A present-day reference: no document of this project uses it. A model that misses
    its tolerance sets `converged_` to False.

    See Also
    --------
    L1Logistic : The 1-norm alone, with a loss for classes.

    References
    ----------
    - H. Zou and T. Hastie, "Regularization and Variable Selection via the Elastic Net", Journal of the Royal
      Statistical Society B 67(2), 2005, pages 301-320.

    Examples
    --------
    >>> from fsvm_cli import ElasticNet
    >>> ElasticNet().fit([[0, 3], [1, 1], [0, 2], [5, 3], [6, 1], [5, 2]], list("aaabbb")).ranking_.tolist()
    [1, 2]
    """

    method = "elastic-net"
    accepts_sparse = True

    mixing: Annotated[float, Gt(0), Le(1)] = 0.5

    def _path(
        self, X: Any, labels: NDArray[np.intp], weights: NDArray[np.float64] | None
    ) -> Iterator[NDArray[np.float64]]:
        with self._noting_missed_tolerance():
            weights = path_weights(X, labels, self.mixing, self._factors(), weights)
        yield from weights


def path_weights(
    X: Any,
    labels: NDArray[np.intp],
    mixing: float,
    factors: NDArray[np.float64],
    sample_weight: NDArray[np.float64] | None = None,
) -> NDArray[np.float64]:
    """Return the sizes of the weights along a path of weakening penalties.

    Parameters
    ----------
    X : ndarray or CSR matrix, shape (n_samples, n_features)
    labels : ndarray, shape (n_samples,)
        -1 or 1.
    mixing : float
        Share of the 1-norm.
    factors : ndarray, shape (n_steps,)
        Ascending; by what the penalty is weaker than where all weights are 0.
    sample_weight : ndarray, shape (n_samples,), optional

    Returns
    -------
    ndarray, shape (n_steps, n_features)
    """
    if sp.issparse(X):
        return _sparse_path_weights(X, labels, mixing, factors, sample_weight)
    from sklearn.linear_model import enet_path  # noqa: PLC0415 - slow to import, and seldom needed

    # A constant feature has to be 0, not what rounding leaves of it.
    features = np.where(np.ptp(X, axis=0) > 0, X - np.average(X, axis=0, weights=sample_weight), 0.0)
    target = labels - np.average(labels, weights=sample_weight)
    if sample_weight is not None:
        # Least squares with weights are those of rows that are multiplied by their roots.
        roots = np.sqrt(sample_weight / sample_weight.mean())
        features, target = features * roots[:, None], target * roots
    strongest = float(np.abs(features.T @ target).max(initial=0.0)) / (len(X) * mixing)
    if strongest <= 0:
        return np.zeros((len(factors), X.shape[1]))
    _, weights, _ = enet_path(
        np.asfortranarray(features),
        target,
        l1_ratio=mixing,
        alphas=strongest / factors,
        tol=TOLERANCE,
        max_iter=MAX_ITERATIONS,
    )
    sizes: NDArray[np.float64] = np.abs(weights).T
    return sizes


def _sparse_path_weights(
    X: Any,
    labels: NDArray[np.intp],
    mixing: float,
    factors: NDArray[np.float64],
    sample_weight: NDArray[np.float64] | None,
) -> NDArray[np.float64]:
    """Return what `path_weights` does, of a matrix that is not centred but has a bias beside it instead."""
    from sklearn.linear_model import ElasticNet as Model  # noqa: PLC0415 - slow to import, and seldom needed

    sizes = np.zeros((len(factors), X.shape[1]))
    varies = np.flatnonzero(value_ranges(X) > 0)
    features = sp.csc_array(X)[:, varies]
    weights = np.ones(X.shape[0]) if sample_weight is None else sample_weight / sample_weight.mean()
    target = labels - np.average(labels, weights=weights)
    strongest = float(np.abs((weights * target) @ features).max(initial=0.0)) / (X.shape[0] * mixing)
    if strongest <= 0:
        return sizes
    model = Model(l1_ratio=mixing, tol=TOLERANCE, max_iter=MAX_ITERATIONS, warm_start=True)
    for row, factor in zip(sizes, factors, strict=True):
        model.set_params(alpha=strongest / factor).fit(features, target, sample_weight=sample_weight)
        row[varies] = np.abs(model.coef_)
    return sizes
