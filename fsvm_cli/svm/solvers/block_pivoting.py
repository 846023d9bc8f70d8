"""Block principal pivoting (Júdice and Pires 1994): all samples on a wrong side change it at once.

From a good guess (the machine on all samples, for one that leaves out a few), three to ten Cholesky
factorisations of the free block replace hundreds of steps that each stay in the box. The objective need not rise from
round to round: where the rounds do not reach the optimum, the caller goes on with `maximise_certified`.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from fsvm_cli.svm.compiled import COMPILED, EPSILON, INLINED, Array, add_scaled, total
from fsvm_cli.svm.solvers.active_set import MAX_VIOLATION, begin, newton_direction, synchronise
from fsvm_cli.svm.solvers.cholesky import RELATIVE_SHIFT, Factor
from fsvm_cli.svm.solvers.optimality import finish_fit, refresh_bounded
from fsvm_cli.svm.solvers.smo import Box, set_coefficient, violating_extremes

MAX_ROUNDS = 30
MAX_ROUNDS_WITHOUT_GAIN = 3
"""Rounds in a row without fewer infeasibilities, after which the method gives up: it may cycle."""
INDEFINITE_SHIFTS = 10.0
"""Shift of the factor, in units of the least one, beyond which the block has a negative eigenvalue."""


@njit(**INLINED)
def pivot_certified(K: Array, y: Array, box: Box, factor: Factor, tolerance: float) -> tuple[int, float, float]:
    """Look for the optimum from a guess of which samples are free.

    The block principal pivoting of Judice and Pires (1994) for strictly convex quadratic programs with bounds, here
    with the equality constraint; where it makes no progress it is given up, in place of their single exchanges.

    Parameters
    ----------
    K : (n, n) array
        Gram matrix with the ridge on its diagonal.
    y : (n,) array
        Labels.
    box : Box
        On entry c, within bounds that are finite, and the residuals; only who is free and who is on which bound
        matters, so that c need not sum to zero. On success the optimum and its residuals; else of no use.
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
        As from `finish_fit`.
    """
    begin(K, box, factor)
    rounds = pivot(K, box, factor, MAX_VIOLATION * tolerance)
    if rounds == 0:
        return 0, 0.0, np.inf
    refresh_bounded(K, y, box)
    bias, gap = finish_fit(K, y, box, tolerance)
    return rounds if gap <= tolerance else 0, bias, gap


@njit(**INLINED)
def pivot(K: Array, box: Box, factor: Factor, max_violation: float) -> int:
    """Pivot until the Karush-Kuhn-Tucker conditions hold but for a violation.

    Parameters
    ----------
    K, box
        As in `pivot_certified`, the box with residuals.
    factor : Factor
        Of some indices' block of `K`; the fewer of them have to change, the cheaper.
    max_violation : float
        As in `maximise`.

    Returns
    -------
    int
        Rounds that it took; 0 where they fail.
    """
    fewest, patience = box.c.size + 1, MAX_ROUNDS_WITHOUT_GAIN
    for done in range(MAX_ROUNDS):
        synchronise(factor, K, box)
        if factor.size[0] == 0 or is_indefinite(factor, box.diagonal):
            break
        level = solve_free(K, box, factor)
        infeasibilities = count_infeasibilities(box, level, 0.5 * max_violation)
        if infeasibilities == 0:
            highest, lowest = violating_extremes(box.r, box.up, box.low)
            if highest - lowest <= max_violation:
                return done + 1
        patience = MAX_ROUNDS_WITHOUT_GAIN if infeasibilities < fewest else patience - 1
        if patience < 0:
            break
        fewest = min(fewest, infeasibilities)
        exchange(K, box, level, 0.5 * max_violation)
    return 0


@njit(**COMPILED)
def is_indefinite(factor: Factor, diagonal: Array) -> bool:
    """Return whether the factored block needed more than the least shifts."""
    found = False
    for a in range(factor.size[0]):
        entry = diagonal[factor.indices[a]] + factor.tau[0]
        found |= factor.shift[a] > INDEFINITE_SHIFTS * (RELATIVE_SHIFT * abs(entry) + 1e-300)
    return found


@njit(**COMPILED)
def solve_free(K: Array, box: Box, factor: Factor) -> float:
    """Set the free samples to where they would be without bounds; return the residual that they then share."""
    m = factor.size[0]
    for a in range(m):
        factor.residuals[a] = box.r[factor.indices[a]]
    imbalance = total(box.c)
    # What tau 11' adds to the factored matrix vanishes for steps that sum to zero only.
    level = newton_direction(factor, imbalance) - factor.tau[0] * imbalance
    for a in range(m):
        i, delta = factor.indices[a], factor.direction[a]
        rounding = 4.0 * EPSILON * (abs(box.c[i]) + abs(delta))
        box.c[i] += delta
        add_scaled(box.r, K[i], -delta)
        # As in `move`: what only rounding separates from a bound is set to the bound.
        if abs(box.c[i] - box.lower[i]) <= rounding:
            box.c[i] = box.lower[i]
        elif abs(box.c[i] - box.upper[i]) <= rounding:
            box.c[i] = box.upper[i]
    return float(level)


@njit(**COMPILED)
def violates_kkt(box: Box, i: int, level: float, slack: float) -> bool:
    """Return whether a sample on a bound would gain by leaving it, against the Karush-Kuhn-Tucker conditions."""
    should_rise = (box.up[i] == 0.0) & (box.r[i] > level + slack)
    should_fall = (box.low[i] == 0.0) & (box.r[i] < level - slack)
    return bool(should_rise | should_fall)


@njit(**COMPILED)
def count_infeasibilities(box: Box, level: float, slack: float) -> int:
    """Return how many free samples are not strictly within the box, plus how many others violate their condition."""
    count = 0
    for i in range(box.c.size):
        if (box.up[i] == 0.0) & (box.low[i] == 0.0):
            count += (box.c[i] <= box.lower[i]) | (box.c[i] >= box.upper[i])
        else:
            count += violates_kkt(box, i, level, slack)
    return count


@njit(**COMPILED)
def exchange(K: Array, box: Box, level: float, slack: float) -> None:
    """Free the samples that violate their condition, and set those beyond a bound to it; all by the same residuals."""
    for i in range(box.c.size):
        if (box.up[i] != 0.0) | (box.low[i] != 0.0):
            if violates_kkt(box, i, level, slack):
                box.up[i], box.low[i] = 0.0, 0.0
        elif box.c[i] <= box.lower[i] or box.c[i] >= box.upper[i]:
            box.up[i] = np.inf  # only marked here: to set it changes the residuals
    for i in range(box.c.size):
        if box.up[i] == np.inf:
            bound = box.lower[i] if box.c[i] <= box.lower[i] else box.upper[i]
            add_scaled(box.r, K[i], box.c[i] - bound)
            set_coefficient(box, i, bound)
