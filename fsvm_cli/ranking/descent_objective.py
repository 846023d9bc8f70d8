"""What the descent along the feature weights of a kernel makes small, kpd2018: objective, penalty, gradient."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np

from fsvm_cli.ranking.weighted_kernel import WeightedKernel
from fsvm_cli.svm import KERNELS, DualProblem, solve
from fsvm_cli.svm.kernels.additive import ScaledKernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fsvm_cli.svm import Kernel
    from fsvm_cli.svm.solvers.dual import Solver

Variant = Literal["saddle", "as-printed"]
PenaltyName = Literal["l0", "l1", "l2"]


@dataclass(frozen=True)
class Penalty:
    """What weights v ≥ 0 cost.

    Attributes
    ----------
    name : {"l0", "l1", "l2"}
        Σ_j (1 - exp(-β v_j)), Σ_j v_j or ½ Σ_j v_j².
    strength : float
        C₂, the factor, at least 0.
    sharpness : float
        β of "l0", larger than 0, in units of one over the weights.
    """

    name: PenaltyName
    strength: float
    sharpness: float

    def value(self, v: NDArray[np.float64]) -> float:
        """Return the cost."""
        if self.name == "l0":
            total = -np.expm1(-self.sharpness * v).sum()
        else:
            total = v.sum() if self.name == "l1" else 0.5 * v @ v
        return float(self.strength * total)

    def slope(self, v: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the derivative of the cost by each weight."""
        if self.name == "l0":
            slope: NDArray[np.float64] = self.sharpness * np.exp(-self.sharpness * v)
        else:
            slope = np.ones_like(v) if self.name == "l1" else v
        return self.strength * slope


@dataclass(frozen=True, eq=False)
class Point:
    """Weights, and the machine that belongs to them.

    Attributes
    ----------
    v : ndarray, shape (n_features,)
    statistic : ndarray, shape (n_samples, n_samples)
        What the kernel is a function of.
    alpha : ndarray, shape (n_samples,)
    objective : float
    converged : bool
        Whether the machine reached its duality gap.
    """

    v: NDArray[np.float64]
    statistic: NDArray[np.float64]
    alpha: NDArray[np.float64]
    objective: float
    converged: bool


@dataclass(frozen=True, eq=False)
class Objective:
    """What the descent makes small, for one machine.

    Attributes
    ----------
    X : ndarray, shape (n_samples, n_features)
    y : ndarray, shape (n_samples,)
        -1 or +1.
    kernel : ScaledKernel
        Where the descent begins; see `starting_weights`.
    C : float
        Upper bound of alpha.
    penalty : Penalty
    variant : {"saddle", "as-printed"}
        The dual optimum Σ_i α_i - ½ α'H(v)α plus the penalty, or the ½ α'H(v)α plus the penalty of kpd2018,
        equation (14), with α of the dual optimum.
    tolerance, solver
        As in `fsvm_cli.svm.solve`.
    """

    X: NDArray[np.float64]
    y: NDArray[np.float64]
    kernel: ScaledKernel
    C: float
    penalty: Penalty
    variant: Variant
    tolerance: float
    solver: Solver

    @property
    def keeps_total(self) -> bool:
        """Whether the sum of the weights is held: an unbounded kernel would gain without end by growing."""
        return self.variant == "saddle" and not self.kernel.is_bounded

    @cached_property
    def _weighted(self) -> WeightedKernel:
        return WeightedKernel(kernel_at(self.kernel, np.ones(self.X.shape[1])), self.X)

    def at(self, v: NDArray[np.float64], alpha0: NDArray[np.float64]) -> Point:
        """Train the machine at some weights, beginning at `alpha0`."""
        statistic = self._weighted.statistic(feature_weights(self.kernel, v))
        found = solve(
            DualProblem(self._weighted.gram(statistic), self.y, self.C),
            tolerance=self.tolerance,
            solver=self.solver,
            alpha0=alpha0,
            on_failure="flag",
        )
        fit = found.objective if self.variant == "saddle" else float(found.alpha.sum()) - found.objective
        return Point(v, statistic, found.alpha, fit + self.penalty.value(v), found.converged)

    def gradient(self, point: Point) -> NDArray[np.float64]:
        """Return the derivative of the objective by each weight at fixed alpha, shape (n_features,).

        At the optimal alpha it is that of the saddle objective, by the envelope theorem. Where the sum of the weights
        is held, it is that of the objective at weights scaled to the sum that the point has.
        """
        v, support = point.v, np.flatnonzero(point.alpha)
        by_weight = self._weighted.gradient(point.statistic, support, (point.alpha * self.y)[support])
        half = -0.5 if self.variant == "saddle" else 0.5
        gradient = half * by_weight * weight_slope(self.kernel, v) + self.penalty.slope(v)
        return gradient - (v @ gradient) / v.sum() if self.keeps_total else gradient

    def moved(self, point: Point, v: NDArray[np.float64]) -> Point:
        """Return a point with other weights and the same machine."""
        return replace(point, v=v, statistic=self._weighted.statistic(feature_weights(self.kernel, v)))


def descent_kernel(kernel: Kernel) -> ScaledKernel:
    """Return the kernel if the method is defined for it.

    Raises
    ------
    ValueError
        If it is not.
    """
    if isinstance(kernel, ScaledKernel):
        return kernel
    *names, last = [name for name, each in KERNELS.items() if issubclass(each, ScaledKernel)]
    raise ValueError(f"kpd is defined for the {', '.join(names)} and {last} kernels, not for the {kernel.name} one")


def starting_weights(kernel: ScaledKernel, n_features: int) -> NDArray[np.float64]:
    """Return the weights v at which the paper's form of a kernel is that kernel.

    Parameters
    ----------
    kernel : ScaledKernel
    n_features : int

    Returns
    -------
    ndarray, shape (n_features,)
        Gaussian: v_j = 1/σ_j, so that K = exp(-½ Σ_j v_j² Δ_j²). Laplace: γ_j, so that K = exp(-Σ_j γ_j |Δ_j|).
        Polynomial: a_j, so that K = (offset + Σ_j a_j x_j x'_j)^degree; `scale` is where they begin.
    """
    weights = kernel.at_unit_scale(n_features).feature_weights(n_features)
    assert weights is not None, "at unit scale the weights hold the scale"
    return np.sqrt(weights) if kernel.weight_exponent == 2 else weights


def kernel_at(kernel: ScaledKernel, v: NDArray[np.float64]) -> ScaledKernel:
    """Return the kernel with other weights; see `starting_weights`."""
    return kernel.at_unit_scale(len(v)).with_weights(feature_weights(kernel, v))


def feature_weights(kernel: ScaledKernel, v: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the weights w of the kernel in `kernel_at` for those of the paper."""
    weights: NDArray[np.float64] = v**kernel.weight_exponent
    return weights


def weight_slope(kernel: ScaledKernel, v: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the derivative of `feature_weights`."""
    slope: NDArray[np.float64] = kernel.weight_exponent * v ** (kernel.weight_exponent - 1)
    return slope
