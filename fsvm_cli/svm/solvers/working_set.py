"""Working sets without a Gram matrix: exact optima over the samples near the margin, until no other violates.

As in Joachims (1999).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fsvm_cli.svm.solvers.active_set import CONVERGED, MAX_VIOLATION, STALLED, STEPS_PER_SAMPLE, make_scratch, maximise
from fsvm_cli.svm.solvers.optimality import refresh

if TYPE_CHECKING:
    import numpy.typing as npt

    from fsvm_cli.svm.compiled import Array
    from fsvm_cli.svm.solvers.dual import ImplicitProblem

MAX_WORKING_SET = 2000
"""Samples whose Gram matrix is made, at most, where nothing else is said: 32 megabytes."""
MAX_ENTERING = 500
"""Samples that violate their conditions and enter in a round, half of them from either side."""
MAX_ROUNDS = 100
"""Rounds at most; near the optimum a few suffice."""
ROUNDING_VIOLATIONS = 1e3
"""In units of the largest violation allowed: a smaller one that does not halve is attributed to rounding."""


class WorkingSets(NamedTuple):
    """Where the rounds ended.

    Attributes
    ----------
    alpha : (n,) array
    rounds : int
    optimal : bool
        Whether no sample violates its condition any more.
    residuals : (n,) array
        At alpha.
    terms, moved : int and float
        Coefficients that changed, and the sum of what they changed by, over all rounds.
    """

    alpha: Array
    rounds: int
    optimal: bool
    residuals: Array
    terms: int
    moved: float


class Part(NamedTuple):
    """Samples whose coefficients may move, all others held: coefficients, residuals and bounds, each (m,)."""

    coefficients: Array
    residuals: Array
    lower: Array
    upper: Array


def optimise_by_working_sets(
    problem: ImplicitProblem,
    alpha: Array,
    tolerance: float,
    *,
    rounds: int = MAX_ROUNDS,
    largest_set: int = MAX_WORKING_SET,
    residuals: Array | None = None,
) -> WorkingSets:
    """Raise the objective from a feasible point, on a few samples at a time, all others held.

    The free samples and those that violate their conditions most make a problem of their own, which the dense solver
    takes to its optimum. No round lowers the objective. Near the optimum a few rounds end it, and free samples lie on
    their margins up to rounding.

    Parameters
    ----------
    problem : ImplicitProblem
    alpha : (n,) array
        In the box, and balanced where the machine has a bias.
    tolerance : float
        Of the relative duality gap; the violations that may be left are `MAX_VIOLATION` of it.
    rounds : int
        After which to give up.
    largest_set : int
        Samples whose Gram matrix is made, at most; where more are needed, this is given up.
    residuals : (n,) array, optional
        At `alpha`, where they are known.
    """
    coefficients = problem.y * alpha
    lower, upper = signed_bounds(problem)
    max_violation = MAX_VIOLATION * tolerance
    residuals = problem.residuals(coefficients) if residuals is None else residuals
    done, terms, moved, optimal, before = 0, 0, 0.0, False, np.inf
    while done < rounds:
        rows, violation = _working_set(problem, coefficients, residuals, (lower, upper))
        optimal = violation <= max_violation
        is_rounding = 0.5 * before < violation <= ROUNDING_VIOLATIONS * max_violation
        if optimal or is_rounding or len(rows) > largest_set:
            break
        before = violation
        part = Part(coefficients[rows], residuals[rows], lower[rows], upper[rows])
        coefficients[rows], solved = optimise_part(problem, problem.block(rows), part, 0.1 * max_violation)
        change = coefficients[rows] - part.coefficients
        done, terms, moved = done + 1, terms + int(np.count_nonzero(change)), moved + float(np.abs(change).sum())
        residuals = problem.residuals_after(residuals, coefficients, rows, change)
        if not solved:
            break
    return WorkingSets(np.abs(coefficients), done, optimal, residuals, terms, moved)


def signed_bounds(problem: ImplicitProblem) -> tuple[Array, Array]:
    """Return the lower and the upper bound of each alpha_i y_i."""
    return np.where(problem.y > 0, 0.0, -problem.C), np.where(problem.y > 0, problem.C, 0.0)


def _working_set(
    problem: ImplicitProblem, coefficients: Array, residuals: Array, bounds: tuple[Array, Array]
) -> tuple[npt.NDArray[np.intp], float]:
    """Return the free samples and the worst violators, and the largest violation.

    I_up holds the samples whose coefficient may rise, I_low those whose may fall (Keerthi et al. 2001): at the optimum
    no residual of the first exceeds one of the second.
    """
    may_rise, may_fall = coefficients < bounds[1], coefficients > bounds[0]
    rising, falling = np.where(may_rise, residuals, -np.inf), np.where(may_fall, residuals, np.inf)
    highest, lowest = rising.max(), falling.min()
    if not problem.equality:
        highest, lowest = max(highest, 0.0), min(lowest, 0.0)
    free = np.flatnonzero(may_rise & may_fall)
    half = min(MAX_ENTERING // 2, len(residuals))
    top = np.argpartition(-rising, half - 1)[:half]
    bottom = np.argpartition(falling, half - 1)[:half]
    chosen = np.concatenate([free, top[rising[top] > lowest], bottom[falling[bottom] < highest]])
    return np.unique(chosen), float(highest - lowest)


def optimise_part(problem: ImplicitProblem, gram: Array, part: Part, max_violation: float) -> tuple[Array, bool]:
    """Return the coefficients of a part at their optimum, all others held, and whether the solver got there.

    It is there, too, where only rounding stands in the way of a smaller violation.

    One more sample, with a zero row in the Gram matrix, stands for all others: it holds what makes the sum of the
    coefficients zero, and cannot move, or, of a machine without bias, may be anything, so that its residual, 0, is the
    bias.

    Parameters
    ----------
    problem : ImplicitProblem
    gram : (m, m) array
        Kernel values of the part.
    part : Part
    max_violation : float
        That may be left in the part.
    """
    m = len(gram)
    K = np.empty((m + 1, m + 1))
    K[:m, :m], K[m], K[:m, m] = gram, 0.0, 0.0
    K.flat[: m * (m + 1) : m + 2] += problem.ridge
    box, factor = make_scratch(m + 1)
    start = part.coefficients
    targets = np.zeros(m + 1)
    targets[:m] = part.residuals + K[:m, :m] @ start
    box.c[:m], box.c[m] = start, -start.sum()
    box.lower[:m], box.upper[:m] = part.lower, part.upper
    box.lower[m], box.upper[m] = (box.c[m], box.c[m]) if problem.equality else (-np.inf, np.inf)
    refresh(K, targets, box)
    status, _ = maximise(K, targets, box, factor, max_violation, STEPS_PER_SAMPLE * (m + 1))
    return box.c[:m].copy(), status in {CONVERGED, STALLED}
