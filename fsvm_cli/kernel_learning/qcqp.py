"""Weights that are not negative: the quadratically constrained problem of Lanckriet et al. (2004), by Newton steps.

In the form of a QCQP the constraints r_i t >= alpha' G_i alpha take the place of the minimum over the weights. Here
that minimum is sought itself: the value is convex and, where the machine is unique, smooth in the weights, with the
derivative -c' K_i c, c = alpha y, and the second derivative of `Expansion`. Each Newton step is a quadratic programme
on the simplex of the shares mu_i r_i / sum_i r_i. Any alpha bounds the optimum from below by the kernel that is worst
for it, and any machine from above.

References
----------
- G. R. G. Lanckriet, N. Cristianini, P. Bartlett, L. El Ghaoui and M. I. Jordan, "Learning the Kernel Matrix with
  Semidefinite Programming", Journal of Machine Learning Research 5, 2004, pages 27-72.
- O. Chapelle and A. Rakotomamonjy, "Second Order Optimization of Kernel Parameters", NIPS Workshop on Kernel Learning,
  2008.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fsvm_cli.kernel_learning.base_kernels import WithIdentity
from fsvm_cli.kernel_learning.margin import relative_gap
from fsvm_cli.kernel_learning.trained import Trainer
from fsvm_cli.svm.solvers.active_set import Simplex

if TYPE_CHECKING:
    import numpy.typing as npt

    from fsvm_cli.kernel_learning.base_kernels import BaseKernels
    from fsvm_cli.kernel_learning.margin import LearnedSum, Margin
    from fsvm_cli.kernel_learning.trained import Trained
    from fsvm_cli.svm.compiled import Array


@dataclass(frozen=True, eq=False)
class Expansion:
    """Derivatives by the shares, while the samples on the bounds stay there.

    With c = alpha y, the machine's own equations on the free samples give dc/ds_i = -P K_i c, P being the inverse of
    their Gram matrix bordered with the bias, and so the second derivative of the value, (K_i c)' P (K_j c)
    (Chapelle and Rakotomamonjy 2008).

    Attributes
    ----------
    curvature : (m, m) array
        Second derivative of the value.
    alpha : (n,) array
        The machine's.
    bound : float
        Upper bound of alpha.
    free : (n_free,) array of int
        The samples whose alpha lies between its bounds.
    responses : (m, n_free) array
        Derivatives of their alpha.
    """

    curvature: Array
    alpha: Array
    bound: float
    free: npt.NDArray[np.intp]
    responses: Array

    @classmethod
    def of(cls, point: Trained, y: Array, margin: Margin) -> Expansion:
        """Expand around the shares of a machine; where rounding forbids it, nothing changes."""
        alpha, free, solved = point.machine.alpha, point.free, point.solved
        inside = (alpha[free] > 0.0) & (alpha[free] < margin.bound)
        if len(free) < 2 or not inside.all() or not np.isfinite(solved).all():
            m = len(point.shares)
            return cls(np.zeros((m, m)), alpha, margin.bound, free[:0], np.zeros((m, 0)))
        sums = solved.sum(axis=1)
        # The bias takes away what would change the sum of c, which is 0.
        responses = solved[:-1] - (sums[:-1] / sums[-1])[:, None] * solved[-1]
        curvature = responses @ point.products.take(free, axis=1).T
        return cls(0.5 * (curvature + curvature.T), alpha, margin.bound, free, responses * -y[free])

    def alpha_after(self, direction: Array) -> Array:
        """Return the alpha that a change of the shares leads to, at first order and as far as the box allows."""
        change = direction @ self.responses
        own = self.alpha[self.free]
        room = np.where(change < 0.0, own, self.bound - own)
        shortening = (np.abs(change) / room).max(initial=1.0)
        alpha = self.alpha.copy()
        alpha[self.free] = np.clip(own + change / shortening, 0.0, self.bound)
        return alpha


MACHINE_TOLERANCE = 1e-2
"""Gap of the machines, as a part of the gap of the weights, which is the larger of the two."""
RELATIVE_DAMPING = 1e-9
"""On the diagonal of the second derivative, as a part of its largest entry: that of kernels which are alike has no
inverse."""
ARMIJO_SHARE = 1e-4
"""The part of the decrease predicted by the slope that a step must reach (Armijo)."""
FIRST_REACH, MAX_REACH, REACH_SHRINKAGE, REACH_GROWTH, MIN_STEP = 0.8, 0.99, 0.5, 1.5, 2.0**-20
"""A share falls by no more than a part of it, its reach, in one step: where it should become small, the value is like
one over the share, and the second-order model overestimates the decrease. The reach at first, and the largest for a
share that keeps falling; what reaches are multiplied by where a step fails, and at most where one succeeds; the least
that is tried."""
GROWTH_FROM_SHARE = 0.7
"""A share that falls by this part of its reach may fall by a larger part the next time: it may be on its way to 0."""
NEGLIGIBLE_SHARE = 1e-4
"""Shares smaller than this part of their mean may fall to 0 at once."""
EQUAL_SHARES = 1e-14
"""Shares that differ by less are the same."""
SMALLEST_NORMAL = float(np.finfo(np.float64).tiny)
MAX_SQUARED_GAP = 10.0
"""In tolerances. Each step about squares the gap: where its square is larger, the predicted decrease is no bound."""
NEWTON_VIOLATION = 1e-10
"""Of the optimality conditions of a Newton step, in units of its largest slope."""


def learn_weights(
    kernels: BaseKernels, y: Array, margin: Margin, *, tolerance: float = 1e-4, max_machines: int = 200
) -> LearnedSum:
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
        Machines to train, at most.

    Returns
    -------
    LearnedSum
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
    and 24.
    """
    if not tolerance > 0.0:
        raise ValueError(f"tolerance must be > 0, not {tolerance!r}")
    all_kernels = WithIdentity.of(kernels) if margin.kind == "learned-2-norm" else kernels
    trainer = Trainer(all_kernels, y, margin, MACHINE_TOLERANCE * tolerance)
    points, lower = descend(trainer, tolerance, max_machines)
    best = trainer.refined(min(points, key=lambda point: point.upper))
    return trainer.learned(best, lower, tolerance)


def descend(trainer: Trainer, tolerance: float, max_machines: int) -> tuple[list[Trained], float]:
    """Minimise over the shares, from equal ones.

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
    point = trainer.first(has_trace / np.count_nonzero(has_trace))
    points, least = [point], point.upper
    lower = trainer.lower_bound(point.machine.alpha, point.forms)
    newton = _Newton(trainer)
    while tolerance < relative_gap(least, lower) < math.inf and trainer.n_machines < max_machines:
        expansion = Expansion.of(point, trainer.y, trainer.margin)
        direction = newton.direction(point, expansion)
        promised = expansion.alpha_after(direction)
        if relative_gap(least, lower) ** 2 <= MAX_SQUARED_GAP * tolerance:
            # The predicted decrease bounds the optimum about as well as the machine there, which takes far longer.
            lower = max(lower, trainer.lower_bound(promised))
            if relative_gap(least, lower) <= tolerance:
                break
        following = newton.step(point, expansion, direction, promised, max_machines) or trainer.refined(point)
        if following is point:
            break
        point = following
        points.append(point)
        least = min(least, point.upper)
        lower = max(lower, trainer.lower_bound(point.machine.alpha, point.forms))
    return points, lower


class _Newton:
    """Newton steps with an adaptive limit for each share."""

    def __init__(self, trainer: Trainer) -> None:
        self.trainer = trainer
        self.has_trace = trainer.kernels.traces > 0.0
        self.reach = np.full(len(self.has_trace), FIRST_REACH)
        self.simplex = Simplex(len(self.has_trace))

    def step(
        self, point: Trained, expansion: Expansion, direction: Array, promised: Array, max_machines: int
    ) -> Trained | None:
        """Take a Newton step with a line search; None where no step decreases the value."""
        while np.abs(direction).max() > EQUAL_SHARES and self.trainer.n_machines < max_machines:
            trial = self.trainer.at(point.shares + direction, point, promised)
            if trial.upper <= point.upper + ARMIJO_SHARE * float(point.slopes @ direction):
                self._extend_reach(point, direction)
                return trial
            self.reach *= REACH_SHRINKAGE
            if self.reach.max() < MIN_STEP:
                break
            direction = self.direction(point, expansion)
            promised = expansion.alpha_after(direction)
        return None

    def _extend_reach(self, point: Trained, direction: Array) -> None:
        falls = direction < -GROWTH_FROM_SHARE * self.reach * point.shares
        farther = np.minimum(1.0 - (1.0 - self.reach) ** 2, MAX_REACH)
        self.reach = np.where(falls, farther, np.minimum(REACH_GROWTH * self.reach, FIRST_REACH))

    def direction(self, point: Trained, expansion: Expansion) -> Array:
        """Return where the second-order model is least, within reach."""
        shares = point.shares
        # `Simplex` takes derivatives in units of a slope.
        unit = max(float(np.abs(point.slopes).max()), SMALLEST_NORMAL)
        curvature = expansion.curvature / unit
        curvature.flat[:: len(curvature) + 1] += RELATIVE_DAMPING * float(curvature.diagonal().max())
        # A kernel that is zero stays out: it must not be equivalent to a kernel that the machine does not use.
        linear = np.where(self.has_trace, curvature @ shares - point.slopes / unit, -1e3)
        lower = np.where(shares > NEGLIGIBLE_SHARE / len(shares), (1.0 - self.reach) * shares, 0.0)
        return self.simplex.maximise(curvature, linear, shares, NEWTON_VIOLATION, lower=lower) - shares
