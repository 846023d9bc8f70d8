"""Newton's method in w and the bias on the squared and on the smoothed hinge loss.

The smoothed hinge is quadratic within a distance of its corner (Chapelle 2007, section 4; another smoothing is that of
Lee and Mangasarian (2001)). The fewer samples lie within the distance, the closer its optimum is to that of the hinge.
On the squared hinge the method ends at the optimum, as the loss is piecewise quadratic (Mangasarian 2002; Keerthi and
DeCoste 2005). The constants limit steps and widths; the expected errors are measured on samples of many kinds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fsvm_cli.svm.large.linear_interior_point import NormalMatrix

if TYPE_CHECKING:
    from collections.abc import Callable

    from fsvm_cli.svm.compiled import Array
    from fsvm_cli.svm.large.linear_problem import LinearProblem

MAX_SMOOTHING = 0.5
"""Distance from the corner within which the hinge is rounded off, at most: farther, and other margins would pay."""
WORKING_SET_WIDTH_IN_ERRORS, SMOOTHING_PER_ERROR = 2.5, 1.5
"""Widths of the working set, and of the smoothing of the next step, in expected errors of the outputs: of normal errors
one in a hundred is larger than the first."""
NARROW_DIVISOR, NARROW_ROWS_PER_FEATURE = 24, 40
"""A working set is narrow enough with n / the first samples, or with the second number for each feature."""
MAX_SHARPENINGS = 6
"""Towards ever sharper corners, at most."""
ERROR_OF_STEP, ERROR_OF_SMOOTHING = 0.15, 0.1
"""Measured errors on samples of many kinds: after a Newton step, in its change squared over the distance
in which the corner is rounded off; by the corner, in that distance."""
HESSIAN_ROWS_PER_FEATURE = 100
"""Samples near the corner, for each feature, that determine the curvature well enough for a step to a sharper one."""
MAX_STEPS_WITH_RIDGE, ROUNDING_CHANGE = 50, 1e-14
"""At most, and a change of outputs, as a part of the largest one, that is rounding."""
LINE_SEARCH_SLOPE = 0.1
"""Part of the slope at the beginning of a step that may be left at its end."""
MAX_STEP_LENGTH, MAX_LINE_SEARCH_STEPS = 16.0, 20
"""The longest step, in those of Newton, and the evaluations of the slope of its line search."""


class PrimalPoint(NamedTuple):
    """A machine and its outputs without the bias.

    Attributes
    ----------
    w, b : (d,) array and float
    outputs : (n,) array
    violators : (d,) array, optional
        Sum of C_i y_i x_i over the samples within their margin, where it is known; it saves passes over all of them.
    """

    w: Array
    b: float
    outputs: Array
    violators: Array | None = None


def evaluated(problem: LinearProblem, w: Array, b: float) -> PrimalPoint:
    """Pass over the samples with a machine; all C finite."""
    return PrimalPoint(w, b, *problem.outputs_and_violators(w, b))


class Guess(NamedTuple):
    """A machine, and about how far its outputs are from those of the optimum, root mean square."""

    at: PrimalPoint
    error: float


class SmoothedHinge(NamedTuple):
    """A loss whose slope rises from 0 at a slack of `low` to C, by 1 / `scale`, a number or one for each sample."""

    low: float
    scale: Array | float

    def slope(self, problem: LinearProblem, slack: Array) -> Array:
        """Return the derivative by the slack, which is the coefficient alpha that belongs to it."""
        return np.asarray(np.clip((slack - self.low) / self.scale, 0.0, problem.C), dtype=np.float64)


def newton_step(
    problem: LinearProblem, loss: SmoothedHinge, at: PrimalPoint, most_rows: float = np.inf
) -> tuple[PrimalPoint, float]:
    """Take a step towards the optimum of |w|^2 / 2 + sum_i loss(1 - y_i f_i), as long as the objective asks for.

    Parameters
    ----------
    problem : LinearProblem
    loss : SmoothedHinge
    at : PrimalPoint
    most_rows : float
        Samples near the corner that make the normal equations. Of more, one in some stands for these.

    Returns
    -------
    PrimalPoint
    float
        Root of the mean square of what the outputs changed by.

    Raises
    ------
    LinAlgError
        If rounding has left no normal matrix.
    """
    y = problem.y
    slack = 1.0 - y * (at.outputs + at.b)
    alpha = loss.slope(problem, slack)
    rows = np.flatnonzero((alpha > 0.0) & (alpha < problem.C))
    one_in = int(max(1, -(-len(rows) // most_rows)))
    rows = rows[::one_in]
    scales = np.broadcast_to(loss.scale, slack.shape)[rows] / one_in
    missing = problem.outside_w + _sum_at(problem, slack, alpha, at.violators) - at.w
    balance = problem.outside_sum + float(y @ alpha) if problem.equality else 0.0
    w, b = NormalMatrix(problem.X[rows], 1.0 / scales, problem.equality).solve(missing, balance)
    ahead = None if at.violators is None else evaluated(problem, at.w + w, at.b + b)
    outputs = problem.outputs(w) if ahead is None else ahead.outputs - at.outputs
    toward = y * (outputs + b)
    falls = float(missing @ w) + balance * b

    def slope(length: float) -> float:
        changed = loss.slope(problem, slack - length * toward) - alpha
        return length * float(w @ w) - falls - float(changed @ toward)

    length = _root(slope, falls)
    change = length * float(np.sqrt(np.mean((outputs + b) ** 2)))
    moved = PrimalPoint(at.w + length * w, at.b + length * b, at.outputs + length * outputs)
    if ahead is None or ahead.violators is None:
        return moved, change
    return ahead if length == 1.0 else moved._replace(
        violators=_violators_at(problem, moved, ahead, ahead.violators)
    ), change


def _violators_at(problem: LinearProblem, at: PrimalPoint, other: PrimalPoint, violators: Array) -> Array:
    """Return the sum over the margin violators, by that of another machine and what has changed sides."""
    now, then = (1.0 - problem.y * (each.outputs + each.b) > 0.0 for each in (at, other))
    return violators + problem.normal_vector(problem.C * problem.y * (now.astype(np.float64) - then))


def _sum_at(problem: LinearProblem, slack: Array, alpha: Array, violators: Array | None) -> Array:
    """Return sum_i alpha_i y_i x_i; where that over margin violators is known, by the samples near the corner alone."""
    if violators is None:
        return problem.normal_vector(problem.y * alpha)
    return violators + problem.normal_vector(problem.y * (alpha - np.where(slack > 0.0, problem.C, 0.0)))


def sharpened(problem: LinearProblem, guess: Guess) -> Guess:
    """Take Newton steps, each on a hinge with a sharper corner, until few samples lie within the error of the margin.

    Parameters
    ----------
    problem : LinearProblem
        Without ridge, all C finite.
    guess : Guess

    Raises
    ------
    LinAlgError
        As of `newton_step`.
    """
    n, d = problem.X.shape
    at, error = guess
    for _ in range(MAX_SHARPENINGS):
        distance = np.abs(1.0 - problem.y * (at.outputs + at.b))
        in_working_set = np.count_nonzero(distance <= WORKING_SET_WIDTH_IN_ERRORS * error)
        h = min(SMOOTHING_PER_ERROR * error, MAX_SMOOTHING)
        n_near = np.count_nonzero(distance < h)
        if (
            error > MAX_SMOOTHING
            or n_near <= d + 1
            or in_working_set <= max(NARROW_ROWS_PER_FEATURE * d, n // NARROW_DIVISOR)
        ):
            break
        most_rows = HESSIAN_ROWS_PER_FEATURE * d
        at, change = newton_step(problem, SmoothedHinge(-h, 2.0 * h / problem.C), at, most_rows)
        # A rounded corner gives each of the near samples a coefficient that is off by up to C / 2, by C^2 / 12 in the
        # mean of squares. Of some of the samples, the normal equations are off by a part like that of their machine.
        by_corner = np.linalg.norm([np.sqrt(d / (3.0 * n_near)), ERROR_OF_STEP * (change / h) ** 2, ERROR_OF_SMOOTHING])
        by_few = change * np.sqrt(d / most_rows) if n_near > most_rows else 0.0
        error = float(np.hypot(h * by_corner, by_few))
    return Guess(at, error)


def optimum_with_ridge(problem: LinearProblem, w: Array, b: float) -> tuple[Array, int]:
    """Return alpha at the optimum of a problem with a ridge, from a machine near it, and the steps that it took.

    Where no sample changes from one piece of its loss to another, a step ends at the optimum up to rounding.

    Parameters
    ----------
    problem : LinearProblem
    w, b : (d,) array and float

    Raises
    ------
    LinAlgError
        As of `newton_step`.
    """
    loss, at, change, steps = SmoothedHinge(0.0, problem.ridge), PrimalPoint(w, b, problem.outputs(w)), np.inf, 0
    while steps < MAX_STEPS_WITH_RIDGE and change > ROUNDING_CHANGE * float(np.abs(at.outputs).max() + abs(at.b)):
        at, change = newton_step(problem, loss, at)
        steps += 1
    return loss.slope(problem, 1.0 - problem.y * (at.outputs + at.b)), steps


def _root(slope: Callable[[float], float], falls: float) -> float:
    """Return about where a rising function is zero, which is -`falls` at 0 and about 0 at 1."""
    low, high, below, above = 0.0, 1.0, -falls, slope(1.0)
    while above < -LINE_SEARCH_SLOPE * falls and high < MAX_STEP_LENGTH:
        low, below, high = high, above, 2.0 * high
        above = slope(high)
    at, value = high, above
    for _ in range(MAX_LINE_SEARCH_STEPS):
        if abs(value) <= LINE_SEARCH_SLOPE * falls:
            break
        at = 0.5 * (low + high) if below * above >= 0.0 else low + (high - low) * below / (below - above)
        value = slope(at)
        if value > 0.0:
            high, above, below = at, value, 0.5 * below
        else:
            low, below, above = at, value, 0.5 * above
    return at
