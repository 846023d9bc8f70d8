"""Compiled steps of recursive feature elimination: a feature leaves a linear machine, and the machine settles again."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numba import njit

from fsvm_cli.svm.active_set import CONVERGED, CURVATURE_FLOOR, newton_steps, refresh
from fsvm_cli.svm.engine import (
    STEPS_PER_SAMPLE,
    VIOLATION,
    compiled_bias,
    compiled_gap,
    make_scratch,
    maximise_certified,
)
from fsvm_cli.svm.factor import Factor, dot_tail, rebuild
from fsvm_cli.svm.pair_steps import ALLOCATING, COMPILED, Array, Box, add_scaled, extremes, pair_step

if TYPE_CHECKING:
    import numpy.typing as npt

ROUNDS = 10
"""Newton steps, each after a few pair steps, before the solver starts over."""
PAIR_STEPS = 5
"""Pair steps between two Newton steps: one feature moves few samples to or from their bounds."""
LEAST_PIVOT = 1e-6
"""The part of a squared pivot that must be left by a downdate of the factor, or too many digits are lost."""


class Chunk(NamedTuple):
    """A machine on some of the samples.

    Attributes
    ----------
    rows : (n_chunk,) array of int
        Which of all samples.
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
    rows: npt.NDArray[np.intp], columns: Array, features: npt.NDArray[np.intp], y: Array, coefficients: Array, C: float
) -> Chunk:
    """Build the machine on some samples.

    Parameters
    ----------
    rows : (n_chunk,) array of int
    columns : (n_features, n_samples) array
    features : (n_left,) array of int
    y, coefficients : (n_samples,) arrays
        Labels, and alpha_i y_i, where the training begins; 0 outside `rows`.
    C : float
    """
    own = columns if len(rows) == columns.shape[1] else np.ascontiguousarray(columns[:, rows])
    left = own[features]
    box, factor = make_scratch(len(rows))
    labels = y[rows]
    box.lower[:], box.upper[:] = np.where(labels > 0, 0.0, -C), np.where(labels > 0, C, 0.0)
    box.c[:] = coefficients[rows]
    return Chunk(rows, own, left.T @ left, labels, box, factor)


@njit(**ALLOCATING)
def train(chunk: Chunk, tolerance: float) -> bool:
    """Train from where the chunk stands; return whether the relative duality gap is within the tolerance."""
    K, y, box, factor = chunk.K, chunk.y, chunk.box, chunk.factor
    if factor.size[0] > 0 and settle(K, y, box, factor, tolerance):
        return True
    return bool(maximise_certified(K, y, box, factor, tolerance, STEPS_PER_SAMPLE * y.size)[0] == CONVERGED)


@njit(**COMPILED)
def settle(K: Array, y: Array, box: Box, factor: Factor, tolerance: float) -> bool:
    """Go on from a point that is nearly optimal, with the factor at hand; return whether that was enough.

    Parameters
    ----------
    K : (n, n) array
    y : (n,) array
    box : Box
        With residuals.
    factor : Factor
        Of the members' block of `K`.
    tolerance : float
        Relative duality gap to reach.
    """
    floor = CURVATURE_FLOOR * factor.tau[0]
    for _ in range(ROUNDS):
        newton_steps(K, box, factor)
        highest, lowest = extremes(box.r, box.rise, box.fall)
        if highest - lowest <= VIOLATION * tolerance:
            refresh(K, y, box)
            return bool(compiled_gap(y, box, compiled_bias(box)) <= tolerance)
        for _ in range(PAIR_STEPS):
            if highest > lowest:
                highest, lowest = pair_step(K, box, highest, floor)
    return False


@njit(**ALLOCATING)
def drop_feature(chunk: Chunk, feature: int) -> None:
    """Take one feature out of the Gram matrix, the residuals and the factor; the coefficients stay."""
    x, K, box, factor = chunk.columns[feature], chunk.K, chunk.box, chunk.factor
    add_scaled(box.r, x, dot_tail(x, box.c, 0, x.size))
    for i in range(x.size):
        add_scaled(K[i], x, -x[i])
        box.diagonal[i] = K[i, i]
    entries = np.empty(factor.size[0])
    for a in range(entries.size):
        entries[a] = x[factor.members[a]]
    if not downdate(factor, entries):
        rebuild(factor, K)


@njit(**COMPILED)
def downdate(factor: Factor, v: Array) -> bool:
    """Make U'U of the factor U'U - vv' by hyperbolic rotations; return False where digits would be lost.

    Parameters
    ----------
    factor : Factor
        On return of False it is spoilt.
    v : (size,) array
        Overwritten.
    """
    U = factor.U
    for k in range(v.size):
        old, entry = U[k, k], v[k]
        square = (old - entry) * (old + entry)
        if square < LEAST_PIVOT * old * old:
            return False
        U[k, k] = np.sqrt(square)
        rotate_away(U[k, k + 1 : v.size], v[k + 1 :], U[k, k] / old, entry / old)
    return True


@njit(**COMPILED)
def rotate_away(row: Array, v: Array, cosine: float, sine: float) -> None:
    """Rotate a row of the factor hyperbolically against the vector that is taken out."""
    for t in range(row.size):
        row[t] = (row[t] - sine * v[t]) / cosine
        v[t] = cosine * v[t] - sine * row[t]


@njit(**COMPILED)
def normal_vector(chunk: Chunk, features: npt.NDArray[np.intp], w: Array) -> None:
    """Fill in the weight of each feature that is left, shape (n_left,)."""
    for place in range(features.size):
        w[place] = dot_tail(chunk.columns[features[place]], chunk.box.c, 0, chunk.box.c.size)


@njit(**COMPILED)
def decision_values(columns: Array, features: npt.NDArray[np.intp], w: Array, bias: float, values: Array) -> None:
    """Fill in the machine's scores of all samples, shape (n_samples,)."""
    for i in range(values.size):
        values[i] = bias
    for place in range(features.size):
        add_scaled(values, columns[features[place]], w[place])
