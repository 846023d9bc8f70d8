"""The last steps of a linear machine: exact optima over the samples near the margin, until no other violates."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fsvm_cli.svm.solvers.active_set import CONVERGED, maximise
from fsvm_cli.svm.solvers.engine import STEPS_PER_SAMPLE, VIOLATION, make_scratch
from fsvm_cli.svm.solvers.residuals import refresh

if TYPE_CHECKING:
    import numpy.typing as npt

    from fsvm_cli.svm.linear.problem import LinearProblem
    from fsvm_cli.svm.vectors import Array

LARGEST_SET = 2000
"""Samples whose Gram matrix is made, at most: 32 megabytes."""
ENTERING = 500
"""Samples that violate their conditions and enter in a round, half of them from either side."""
ROUNDS = 100
"""At most; near the optimum a few do."""


class WorkingSets(NamedTuple):
    """Where the rounds ended.

    Attributes
    ----------
    alpha : (n,) array
    rounds : int
    optimal : bool
        Whether no sample violates its condition any more.
    """

    alpha: Array
    rounds: int
    optimal: bool


class _Part(NamedTuple):
    """Samples whose coefficients may move, with their residuals and bounds."""

    members: npt.NDArray[np.intp]
    residuals: Array
    lower: Array
    upper: Array


def optimise_by_working_sets(
    problem: LinearProblem, alpha: Array, tolerance: float, rounds: int = ROUNDS
) -> WorkingSets:
    """Raise the objective from a feasible point, on a few samples at a time, all others held.

    The free samples and those that violate their conditions most make a problem of their own, which the dense solver
    takes to its optimum. No round lowers the objective. Near the optimum, where the free samples are about as many as
    features, a few rounds end it, and free samples lie on their margins but for rounding.

    Parameters
    ----------
    problem : LinearProblem
    alpha : (n,) array
        In the box, and balanced where the machine has a bias.
    tolerance : float
        Of the relative duality gap; the violations that may be left are `VIOLATION` of it.
    rounds : int
        After which to give up.
    """
    coefficients = problem.y * alpha
    lower, upper = np.where(problem.y > 0, 0.0, -problem.C), np.where(problem.y > 0, problem.C, 0.0)
    max_violation = VIOLATION * tolerance
    for done in range(rounds):
        residuals = _residuals(problem, coefficients)
        members, optimal = _working_set(problem, coefficients, residuals, (lower, upper), max_violation)
        if optimal or len(members) > LARGEST_SET:
            return WorkingSets(np.abs(coefficients), done, optimal)
        part = _Part(members, residuals[members], lower[members], upper[members])
        if not _optimise(problem, coefficients, part, 0.1 * max_violation):
            break
    return WorkingSets(np.abs(coefficients), done + 1, optimal=False)


def _residuals(problem: LinearProblem, coefficients: Array) -> Array:
    outputs = problem.outputs(problem.normal_vector(coefficients))
    return np.asarray(problem.y - outputs - problem.ridge * coefficients, dtype=np.float64)


def _working_set(
    problem: LinearProblem, coefficients: Array, residuals: Array, bounds: tuple[Array, Array], max_violation: float
) -> tuple[npt.NDArray[np.intp], bool]:
    """Return the free samples and the worst violators, and whether there is no violator at all.

    I_up holds the samples whose coefficient may rise, I_low those whose may fall (Keerthi et al. 2001): at the optimum
    no residual of the first exceeds one of the second.
    """
    may_rise, may_fall = coefficients < bounds[1], coefficients > bounds[0]
    rising, falling = np.where(may_rise, residuals, -np.inf), np.where(may_fall, residuals, np.inf)
    highest, lowest = rising.max(), falling.min()
    if not problem.equality:
        highest, lowest = max(highest, 0.0), min(lowest, 0.0)
    if highest - lowest <= max_violation:
        return np.array([], dtype=np.intp), True
    free = np.flatnonzero(may_rise & may_fall)
    half = min(ENTERING // 2, len(residuals))
    top = np.argpartition(-rising, half - 1)[:half]
    bottom = np.argpartition(falling, half - 1)[:half]
    chosen = np.concatenate([free, top[rising[top] > lowest], bottom[falling[bottom] < highest]])
    return np.unique(chosen), False


def _optimise(problem: LinearProblem, coefficients: Array, part: _Part, max_violation: float) -> bool:
    """Move the members' coefficients to their optimum; return whether the solver got there.

    One more sample, with a zero row in the Gram matrix, stands for all others: it holds what makes the sum of the
    coefficients zero, and cannot move, or, of a machine without bias, may be anything, so that its residual, 0, is the
    bias.
    """
    m = len(part.members)
    own = problem.X[part.members]
    K = np.zeros((m + 1, m + 1))
    K[:m, :m] = own @ own.T
    K.flat[: m * (m + 1) : m + 2] += problem.ridge
    box, factor = make_scratch(m + 1)
    start = coefficients[part.members]
    targets = np.zeros(m + 1)
    targets[:m] = part.residuals + K[:m, :m] @ start
    box.c[:m], box.c[m] = start, -start.sum()
    box.lower[:m], box.upper[:m] = part.lower, part.upper
    box.lower[m], box.upper[m] = (box.c[m], box.c[m]) if problem.equality else (-np.inf, np.inf)
    refresh(K, targets, box)
    status, _ = maximise(K, targets, box, factor, max_violation, STEPS_PER_SAMPLE * (m + 1))
    coefficients[part.members] = box.c[:m]
    return bool(status == CONVERGED)
