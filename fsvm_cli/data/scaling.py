"""Scaling of features, learnt from the training part alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, Normalizer, StandardScaler

from fsvm_cli.errors import UsageError
from fsvm_cli.magnitudes import binary_exponents, check_magnitudes, column_sizes, value_ranges

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
    exponents : ndarray of int
        Powers of two that the columns are multiplied by first, where a scaling shifts columns: in such units
        scikit-learn neither overflows, nor underflows, nor takes a small range for none, and rounding stays as it is.
    transformer : object
        The fitted transformer of scikit-learn.
    """

    name: ScalingName
    constant: NDArray[np.int64]
    exponents: NDArray[np.int32]
    transformer: Any

    def transform(self, X: Matrix) -> Matrix:
        """Scale rows, into a new array.

        Raises
        ------
        ValueError
            If a value is too large, in units of the range of the training part, to compute with.
        """
        if self.name == "none":
            return X.copy()
        if self.name not in SHIFTING:
            return self.transformer.transform(_in_units_of_rows(X))
        scaled = self.transformer.transform(_columns_in_units(X, self.constant, self.exponents))
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
        raise UsageError(shifts_sparse(name))
    ranges = value_ranges(X_train)
    constant, exponents = np.flatnonzero(ranges == 0), binary_exponents(ranges)
    transformer = TRANSFORMERS[name]()
    if name in SHIFTING:
        transformer.fit(_columns_in_units(X_train, constant, exponents))
    return Scaling(name, constant, exponents, transformer)


def shifts_sparse(name: ScalingName) -> str:
    """Say why a scaling that shifts columns is not for a sparse matrix."""
    able = " or ".join(f"'{each}'" for each in TRANSFORMERS if each not in SHIFTING)
    return f"scaling '{name}' would fill a sparse matrix; use {able}"


def _columns_in_units(
    X: NDArray[np.float64], constant: NDArray[np.int64], exponents: NDArray[np.int32]
) -> NDArray[np.float64]:
    """Multiply each column by its power of two; put 0 into constant ones, which have no scale."""
    with np.errstate(over="ignore"):
        in_units: NDArray[np.float64] = np.ldexp(X, exponents)
    in_units[:, constant] = 0.0
    check_magnitudes(in_units, unseen=True)
    return in_units


def _in_units_of_rows(X: Matrix) -> Matrix:
    """Multiply each row by a power of two, so that its largest value is near 1: its direction stays."""
    exponents = binary_exponents(column_sizes(X.T))
    if not sp.issparse(X):
        return np.ldexp(X, exponents[:, None])
    rows = sp.csr_array(X, copy=True)
    rows.data = np.ldexp(rows.data, np.repeat(exponents, np.diff(rows.indptr)))
    return rows


SCALINGS: tuple[ScalingName, ...] = get_args(ScalingName)
