"""Weights that are not negative: the quadratically constrained problem of Lanckriet et al. (2004), by Newton steps."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import lapack

from fsvm_cli.kernel_learning.base_kernels import WithIdentity
from fsvm_cli.kernel_learning.margin import LearnedKernel, relative_gap
from fsvm_cli.kernel_learning.trained import Trained, Trainer
from fsvm_cli.svm.solvers.simplex import maximise_on_simplex

if TYPE_CHECKING:
    from fsvm_cli.kernel_learning.base_kernels import BaseKernels
    from fsvm_cli.kernel_learning.margin import Margin
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
    ConvergenceError
        If the margin is hard and no machine is found with all kernels together: `InfeasibleError` where the classes are
        not separable.
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
    learns_ridge = margin.kind == "learned-2-norm"
    all_kernels = WithIdentity.of(kernels) if learns_ridge else kernels
    trainer = Trainer(all_kernels, y, margin, MACHINE_TOLERANCE * tolerance)
    points, lower = descend(trainer, tolerance, max_machines)
    best = min(points, key=lambda point: point.upper)
    gap = relative_gap(best.upper, lower)
    weights = best.shares * all_kernels.units
    own = len(weights) - learns_ridge
    return LearnedKernel(
        weights[:own],
        float(weights[-1]) if learns_ridge else margin.ridge,
        best.machine,
        squared_norm=float(best.shares[:own] @ best.forms[:own]),
        objective=2.0 * best.upper,
        gap=gap,
        iterations=trainer.n_machines,
        converged=gap <= tolerance,
    )


def descend(trainer: Trainer, tolerance: float, max_machines: int) -> tuple[list[Trained], float]:
    """Go down from equal shares to the best ones.

    Parameters
    ----------
    trainer : Trainer
    tolerance : float
        The relative gap to reach.
    max_machines : int

    Returns
    -------
    points : list of Trained
        Those on the way.
    lower : float
        A lower bound of the value.

    Raises
    ------
    ConvergenceError
        If the margin is hard and no machine is found with all kernels together.
    """
    has_trace = trainer.kernels.traces > 0.0
    newton = _Newton(trainer)
    point = trainer.first(has_trace / np.count_nonzero(has_trace))
    points, least, lower = [point], point.upper, point.lower_bound(trainer.margin)
    while tolerance < relative_gap(least, lower) < math.inf and trainer.n_machines < max_machines:
        following = newton.step(point, max_machines)
        if following is None:
            break
        point = following
        points.append(point)
        least = min(least, point.upper)
        lower = max(lower, point.lower_bound(trainer.margin))
    return points, lower


class _Newton:
    """Steps by the second derivative, with what has been learned of how far they may go."""

    def __init__(self, trainer: Trainer) -> None:
        self.trainer, self.reach = trainer, FARTHEST

    def step(self, point: Trained, max_machines: int) -> Trained | None:
        """Take a Newton step, no longer than it leads down; None where none does."""
        model = self._model(point)
        while self.reach >= SHORTEST and self.trainer.n_machines < max_machines:
            direction = self._direction(point, model)
            if not np.abs(direction).max() > NO_STEP:
                return None
            trial = self.trainer.at(point.shares + direction, point)
            if trial.upper <= point.upper + STEEPNESS * float(point.slopes @ direction):
                self.reach = min(FARTHEST, GROWTH * self.reach)
                return trial
            self.reach *= SHRINKAGE
        return None

    def _model(self, point: Trained) -> tuple[Array, Array]:
        """Return the second and the first derivative of the value, as the simplex takes them, in units of a slope."""
        curvature = self._curvature(point)
        curvature.flat[:: len(curvature) + 1] += DAMPING * float(curvature.diagonal().max())
        unit = max(float(np.abs(point.slopes).max()), TINY)
        curvature /= unit
        # A kernel that is zero stays out: it must not look as good as one that the machine has no use for.
        return curvature, np.where(
            self.trainer.kernels.traces > 0.0, curvature @ point.shares - point.slopes / unit, -1e3
        )

    def _direction(self, point: Trained, model: tuple[Array, Array]) -> Array:
        shares = point.shares
        lower = np.where(shares > NEGLIGIBLE / len(shares), (1.0 - self.reach) * shares, 0.0)
        return maximise_on_simplex(*model, shares, VIOLATION, lower=lower) - shares

    def _curvature(self, point: Trained) -> Array:
        """Return the second derivative by the shares, (K_i c)' P (K_j c) on the margin vectors."""
        alpha = point.machine.alpha
        free = np.flatnonzero((alpha > 0.0) & (alpha < self.trainer.margin.bound))
        n_kernels = len(point.shares)
        if len(free) < 2:
            return np.zeros((n_kernels, n_kernels))
        block = point.gram[np.ix_(free, free)]
        block.flat[:: len(free) + 1] += self.trainer.margin.ridge
        # A machine with a bias does not depend on a constant, which makes the block positive definite.
        scale = float(block.diagonal().max())
        block += scale
        block.flat[:: len(free) + 1] += SHIFT * scale
        right = np.ones((n_kernels + 1, len(free)))
        right[:-1] = point.products[:, free]
        solved, failed = lapack.dposv(block.T, right.T, lower=1, overwrite_a=1)[1:]
        if failed:  # by rounding: a step without second derivative is better than none
            return np.zeros((n_kernels, n_kernels))
        along = solved[:, -1]
        curvature = right[:-1] @ solved[:, :-1]
        curvature -= np.multiply.outer(right[:-1] @ along, right[:-1] @ along / along.sum())
        return np.asarray(0.5 * (curvature + curvature.T), dtype=np.float64)
