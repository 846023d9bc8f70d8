"""The active-set method on a Gram matrix: Newton steps on the free samples, alternated with pair steps.

Pair steps (Platt 1999; Fan et al. 2005) find the free samples; a Newton step solves for all of them at once. The solver
goes on until the upper bound of the duality gap is within the tolerance, not the violation alone.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from fsvm_cli.svm.compiled import COMPILED, EPSILON, INLINED, REASSOCIATE, Array, total
from fsvm_cli.svm.solvers.cholesky import Factor, append, make_factor, rebuild, remove, solve_two
from fsvm_cli.svm.solvers.optimality import finish_fit, refresh, refresh_bounded, subtract_rows_at
from fsvm_cli.svm.solvers.smo import Box, make_box, move, pair_step, set_coefficient, violating_extremes

MIN_RELATIVE_CURVATURE = 1e-12
"""Pairs are treated as having at least this part of the largest diagonal entry as curvature."""
RESIDUAL_ROUNDING = 2.0 * EPSILON
"""Times the largest diagonal entry and the sum of alpha: a bound on what rounding does to a residual."""
FIRST_PAIR_STEPS, MIN_PAIR_STEPS = 20, 3
"""Pair steps before the first Newton step and, at least, between two."""
ROWS_PER_STEP, ENTRIES_PER_STEP = 10, 10
"""How many rows added to the residuals, and how many times n entries of the factor, count as one pair step. They take
longer, but a Newton step makes more progress: of several values these were the fastest on 100 to 2,000 samples."""
MAX_STALLED_STEPS = 6
"""Newton steps in a row that do not halve a violation of the size of rounding, after which the solver stops. A larger
violation never counts: on a nearly singular block many slow steps may end at a bound until the right samples are free,
and fits stopped there had decision values off by up to 2e-5, more than a tie."""
UNBOUNDED_OBJECTIVE = 1e13
"""A dual objective beyond this (in units of one over the kernel) means a margin that doubles cannot resolve."""

CONVERGED, STALLED, OUT_OF_BUDGET, INFEASIBLE = 0, 1, 2, 3


@njit(**COMPILED)
def is_free(box: Box, i: int) -> bool:
    """Return whether c_i is strictly between its bounds."""
    return bool(box.up[i] == 0.0) & bool(box.low[i] == 0.0)


@njit(**COMPILED)
def count_free(box: Box) -> int:
    """Return how many samples are strictly between their bounds."""
    up, low = box.up, box.low
    free = 0
    for i in range(up.size):
        free += (up[i] == 0.0) & (low[i] == 0.0)
    return free


@njit(**COMPILED)
def set_members(factor: Factor, box: Box) -> None:
    """Make all free samples indices, in their order, without a factorisation."""
    size = 0
    for i in range(box.c.size):
        factor.inside[i] = is_free(box, i)
        if factor.inside[i]:
            factor.indices[size] = i
            size += 1
    factor.size[0] = size


@njit(**COMPILED)
def count_changes(factor: Factor, box: Box) -> tuple[int, int, int]:
    """Return how many samples are free, how many of the indices are not free, and how many free ones are no indices."""
    leaving = 0
    for a in range(factor.size[0]):
        leaving += not is_free(box, factor.indices[a])
    free = count_free(box)
    return free, leaving, free - (factor.size[0] - leaving)


@njit(**COMPILED)
def updates_of(free: int, leaving: int, entering: int) -> tuple[int, bool]:
    """Return the cost of updating the factor, in samples that enter, and whether to factor the block anew instead."""
    updates, anew = 3 * leaving + entering, 8 + free // 16
    return min(updates, anew), updates > anew


@njit(**COMPILED)
def pair_steps_before_newton(factor: Factor, box: Box) -> int:
    """Return how many pair steps to take before the next Newton step, in proportion to its cost."""
    free, leaving, entering = count_changes(factor, box)
    if free < 2:
        return FIRST_PAIR_STEPS
    updates, _ = updates_of(free, leaving, entering)
    return int(MIN_PAIR_STEPS + free // ROWS_PER_STEP + updates * free * free // (ENTRIES_PER_STEP * box.c.size))


@njit(**COMPILED)
def synchronise(factor: Factor, K: Array, box: Box) -> None:
    """Make the free samples the factor's indices; where many change at once, the block is factored anew."""
    free, leaving, entering = count_changes(factor, box)
    if updates_of(free, leaving, entering)[1]:
        set_members(factor, box)
        rebuild(factor, K)
        return
    if leaving > 0:
        for a in range(factor.size[0] - 1, -1, -1):
            if not is_free(box, factor.indices[a]):
                remove(factor, a)
    i = 0
    while entering > 0:
        if is_free(box, i) and not factor.inside[i]:
            append(factor, K, i)
            entering -= 1
        i += 1


@njit(**COMPILED)
def newton_direction(factor: Factor, imbalance: float) -> float:
    """Write the step to the optimum of the free block, and return the residual that all free samples then share.

    The step sums to -imbalance, so that the coefficients sum to zero again where rounding has moved them off.
    """
    m = factor.size[0]
    residuals, direction, ones = factor.residuals, factor.direction, factor.ones
    centre = 0.0
    for a in range(m):
        centre += residuals[a]
    centre /= m
    for a in range(m):
        direction[a] = residuals[a] - centre
        ones[a] = 1.0
    solve_two(factor, direction, ones)
    total, weight = imbalance, 0.0
    for a in range(m):
        total += direction[a]
        weight += ones[a]
    level = total / weight
    for a in range(m):
        direction[a] -= level * ones[a]
    return float(level + centre)


@njit(**COMPILED)
def longest_step(box: Box, factor: Factor) -> tuple[float, int]:
    """Return the part of the step, at most 1, that stays in the box, and the row whose bound ends it (-1: none)."""
    length, blocking = 1.0, -1
    for a in range(factor.size[0]):
        i, direction = factor.indices[a], factor.direction[a]
        distance = (box.upper[i] if direction > 0.0 else box.lower[i]) - box.c[i]
        if abs(distance) < length * abs(direction):
            length, blocking = distance / direction, a
    return length, blocking


@njit(**COMPILED)
def take_step(box: Box, factor: Factor, level: float) -> tuple[float, int]:
    """Go along the direction as far as the box allows; return what `longest_step` found."""
    length, blocking = longest_step(box, factor)
    for a in range(factor.size[0]):
        i, direction = factor.indices[a], factor.direction[a]
        if a == blocking:
            set_coefficient(box, i, box.upper[i] if direction > 0.0 else box.lower[i])
        else:
            move(box, i, length * direction)
        factor.residuals[a] += length * (level - factor.residuals[a] + factor.shift[a] * direction)
    return length, blocking


@njit(**COMPILED)
def newton_steps(K: Array, box: Box, factor: Factor) -> int:
    """Step to the optimum of the free samples; one that meets a bound on the way is free no more. Return the steps."""
    synchronise(factor, K, box)
    m = factor.size[0]
    started, before = factor.started, factor.before
    for a in range(m):
        i = factor.indices[a]
        started[a], before[a], factor.residuals[a] = i, box.c[i], box.r[i]
    imbalance = total(box.c)
    steps = 0
    while factor.size[0] > 1:
        steps += 1
        length, blocking = take_step(box, factor, newton_direction(factor, imbalance))
        imbalance *= 1.0 - length
        if blocking < 0:
            break
        remove(factor, blocking)
    for a in range(m):
        before[a] = box.c[started[a]] - before[a]
    subtract_rows_at(box.r, K, before, started, m)
    return steps


@njit(**COMPILED, fastmath=REASSOCIATE)
def magnitude(y: Array, box: Box) -> tuple[float, float]:
    """Return sum alpha_i and the dual objective sum alpha_i - 1/2 c'Kc, in which Kc = y - r."""
    c, r = box.c, box.r
    sum_alpha, inner = 0.0, 0.0
    for i in range(y.size):
        sum_alpha += c[i] * y[i]
        inner += c[i] * r[i]
    return sum_alpha, 0.5 * (sum_alpha + inner)


@njit(**COMPILED)
def has_open_side(y: Array, box: Box) -> bool:
    """Return whether a sample has no upper bound on alpha; the artificial sample of label 0 does not count."""
    open_sides = 0
    for i in range(y.size):
        open_sides += (y[i] != 0.0) & np.isinf(box.upper[i] - box.lower[i])
    return open_sides > 0


@njit(**COMPILED)
def begin(K: Array, box: Box, factor: Factor) -> tuple[float, bool]:
    """Prepare box and factor for a run; return the largest diagonal entry and whether any coefficient is not 0."""
    largest, started = 0.0, False
    for i in range(box.c.size):
        box.diagonal[i] = K[i, i]
        largest = max(largest, abs(K[i, i]))
        set_coefficient(box, i, box.c[i])
        started |= box.c[i] != 0.0
        factor.inside[i] = False
    factor.size[0], factor.tau[0] = 0, largest
    return largest, started


@njit(**INLINED)
def maximise(  # noqa: PLR0917
    K: Array, y: Array, box: Box, factor: Factor, max_violation: float, budget: int
) -> tuple[int, int]:
    """Maximise the dual objective from the point in the box.

    Parameters
    ----------
    K : (n, n) array
        Gram matrix with the ridge on its diagonal.
    y : (n,) array
        Labels.
    box : Box
        On entry c, its bounds and the residuals; on return the residuals are those of `refresh_bounded`.
    factor : Factor
        Scratch.
    max_violation : float
        The largest violation r_i - r_j, i in I_up and j in I_low, that is allowed at the end.
    budget : int
        The largest number of pair and Newton steps.

    Returns
    -------
    status : int
        CONVERGED, STALLED (rounding stands in the way), OUT_OF_BUDGET or INFEASIBLE (the objective is unbounded).
    steps : int
    """
    largest, started = begin(K, box, factor)
    unbounded = has_open_side(y, box)
    min_curvature = max(MIN_RELATIVE_CURVATURE * largest, 1e-300)
    highest, lowest = violating_extremes(box.r, box.up, box.low)
    steps, since, fresh = 0, 0, False
    due, patience = started, FIRST_PAIR_STEPS
    stalled, previous = 0, np.inf
    while steps < budget:
        if highest - lowest <= max_violation:
            if fresh:
                return CONVERGED, steps
            refresh_bounded(K, y, box)
            fresh = True
            highest, lowest = violating_extremes(box.r, box.up, box.low)
            continue
        if since >= patience:
            patience = pair_steps_before_newton(factor, box)
            due = since >= patience
        if not due:
            highest, lowest = pair_step(K, box, highest, min_curvature)
            steps, since, fresh = steps + 1, since + 1, False
            continue
        steps += 1 + newton_steps(K, box, factor)
        highest, lowest = violating_extremes(box.r, box.up, box.low)
        since, fresh, due, patience = 0, False, False, MIN_PAIR_STEPS
        sum_alpha, objective = magnitude(y, box)
        if unbounded and objective * largest > UNBOUNDED_OBJECTIVE:
            refresh_bounded(K, y, box)
            return INFEASIBLE, steps
        violation, rounding = highest - lowest, RESIDUAL_ROUNDING * largest * sum_alpha
        stalled = stalled + 1 if violation <= rounding and violation > 0.5 * previous else 0
        previous = violation
        if stalled >= MAX_STALLED_STEPS:
            refresh_bounded(K, y, box)
            return STALLED, steps
    refresh_bounded(K, y, box)
    return OUT_OF_BUDGET, steps


MAX_VIOLATION = 1e-5
"""The violation to reach, in tolerances. So small that only a Newton step, which is exact up to rounding, ends a fit:
where the Gram matrix is nearly singular, a violation of 1e-3 left decision values off by the width of a tie."""
MAX_TIGHTENINGS = 8
"""How often the violation to reach is made a hundredth. Where no violation is left and the gap is still too large,
rounding is the cause: on kernel values near 1e10 this would never end."""
STEPS_PER_SAMPLE = 100
"""The budget of the fast solver; at about this point the interior-point method would have been done."""


def make_scratch(n: int) -> tuple[Box, Factor]:
    """Return the memory that problems of n samples need, reusable from one to the next.

    Not compiled: numpy asks for large pages, numba's allocator does not, and on small ones the first use of a matrix
    of some megabytes costs as much as a fit.
    """
    return make_box(n), make_factor(n)


@njit(**COMPILED)
def maximise_certified(  # noqa: PLR0917
    K: Array, y: Array, box: Box, factor: Factor, tolerance: float, budget: int
) -> tuple[int, int, float, float]:
    """Run `maximise`, ever tighter, until the relative duality gap is within the tolerance.

    The box has residuals on entry; see `maximise`.

    Returns
    -------
    status : int
        CONVERGED if and only if the gap is reached; else what `maximise` said last.
    steps : int
    bias : float
    gap : float
    """
    violation, steps, bias, gap = MAX_VIOLATION * tolerance, 0, 0.0, np.inf
    for _ in range(MAX_TIGHTENINGS):
        status, taken = maximise(K, y, box, factor, violation, budget - steps)
        steps += taken
        bias, gap = finish_fit(K, y, box, tolerance)
        if status == INFEASIBLE:
            return status, steps, bias, gap
        if gap <= tolerance:
            return CONVERGED, steps, bias, gap
        if np.isnan(gap):  # kernel values that are not finite
            return OUT_OF_BUDGET, steps, bias, gap
        if status != CONVERGED:
            return status, steps, bias, gap
        violation *= 1e-2
    return STALLED, steps, bias, gap


class Simplex:
    """Concave quadratic programmes on the simplex, all of one size and in the same memory.

    Parameters
    ----------
    n : int
        Number of unknowns.

    Notes
    -----
    A programme has the form of the dual of a support vector machine with the labels `linear` in place of -1 and 1,
    bounds 0 and 1, and a further sample, with zeros for a kernel, whose coefficient is fixed at -1.
    """

    def __init__(self, n: int) -> None:
        self._bordered, self._y = np.zeros((n + 1, n + 1)), np.zeros(n + 1)
        self._box, self._factor = make_scratch(n + 1)
        self._box.upper[:n] = 1.0
        self._box.lower[n] = self._box.upper[n] = -1.0

    def maximise(
        self, K: Array, linear: Array, start: Array, max_violation: float, *, lower: Array | float = 0.0
    ) -> Array:
        """Maximise linear' b - 1/2 b' K b over b >= lower with a sum of 1.

        Parameters
        ----------
        K : (n, n) array
            Positive semidefinite; best in units in which its largest entries are about 1.
        linear : (n,) array
        start : (n,) array
            A point of the simplex, above the lower bounds.
        max_violation : float
            The largest difference of two entries of the gradient, linear - K b, by which b may miss the optimality
            conditions; > 0.
        lower : float or (n,) array
            Each in 0 .. 1.

        Returns
        -------
        (n,) array
            Of the simplex up to rounding; the best point that was found where rounding stands in the way.
        """
        box, y, n = self._box, self._y, len(linear)
        self._bordered[:n, :n], y[:n] = K, linear
        box.lower[:n], box.c[:n], box.c[n] = lower, start, -1.0
        refresh(self._bordered, y, box)
        maximise(self._bordered, y, box, self._factor, max_violation, STEPS_PER_SAMPLE * (n + 1))
        found: Array = box.c[:n] / box.c[:n].sum()
        return found
