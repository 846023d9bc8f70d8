"""Scaling of features, fitted on the training part alone.

The formulas that shift columns are those of scikit-learn's ``StandardScaler`` and ``MinMaxScaler``, to the last bit:
to load these takes longer than most rankings.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

import numpy as np
import scipy.sparse as sp

from fsvm_cli.errors import UsageError
from fsvm_cli.numerics import CHUNK_VALUES, binary_exponents, check_input_range, column_sizes, row_blocks, value_ranges

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from numpy.typing import NDArray

    from fsvm_cli.data.dataset import Matrix

ScalingName = Literal["none", "standard", "minmax", "minmax-symmetric", "unit-norm", "expression"]

SCALINGS: tuple[ScalingName, ...] = get_args(ScalingName)
EXPRESSION: Literal["expression"] = "expression"
EPSILON = np.finfo(np.float64).eps


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
        nothing overflows or underflows, no small range is taken for none, and rounding stays as it is.
    apply : callable or None
        Shifts and divides rows in these units, in place; None where a scaling shifts no columns.
    """

    name: ScalingName
    constant: NDArray[np.int64]
    exponents: NDArray[np.int32]
    apply: InPlace | None

    def transform(self, X: Matrix, *, overwrite: bool = False) -> Matrix:
        """Scale rows.

        Parameters
        ----------
        X : ndarray or csr_array, shape (n_samples, n_features)
        overwrite : bool, default=False
            Whether the result may overwrite `X`.

        Raises
        ------
        ValueError
            If a value is too large, in units of the range of the training part, to compute with.
        """
        if self.name == "none":
            return X if overwrite else X.copy()
        if self.name == EXPRESSION:
            X, overwrite = logarithms_by_row(X), True
        if self.apply is None:
            from sklearn.preprocessing import normalize  # noqa: PLC0415 - slow to import, and seldom needed

            return normalize(_in_units_of_rows(X))
        scaled = _columns_in_units(X, self.constant, self.exponents, X if overwrite else None)
        self.apply(scaled)
        scaled[:, self.constant] = 0.0
        return scaled


def fit_scaling(name: ScalingName, X_train: Matrix) -> Scaling:
    """Learn a scaling from training rows.

    Parameters
    ----------
    name : {"none", "standard", "minmax", "minmax-symmetric", "unit-norm", "expression"}
        Nothing; mean 0 and variance 1 (with 1/n); range [0, 1]; range [-1, 1]; rows of Euclidean norm 1 (rows
        of zeros stay); logarithms with mean 0 and variance 1 in each row, then in each column, and of these the arctan.
    X_train : ndarray or csr_array, shape (n_samples, n_features)
        Training rows.

    Returns
    -------
    Scaling
        Ready to transform any rows of the same width.

    Raises
    ------
    UsageError
        If a sparse matrix would be shifted, which would fill it; or a logarithm be taken of what is not above 0.

    Notes
    -----
    Source of "expression": Guyon et al. (2002), who prepare the intensities of genes so.
    """
    if sp.issparse(X_train) and name in SHIFTING_SCALINGS:
        raise UsageError(shifts_sparse(name))
    if name == EXPRESSION:
        X_train = logarithms_by_row(X_train)
    ranges = value_ranges(X_train)
    constant, exponents = np.flatnonzero(ranges == 0), binary_exponents(ranges)
    learn = SHIFTING_SCALINGS.get(name)
    if learn is None:
        return Scaling(name, constant, exponents, None)
    blocks: Blocks = _BlocksInUnits(X_train, constant, exponents)
    if X_train.size <= CHUNK_VALUES:
        blocks = [*blocks]
    return Scaling(name, constant, exponents, learn(blocks))


@dataclass(frozen=True, eq=False)
class _BlocksInUnits:
    """Blocks of rows, multiplied by the powers of two of their columns each time that they are asked for."""

    X: NDArray[np.float64]
    constant: NDArray[np.int64]
    exponents: NDArray[np.int32]

    def __iter__(self) -> Iterator[NDArray[np.float64]]:
        for rows in row_blocks(*self.X.shape):
            yield _columns_in_units(self.X[rows], self.constant, self.exponents)


def _learn_standard(blocks: Blocks) -> InPlace:
    """Learn the mean and the standard deviation of each column, 1 where the values differ by rounding only."""
    sizes, totals = zip(*[(len(X), X.sum(axis=0)) for X in blocks], strict=True)
    n = sum(sizes)
    mean = np.sum(totals, axis=0) / n
    # Chan, Golub and LeVeque's two passes, corrected for the rounding of the mean.
    sums = [(deviations.sum(axis=0), (deviations**2).sum(axis=0)) for deviations in (X - mean for X in blocks)]
    correction, squares = np.sum(sums, axis=0)
    variance = (squares - correction**2 / n) / n
    rounding = n * EPSILON * variance + (n * mean * EPSILON) ** 2
    deviation = np.where(variance <= rounding, 1.0, np.sqrt(variance))

    def standardise(X: NDArray[np.float64]) -> None:
        X -= mean
        X /= deviation

    return standardise


def logarithms_by_row(X: NDArray[np.float64]) -> NDArray[np.float64]:
    """Take logarithms, and give each row mean 0 and variance 1; a row of a single value becomes 0.

    Raises
    ------
    UsageError
        If a value is not above 0.
    """
    if not (X > 0).all():
        raise UsageError(f"scaling '{EXPRESSION}' takes logarithms, and a value is not above 0; use another scaling")
    logarithms = np.log(X)
    varies = np.ptp(X, axis=1, keepdims=True) > 0
    logarithms -= logarithms.mean(axis=1, keepdims=True)
    return np.where(varies, logarithms / np.where(varies, logarithms.std(axis=1, keepdims=True), 1.0), 0.0)


def _learn_squashed(blocks: Blocks) -> InPlace:
    """Learn what `_learn_standard` does, and bring outliers nearer."""
    standardise = _learn_standard(blocks)

    def squash(X: NDArray[np.float64]) -> None:
        standardise(X)
        np.arctan(X, out=X)

    return squash


def _learn_range(blocks: Blocks, low: float, high: float) -> InPlace:
    """Learn the line from the range of each column to another; columns without any range are only shifted."""
    ranges = [(X.min(axis=0), X.max(axis=0)) for X in blocks]
    smallest = np.min([least for least, _ in ranges], axis=0)
    width = np.max([most for _, most in ranges], axis=0) - smallest
    width[width < 10 * EPSILON] = 1.0
    slope = (high - low) / width
    intercept = low - smallest * slope

    def to_range(X: NDArray[np.float64]) -> None:
        X *= slope
        X += intercept

    return to_range


InPlace: TypeAlias = "Callable[[NDArray[np.float64]], None]"
Blocks: TypeAlias = "Iterable[NDArray[np.float64]]"

SHIFTING_SCALINGS: Mapping[ScalingName, Callable[[Blocks], InPlace]] = {
    "standard": _learn_standard,
    "minmax": functools.partial(_learn_range, low=0.0, high=1.0),
    "minmax-symmetric": functools.partial(_learn_range, low=-1.0, high=1.0),
    EXPRESSION: _learn_squashed,
}
"""Scalings that shift columns, each with the function that fits it to blocks of scaled rows."""


def shifts_sparse(name: ScalingName) -> str:
    """Return the message about a scaling that would fill a sparse matrix."""
    able = " or ".join(f"'{each}'" for each in SCALINGS if each not in SHIFTING_SCALINGS)
    return f"scaling '{name}' would fill a sparse matrix; use {able}, or read it in full (dense: true, or --dense)"


def _columns_in_units(
    X: NDArray[np.float64],
    constant: NDArray[np.int64],
    exponents: NDArray[np.int32],
    out: NDArray[np.float64] | None = None,
) -> NDArray[np.float64]:
    """Multiply each column by its power of two; put 0 into constant ones, which have no scale."""
    with np.errstate(over="ignore"):
        in_units: NDArray[np.float64] = np.ldexp(X, exponents, out=out)
    in_units[:, constant] = 0.0
    check_input_range(in_units, unseen=True)
    return in_units


def _in_units_of_rows(X: Matrix) -> Matrix:
    """Multiply each row by a power of two, so that its largest value is near 1: its direction stays."""
    exponents = binary_exponents(column_sizes(X.T))
    if not sp.issparse(X):
        return np.ldexp(X, exponents[:, None])
    rows = sp.csr_array(X, copy=True)
    rows.data = np.ldexp(rows.data, np.repeat(exponents, np.diff(rows.indptr)))
    return rows
