"""A machine that is kept at its optimum, with its Cholesky factor, through rank-one downdates of the Gram matrix."""

from __future__ import annotations

import numpy as np
from numba import njit

from fsvm_cli.svm.compiled import ALLOCATING, COMPILED, Array, add_scaled, inner_product, overwrite
from fsvm_cli.svm.solvers.active_set import (
    CONVERGED,
    MAX_VIOLATION,
    MIN_RELATIVE_CURVATURE,
    STEPS_PER_SAMPLE,
    maximise_certified,
    newton_steps,
)
from fsvm_cli.svm.solvers.block_pivoting import pivot
from fsvm_cli.svm.solvers.cholesky import Factor, rebuild
from fsvm_cli.svm.solvers.optimality import finish_fit, refresh, refresh_bounded
from fsvm_cli.svm.solvers.smo import Box, pair_step, set_coefficient, violating_extremes

MIN_FREE_FOR_PIVOTING = 64
"""Free samples from which on block pivoting is faster than steps that stay in the box."""
MAX_NEWTON_STEPS = 10
"""Newton steps that are tried, with a few pair steps between, before the solver starts again."""
PAIR_STEPS_BETWEEN = 5
"""Pair steps between two Newton steps; few, for one term moves few samples to or from their bounds."""
MIN_PIVOT_SHARE = 1e-6
"""A downdate must leave this part of every squared pivot, or too many digits are lost."""


@njit(**ALLOCATING)
def reoptimise(K: Array, y: Array, box: Box, factor: Factor, tolerance: float) -> bool:
    """Go to the optimum; return whether the relative duality gap is within the tolerance.

    Parameters
    ----------
    K : (n, n) array
        Gram matrix.
    y : (n,) array
        Labels.
    box : Box
        With bounds that are finite; with residuals, too, where the factor has indices.
    factor : Factor
        Without indices, scratch. With indices, the factor of their block of `K`: the point is then taken to be nearly
        optimal.
    tolerance : float
    """
    violation = MAX_VIOLATION * tolerance
    if factor.size[0] >= MIN_FREE_FOR_PIVOTING:
        c, r = box.c.copy(), box.r.copy()
        if pivot(K, box, factor, violation):
            refresh_bounded(K, y, box)
            return bool(finish_fit(K, y, box, tolerance)[1] <= tolerance)
        overwrite(box.r, r)
        for i in range(c.size):
            set_coefficient(box, i, c[i])
    if factor.size[0] > 0 and alternate(K, box, factor, violation):
        refresh_bounded(K, y, box)
        if finish_fit(K, y, box, tolerance)[1] <= tolerance:
            return True
    if factor.size[0] == 0:
        refresh(K, y, box)
    return bool(maximise_certified(K, y, box, factor, tolerance, STEPS_PER_SAMPLE * y.size)[0] == CONVERGED)


@njit(**COMPILED)
def alternate(K: Array, box: Box, factor: Factor, max_violation: float) -> bool:
    """Take Newton steps, each after a few pair steps; return whether the violation is small enough."""
    min_curvature = MIN_RELATIVE_CURVATURE * factor.tau[0]
    for _ in range(MAX_NEWTON_STEPS):
        newton_steps(K, box, factor)
        highest, lowest = violating_extremes(box.r, box.up, box.low)
        if highest - lowest <= max_violation:
            return True
        for _ in range(PAIR_STEPS_BETWEEN):
            if highest > lowest:
                highest, lowest = pair_step(K, box, highest, min_curvature)
    return False


@njit(**ALLOCATING)
def downdate_gram(K: Array, box: Box, factor: Factor, x: Array) -> None:
    """Subtract x x' from the Gram matrix, and update residuals and factor; the coefficients stay.

    Parameters
    ----------
    K : (n, n) array
    box : Box
    factor : Factor
    x : (n,) array
    """
    add_scaled(box.r, x, inner_product(x, box.c))
    for i in range(x.size):
        if x[i] != 0.0:
            add_scaled(K[i], x, -x[i])
            box.diagonal[i] = K[i, i]
    entries = np.empty(factor.size[0])
    for a in range(entries.size):
        entries[a] = x[factor.indices[a]]
    if not downdate_factor(factor, entries):
        rebuild(factor, K)


@njit(**COMPILED)
def downdate_factor(factor: Factor, v: Array) -> bool:
    """Make U'U of the factor U'U - vv' by hyperbolic rotations; return False where digits would be lost.

    Parameters
    ----------
    factor : Factor
        Of no use where False is returned.
    v : (size,) array
        Overwritten.
    """
    U = factor.U
    for k in range(v.size):
        old, entry = U[k, k], v[k]
        square = (old - entry) * (old + entry)
        if square < MIN_PIVOT_SHARE * old * old:
            return False
        U[k, k] = np.sqrt(square)
        hyperbolic_rotation(U[k, k + 1 : v.size], v[k + 1 :], U[k, k] / old, entry / old)
    return True


@njit(**COMPILED)
def hyperbolic_rotation(row: Array, v: Array, cosine: float, sine: float) -> None:
    """Rotate a row of the factor hyperbolically against the vector that is taken out."""
    for t in range(row.size):
        row[t] = (row[t] - sine * v[t]) / cosine
        v[t] = cosine * v[t] - sine * row[t]
