"""Scaling of features, learnt from the training part alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, Normalizer, StandardScaler

from fsvm_cli.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from fsvm_cli.data.dataset import Matrix

ScalingName = Literal["none", "standard", "minmax", "minmax-symmetric", "unit-norm"]

TRANSFORMERS: dict[ScalingName, Callable[[], Any]] = {
    "none": FunctionTransformer,
    "standard": StandardScaler,
    "minmax": MinMaxScaler,
    "minmax-symmetric": lambda: MinMaxScaler(feature_range=(-1, 1)),
    "unit-norm": Normalizer,
}
SHIFTING: frozenset[ScalingName] = frozenset({"standard", "minmax", "minmax-symmetric"})


@dataclass(frozen=True, eq=False)
class Scaling:
    """A scaling that has been fitted.

    Attributes
    ----------
    name : str
        Which one.
    constant : ndarray of int64
        Columns that have a single value in the training part. A scaling that shifts columns makes them 0 in
        every part: what they would hold beside it has no scale.
    transformer : object
        The fitted transformer of scikit-learn.
    """

    name: ScalingName
    constant: NDArray[np.int64]
    transformer: Any

    def transform(self, X: Matrix) -> Matrix:
        """Scale rows, into a new array."""
        if self.name == "none":
            return X.copy()
        scaled = self.transformer.transform(X)
        if self.name in SHIFTING:
            scaled[:, self.constant] = 0.0
        return scaled


def fit_scaling(name: ScalingName, X_train: Matrix) -> Scaling:
    """Learn a scaling from training rows.

    Parameters
    ----------
    name : {"none", "standard", "minmax", "minmax-symmetric", "unit-norm"}
        Nothing; mean 0 and variance 1 (with 1/n); range [0, 1]; range [-1, 1]; rows of Euclidean norm 1 (rows
        of zeros stay).
    X_train : ndarray or csr_array, shape (n_samples, n_features)
        Training rows.

    Returns
    -------
    Scaling
        Ready to transform any rows of the same width.

    Raises
    ------
    UsageError
        If a sparse matrix would be shifted, which would fill it.
    """
    if sp.issparse(X_train) and name in SHIFTING:
        raise UsageError(f"scaling '{name}' would fill a sparse matrix; use 'none' or 'unit-norm'")
    extent = X_train.max(axis=0) - X_train.min(axis=0)
    if sp.issparse(extent):
        extent = extent.toarray()
    return Scaling(name, np.flatnonzero(extent == 0), TRANSFORMERS[name]().fit(X_train))


SCALINGS: tuple[ScalingName, ...] = get_args(ScalingName)
