"""A quasi-Newton method with bounds whose iterates are quantised, so that they are the same on every processor."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fsvm_cli.numerics import quantised

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Array = NDArray[np.float64]
    Function = Callable[[Array], tuple[float, Array]]

MAX_CURVATURE_PAIRS = 10
"""Stored pairs of a step and the change of the slope along it (the memory of L-BFGS)."""
ARMIJO_FRACTION = 1e-4
"""Sufficient decrease (Armijo): a step must reach this fraction of the decrease that the slope predicts."""
MAX_STEP_HALVINGS = 30
MIN_CURVATURE_COSINE = 1e-10
"""Pairs with a smaller cosine between step and change of slope are not used."""


class Minimum(NamedTuple):
    """Where a descent ended.

    Attributes
    ----------
    x : ndarray, shape (n,)
        Quantised, within the bounds.
    value : float
    slope : ndarray, shape (n,)
    n_evaluations : int
    ended : bool
        Whether a rule ended it, and not the number of iterations.
    """

    x: Array
    value: float
    slope: Array
    n_evaluations: int
    ended: bool = True


def minimise_quantised(
    function: Function,
    x: Array,
    *,
    lower: float | Array,
    upper: float | Array,
    spacing: float,
    max_iterations: int,
    smallest_fall: float,
    smallest_slope: float,
    first_step: float = 1.0,
    longest_step: float = np.inf,
    is_enough: Callable[[Minimum], bool] | None = None,
) -> Minimum:
    """Make a function small by a quasi-Newton method with limits on the variables.

    The direction is that of L-BFGS (Nocedal 1980) among the variables that no limit holds, the step is halved along its
    projection onto the limits until the function is small enough (Bertsekas 1982). Every iterate is
    quantised before the function is computed there, and nothing but iterates, values and slopes is kept. So the last
    digit of a sum, in which processors differ, is not amplified from step to step; in L-BFGS-B it is.

    Parameters
    ----------
    function : callable
        Takes a point, shape (n,); returns value and slope there, which should be quantised themselves. The value may be
        infinite where it is undefined, except at the start.
    x : ndarray, shape (n,)
        The start.
    lower, upper : float or ndarray, shape (n,)
        Bounds of all variables, or of each, multiples of `spacing`.
    spacing : float
        Of the quantised points, a power of 2.
    max_iterations : int
    smallest_fall : float
        The descent ends where a step makes the function smaller by a lesser part of the larger of the value and 1.
    smallest_slope : float
        It ends where no variable could move by more along its slope.
    first_step : float
        Length of the longest step along the slope alone, which no curvature has scaled.
    longest_step : float
        By how much a variable changes in one step, at the most. Where the function is not quadratic a curvature may
        promise more than is there.
    is_enough : callable, optional
        Is shown each place that a step has led to, and may end the descent there.

    Returns
    -------
    Minimum

    References
    ----------
    - J. Nocedal, "Updating Quasi-Newton Matrices with Limited Storage", Mathematics of Computation 35, 1980,
      pages 773-782.
    - D. P. Bertsekas, "Projected Newton Methods for Optimization Problems with Simple Constraints", SIAM Journal on
      Control and Optimization 20, 1982, pages 221-246.
    """

    def place(x: Array) -> Array:
        return np.clip(quantised(x, spacing), lower, upper)

    here = Minimum(place(x), *function(place(x)), 1)
    pairs: list[tuple[Array, Array]] = []
    for _ in range(max_iterations):
        x, slope = here.x, here.slope
        if np.abs(np.clip(x - slope, lower, upper) - x).max() <= smallest_slope:
            return here
        is_free = ~((x <= lower) & (slope > 0) | (x >= upper) & (slope < 0))
        step = _direction(slope, pairs, is_free, first_step)
        step /= max(float(np.abs(step).max(initial=0.0)) / longest_step, 1.0)
        before, here = here, _step_down(function, place, here, step)
        if here.x is x:
            if not pairs:
                return here
            pairs = []  # along the curvature that was seen there is no way down: once more along the slope
            continue
        pairs = [*pairs, (here.x - x, here.slope - slope)][-MAX_CURVATURE_PAIRS:]
        fall = before.value - here.value
        ends = is_enough is not None and is_enough(here)
        if ends or fall <= smallest_fall * max(abs(before.value), abs(here.value), 1.0):
            return here
    return here._replace(ended=False)


def _step_down(function: Function, place: Callable[[Array], Array], here: Minimum, step: Array) -> Minimum:
    """Halve a step until the function is small enough there; stay where it nowhere is."""
    n_evaluations = here.n_evaluations
    for _ in range(MAX_STEP_HALVINGS):
        x = place(here.x + step)
        if np.array_equal(x, here.x):
            break
        value, slope = function(x)
        n_evaluations += 1
        if value <= here.value + ARMIJO_FRACTION * min(float(here.slope @ (x - here.x)), 0.0):
            return Minimum(x, value, slope, n_evaluations)
        step = 0.5 * step
    return here._replace(n_evaluations=n_evaluations)


def _direction(slope: Array, pairs: list[tuple[Array, Array]], is_free: NDArray[np.bool_], first_step: float) -> Array:
    """Return the quasi-Newton direction in the free variables, by the two-loop recursion of L-BFGS."""
    direction = np.where(is_free, -slope, 0.0)
    in_free = np.where(is_free, np.reshape(pairs, (len(pairs), 2, len(slope))), 0.0)
    steps, changes = in_free[:, 0], in_free[:, 1]
    along = np.einsum("ij,ij->i", steps, changes)
    squared_steps, squared_changes = np.einsum("ij,ij->i", steps, steps), np.einsum("ij,ij->i", changes, changes)
    known = np.flatnonzero(along > MIN_CURVATURE_COSINE * np.sqrt(squared_steps) * np.sqrt(squared_changes)).tolist()
    if not known:
        return direction / max(float(np.linalg.norm(direction)) / first_step, 1.0)
    shares = {}
    for k in reversed(known):
        shares[k] = (steps[k] @ direction) / along[k]
        direction -= shares[k] * changes[k]
    direction *= along[known[-1]] / squared_changes[known[-1]]
    for k in known:
        direction += (shares[k] - (changes[k] @ direction) / along[k]) * steps[k]
    return direction if direction @ slope < 0 else np.where(is_free, -slope, 0.0)
