"""Checks of the samples and classes that estimators are fitted on, equal to those of scikit-learn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from fsvm_cli.numerics import all_finite

if TYPE_CHECKING:
    from collections.abc import Sequence

ONE_CLASS = "y holds only one class"
"""The end of the message with which methods refuse samples of one class, by which a run recognises it."""


def validated(
    estimator: Any, X: Any, y: Any, *, accept_sparse: str | bool | Sequence[str] = False, min_samples: int = 1
) -> tuple[Any, Any]:
    """Return samples as floats and their classes, and note the number and names of the features in the estimator.

    scikit-learn's checks return finite floats with integer classes unchanged, but take longer than many methods, and a
    trial passes nothing else; so they are skipped for such input.

    Parameters
    ----------
    estimator : object
    X : array-like, shape (n_samples, n_features)
    y : array-like, shape (n_samples,)
    accept_sparse : str, bool or sequence of str, default=False
        Formats of sparse matrices that are left as they are.
    min_samples : int, default=1

    Returns
    -------
    X : ndarray or sparse matrix of float
    y : ndarray, shape (n_samples,)

    Raises
    ------
    ValueError
        If they are not samples with a class each.
    """
    if _is_plain(X, y) and len(X) >= min_samples:
        estimator.n_features_in_ = X.shape[1]
        vars(estimator).pop("feature_names_in_", None)
        return X, y
    # scikit-learn's check for infinities sums all values, which may overflow to inf - inf.
    with np.errstate(invalid="ignore"):
        X, y = validate_data(
            estimator, X, y, dtype=np.float64, accept_sparse=accept_sparse, ensure_min_samples=min_samples
        )
    check_classification_targets(y)
    return X, y


def _is_plain(X: Any, y: Any) -> bool:
    """Whether these are finite floats in two dimensions, and a whole number for each row."""
    if type(X) is not np.ndarray or type(y) is not np.ndarray or X.ndim != 2 or y.shape != X.shape[:1]:
        return False
    return bool(X.dtype == np.float64 and X.size and y.dtype.kind in "iu" and all_finite(X))
