"""Weights that are not negative: the quadratically constrained problem of Lanckriet et al. (2004), by Newton steps."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from fsvm_cli.kernel_learning.base_kernels import WithIdentity
from fsvm_cli.kernel_learning.margin import LearnedKernel, longest_scaling, scaled_bound
from fsvm_cli.svm.solvers.simplex import maximise_on_simplex

if TYPE_CHECKING:
    from fsvm_cli.kernel_learning.base_kernels import BaseKernels
    from fsvm_cli.kernel_learning.margin import Margin
    from fsvm_cli.svm.solvers.dual import DualSolution
    from fsvm_cli.svm.vectors import Array

MACHINE_TOLERANCE = 1e-2
"""Gap of the machines, as a part of the gap of the weights, which is the larger of the two."""
SHIFT = 1e-10
"""On the diagonal of the free samples' Gram matrix, as a part of its largest entry: they may depend on each other."""
DAMPING = 1e-9
"""The same for the second derivative by the weights: that of kernels which are alike has no inverse."""
STEEPNESS = 1e-4
"""The part of what the slope promises that a step must bring."""
FARTHEST, SHRINKAGE, GROWTH, SHORTEST = 0.8, 0.5, 1.5, 2.0**-20
"""A share falls by no more than a part of it, the reach, in one step: where it should become small, the value is like
one over the share, and its second derivative promises too much. The largest reach; what it is multiplied by where a
step fails or succeeds; the least that is tried."""
NEGLIGIBLE = 1e-4
"""Shares smaller than this part of their mean may fall to 0 at once."""
NO_STEP = 1e-14
"""Shares that differ by less are the same."""
TINY = float(np.finfo(np.float64).tiny)
VIOLATION = 1e-10
"""Of the optimality conditions of a Newton step, in units of its largest slope."""


@dataclass(frozen=True, eq=False)
class _Point:
    """Shares of the kernels in the trace, the machine there, and what it says of other shares.

    The value is half the objective of the paper, the machine's own.
    """

    shares: Array
    gram: Array
    """The sum of the kernels."""
    machine: DualSolution
    products: Array
    """Of each kernel at unit trace with the machine's coefficients, (m, n)."""
    forms: Array
    """The same once more times the coefficients, c' K_i c, (m,)."""
    upper: float
    """The machine's primal objective."""

    @property
    def value(self) -> float:
        return self.machine.objective

    @property
    def slopes(self) -> Array:
        """Derivative of the value by the shares."""
        return -0.5 * self.forms

    def lower_bound(self, margin: Margin) -> float:
        """Return what no shares at all can go below: the dual objective with the worst of the kernels."""
        alpha = self.machine.alpha
        longest = longest_scaling(alpha, margin.bound)
        ridge_term = margin.ridge * float(alpha @ alpha)
        return scaled_bound(float(alpha.sum()), ridge_term, float(self.forms.max()), longest)


def learn_weights(
    kernels: BaseKernels, y: Array, margin: Margin, *, tolerance: float = 1e-4, max_machines: int = 200
) -> LearnedKernel:
    """Find the weights mu_i >= 0 whose sum of kernels gives the machine of largest margin.

    With G_i = diag(y) K_i diag(y) on the training rows, and the traces r_i on all rows,

        min over mu of  max over alpha of  2 sum_i alpha_i - alpha' (sum_i mu_i G_i + tau I) alpha,
        mu_i >= 0,  sum_i mu_i r_i = sum_i r_i,    0 <= alpha_i <= C,  y' alpha = 0.

    Parameters
    ----------
    kernels : BaseKernels
    y : (n,) array
        Labels of the training rows, -1 or +1.
    margin : Margin
    tolerance : float
        The relative duality gap to reach, > 0.
    max_machines : int
        At most so many machines are trained.

    Returns
    -------
    LearnedKernel
        A kernel that is zero has no weight. Of kernels that are copies of each other only the sum of the weights has
        a meaning.

    Raises
    ------
    InfeasibleError
        If the margin is hard and the classes are not separable with all kernels together.
    ValueError
        If there is one class only, or the sizes disagree.

    Notes
    -----
    Source: jebara-slides, "SVM Kernel Selection", Table 1, after Lanckriet et al. (2004), section 4, theorems 16, 20
    and 24. In the form of a QCQP the constraints r_i t >= alpha' G_i alpha take the place of the minimum.

    The value is convex and, where the machine is unique, smooth in the weights: with c = alpha y its derivative is
    -c' K_i c, and its second derivative (K_i c)' P (K_j c) on the margin vectors, P being the inverse of their Gram
    matrix bordered with the bias (Chapelle and Rakotomamonjy 2008). Each Newton step is a quadratic programme on the
    simplex of the shares mu_i r_i / sum_i r_i. Any alpha bounds the optimum from below by the kernel that is worst for
    it, and any machine from above.

    References
    ----------
    - G. R. G. Lanckriet, N. Cristianini, P. Bartlett, L. El Ghaoui and M. I. Jordan, "Learning the Kernel Matrix with
      Semidefinite Programming", Journal of Machine Learning Research 5, 2004, pages 27-72.
    - O. Chapelle and A. Rakotomamonjy, "Second Order Optimization of Kernel Parameters", NIPS Workshop on Kernel
      Learning, 2008.
    """
    if not tolerance > 0.0:
        raise ValueError(f"tolerance must be > 0, not {tolerance!r}")
    all_kernels = WithIdentity.of(kernels) if margin.kind == "learned-2-norm" else kernels
    path = _Path(all_kernels, y, margin, MACHINE_TOLERANCE * tolerance)
    has_trace = all_kernels.traces > 0.0
    point = path.begin(has_trace / np.count_nonzero(has_trace))
    best, lower = point, point.lower_bound(margin)
    while best.upper - lower > tolerance * best.upper and path.n_machines < max_machines:
        following = path.step(point, max_machines)
        if following is None:
            break
        point = following
        lower = max(lower, point.lower_bound(margin))
        best = min(best, point, key=lambda each: each.upper)
    gap = max(best.upper - lower, 0.0) / best.upper if best.upper > 0.0 else 0.0
    weights = best.shares * all_kernels.units
    learns_ridge = margin.kind == "learned-2-norm"
    ridge = float(weights[-1]) if learns_ridge else margin.ridge
    own = len(weights) - learns_ridge
    return LearnedKernel(
        weights[:own],
        ridge,
        best.machine,
        squared_norm=float(best.shares[:own] @ best.forms[:own]),
        objective=2.0 * best.upper,
        gap=gap,
        iterations=path.n_machines,
        converged=gap <= tolerance,
    )


class _Path:
    """Machines at one point of the simplex after the other, each begun at the one before."""

    def __init__(self, kernels: BaseKernels, y: Array, margin: Margin, tolerance: float) -> None:
        self.kernels, self.y, self.margin, self.tolerance = kernels, y, margin, tolerance
        self.n_machines, self.reach = 0, FARTHEST

    def begin(self, shares: Array) -> _Point:
        """Train the first machine; where there is none with all kernels together, there is none at all."""
        point = self.at(shares, None)
        if math.isinf(point.upper):
            self.margin.machine(point.gram, self.y, tolerance=self.tolerance, on_failure="raise")
        return point

    def at(self, shares: Array, before: _Point | None) -> _Point:
        """Train the machine at a point."""
        self.n_machines += 1
        gram = self.kernels.combined(shares * self.kernels.units)
        alpha0 = None if before is None else before.machine.alpha
        machine = self.margin.machine(gram, self.y, tolerance=self.tolerance, alpha0=alpha0)
        products = self.kernels.products(machine.alpha * self.y) * self.kernels.units[:, None]
        forms = products @ (machine.alpha * self.y)
        known = machine.duality_gap < 1.0
        upper = machine.objective / (1.0 - machine.duality_gap) if known else math.inf
        return _Point(shares, gram, machine, products, forms, upper)

    def step(self, point: _Point, max_machines: int) -> _Point | None:
        """Take a Newton step, no longer than it leads down; None where none does."""
        model = self._model(point)
        while self.reach >= SHORTEST and self.n_machines < max_machines:
            direction = self._direction(point, model)
            if not np.abs(direction).max() > NO_STEP:
                return None
            trial = self.at(point.shares + direction, point)
            if trial.upper <= point.upper + STEEPNESS * float(point.slopes @ direction):
                self.reach = min(FARTHEST, GROWTH * self.reach)
                return trial
            self.reach *= SHRINKAGE
        return None

    def _model(self, point: _Point) -> tuple[Array, Array]:
        """Return the second and the first derivative of the value, as the simplex takes them, in units of a slope."""
        curvature = self._curvature(point)
        curvature.flat[:: len(curvature) + 1] += DAMPING * float(curvature.diagonal().max())
        unit = max(float(np.abs(point.slopes).max()), TINY)
        curvature /= unit
        # A kernel that is zero stays out: it must not look as good as one that the machine has no use for.
        return curvature, np.where(self.kernels.traces > 0.0, curvature @ point.shares - point.slopes / unit, -1e3)

    def _direction(self, point: _Point, model: tuple[Array, Array]) -> Array:
        shares = point.shares
        lower = np.where(shares > NEGLIGIBLE / len(shares), (1.0 - self.reach) * shares, 0.0)
        return maximise_on_simplex(*model, shares, VIOLATION, lower=lower) - shares

    def _curvature(self, point: _Point) -> Array:
        """Return the second derivative by the shares, (K_i c)' P (K_j c) on the margin vectors."""
        alpha = point.machine.alpha
        free = np.flatnonzero((alpha > 0.0) & (alpha < self.margin.bound))
        n_kernels = len(point.shares)
        if len(free) < 2:
            return np.zeros((n_kernels, n_kernels))
        block = point.gram[np.ix_(free, free)]
        block.flat[:: len(free) + 1] += self.margin.ridge
        # A machine with a bias does not depend on a constant, which makes the block positive definite.
        scale = float(block.diagonal().max())
        block += scale
        block.flat[:: len(free) + 1] += SHIFT * scale
        factor = cho_factor(block, lower=True, overwrite_a=True, check_finite=False)
        right = np.column_stack([point.products[:, free].T, np.ones(len(free))])
        solved = cho_solve(factor, right, check_finite=False)
        along = solved[:, -1]
        inverse_products = solved[:, :-1] - np.multiply.outer(along, right[:, :-1].T @ along / along.sum())
        curvature = right[:, :-1].T @ inverse_products
        return np.asarray(0.5 * (curvature + curvature.T), dtype=np.float64)
