"""Steps of sequential minimal optimisation: the compiled kernels that touch every sample.

All is written in the signed coefficients c_i = alpha_i y_i with lower_i <= c_i <= upper_i and the residuals
r_i = y_i - sum_j K_ij c_j, the gradient of the dual objective. Where c_i lies on its upper bound, `rise` is -infinity,
where it lies on its lower bound, `fall` is +infinity, else both are 0: the largest residual that may rise is
max(r + rise).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from fsvm_cli.svm.intrinsics import larger, smaller
from fsvm_cli.svm.vectors import COMPILED, EPSILON, REASSOCIATE, Array


class Box(NamedTuple):
    """A point of the dual problem, its gradient and the box around it; all arrays have shape (n,).

    `error` bounds what rounding did to the residuals r when they were last computed from c; gains is scratch.
    """

    c: Array
    lower: Array
    upper: Array
    r: Array
    rise: Array
    fall: Array
    diagonal: Array
    gains: Array
    error: Array


@njit(**COMPILED)
def set_bounds(box: Box, y: Array, C: float) -> None:
    """Bound alpha_i by 0 and C."""
    for i in range(y.size):
        box.lower[i], box.upper[i] = min(0.0, C * y[i]), max(0.0, C * y[i])


@njit(**COMPILED)
def place(box: Box, i: int, value: float) -> None:
    """Put c_i at a value within its bounds and note which sides are open to it."""
    box.c[i] = value
    box.rise[i] = 0.0 if value < box.upper[i] else -np.inf
    box.fall[i] = 0.0 if value > box.lower[i] else np.inf


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
    """Add delta to c_i within its bounds; a distance to a bound that may be rounding is none.

    A coefficient that is off its bound by rounding would count as free, and so fix the bias.
    """
    value = box.c[i] + delta
    blur = 4.0 * EPSILON * (abs(box.c[i]) + abs(delta))
    if value - box.lower[i] <= blur:
        value = box.lower[i]
    elif box.upper[i] - value <= blur:
        value = box.upper[i]
    place(box, i, value)


@njit(**COMPILED, fastmath=REASSOCIATE)
def extremes(r: Array, rise: Array, fall: Array) -> tuple[float, float]:
    """Return the largest residual that may rise and the smallest that may fall."""
    highest, lowest = -np.inf, np.inf
    for t in range(r.size):
        highest = larger(highest, r[t] + rise[t])
        lowest = smaller(lowest, r[t] + fall[t])
    return highest, lowest


@njit(**COMPILED, fastmath=REASSOCIATE)
def shift_residuals(box: Box, row_i: Array, row_j: Array, delta: float) -> tuple[float, float]:
    """Update the residuals for c_i + delta, c_j - delta, and return their `extremes` from the same pass."""
    r, rise, fall = box.r, box.rise, box.fall
    highest, lowest = -np.inf, np.inf
    for t in range(r.size):
        value = r[t] - delta * (row_i[t] - row_j[t])
        r[t] = value
        highest = larger(highest, value + rise[t])
        lowest = smaller(lowest, value + fall[t])
    return highest, lowest


@njit(**COMPILED, fastmath=REASSOCIATE)
def pair_gains(box: Box, row_i: Array, i: int, floor: float) -> float:
    """Write twice the unclipped gain of each pair (i, j), -1 where c_j may not fall or would not; return the best.

    The second-order working set of Fan, Chen and Lin (2005), eq. (16).
    """
    best = 0.0
    r, fall, diagonal, gains = box.r, box.fall, box.diagonal, box.gains
    top, own = r[i], diagonal[i]
    for t in range(gains.size):
        difference = top - r[t]
        curvature = max(diagonal[t] + own - 2.0 * row_i[t], floor)
        gain = difference * difference / curvature
        gain = gain if (difference > 0.0) & (fall[t] == 0.0) else -1.0
        gains[t] = gain
        best = larger(best, gain)
    return best


@njit(**COMPILED)
def first_equal(values: Array, target: float) -> int:
    """Return the first index whose value is the target (the last of all where none is, as among values not finite).

    Without an early exit, so that it runs on vectors.
    """
    found = values.size - 1
    for t in range(values.size):
        found = min(found, t if values[t] == target else values.size)
    return found


@njit(**COMPILED)
def first_rising(r: Array, rise: Array, target: float) -> int:
    """Return the first index whose residual may rise and is the target, as `first_equal` does."""
    found = r.size - 1
    for t in range(r.size):
        found = min(found, t if r[t] + rise[t] == target else r.size)
    return found


@njit(**COMPILED)
def pair_step(K: Array, box: Box, highest: float, floor: float) -> tuple[float, float]:
    """Move the most violating pair to its optimum within the box; return the new `extremes`."""
    i = first_rising(box.r, box.rise, highest)
    j = first_equal(box.gains, pair_gains(box, K[i], i, floor))
    room = min(box.upper[i] - box.c[i], box.c[j] - box.lower[j])
    curvature = max(box.diagonal[i] + box.diagonal[j] - 2.0 * K[i, j], floor)
    delta = min((highest - box.r[j]) / curvature, room)
    move(box, i, delta)
    move(box, j, -delta)
    highest, lowest = shift_residuals(box, K[i], K[j], delta)
    return highest, lowest
