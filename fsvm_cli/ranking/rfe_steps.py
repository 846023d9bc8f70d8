"""Compiled steps of recursive feature elimination: a feature leaves a linear machine, which is then optimised again."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numba import njit

from fsvm_cli.svm.paths.gram_downdate import downdate_gram, reoptimise
from fsvm_cli.svm.solvers.engine import make_scratch
from fsvm_cli.svm.solvers.residuals import refresh
from fsvm_cli.svm.vectors import ALLOCATING, COMPILED, Array, add_scaled, inner_product

if TYPE_CHECKING:
    import numpy.typing as npt

    from fsvm_cli.svm.solvers.factor import Factor
    from fsvm_cli.svm.solvers.pair_steps import Box


class Chunk(NamedTuple):
    """A machine on some of the samples, its working set (Vapnik's chunking).

    Attributes
    ----------
    rows : (n_chunk,) array of int
        Which of all samples, in ascending order.
    columns : (n_features, n_chunk) array
        Their values of all features.
    K : (n_chunk, n_chunk) array
        Their Gram matrix on the features that are left.
    y : (n_chunk,) array
        Labels, -1 or +1.
    box : Box
    factor : Factor
        Of the free block of `K`; empty before the first training.
    """

    rows: npt.NDArray[np.intp]
    columns: Array
    K: Array
    y: Array
    box: Box
    factor: Factor


def make_chunk(  # noqa: PLR0917
    rows: npt.NDArray[np.intp], columns: Array, features: npt.NDArray[np.intp], y: Array, coefficients: Array, C: Array
) -> Chunk:
    """Build the machine on some samples.

    Parameters
    ----------
    rows : (n_chunk,) array of int
    columns : (n_features, n_samples) array
    features : (n_left,) array of int
    y, coefficients : (n_samples,) arrays
        Labels, and alpha_i y_i, where the training begins; 0 outside `rows`.
    C : (n_samples,) array
        Upper bounds of alpha.
    """
    own = columns if len(rows) == columns.shape[1] else np.ascontiguousarray(columns[:, rows])
    left = own[features]
    box, factor = make_scratch(len(rows))
    labels, bounds = y[rows], C[rows]
    box.lower[:], box.upper[:] = np.where(labels > 0, 0.0, -bounds), np.where(labels > 0, bounds, 0.0)
    box.c[:] = coefficients[rows]
    return Chunk(rows, own, left.T @ left, labels, box, factor)


def drop_feature(chunk: Chunk, feature: int) -> None:
    """Take one feature out of the Gram matrix; the coefficients stay."""
    downdate_gram(chunk.K, chunk.box, chunk.factor, chunk.columns[feature])


def train(chunk: Chunk, tolerance: float) -> bool:
    """Train from the chunk's coefficients; return whether the relative duality gap is within the tolerance."""
    return bool(reoptimise(chunk.K, chunk.y, chunk.box, chunk.factor, tolerance))


def restart_at(chunk: Chunk, coefficients: Array) -> None:
    """Put the chunk at a solution that was found without its factor, from where the next training starts afresh."""
    chunk.box.c[:] = coefficients
    refresh(chunk.K, chunk.y, chunk.box)
    chunk.factor.size[0] = 0


@njit(**COMPILED)
def normal_vector(chunk: Chunk, features: npt.NDArray[np.intp], w: Array) -> None:
    """Fill in the weight of each feature that is left, shape (n_left,)."""
    for j in range(features.size):
        w[j] = inner_product(chunk.columns[features[j]], chunk.box.c)


@njit(**COMPILED)
def decision_values(columns: Array, features: npt.NDArray[np.intp], w: Array, bias: float, values: Array) -> None:
    """Fill in the machine's scores of all samples, shape (n_samples,)."""
    for i in range(values.size):
        values[i] = bias
    for j in range(features.size):
        add_scaled(values, columns[features[j]], w[j])


@njit(**ALLOCATING)
def has_margin_violators(  # noqa: PLR0917
    rows: npt.NDArray[np.intp], columns: Array, features: npt.NDArray[np.intp], w: Array, bias: float, y: Array
) -> bool:
    """Return whether a sample that is not among the rows, in ascending order, lies within the margin."""
    values = np.empty(y.size)
    decision_values(columns, features, w, bias, values)
    following = 0
    for i in range(y.size):
        if following < rows.size and rows[following] == i:
            following += 1
        elif y[i] * values[i] < 1.0:
            return True
    return False
