"""Kernel machines on many samples, within a given memory, with the certificate of all others."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from fsvm_cli.svm.decomposition.ascent import Ascent
from fsvm_cli.svm.decomposition.growth import begin
from fsvm_cli.svm.decomposition.row_cache import memory_for_rows
from fsvm_cli.svm.solvers.active_set import UNBOUNDED
from fsvm_cli.svm.solvers.certificate import certificate, on_bounds
from fsvm_cli.svm.solvers.dual import DualProblem, DualSolution
from fsvm_cli.svm.solvers.engine import STEPS_PER_SAMPLE
from fsvm_cli.svm.solvers.solve import check_options, failed, solve
from fsvm_cli.svm.solvers.working_set import optimise_by_working_sets

if TYPE_CHECKING:
    from fsvm_cli.svm.decomposition.problem import KernelProblem
    from fsvm_cli.svm.vectors import Array

MEGABYTE = 1_000_000
ROUGHLY = (1e-2, 1e-3)
"""Violations, in units of the decision value, at which Newton steps on all free samples are tried."""
CLOSELY = (0.1, 1e-2, 1e-3)
"""Violations, in tolerances, that working sets alone go on to where there is no memory for that."""
TIGHTENINGS = 4
"""How often the violation that Newton steps go on to is made a hundredth where the gap is missed."""
MATRICES = 3
"""That Newton steps on a set of samples hold: its Gram matrix, the same with one more row, and the factor."""
ROUNDS = 200
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
    tolerance : float
        The relative duality gap to reach, > 0.
    alpha0 : (n,) array, optional
        A feasible point to begin at.
    on_failure : {"raise", "flag"}
        What to do when the gap is not reached: raise, or return the best point with `converged` False.

    Returns
    -------
    DualSolution

    Raises
    ------
    InfeasibleError, ConvergenceError, ValueError
        As of `fsvm_cli.svm.solve`.
    """
    check_options(tolerance, "decomposition")
    if not cache_mb > 0.0:
        raise ValueError(f"cache_mb must be > 0, not {cache_mb!r}")
    search = _Search(problem, tolerance, int(cache_mb * MEGABYTE), alpha0)
    best: DualSolution | None = None
    for goal in (*ROUGHLY, *(part * tolerance for part in CLOSELY)):
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


class _Search:
    """The way to the optimum: working sets, and Newton steps as soon as there is room for all free samples."""

    def __init__(self, problem: KernelProblem, tolerance: float, n_bytes: int, alpha0: Array | None) -> None:
        self.problem, self.tolerance, self.n_bytes = problem, tolerance, n_bytes
        memory = memory_for_rows(len(problem.y), n_bytes)
        ascent = begin(problem, memory) if alpha0 is None else Ascent(problem, alpha0, memory, rough=True)
        self.largest_set = math.isqrt(n_bytes // (8 * MATRICES))
        self.alpha, self.steps = ascent.alpha, 0
        self.ascent: Ascent | None = ascent

    def go_on(self, goal: float) -> DualSolution | None:
        """Go on to a violation; return a solution where the optimum is reached, or the goal is within the tolerance."""
        if self.ascent is None:
            self.ascent = Ascent(self.problem, self.alpha, memory_for_rows(len(self.alpha), self.n_bytes))
        self._rise(self.ascent, goal)
        if self._has_room_for_newton_steps():
            residuals, terms, moved = self.ascent.residuals, self.ascent.terms, self.ascent.moved
            self.ascent = None  # Newton steps need the memory of its cache
            if found := self._newton_steps(residuals, terms, moved):
                return found
        return self._certified() if goal < self.tolerance or self.is_unbounded() else None

    def _newton_steps(self, residuals: Array, terms: int, moved: float) -> DualSolution | None:
        """Go on to the optimum; return a solution where it is reached, the best where rounding keeps it from its gap.

        Where C is large, so is the loss by a violation. And values of one pair that stand in other blocks differ in
        their last digits: where the gap is missed, the steps go on from residuals that are computed anew.
        """
        known: Array | None = residuals
        best: DualSolution | None = None
        for tightening in range(TIGHTENINGS):
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
        return bool(np.isinf(problem.C).any() and problem.ridge == 0.0 and size > UNBOUNDED)

    def _rise(self, ascent: Ascent, goal: float) -> None:
        before, budget = ascent.rounds, ROUNDS + 2 * STEPS_PER_SAMPLE * len(self.alpha) // ascent.largest_set
        ascent.rise(goal, budget - self.steps)
        self.steps += ascent.rounds - before
        self.alpha = ascent.alpha

    def _has_room_for_newton_steps(self) -> bool:
        n_free = int(np.count_nonzero((self.alpha > 0.0) & (self.alpha < self.problem.C)))
        return n_free < self.largest_set

    def _certified(self, summed: tuple[Array, int, float] | None = None) -> DualSolution:
        """Return the point with its certificate, by residuals that are at hand if their errors are small enough."""
        problem, alpha = self.problem, on_bounds(self.problem, self.alpha)
        gap = np.inf
        if summed is not None and problem.kernel.positive_semidefinite and np.array_equal(alpha, self.alpha):
            bias, gap, objective = certificate(problem, alpha, self.tolerance, problem.residuals_known(*summed))
        if not gap <= self.tolerance:
            bias, gap, objective = certificate(problem, alpha, self.tolerance)
        return DualSolution(alpha, bias, objective, gap, self.steps, "decomposition", gap <= self.tolerance)
