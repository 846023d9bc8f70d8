"""Working sets of the samples near the margin; all others are held at the bound that follows from their slack.

Working sets as in Joachims (1999) and Bertrand et al. (2022), chosen by the distance from the margin of a warm start.
What is held adds a constant vector to w. One pass over all samples finds those that are held at the wrong bound, and
they join the working set.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.linalg import LinAlgError

from fsvm_cli.svm.large.linear_interior_point import WarmStart, solve_interior_point
from fsvm_cli.svm.large.linear_newton import WORKING_SET_WIDTH_IN_ERRORS, Guess, PrimalPoint, sharpened
from fsvm_cli.svm.solvers.active_set import MAX_VIOLATION
from fsvm_cli.svm.solvers.solve import balanced
from fsvm_cli.svm.solvers.working_set import optimise_by_working_sets

if TYPE_CHECKING:
    import numpy.typing as npt

    from fsvm_cli.svm.compiled import Array
    from fsvm_cli.svm.large.linear_problem import LinearProblem

MIN_ROWS_FOR_WORKING_SET = 5000
"""Samples of a problem of which those near the margin are worth one of their own."""
WIDTH_PER_FREE_DISTANCE = 1.0
"""Width of the working set around the machine of a similar problem, in units of the mean distance of the samples that
were free there. A wider one costs more than the rounds of working sets that it saves."""
MAX_WORKING_SET_SHARE = 0.5
"""Of the samples; where more are near, the start is not."""
MIN_WORKING_SET_PER_FEATURE = 4
"""Samples of a working set at least, for each feature and the bias: as many as features are free at the optimum."""
MAX_WIDENINGS, WIDENING_FACTOR = 4, 3.0
"""Times that a working set may turn out too narrow, and the factor by which it is then widened."""
MAX_MISPLACED_SHARE, CHECKED_ROW_STEP = 0.05, 8
"""Samples outside that may be on the wrong bound, as a part of the working set, before it is made wider and solved
anew; every eighth sample is checked."""
NARROWING_ROWS_PER_FEATURE, ERROR_PER_WIDTH, MAX_NARROWED_WIDTH = 40, 0.6, 0.5
"""A working set with more samples for each feature than this is first made narrower. Its expected error is estimated
as this part of its width, and it is made narrower only where the new width is at most this part of the old one."""
MAX_ROUNDS, MAX_JOINING_AT_ONCE = 20, 200
"""Rounds of working sets, and samples that may join at once because they were on the wrong bound. Where more join, or
more rounds are needed, the interior-point method begins again at the machine that is reached."""
WORKING_SET_TOLERANCE = 1e-3
"""Relative gap of the interior point, which goes on until it is decided which samples are free."""


class Start(NamedTuple):
    """A machine not far from the optimum.

    Attributes
    ----------
    near : WarmStart
    outputs : (n,) array
        Of the machine, without its bias.
    width : float
        By how much outputs may still change, to either side, in units of the decision value.
    alpha : (n,) array, optional
        Feasible coefficients. By default all samples are where the margin says.
    w : (d,) array, optional
        Their sum of alpha_i y_i x_i, where it is known.
    """

    near: WarmStart
    outputs: Array
    width: float
    alpha: Array | None = None
    w: Array | None = None


class WorkingSet(NamedTuple):
    """The samples near the margin.

    Attributes
    ----------
    rows : (n_rows,) array of int
    part : LinearProblem
        Theirs.
    alpha : (n,) array
        Of all others, fixed.
    loses : (n,) array
        Whether a sample loses something, so that it would be held at C.
    """

    rows: npt.NDArray[np.intp]
    part: LinearProblem
    alpha: Array
    loses: npt.NDArray[np.bool_]


class Optimum(NamedTuple):
    """The optimum over a working set, which is that of all samples where none is held wrongly.

    Attributes
    ----------
    alpha : (n,) array
    w, outputs : (d,) and (n,) arrays
        Sum of alpha_i y_i x_i, by what the samples outside of the working set add, and w . x_i.
    normal_vector : (d,) array
        Sum of alpha_i y_i x_i anew, over all samples of the problem.
    near : WarmStart
        The machine.
    steps : int
        Of the interior point, and rounds of working sets.
    """

    alpha: Array
    w: Array
    outputs: Array
    normal_vector: Array
    near: WarmStart
    steps: int


def start_at(
    problem: LinearProblem, alpha: Array, w: Array | None = None, outputs: Array | None = None
) -> Start | None:
    """Return where to begin from a feasible point near the optimum; None where it is better used directly.

    Parameters
    ----------
    problem : LinearProblem
    alpha : (n,) array
        In the box, balanced where the machine has a bias, and optimal for a problem much like this one.
    w : (d,) array, optional
        Its sum of alpha_i y_i x_i, where it is known.
    outputs : (n,) array, optional
        w . x_i, where they are known, too.
    """
    free = (alpha > 0.0) & (alpha < problem.C)
    if len(alpha) < MIN_ROWS_FOR_WORKING_SET or problem.ridge > 0.0 or not free.any():
        return None
    w = problem.normal_vector(problem.y * alpha) if w is None else w
    outputs = problem.outputs(w) if outputs is None else outputs
    b = float((problem.y - outputs)[free].mean()) if problem.equality else 0.0
    width = WIDTH_PER_FREE_DISTANCE * float(np.abs(1.0 - problem.y * (outputs + b))[free].mean())
    return Start(WarmStart(w, b, float(alpha.max())), outputs, width, alpha, w)


def optimise_near(problem: LinearProblem, start: Start, tolerance: float) -> Optimum | None:
    """Optimise a working set, and then the samples that were held wrongly with it; None where no working set will do.

    Parameters
    ----------
    problem : LinearProblem
        Without ridge.
    start : Start
    tolerance : float
        As of `optimise_by_working_sets`.
    """
    steps = 0
    for _ in range(MAX_WIDENINGS):
        working_set = working_set_around(problem, start)
        if working_set is None:
            return None
        found = _solved(working_set.part, start, start.outputs[working_set.rows], tolerance)
        if found is None:
            return None
        alpha, near, taken = found
        steps += taken
        if _is_wide_enough(problem, working_set, near):
            working_set.alpha[working_set.rows] = alpha
            settled = _settled(problem, working_set, near, tolerance)
            return None if settled is None else settled._replace(steps=steps + settled.steps)
        start = start._replace(width=WIDENING_FACTOR * start.width)
    return None


def _solved(part: LinearProblem, start: Start, outputs: Array, tolerance: float) -> tuple[Array, WarmStart, int] | None:
    """Return about the optimum of a working set: of a large one, by a narrower one within; None where there is none."""
    n, d = part.X.shape
    if n > NARROWING_ROWS_PER_FEATURE * d and np.isfinite(part.C).all():
        try:
            at, error = sharpened(
                part, Guess(PrimalPoint(start.near.w, start.near.b, outputs), ERROR_PER_WIDTH * start.width)
            )
        except LinAlgError:
            at, error = None, np.inf
        if at is not None and WORKING_SET_WIDTH_IN_ERRORS * error < MAX_NARROWED_WIDTH * start.width:
            within = Start(WarmStart(at.w, at.b, float(part.C.max())), at.outputs, WORKING_SET_WIDTH_IN_ERRORS * error)
            if (optimum := optimise_near(part, within, tolerance)) is not None:
                return optimum.alpha, optimum.near, optimum.steps
    found = solve_interior_point(part, WORKING_SET_TOLERANCE, start.near)
    return (
        None if found.infeasible else (found.alpha, WarmStart(found.w, found.b, float(found.alpha.max())), found.steps)
    )


def _is_wide_enough(problem: LinearProblem, working_set: WorkingSet, near: WarmStart) -> bool:
    """Return whether few samples outside of the working set have changed sides, by one in `CHECKED_ROW_STEP`."""
    some = slice(None, None, CHECKED_ROW_STEP)
    loses = problem.y[some] * (problem.X[some] @ near.w + near.b) < 1.0
    outside = np.ones(len(problem.y), dtype=np.bool_)
    outside[working_set.rows] = False
    changed = np.count_nonzero((loses != working_set.loses[some]) & outside[some])
    return bool(CHECKED_ROW_STEP * changed <= MAX_MISPLACED_SHARE * len(working_set.rows))


def _settled(problem: LinearProblem, working_set: WorkingSet, near: WarmStart, tolerance: float) -> Optimum | None:
    """Take a working set to its exact optimum, with those that join it, until none is held wrongly."""
    rows, part, alpha, steps = (
        working_set.rows,
        working_set.part,
        balanced(problem, working_set.alpha, -problem.outside_sum),
        0,
    )
    for _ in range(MAX_ROUNDS):
        ended = optimise_by_working_sets(part, alpha[rows], tolerance, rounds=MAX_ROUNDS)
        alpha[rows] = ended.alpha
        steps += ended.rounds
        w = part.outside_w + part.normal_vector(part.y * ended.alpha)
        outputs, normal_vector = problem.outputs_and_normal_vector(w, problem.y * alpha)
        near = WarmStart(w, _bias_of(part, ended.alpha, outputs[rows]), float(alpha.max()))
        joining = _misplaced(problem, alpha, 1.0 - problem.y * (outputs + near.b), rows, MAX_VIOLATION * tolerance)
        if len(joining) == 0:
            return Optimum(alpha, w, outputs, normal_vector, near, steps)
        rows = np.union1d(rows, joining)
        if len(rows) > MAX_WORKING_SET_SHARE * len(alpha):
            return None
        part = problem.part(rows, alpha, w)
        if len(joining) > MAX_JOINING_AT_ONCE or ended.rounds == MAX_ROUNDS:
            found = solve_interior_point(part, WORKING_SET_TOLERANCE, near)
            if found.infeasible:
                return None
            alpha[rows] = found.alpha
            alpha, steps = balanced(problem, alpha, -problem.outside_sum), steps + found.steps
    return None


def working_set_around(problem: LinearProblem, start: Start) -> WorkingSet | None:
    """Choose the samples near the margin; None where they are too many.

    They are those within the width, those whose coefficient is not where their slack says, and those that lose
    something and have no upper bound on which to be held. They are more, where they could not make up for what the
    others add to the sum of alpha_i y_i.
    """
    slack = 1.0 - problem.y * (start.outputs + start.near.b)
    loses, distance = slack > 0.0, np.abs(slack)
    alpha = np.where(loses, problem.C, 0.0)
    inside = np.isinf(alpha)
    alpha[inside] = 0.0
    if start.alpha is not None:
        inside |= start.alpha != alpha
        alpha = start.alpha.copy()
    least, width = min(MIN_WORKING_SET_PER_FEATURE * (problem.X.shape[1] + 1), len(slack)), start.width
    if np.count_nonzero(distance <= width) < least:
        width = float(np.partition(distance, least - 1)[least - 1])
    for _ in range(MAX_WIDENINGS):
        rows = np.flatnonzero(inside | (distance <= width))
        if len(rows) > MAX_WORKING_SET_SHARE * len(slack):
            return None
        part = problem.part(rows, alpha, start.w)
        if _balances(part):
            alpha[rows] *= start.alpha is not None
            return WorkingSet(rows, part, alpha, loses)
        width *= 2.0
    return None


def _balances(part: LinearProblem) -> bool:
    """Return whether the samples of the part can make up for what the others add to the sum of alpha y, with room."""
    if not part.equality:
        return True
    largest, smallest = part.C[part.y > 0.0].sum(), -part.C[part.y < 0.0].sum()
    return bool(smallest < -part.outside_sum < largest)


def _bias_of(part: LinearProblem, alpha: Array, outputs: Array) -> float:
    """Return the middle of the biases that the optimality conditions of the part leave."""
    if not part.equality:
        return 0.0
    below, above, residuals = alpha < part.C, alpha > 0.0, part.y - outputs
    highest = residuals[np.where(part.y > 0.0, below, above)].max(initial=-np.inf)
    lowest = residuals[np.where(part.y > 0.0, above, below)].min(initial=np.inf)
    return 0.5 * float(highest + lowest)


def _misplaced(
    problem: LinearProblem, alpha: Array, slack: Array, rows: npt.NDArray[np.intp], max_violation: float
) -> npt.NDArray[np.intp]:
    """Return the samples outside of the rows that belong on the other bound.

    Where they are many, those about as near to the margin come with them: some of these would be the next.
    """
    wrong = ((slack > max_violation) & (alpha < problem.C)) | ((slack < -max_violation) & (alpha > 0.0))
    wrong[rows] = False
    if np.count_nonzero(wrong) > MAX_JOINING_AT_ONCE:
        distance = np.abs(slack)
        wrong |= distance <= 2.0 * distance[wrong].mean()
        wrong[rows] = False
    return np.flatnonzero(wrong)
