"""Steps of sequential minimal optimisation (Platt 1999), with the pair selection of Fan et al. (2005).

All is written in the signed coefficients c_i = alpha_i y_i with lower_i <= c_i <= upper_i and the residuals
r_i = y_i - sum_j K_ij c_j, the gradient of the dual objective. I_up holds the samples whose c_i may rise, I_low those
whose c_i may fall (Keerthi et al. 2001). `up` is 0 in I_up and -infinity elsewhere, `low` is 0 in I_low and +infinity
elsewhere, so that the largest residual in I_up is max(r + up). A point is optimal where it is at most min(r + low); by
what it exceeds that, the violation, the point misses the Karush-Kuhn-Tucker conditions.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from fsvm_cli.svm.compiled import COMPILED, EPSILON, REASSOCIATE, Array, larger, smaller

BLOCK_SAMPLES = 64
"""Samples that are looked through together for one."""


class Box(NamedTuple):
    """A point of the dual problem, its gradient and the box around it; all arrays have shape (n,).

    Attributes
    ----------
    c, lower, upper
        Coefficients alpha_i y_i and their bounds.
    r
        Residuals.
    up, low
        Index sets, see above.
    diagonal
        Of the Gram matrix.
    gains
        Scratch.
    error
        Bounds on what rounding did to the residuals when `refresh_bounded` computed them from c.
    kernel_error
        Bounds on what the rounding of kernel values does beside it, from the next three.
    relative, reach, lengths
        See `Rounding.of_machine`; 0 where the Gram matrix counts as exact.
    """

    c: Array
    lower: Array
    upper: Array
    r: Array
    up: Array
    low: Array
    diagonal: Array
    gains: Array
    error: Array
    kernel_error: Array
    relative: Array
    reach: Array
    lengths: Array


def make_box(n: int) -> Box:
    """Return a box of n samples, filled with zeros."""
    vectors = np.zeros((len(Box._fields), n))
    return Box(**dict(zip(Box._fields, vectors, strict=True)))


@njit(**COMPILED)
def set_bounds(box: Box, y: Array, C: Array) -> None:
    """Bound alpha_i by 0 and C_i."""
    for i in range(y.size):
        box.lower[i], box.upper[i] = min(0.0, C[i] * y[i]), max(0.0, C[i] * y[i])


@njit(**COMPILED)
def set_coefficient(box: Box, i: int, value: float) -> None:
    """Set c_i to a value within its bounds, and note in which index sets it is then."""
    box.c[i] = value
    box.up[i] = 0.0 if value < box.upper[i] else -np.inf
    box.low[i] = 0.0 if value > box.lower[i] else np.inf


@njit(**COMPILED)
def count_inside(box: Box) -> int:
    """Return how many coefficients are strictly between bounds that are finite."""
    inside = 0
    for i in range(box.c.size):
        is_inside = (box.lower[i] < box.c[i]) & (box.c[i] < box.upper[i])
        inside += is_inside & np.isfinite(box.upper[i] - box.lower[i])
    return inside


@njit(**COMPILED)
def move(box: Box, i: int, delta: float) -> None:
    """Add delta to c_i within its bounds; where only rounding separates it from a bound, it is set to the bound.

    It would else count as free, and so fix the bias.
    """
    value = box.c[i] + delta
    rounding = 4.0 * EPSILON * (abs(box.c[i]) + abs(delta))
    if value - box.lower[i] <= rounding:
        value = box.lower[i]
    elif box.upper[i] - value <= rounding:
        value = box.upper[i]
    set_coefficient(box, i, value)


@njit(**COMPILED, fastmath=REASSOCIATE)
def violating_extremes(r: Array, up: Array, low: Array) -> tuple[float, float]:
    """Return the largest residual in I_up and the smallest in I_low; the violation is their difference."""
    highest, lowest = -np.inf, np.inf
    for t in range(r.size):
        highest = larger(highest, r[t] + up[t])
        lowest = smaller(lowest, r[t] + low[t])
    return highest, lowest


@njit(**COMPILED, fastmath=REASSOCIATE)
def shift_residuals(box: Box, row_i: Array, row_j: Array, delta: float) -> tuple[float, float]:
    """Update the residuals for c_i + delta, c_j - delta, and return their `violating_extremes` from the same pass."""
    r, up, low = box.r, box.up, box.low
    highest, lowest = -np.inf, np.inf
    for t in range(r.size):
        value = r[t] - delta * (row_i[t] - row_j[t])
        r[t] = value
        highest = larger(highest, value + up[t])
        lowest = smaller(lowest, value + low[t])
    return highest, lowest


@njit(**COMPILED, fastmath=REASSOCIATE)
def pair_gains(box: Box, row_i: Array, i: int, min_curvature: float) -> float:
    """Write twice the unclipped gain of each pair (i, j), -1 where j is not in I_low or r_j >= r_i; return the best.

    The second-order working set of Fan, Chen and Lin (2005), eq. (16).
    """
    best = 0.0
    r, low, diagonal, gains = box.r, box.low, box.diagonal, box.gains
    top, own = r[i], diagonal[i]
    for t in range(gains.size):
        difference = top - r[t]
        curvature = max(diagonal[t] + own - 2.0 * row_i[t], min_curvature)
        gain = difference * difference / curvature
        gain = gain if (difference > 0.0) & (low[t] == 0.0) else -1.0
        gains[t] = gain
        best = larger(best, gain)
    return best


@njit(**COMPILED)
def first_equal(values: Array, target: float) -> int:
    """Return the first index whose value is the target (the last of all where none is, as among values not finite).

    In blocks without an early exit, so that they run on vectors.
    """
    for start in range(0, values.size, BLOCK_SAMPLES):
        found = values.size
        for t in range(start, min(start + BLOCK_SAMPLES, values.size)):
            found = min(found, t if values[t] == target else values.size)
        if found < values.size:
            return found
    return values.size - 1


@njit(**COMPILED)
def first_in_up(r: Array, up: Array, target: float) -> int:
    """Return the first index in I_up whose residual is the target, as `first_equal` does."""
    for start in range(0, r.size, BLOCK_SAMPLES):
        found = r.size
        for t in range(start, min(start + BLOCK_SAMPLES, r.size)):
            found = min(found, t if r[t] + up[t] == target else r.size)
        if found < r.size:
            return found
    return r.size - 1


@njit(**COMPILED)
def pair_step(K: Array, box: Box, highest: float, min_curvature: float) -> tuple[float, float]:
    """Move the most violating pair to its optimum within the box; return the new `violating_extremes`."""
    i = first_in_up(box.r, box.up, highest)
    j = first_equal(box.gains, pair_gains(box, K[i], i, min_curvature))
    longest = min(box.upper[i] - box.c[i], box.c[j] - box.lower[j])
    curvature = max(box.diagonal[i] + box.diagonal[j] - 2.0 * K[i, j], min_curvature)
    delta = min((highest - box.r[j]) / curvature, longest)
    move(box, i, delta)
    move(box, j, -delta)
    highest, lowest = shift_residuals(box, K[i], K[j], delta)
    return highest, lowest
