"""Machines at shares of the kernels in the trace, and the bounds that each gives at other shares."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fsvm_cli.kernel_learning.margin import LearnedSum, longest_scaling, relative_gap, scaled_bound
from fsvm_cli.svm.solvers.active_set import MAX_VIOLATION
from fsvm_cli.svm.solvers.solve import Automatic, Workspace, solve

if TYPE_CHECKING:
    import numpy.typing as npt

    from fsvm_cli.kernel_learning.base_kernels import BaseKernels
    from fsvm_cli.kernel_learning.margin import Margin
    from fsvm_cli.svm.compiled import Array
    from fsvm_cli.svm.solvers.dual import DualProblem, DualSolution

FIRST_TOLERANCE = 1e-3 / MAX_VIOLATION
"""No relative gap is larger: the first machine ends where no sample violates its condition by more than .001. A rougher
one would leave equal shares where all shares are alike, as where w = 0."""
RELATIVE_ROUNDING = 1e-13
"""What rounding of kernel values and sums may take from a form c'Kc, as a part of its largest possible value."""


@dataclass(frozen=True, eq=False)
class Trained:
    """The machine at some shares.

    The value is half the objective of Lanckriet et al. (2004), the machine's own.

    Attributes
    ----------
    shares : (m,) array
        Parts of the kernels in the trace of their sum; they add up to 1.
    machine : DualSolution
    products : (m, n) array
        Each kernel, at unit trace, times the machine's coefficients c = alpha y.
    forms : (m,) array
        The same once more times the coefficients, c' K_i c.
    upper : float
        The machine's primal objective; infinity where it has none.
    free : (n_free,) array of int
        Samples whose alpha is strictly between its bounds, where the solver ended.
    solved : (m + 1, n_free) array
        The products, and ones, multiplied by the inverse of the free samples' Gram matrix, see
        `Workspace.solve_on_free`.
    """

    shares: Array
    machine: DualSolution
    products: Array
    forms: Array
    upper: float
    free: npt.NDArray[np.intp]
    solved: Array

    @property
    def slopes(self) -> Array:
        """Derivative of the value by the shares."""
        return -0.5 * self.forms


class Trainer:
    """Trains machines at one point after the other.

    Parameters
    ----------
    kernels : BaseKernels
    y : (n,) array
        Labels, -1 or +1.
    margin : Margin
    tolerance : float
        Relative gap of the machines; the first one's is larger where its margin is soft.

    Attributes
    ----------
    n_machines : int
        Machines that were trained.
    """

    def __init__(self, kernels: BaseKernels, y: Array, margin: Margin, tolerance: float) -> None:
        self.kernels, self.y, self.margin, self.tolerance = kernels, y, margin, tolerance
        self.units = kernels.units
        self.n_machines = 0
        self._problem: DualProblem | None = None
        self._workspace: Workspace | None = None

    def first(self, shares: Array) -> Trained:
        """Train the machine on all kernels together; where it has no hard margin, there is none at all.

        A soft one is rough: it gives the direction from shares that are a guess as well.

        Raises
        ------
        ConvergenceError
            If the margin is hard and no machine is found: `InfeasibleError` where the classes are not separable.
        """
        point = self.at(shares, tolerance=None if self.margin.is_hard else FIRST_TOLERANCE)
        if math.isinf(point.upper) and self.margin.is_hard:
            solve(self._problem_at(shares), tolerance=self.tolerance)
        return point

    def refined(self, point: Trained) -> Trained:
        """Return the point itself if its machine has reached the tolerance, or one of the same shares that has."""
        return point if point.machine.duality_gap <= self.tolerance else self.at(point.shares, point)

    def at(
        self,
        shares: Array,
        before: Trained | None = None,
        alpha0: Array | None = None,
        *,
        tolerance: float | None = None,
    ) -> Trained:
        """Train the machine at some shares, beginning at alpha0, or at another machine's, if one is given."""
        self.n_machines += 1
        problem = self._problem_at(shares)
        workspace = self._workspace = self._workspace or Workspace(problem)
        if alpha0 is None and before is not None:
            alpha0 = before.machine.alpha
        machine = Automatic().solve(
            problem, tolerance=tolerance or self.tolerance, alpha0=alpha0, on_failure="flag", workspace=workspace
        )
        products, forms = self._products(machine.alpha)
        known = machine.duality_gap < 1.0
        upper = machine.objective / (1.0 - machine.duality_gap) if known else math.inf
        free, solved = workspace.solve_on_free(np.vstack([products, np.ones(len(self.y))]))
        return Trained(shares, machine, products, forms, upper, free, solved)

    def lower_bound(self, alpha: Array, forms: Array | None = None) -> float:
        """Return what no shares >= 0 at all can go below: the dual objective with the kernel that is worst for alpha.

        Parameters
        ----------
        alpha : (n,) array
            Any that is feasible.
        forms : (m,) array, optional
            c' K_i c of the kernels at unit trace, where they are known.
        """
        if forms is None:
            forms = self._products(alpha)[1]
        longest = longest_scaling(alpha, self.margin.bound)
        ridge_term = self.margin.ridge * float(alpha @ alpha) if self.margin.ridge > 0.0 else 0.0
        # No form is larger than the trace, which all kernels have in common, times the square of the coefficients.
        rounding = RELATIVE_ROUNDING * float(alpha @ alpha) * float(self.kernels.traces.sum())
        return scaled_bound(float(alpha.sum()), ridge_term, float(forms.max()) + rounding, longest)

    def learned(self, best: Trained, lower: float, tolerance: float) -> LearnedSum:
        """Return the best machine and its weights, with the gap that a lower bound of all values leaves."""
        weights, n_own, ridge = best.shares * self.units, len(best.shares), self.margin.ridge
        if self.margin.kind == "learned-2-norm":  # the weight of the last kernel, the identity
            n_own, ridge = n_own - 1, float(weights[-1])
        gap = relative_gap(best.upper, lower)
        return LearnedSum(
            weights[:n_own],
            ridge,
            best.machine,
            squared_norm=float(best.shares[:n_own] @ best.forms[:n_own]),
            objective=2.0 * best.upper,
            gap=gap,
            iterations=self.n_machines,
            converged=gap <= tolerance,
        )

    def _products(self, alpha: Array) -> tuple[Array, Array]:
        """Return each kernel, at unit trace, times c = alpha y, and c' times that."""
        c = alpha * self.y
        products = self.kernels.products(c) * self.units[:, None]
        return products, products @ c

    def _problem_at(self, shares: Array) -> DualProblem:
        """Return the problem at some shares, in the memory of the one before; what all have is checked once."""
        weights = shares * self.units
        if self._problem is None:
            self._problem = self.margin.problem(self.kernels.combined(weights), self.y)
        else:
            self.kernels.combined(weights, out=self._problem.gram)
        return self._problem
