"""Decomposition for machines of any kernel on many samples, within a given memory.

Working sets of the dual problem as in Joachims (1999), with the selection of Fan et al. (2005). The first point is from
the machine of a part of the samples, where rows of the Gram matrix are shorter.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from fsvm_cli.memory_check import free_memory
from fsvm_cli.svm.large.decomposition_problem import KernelProblem, memory_for_rows
from fsvm_cli.svm.large.decomposition_steps import Ascent
from fsvm_cli.svm.solvers.active_set import STEPS_PER_SAMPLE, UNBOUNDED_OBJECTIVE
from fsvm_cli.svm.solvers.certificate import certificate, on_bounds
from fsvm_cli.svm.solvers.dual import DualProblem, DualSolution, DualSolver, Needs, check_tolerance
from fsvm_cli.svm.solvers.solve import failed, solve
from fsvm_cli.svm.solvers.working_set import optimise_by_working_sets

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fsvm_cli.svm.compiled import Array
    from fsvm_cli.svm.large.decomposition_problem import Rows

FIRST_PART_SHARE, MIN_FIRST_PART_ROWS = 0.25, 2000
"""The part of the samples whose machine is found first, if it has at least this number of rows."""
FIRST_PART_VIOLATION = 0.3
"""Violation, in units of the decision value, below which a part gives no better start for all samples."""
MAX_ROUNDS_ON_A_PART = 200
"""Working sets of a part, at most."""
BOUNDED_SHARE_TO_GUESS = 0.25
"""The part of the support vectors that are at their bounds from which on all samples are guessed."""


def begin(problem: KernelProblem, memory: Array) -> Ascent:
    """Return where to begin: the first point of `grown` whose decision values are not far too large, else 0.

    sum_i c_i f_i is at most sum_i alpha_i at the optimum. A guess is useful up to four times that, because it
    predicts which samples are on a bound: of 30,000 samples the next point took twice as many working sets.
    """
    for alpha in grown(problem, memory):
        ascent = Ascent(problem, alpha, memory, rough=True)
        if ascent.objective >= -float(alpha.sum()):
            return ascent
    return Ascent(problem, np.zeros(len(problem.y)), memory, rough=True)


def grown(problem: KernelProblem, memory: Array) -> Iterator[Array]:
    """Yield feasible points, each (n,), from the machine of a part of the samples, evenly drawn.

    There C is as much larger as samples are fewer, so that the losses weigh as much against the margin, and decision
    values are about those of the machine on all. Where many support vectors are at their bounds, they predict
    which other samples will be: those within the margin. Second, and else first, the others begin at 0.
    """
    n = len(problem.y)
    size = int(FIRST_PART_SHARE * n)
    if size < MIN_FIRST_PART_ROWS:
        return
    order, alpha = _mixed(problem.y), np.zeros(n)
    rows, others = np.sort(order[:size]), np.sort(order[size:])
    C = problem.C[rows] * (n / size)
    own = KernelProblem(problem.kernel, problem.X[rows], problem.y[rows], C, problem.equality, problem.ridge)
    ascent = Ascent(own, alpha[rows], memory, rough=True)
    ascent.rise(FIRST_PART_VIOLATION, MAX_ROUNDS_ON_A_PART, of_all=False)
    alpha[rows] = ascent.alpha
    if np.count_nonzero(alpha[rows] == C) >= BOUNDED_SHARE_TO_GUESS * np.count_nonzero(alpha):
        slack = 1.0 - problem.y[others] * (problem.rough_outputs(alpha * problem.y, others) + ascent.bias)
        guess, rank = np.minimum(alpha * (size / n), problem.C), np.full(n, np.inf)
        guess[others], rank[others] = np.where(slack > 0.0, problem.C[others], 0.0), slack
        yield _balanced(problem, guess, rank)
    yield _balanced(problem, np.minimum(alpha, problem.C), -alpha)


def _balanced(problem: KernelProblem, alpha: Array, order: Array) -> Array:
    """Return the point with coefficients that sum to zero: those of the heavier class go to 0, the first of an order.

    Parameters
    ----------
    problem : KernelProblem
    alpha : (n,) array
        In the box.
    order : (n,) array
        Numbers by which to sort the samples.
    """
    surplus = float(alpha @ problem.y)
    if not problem.equality or surplus == 0.0:
        return alpha
    heavier = np.flatnonzero((alpha > 0.0) & (problem.y * surplus > 0.0))
    heavier = heavier[np.argsort(order[heavier], kind="stable")]
    left = np.cumsum(alpha[heavier]) - abs(surplus)
    balanced = alpha.copy()
    balanced[heavier] = np.clip(left, 0.0, alpha[heavier])
    return balanced


def _mixed(y: Array) -> Rows:
    """Return the samples in an order in which every beginning holds both classes evenly, and either first sample."""
    place = np.empty(len(y))
    for label in (-1.0, 1.0):
        of_class = np.flatnonzero(y == label)
        place[of_class] = _spread(len(of_class))
    return np.argsort(place, kind="stable")


def _spread(n: int) -> Array:
    """Return the van der Corput sequence, n numbers in 0 .. 1 any beginning of which is spread evenly."""
    place, base = np.arange(n), 0.5
    values = np.zeros(n)
    while place.any():
        values += base * (place % 2)
        place, base = place // 2, 0.5 * base
    return values


MEGABYTE = 1_000_000
CACHE_SHARE_OF_FREE_MEMORY = 0.25
"""For the cache of kernel values, where nothing is said."""
NEWTON_VIOLATIONS = (1e-2, 1e-3)
"""Violations, in units of the decision value, at which Newton steps on all free samples are tried."""
FINAL_VIOLATIONS = (0.1, 1e-2, 1e-3)
"""Violations, in tolerances, that working sets alone go on to where there is no memory for that."""
MAX_TIGHTENINGS = 4
"""How often the violation that Newton steps go on to is made a hundredth where the gap is missed."""
NEWTON_MATRICES = 3
"""That Newton steps on a set of samples hold: its Gram matrix, the same with one more row, and the factor."""
MIN_ROUND_BUDGET = 200
"""Working sets at most, beside as many as would hold each sample `STEPS_PER_SAMPLE` times twice."""


def solve_by_decomposition(
    problem: KernelProblem,
    *,
    cache_mb: float,
    tolerance: float = 1e-6,
    alpha0: Array | None = None,
    on_failure: Literal["raise", "flag"] = "raise",
) -> DualSolution:
    """Solve the dual problem of a kernel machine to a relative duality gap, within a given memory.

    Working sets of samples, whose rows of the Gram matrix are cached, come near the optimum. Where a Gram matrix of the
    free samples and its factor fit into the memory of the cache, Newton steps on all of them end it, so that margin
    vectors and ties come out as from `fsvm_cli.svm.solve`. Where the gap is missed and all samples find room, that
    itself takes over.

    Parameters
    ----------
    problem : KernelProblem
    cache_mb : float
        Memory for kernel values in megabytes (10^6 bytes), > 0. Beside it there are copies of the samples, some
        vectors, and blocks of a few megabytes.
    tolerance, alpha0, on_failure
        As of `DualSolver.solve`.

    Raises
    ------
    InfeasibleError, ConvergenceError, ValueError
        As `DualSolver.solve`.
    """
    check_tolerance(tolerance)
    if not cache_mb > 0.0:
        raise ValueError(f"cache_mb must be > 0, not {cache_mb!r}")
    search = _Search(problem, tolerance, int(cache_mb * MEGABYTE), alpha0)
    best: DualSolution | None = None
    for goal in (*NEWTON_VIOLATIONS, *(part * tolerance for part in FINAL_VIOLATIONS)):
        found = search.go_on(goal)
        if found is None:
            continue
        if found.converged:
            return found
        if search.is_unbounded():
            return failed(problem, found, tolerance, on_failure, infeasible=True)
        best = found if best is None or found.duality_gap < best.duality_gap else best
    assert best is not None, "the last goals are certified"
    if len(problem.y) <= search.largest_set:
        gram = problem.block(np.arange(len(problem.y)))
        dense = DualProblem(gram, problem.y, problem.C, problem.equality, problem.ridge, problem.rounding)
        found = solve(dense, tolerance=tolerance, on_failure="flag")
        if found.converged:
            return replace(found, iterations=best.iterations + found.iterations)
    return failed(problem, best, tolerance, on_failure, infeasible=False)


@dataclass(frozen=True)
class Decomposition(DualSolver):
    """`solve_by_decomposition` as a solver.

    Attributes
    ----------
    cache_mb : float or None
        Megabytes for kernel values, > 0; a quarter of the free memory where it is None.
    """

    cache_mb: float | None = None

    name = "decomposition"
    needs = Needs()

    def solve(  # noqa: D102
        self,
        problem: KernelProblem,
        *,
        tolerance: float = 1e-6,
        alpha0: Array | None = None,
        on_failure: Literal["raise", "flag"] = "raise",
    ) -> DualSolution:
        cache_mb = CACHE_SHARE_OF_FREE_MEMORY * free_memory() / MEGABYTE if self.cache_mb is None else self.cache_mb
        return solve_by_decomposition(
            problem, cache_mb=cache_mb, tolerance=tolerance, alpha0=alpha0, on_failure=on_failure
        )


class _Search:
    """Iterations to the optimum: working sets, and Newton steps once there is memory for all free samples."""

    def __init__(self, problem: KernelProblem, tolerance: float, n_bytes: int, alpha0: Array | None) -> None:
        self.problem, self.tolerance, self.n_bytes = problem, tolerance, n_bytes
        memory = memory_for_rows(len(problem.y), n_bytes)
        ascent = begin(problem, memory) if alpha0 is None else Ascent(problem, alpha0, memory, rough=True)
        self.largest_set = math.isqrt(n_bytes // (8 * NEWTON_MATRICES))
        self.alpha, self.steps = ascent.alpha, 0
        self.ascent: Ascent | None = ascent

    def go_on(self, goal: float) -> DualSolution | None:
        """Iterate to a violation; return a solution at the optimum, or where the goal is within the tolerance."""
        if self.ascent is None:
            self.ascent = Ascent(self.problem, self.alpha, memory_for_rows(len(self.alpha), self.n_bytes))
        self._rise(self.ascent, goal)
        if self._has_memory_for_newton_steps():
            residuals, terms, moved = self.ascent.residuals, self.ascent.terms, self.ascent.moved
            self.ascent = None  # Newton steps need the memory of its cache
            if found := self._newton_steps(residuals, terms, moved):
                return found
        return self._certified() if goal < self.tolerance or self.is_unbounded() else None

    def _newton_steps(self, residuals: Array, terms: int, moved: float) -> DualSolution | None:
        """Iterate to the optimum; return a solution where it is reached, the best where rounding keeps it from its gap.

        Where C is large, so is the loss by a violation. And values of one pair that stand in other blocks differ in
        their last digits: where the gap is missed, the steps go on from residuals that are computed anew.
        """
        known: Array | None = residuals
        best: DualSolution | None = None
        for tightening in range(MAX_TIGHTENINGS):
            ended = optimise_by_working_sets(
                self.problem,
                self.alpha,
                self.tolerance * 1e-2**tightening,
                largest_set=self.largest_set,
                residuals=known,
            )
            self.alpha, self.steps = ended.alpha, self.steps + ended.rounds
            if not ended.optimal and best is None:
                return None
            summed = (ended.residuals, terms + ended.terms, moved + ended.moved) if known is not None else None
            found, known = self._certified(summed), None
            best = found if best is None or found.duality_gap < best.duality_gap else best
            if best.converged or not ended.optimal:
                break
        return best

    def is_unbounded(self) -> bool:
        """Return whether the objective is beyond what a margin that doubles resolve would allow."""
        problem = self.problem
        size = float(self.alpha.sum()) * problem.largest_kernel_value()
        return bool(np.isinf(problem.C).any() and problem.ridge == 0.0 and size > UNBOUNDED_OBJECTIVE)

    def _rise(self, ascent: Ascent, goal: float) -> None:
        before, budget = ascent.rounds, MIN_ROUND_BUDGET + 2 * STEPS_PER_SAMPLE * len(self.alpha) // ascent.largest_set
        ascent.rise(goal, budget - self.steps)
        self.steps += ascent.rounds - before
        self.alpha = ascent.alpha

    def _has_memory_for_newton_steps(self) -> bool:
        n_free = int(np.count_nonzero((self.alpha > 0.0) & (self.alpha < self.problem.C)))
        return n_free < self.largest_set

    def _certified(self, summed: tuple[Array, int, float] | None = None) -> DualSolution:
        """Return the point with its certificate, by the present residuals if their errors are small enough."""
        problem, alpha = self.problem, on_bounds(self.problem, self.alpha)
        gap = np.inf
        if summed is not None and problem.kernel.positive_semidefinite and np.array_equal(alpha, self.alpha):
            bias, gap, objective = certificate(problem, alpha, self.tolerance, problem.residuals_known(*summed))
        if not gap <= self.tolerance:
            bias, gap, objective = certificate(problem, alpha, self.tolerance)
        return DualSolution(alpha, bias, objective, gap, self.steps, "decomposition", gap <= self.tolerance)
