"""What any classifier predicts on nested subsets of the features."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from fsvm_cli.row_blocks import row_blocks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


class SubsetPredictions(NamedTuple):
    """A classifier on one subset: as it was fitted, and the codes that it predicts of training and of test rows."""

    fitted: Any
    train: NDArray[np.intp]
    test: NDArray[np.intp]


def nested_predictions(  # noqa: PLR0917 - the arguments of nested_curves, in its order
    estimator: Any,
    X_train: NDArray[np.float64],
    y_train: NDArray[np.intp],
    X_test: NDArray[np.float64],
    order: NDArray[np.intp],
    sizes: Sequence[int],
    groups: NDArray[np.intp] | None = None,
) -> list[SubsetPredictions]:
    """Train a fresh classifier on the first features of an order, for each size.

    Parameters
    ----------
    estimator : object
        A classifier in scikit-learn's manner; it is cloned.
    X_train, X_test : ndarray, shapes (n_train, n_features) and (n_test, n_features)
    y_train : ndarray of int, shape (n_train,)
        Class codes.
    order : ndarray of int, shape (n_features,)
        Feature indices, best first.
    sizes : sequence of int
        Each in 1 .. n_features. The features of a subset are passed in the order of the data, so that all features are
        the same problem for every order.
    groups : ndarray of int, shape (n_train,), optional
        For an estimator whose ``fit`` takes them: samples of one group stay together where it cross-validates.

    Returns
    -------
    list of SubsetPredictions
        By size.
    """
    grouping = {} if groups is None or not has_fit_parameter(estimator, "groups") else {"groups": groups}
    predictions = []
    for size in sizes:
        subset = sorted(order[:size])
        fitted = clone(estimator).fit(X_train[:, subset], y_train, **grouping)
        predictions.append(
            SubsetPredictions(fitted, _predicted(fitted, X_train, subset), _predicted(fitted, X_test, subset))
        )
    return predictions


def _predicted(fitted: Any, X: NDArray[np.float64], subset: Sequence[np.intp]) -> NDArray[np.intp]:
    """Predict block by block: what a classifier computes on the way may be larger than the samples."""
    return np.concatenate([fitted.predict(X[rows][:, subset]) for rows in row_blocks(*X.shape)])
