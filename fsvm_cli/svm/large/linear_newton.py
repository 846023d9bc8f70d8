"""Newton's method on losses without a corner, in w and the bias: a few steps tell where the machine of many samples is.

Where the hinge is rounded off within a distance of its corner, its optimum differs from the one with the corner by
less, the fewer samples lie within the distance. A squared loss, or the two joined, has no corner: there the steps end
at the optimum, as the loss is quadratic in pieces (Mangasarian 2002; Keerthi and DeCoste 2005).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fsvm_cli.svm.large.linear_interior_point import NormalMatrix

if TYPE_CHECKING:
    from collections.abc import Callable

    from fsvm_cli.svm.compiled import Array
    from fsvm_cli.svm.large.linear_problem import LinearProblem

WIDEST = 0.5
"""Distance from the corner within which the hinge is rounded off, at most: farther, and other margins would pay."""
WIDTH, DISTANCE = 2.5, 1.5
"""Of a band, and of what is rounded off in the next step, in errors that are expected of the outputs: of normal errors
one in a hundred is larger than the first."""
FEW, FEW_PER_FEATURE = 24, 40
"""A band of one sample in so many, or of so many for each feature, is narrow enough."""
STEPS = 6
"""Towards ever sharper corners, at most."""
OF_STEP, OF_CORNER = 0.15, 0.1
"""What errors turned out to be on samples of many kinds: after a Newton step, in its change squared over the distance
in which the corner is rounded off; by the corner, in that distance."""
ENOUGH_PER_FEATURE = 100
"""Samples near the corner, for each feature, that tell its curvature well enough for a step to a sharper one."""
STEPS_WITH_RIDGE, ROUNDING = 50, 1e-14
"""At most, and a change of outputs, as a part of the largest one, that is rounding."""
FLAT = 0.1
"""Part of the slope at the beginning of a step that may be left at its end."""
LONGEST, HALVINGS = 16.0, 20
"""The longest step, in those of Newton, and how often its length is looked for."""


class Machine(NamedTuple):
    """A machine and its outputs without the bias.

    Attributes
    ----------
    w, b : (d,) array and float
    outputs : (n,) array
    losers : (d,) array, optional
        Sum of C_i y_i x_i over the samples within their margin, where it is known; it saves looks at all of them.
    """

    w: Array
    b: float
    outputs: Array
    violators: Array | None = None


def seen(problem: LinearProblem, w: Array, b: float) -> Machine:
    """Look at the samples with a machine; all C finite."""
    return Machine(w, b, *problem.outputs_and_violators(w, b))


class Guess(NamedTuple):
    """A machine, and about how far its outputs are from those of the optimum, root mean square."""

    at: Machine
    error: float


class Loss(NamedTuple):
    """A loss whose slope rises from 0 at a slack of `low` to C, by 1 / `scale`, a number or one for each sample."""

    low: float
    scale: Array | float

    def slope(self, problem: LinearProblem, slack: Array) -> Array:
        """Return the derivative by the slack, which is the coefficient alpha that belongs to it."""
        return np.asarray(np.clip((slack - self.low) / self.scale, 0.0, problem.C), dtype=np.float64)


def newton_step(problem: LinearProblem, loss: Loss, at: Machine, most_rows: float = np.inf) -> tuple[Machine, float]:
    """Take a step towards the optimum of |w|^2 / 2 + sum_i loss(1 - y_i f_i), as long as the objective asks for.

    Parameters
    ----------
    problem : LinearProblem
    loss : Loss
    at : Machine
    most_rows : float
        Samples near the corner that make the normal equations. Of more, one in some stands for these.

    Returns
    -------
    Machine
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
    ahead = None if at.violators is None else seen(problem, at.w + w, at.b + b)
    outputs = problem.outputs(w) if ahead is None else ahead.outputs - at.outputs
    toward = y * (outputs + b)
    falls = float(missing @ w) + balance * b

    def slope(length: float) -> float:
        changed = loss.slope(problem, slack - length * toward) - alpha
        return length * float(w @ w) - falls - float(changed @ toward)

    length = _root(slope, falls)
    change = length * float(np.sqrt(np.mean((outputs + b) ** 2)))
    moved = Machine(at.w + length * w, at.b + length * b, at.outputs + length * outputs)
    if ahead is None or ahead.violators is None:
        return moved, change
    return ahead if length == 1.0 else moved._replace(
        violators=_violators_at(problem, moved, ahead, ahead.violators)
    ), change


def _violators_at(problem: LinearProblem, at: Machine, other: Machine, violators: Array) -> Array:
    """Return the sum over the losers, by that of another machine and the samples that lose at only one of the two."""
    now, then = (1.0 - problem.y * (each.outputs + each.b) > 0.0 for each in (at, other))
    return violators + problem.normal_vector(problem.C * problem.y * (now.astype(np.float64) - then))


def _sum_at(problem: LinearProblem, slack: Array, alpha: Array, violators: Array | None) -> Array:
    """Return sum_i alpha_i y_i x_i; where that over the losers is known, by the samples near the corner alone."""
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
    for _ in range(STEPS):
        distance = np.abs(1.0 - problem.y * (at.outputs + at.b))
        in_working_set = np.count_nonzero(distance <= WIDTH * error)
        h = min(DISTANCE * error, WIDEST)
        n_near = np.count_nonzero(distance < h)
        if error > WIDEST or n_near <= d + 1 or in_working_set <= max(FEW_PER_FEATURE * d, n // FEW):
            break
        most_rows = ENOUGH_PER_FEATURE * d
        at, change = newton_step(problem, Loss(-h, 2.0 * h / problem.C), at, most_rows)
        # A rounded corner gives each of the near samples a coefficient that is off by up to C / 2, by C^2 / 12 in the
        # mean of squares. Of some of the samples, the normal equations are off by a part like that of their machine.
        by_corner = np.linalg.norm([np.sqrt(d / (3.0 * n_near)), OF_STEP * (change / h) ** 2, OF_CORNER])
        by_few = change * np.sqrt(d / most_rows) if n_near > most_rows else 0.0
        error = float(np.hypot(h * by_corner, by_few))
    return Guess(at, error)


def optimum_with_ridge(problem: LinearProblem, w: Array, b: float) -> tuple[Array, int]:
    """Return alpha at the optimum of a problem with a ridge, from a machine near it, and the steps that it took.

    Where no sample changes from one piece of its loss to another, a step ends at the optimum but for rounding.

    Parameters
    ----------
    problem : LinearProblem
    w, b : (d,) array and float

    Raises
    ------
    LinAlgError
        As of `newton_step`.
    """
    loss, at, change, steps = Loss(0.0, problem.ridge), Machine(w, b, problem.outputs(w)), np.inf, 0
    while steps < STEPS_WITH_RIDGE and change > ROUNDING * float(np.abs(at.outputs).max() + abs(at.b)):
        at, change = newton_step(problem, loss, at)
        steps += 1
    return loss.slope(problem, 1.0 - problem.y * (at.outputs + at.b)), steps


def _root(slope: Callable[[float], float], falls: float) -> float:
    """Return about where a rising function is zero, which is -`falls` at 0 and about 0 at 1."""
    low, high, below, above = 0.0, 1.0, -falls, slope(1.0)
    while above < -FLAT * falls and high < LONGEST:
        low, below, high = high, above, 2.0 * high
        above = slope(high)
    at, value = high, above
    for _ in range(HALVINGS):
        if abs(value) <= FLAT * falls:
            break
        at = 0.5 * (low + high) if below * above >= 0.0 else low + (high - low) * below / (below - above)
        value = slope(at)
        if value > 0.0:
            high, above, below = at, value, 0.5 * below
        else:
            low, below, above = at, value, 0.5 * above
    return at
