"""The samples near the margin are optimised alone, all others are held on the bounds on which their slack puts them.

What is held adds a constant vector to w. Of many samples few may still change sides once the machine is about known:
from a part of the samples, or from a problem much like this one. One look at all of them tells who was held wrongly.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.linalg import LinAlgError

from fsvm_cli.svm.large.linear_interior_point import Near, solve_interior_point
from fsvm_cli.svm.large.linear_newton import WIDTH, Guess, Machine, sharpened
from fsvm_cli.svm.solvers.active_set import VIOLATION
from fsvm_cli.svm.solvers.solve import balanced
from fsvm_cli.svm.solvers.working_set import optimise_by_working_sets

if TYPE_CHECKING:
    import numpy.typing as npt

    from fsvm_cli.svm.compiled import Array
    from fsvm_cli.svm.large.linear_problem import LinearProblem

FEWEST = 5000
"""Samples of a problem of which those near the margin are worth one of their own."""
OF_FREE = 1.0
"""Width of the band around the machine of a problem much like this one, in units of the mean distance of the samples
that were free there. A wider one costs more than the rounds of working sets that it saves."""
LARGEST_PART = 0.5
"""Of the samples; where more are near, the start is not."""
LEAST_PER_FEATURE = 4
"""Samples of a band at least, for each feature and the bias: as many as features are free at the optimum."""
WIDENINGS, WIDER = 4, 3.0
"""So often a band may turn out too narrow, and how many times as wide it is then made."""
WRONG, LOOK_AT = 0.05, 8
"""Samples that may be held wrongly, as a part of those of the band, before it is made wider and solved anew; one in so
many is looked at."""
LARGE, OF_WIDTH, HALF = 40, 0.6, 0.5
"""A band of more samples than so many for each feature is first made narrower: its error is taken for so much of its
width, and the new width has to be so much of it."""
ROUNDS, MANY = 20, 200
"""Of working sets, and so often samples may join a band because they were held wrongly; where more join at once, or
more rounds are needed, the interior point begins again at the machine that is reached."""
WORKING_SET_TOLERANCE = 1e-3
"""Relative gap of the interior point, which goes on until it is decided which samples are free."""


class Start(NamedTuple):
    """A machine not far from the optimum.

    Attributes
    ----------
    near : Near
    outputs : (n,) array
        Of the machine, without its bias.
    width : float
        By how much outputs may still change, to either side, in units of the decision value.
    alpha : (n,) array, optional
        Feasible coefficients. By default all samples are where the margin says.
    w : (d,) array, optional
        Their sum of alpha_i y_i x_i, where it is known.
    """

    near: Near
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
        Of all others, as it is held.
    loses : (n,) array
        Whether a sample loses something, so that it would be held at C.
    """

    rows: npt.NDArray[np.intp]
    part: LinearProblem
    alpha: Array
    loses: npt.NDArray[np.bool_]


class Optimum(NamedTuple):
    """The optimum over a band, which is that of all samples where none is held wrongly.

    Attributes
    ----------
    alpha : (n,) array
    w, outputs : (d,) and (n,) arrays
        Sum of alpha_i y_i x_i, by what the samples outside of the band add, and w . x_i.
    normal_vector : (d,) array
        Sum of alpha_i y_i x_i anew, over all samples of the problem.
    near : Near
        The machine.
    steps : int
        Of the interior point, and rounds of working sets.
    """

    alpha: Array
    w: Array
    outputs: Array
    normal_vector: Array
    near: Near
    steps: int


def start_at(
    problem: LinearProblem, alpha: Array, w: Array | None = None, outputs: Array | None = None
) -> Start | None:
    """Return where to begin from a feasible point near the optimum; None where it is better taken as it is.

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
    if len(alpha) < FEWEST or problem.ridge > 0.0 or not free.any():
        return None
    w = problem.normal_vector(problem.y * alpha) if w is None else w
    outputs = problem.outputs(w) if outputs is None else outputs
    b = float((problem.y - outputs)[free].mean()) if problem.equality else 0.0
    width = OF_FREE * float(np.abs(1.0 - problem.y * (outputs + b))[free].mean())
    return Start(Near(w, b, float(alpha.max())), outputs, width, alpha, w)


def optimise_near(problem: LinearProblem, start: Start, tolerance: float) -> Optimum | None:
    """Optimise a band, and then the samples that were held wrongly with it; None where no band will do.

    Parameters
    ----------
    problem : LinearProblem
        Without ridge.
    start : Start
    tolerance : float
        As of `optimise_by_working_sets`.
    """
    steps = 0
    for _ in range(WIDENINGS):
        band = working_set_around(problem, start)
        if band is None:
            return None
        found = _solved(band.part, start, start.outputs[band.rows], tolerance)
        if found is None:
            return None
        alpha, near, taken = found
        steps += taken
        if _is_wide_enough(problem, band, near):
            band.alpha[band.rows] = alpha
            settled = _settled(problem, band, near, tolerance)
            return None if settled is None else settled._replace(steps=steps + settled.steps)
        start = start._replace(width=WIDER * start.width)
    return None


def _solved(part: LinearProblem, start: Start, outputs: Array, tolerance: float) -> tuple[Array, Near, int] | None:
    """Return about the optimum of a band: of a large one, by a narrower one within; None where there is none."""
    n, d = part.X.shape
    if n > LARGE * d and np.isfinite(part.C).all():
        try:
            at, error = sharpened(part, Guess(Machine(start.near.w, start.near.b, outputs), OF_WIDTH * start.width))
        except LinAlgError:
            at, error = None, np.inf
        if at is not None and WIDTH * error < HALF * start.width:
            within = Start(Near(at.w, at.b, float(part.C.max())), at.outputs, WIDTH * error)
            if (optimum := optimise_near(part, within, tolerance)) is not None:
                return optimum.alpha, optimum.near, optimum.steps
    found = solve_interior_point(part, WORKING_SET_TOLERANCE, start.near)
    return None if found.infeasible else (found.alpha, Near(found.w, found.b, float(found.alpha.max())), found.steps)


def _is_wide_enough(problem: LinearProblem, band: WorkingSet, near: Near) -> bool:
    """Tell by some of the samples whether hardly any outside of the band have changed sides; else it is no machine."""
    some = slice(None, None, LOOK_AT)
    loses = problem.y[some] * (problem.X[some] @ near.w + near.b) < 1.0
    outside = np.ones(len(problem.y), dtype=np.bool_)
    outside[band.rows] = False
    changed = np.count_nonzero((loses != band.loses[some]) & outside[some])
    return bool(LOOK_AT * changed <= WRONG * len(band.rows))


def _settled(problem: LinearProblem, band: WorkingSet, near: Near, tolerance: float) -> Optimum | None:
    """Take a band to its exact optimum, with those that join it, until none is held wrongly."""
    rows, part, alpha, steps = band.rows, band.part, balanced(problem, band.alpha, -problem.outside_sum), 0
    for _ in range(ROUNDS):
        ended = optimise_by_working_sets(part, alpha[rows], tolerance, rounds=ROUNDS)
        alpha[rows] = ended.alpha
        steps += ended.rounds
        w = part.outside_w + part.normal_vector(part.y * ended.alpha)
        outputs, normal_vector = problem.outputs_and_normal_vector(w, problem.y * alpha)
        near = Near(w, _bias_of(part, ended.alpha, outputs[rows]), float(alpha.max()))
        joining = _held_wrongly(problem, alpha, 1.0 - problem.y * (outputs + near.b), rows, VIOLATION * tolerance)
        if len(joining) == 0:
            return Optimum(alpha, w, outputs, normal_vector, near, steps)
        rows = np.union1d(rows, joining)
        if len(rows) > LARGEST_PART * len(alpha):
            return None
        part = problem.part(rows, alpha, w)
        if len(joining) > MANY or ended.rounds == ROUNDS:
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
    least, width = min(LEAST_PER_FEATURE * (problem.X.shape[1] + 1), len(slack)), start.width
    if np.count_nonzero(distance <= width) < least:
        width = float(np.partition(distance, least - 1)[least - 1])
    for _ in range(WIDENINGS):
        rows = np.flatnonzero(inside | (distance <= width))
        if len(rows) > LARGEST_PART * len(slack):
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


def _held_wrongly(
    problem: LinearProblem, alpha: Array, slack: Array, rows: npt.NDArray[np.intp], max_violation: float
) -> npt.NDArray[np.intp]:
    """Return the samples outside of the rows that belong on the other bound.

    Where they are many, those about as near to the margin come with them: some of these would be the next.
    """
    wrong = ((slack > max_violation) & (alpha < problem.C)) | ((slack < -max_violation) & (alpha > 0.0))
    wrong[rows] = False
    if np.count_nonzero(wrong) > MANY:
        distance = np.abs(slack)
        wrong |= distance <= 2.0 * distance[wrong].mean()
        wrong[rows] = False
    return np.flatnonzero(wrong)
