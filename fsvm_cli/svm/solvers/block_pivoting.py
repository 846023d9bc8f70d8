"""Block principal pivoting: from a guess of who is free, all samples that are on the wrong side change it at once.

Where a good guess is at hand (the machine on all samples, for one that leaves out a few), some three to ten Cholesky
factors of the free block replace hundreds of steps that each keep to the box. Nothing makes every round an ascent: the
caller goes on with `maximise_certified` where the rounds do not lead to the optimum.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from fsvm_cli.svm.solvers.active_set import begin, newton_direction, synchronise
from fsvm_cli.svm.solvers.conclusion import conclude
from fsvm_cli.svm.solvers.engine import VIOLATION
from fsvm_cli.svm.solvers.factor import SHIFT, Factor
from fsvm_cli.svm.solvers.pair_steps import Box, extremes, place
from fsvm_cli.svm.solvers.residuals import refresh_bounded
from fsvm_cli.svm.vectors import COMPILED, EPSILON, INLINED, Array, add_scaled, total

ROUNDS = 30
PATIENCE = 3
"""Rounds in a row that do not lower the number of samples on the wrong side before giving up: it may go in circles."""
INDEFINITE = 10.0
"""A shift of the factor beyond so many least ones says that the block has a negative eigenvalue."""


@njit(**INLINED)
def pivot_certified(K: Array, y: Array, box: Box, factor: Factor, tolerance: float) -> tuple[int, float, float]:
    """Look for the optimum from a guess of which samples are free.

    The block principal pivoting of Judice and Pires (1994) for strictly convex quadratic programs with bounds, here
    with the equality constraint; where it does not get on it is given up, in place of their single exchanges.

    Parameters
    ----------
    K : (n, n) array
        Gram matrix with the ridge on its diagonal.
    y : (n,) array
        Labels.
    box : Box
        On entry c, within bounds that are finite, and the residuals; only who is free and who is on which bound
        matters, so that c need not sum to zero. On success also the residuals; else the point is spoilt.
    factor : Factor
        Scratch; on success that of the free block.
    tolerance : float
        Relative duality gap to reach.

    Returns
    -------
    rounds : int
        As from `pivot`.
    bias : float
    gap : float
        As from `conclude`.
    """
    begin(K, box, factor)
    rounds = pivot(K, box, factor, VIOLATION * tolerance)
    if rounds == 0:
        return 0, 0.0, np.inf
    refresh_bounded(K, y, box)
    bias, gap = conclude(K, y, box, tolerance)
    return rounds if gap <= tolerance else 0, bias, gap


@njit(**INLINED)
def pivot(K: Array, box: Box, factor: Factor, violation: float) -> int:
    """Pivot until no pair that may rise and fall violates the conditions by more.

    Parameters
    ----------
    K, box
        As in `pivot_certified`, the box with residuals.
    factor : Factor
        Of some members' block of `K`; the fewer of them have to change, the cheaper.
    violation : float

    Returns
    -------
    int
        Rounds that it took; 0 where they do not lead there.
    """
    fewest, patience = box.c.size + 1, PATIENCE
    for done in range(ROUNDS):
        synchronise(factor, K, box)
        if factor.size[0] == 0 or is_indefinite(factor, box.diagonal):
            break
        level = solve_free(K, box, factor)
        misplaced = count_misplaced(box, level, 0.5 * violation)
        if misplaced == 0:
            highest, lowest = extremes(box.r, box.rise, box.fall)
            if highest - lowest <= violation:
                return done + 1
        patience = PATIENCE if misplaced < fewest else patience - 1
        if patience < 0:
            break
        fewest = min(fewest, misplaced)
        exchange(K, box, level, 0.5 * violation)
    return 0


@njit(**COMPILED)
def is_indefinite(factor: Factor, diagonal: Array) -> bool:
    """Return whether the factored block needed more than the least shifts."""
    found = False
    for a in range(factor.size[0]):
        entry = diagonal[factor.members[a]] + factor.tau[0]
        found |= factor.shift[a] > INDEFINITE * (SHIFT * abs(entry) + 1e-300)
    return found


@njit(**COMPILED)
def solve_free(K: Array, box: Box, factor: Factor) -> float:
    """Put the free samples where they would be without bounds; return the residual that they then share."""
    m = factor.size[0]
    for a in range(m):
        factor.residuals[a] = box.r[factor.members[a]]
    imbalance = total(box.c)
    # What tau 11' adds to the factored matrix vanishes for steps that sum to zero only.
    level = newton_direction(factor, imbalance) - factor.tau[0] * imbalance
    for a in range(m):
        i, delta = factor.members[a], factor.direction[a]
        blur = 4.0 * EPSILON * (abs(box.c[i]) + abs(delta))
        box.c[i] += delta
        add_scaled(box.r, K[i], -delta)
        # As in `move`: off its bound by rounding is on it.
        if abs(box.c[i] - box.lower[i]) <= blur:
            box.c[i] = box.lower[i]
        elif abs(box.c[i] - box.upper[i]) <= blur:
            box.c[i] = box.upper[i]
    return float(level)


@njit(**COMPILED)
def wants_in(box: Box, i: int, level: float, slack: float) -> bool:
    """Return whether a sample on a bound gains by leaving it."""
    may_rise = (box.rise[i] == 0.0) & (box.r[i] > level + slack)
    may_fall = (box.fall[i] == 0.0) & (box.r[i] < level - slack)
    return bool(may_rise | may_fall)


@njit(**COMPILED)
def count_misplaced(box: Box, level: float, slack: float) -> int:
    """Return how many free samples are not strictly within the box, and how many others gain by leaving their bound."""
    count = 0
    for i in range(box.c.size):
        if (box.rise[i] == 0.0) & (box.fall[i] == 0.0):
            count += (box.c[i] <= box.lower[i]) | (box.c[i] >= box.upper[i])
        else:
            count += wants_in(box, i, level, slack)
    return count


@njit(**COMPILED)
def exchange(K: Array, box: Box, level: float, slack: float) -> None:
    """Make free who gains by it, and put on its bound who is beyond it; all by the residuals at hand."""
    for i in range(box.c.size):
        if (box.rise[i] != 0.0) | (box.fall[i] != 0.0):
            if wants_in(box, i, level, slack):
                box.rise[i], box.fall[i] = 0.0, 0.0
        elif box.c[i] <= box.lower[i] or box.c[i] >= box.upper[i]:
            box.rise[i] = np.inf  # marked only: to put it there changes residuals
    for i in range(box.c.size):
        if box.rise[i] == np.inf:
            bound = box.lower[i] if box.c[i] <= box.lower[i] else box.upper[i]
            add_scaled(box.r, K[i], box.c[i] - bound)
            place(box, i, bound)
