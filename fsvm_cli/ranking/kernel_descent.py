"""Descent along the feature weights of a kernel, kpd2018.

Its objective with penalty and gradient, its steps, its path, and which features survive it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from fsvm_cli.numerics import quantised
from fsvm_cli.svm import KERNELS, DualProblem, solve
from fsvm_cli.svm.kernels.additive import ScaledKernel
from fsvm_cli.svm.kernels.gram import gram_of_statistic
from fsvm_cli.svm.solvers.certificate import stated

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fsvm_cli.svm import Kernel
    from fsvm_cli.svm.kernels.additive import AdditiveKernel
    from fsvm_cli.svm.solvers.dual import Solver


class WeightedKernel:
    """Statistic, Gram matrix and derivative by the weights of one kernel; features of weight 0 cost little.

    Parameters
    ----------
    kernel : AdditiveKernel
        Its own weights are not used.
    X : ndarray, shape (n_samples, n_features)
    """

    def __init__(self, kernel: AdditiveKernel, X: NDArray[np.float64]) -> None:
        self.kernel = kernel
        self.X = X

    def statistic(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the statistic that the kernel is a function of, shape (n_samples, n_samples)."""
        return self.kernel.statistic.symmetric_matrix(self.X, weights)

    def gram(self, statistic: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the Gram matrix at a statistic."""
        gram: NDArray[np.float64] = gram_of_statistic(self.kernel.form, statistic)
        return gram

    def gradient(
        self, statistic: NDArray[np.float64], support: NDArray[np.intp], signed: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return the derivative of signed' K signed by each weight.

        Parameters
        ----------
        statistic : ndarray, shape (n_samples, n_samples)
        support : ndarray of int
            The samples whose coefficients are not 0.
        signed : ndarray, shape (len(support),)
            Their coefficients.

        Returns
        -------
        ndarray, shape (n_features,)
        """
        coefficients = signed[:, None] * self.kernel.slope(statistic[np.ix_(support, support)]) * signed
        return self.kernel.statistic.symmetric_weight_contraction(self.X[support], coefficients)


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
        Whether the machine reached its duality gap, with what rounding may do to kernel values included where the
        objective is `certified`.
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
    certified : bool
        Whether the gap of each machine has to hold for exact kernel values, which takes a third of the time. A descent
        of which only the end is used, by a machine that is certified itself, does not need it.
    """

    X: NDArray[np.float64]
    y: NDArray[np.float64]
    kernel: ScaledKernel
    C: float
    penalty: Penalty
    variant: Variant
    tolerance: float
    solver: Solver
    certified: bool = True

    @property
    def keeps_total(self) -> bool:
        """Whether the sum of the weights is held: an unbounded kernel would gain without end by growing."""
        return self.variant == "saddle" and not self.kernel.is_bounded

    @cached_property
    def _weighted(self) -> WeightedKernel:
        return WeightedKernel(kernel_at(self.kernel, np.ones(self.X.shape[1])), self.X)

    def at(self, v: NDArray[np.float64], alpha0: NDArray[np.float64]) -> Point:
        """Train the machine at some weights, beginning at `alpha0`."""
        weights = feature_weights(self.kernel, v)
        statistic = self._weighted.statistic(weights)
        gram = self._weighted.gram(statistic)
        problem = DualProblem(gram, self.y, self.C)
        trained = solve(
            problem,
            tolerance=self.tolerance,
            solver=self.solver,
            alpha0=alpha0,
            on_failure="flag",
        )
        if self.certified:
            rounding = self._weighted.kernel.with_weights(weights).rounding(self.X).of_machine()
            found = stated(problem.with_rounding(rounding), trained, self.tolerance)
        else:
            found = trained
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


def descend(objective: Objective, v: NDArray[np.float64], settings: DescentSettings) -> DescentPath:
    """Follow the gradient from some weights until a stopping rule holds or no feature is left.

    The step is that of kpd2018, section 3.4: the median of the active weights moves by ε, but none by more than θ times
    its derivative. A step that would raise the saddle objective is halved until it does not.

    Parameters
    ----------
    objective : Objective
    v : ndarray, shape (n_features,)
        The start.
    settings : DescentSettings

    Returns
    -------
    DescentPath
    """
    here = objective.at(v, np.zeros(len(objective.y)))
    weights, objectives, certified = [here.v], [here.objective], here.converged
    stopped, step, longest = False, np.inf, np.inf
    while not stopped and len(weights) <= settings.max_iterations:
        gradient = objective.gradient(here)
        if not (np.isfinite(here.objective) and np.isfinite(gradient).all()):
            raise FloatingPointError("the objective of the descent or its derivative is not a number")
        automatic = settings.threshold / max(np.median(np.abs(gradient[here.v > 0])), np.finfo(float).tiny)
        if len(weights) == 1:
            longest = settings.max_step * automatic
        # Twice the last step, so that a step that had to be halved is not halved again each time.
        step = min(longest, 2 * step, automatic)
        while True:
            there = objective.at(_stepped(objective, here, gradient, step, settings), here.alpha)
            change = float(np.abs(there.v - here.v).sum())
            # A step that has been halved until it moves nothing ends the descent, whatever the bounds.
            stopped = change == 0 or change < max(settings.relative_change * here.v.sum(), settings.absolute_change)
            descends = objective.variant == "as-printed" or there.objective <= here.objective
            if descends or stopped:
                break
            step /= 2
        if descends:
            here = there
            weights.append(here.v)
            objectives.append(here.objective)
            certified &= here.converged
            stopped |= not here.v.any()
    return DescentPath(
        weights=np.array(weights),
        objective=np.array(objectives),
        n_active=np.count_nonzero(weights, axis=1),
        converged=stopped and certified,
    )


def _stepped(
    objective: Objective, here: Point, gradient: NDArray[np.float64], step: float, settings: DescentSettings
) -> NDArray[np.float64]:
    """Return the weights after the inner iterations at fixed alpha, the first of them along `gradient`."""
    v = here.v
    for iteration in range(settings.inner_iterations):
        slope = gradient if iteration == 0 else objective.gradient(objective.moved(here, v))
        moved = quantised(np.where(v > 0, v - step * slope, 0.0), settings.spacing)
        moved[moved < settings.threshold] = 0.0
        if not moved.any():
            return moved
        v = moved * (v.sum() / moved.sum()) if objective.keeps_total else moved
    return v


def path_table(paths: Sequence[DescentPath], feature_names: Sequence[str]) -> dict[str, NDArray[Any]]:
    """Write descents as a table.

    Parameters
    ----------
    paths : sequence of DescentPath
        Of each machine.
    feature_names : sequence of str

    Returns
    -------
    dict of str to ndarray
        Columns `machine` (from 0), `iteration` (from 0), `objective`, `n_active` (features), and "weight of NAME" for
        each feature, below each other for all machines.
    """
    lengths = [len(path.objective) for path in paths]
    weights = np.concatenate([path.weights for path in paths])
    return {
        "machine": np.repeat(np.arange(len(paths)), lengths),
        "iteration": np.concatenate([np.arange(length) for length in lengths]),
        "objective": np.concatenate([path.objective for path in paths]),
        "n_active": np.concatenate([path.n_active for path in paths]),
    } | {f"weight of {name}": column for name, column in zip(feature_names, weights.T, strict=True)}


def survival(path: DescentPath) -> NDArray[np.float64]:
    """Score the features by how long the descent kept them.

    With t_j the last iteration in which feature j is active, and v(t) the weights at it,

        (t_j + v_j(t_j) / max_k v_k(t_j)) / (1 + max_k t_k)

    Parameters
    ----------
    path : DescentPath

    Returns
    -------
    ndarray, shape (n_features,)
        Between 0 and 1.
    """
    last = np.maximum(np.count_nonzero(path.weights, axis=0) - 1, 0)
    weights = path.weights[last, np.arange(len(last))]
    scores: NDArray[np.float64] = (last + weights / path.weights.max(axis=1)[last]) / (1 + last.max())
    return scores


def weights_of_subset(
    path: DescentPath, kernel: ScaledKernel, order: NDArray[np.intp], size: int
) -> NDArray[np.float64]:
    """Return the weights that a descent had learned when it had some number of features left.

    They are those of the last iteration with as many active features. Between two numbers that the descent passed, and
    below the number at which it ended, the weights of the next larger one are taken, 0 for the features that rank last;
    for an unbounded kernel, whose sum of weights the descent holds, what remains is scaled to that sum.

    Parameters
    ----------
    path : DescentPath
        Of the "saddle" objective.
    kernel : ScaledKernel
        Where it began.
    order : ndarray of int, shape (n_features,)
        Feature indices by `survival`, the best first.
    size : int
        In 1 .. n_features.

    Returns
    -------
    ndarray, shape (n_features,)
        `size` of them are larger than 0.
    """
    weights: NDArray[np.float64] = path.weights[np.count_nonzero(path.n_active >= size) - 1]
    best = order[weights[order] > 0][:size]
    kept = np.zeros_like(weights)
    kept[best] = weights[best]
    return kept if kernel.is_bounded else kept * (weights.sum() / kept.sum())


@dataclass(frozen=True)
class DescentSettings:
    """How the descent steps and when it ends.

    Attributes
    ----------
    threshold : float
        ε: weights below it become 0. In units of the weights.
    max_step : float
        θ, the largest step, in units of the first automatic one; infinity for the automatic one alone.
    inner_iterations : int
        Steps before the machine is trained again.
    relative_change, absolute_change : float
        ζ: the descent ends when the weights change by less, in the 1-norm.
    max_iterations : int
    """

    threshold: float
    max_step: float
    inner_iterations: int
    relative_change: float
    absolute_change: float
    max_iterations: int

    @property
    def spacing(self) -> float:
        """Of the weights along the descent, a power of 2: the threshold over 8,192 to 16,384."""
        return 2.0 ** (math.frexp(self.threshold)[1] - 14)


@dataclass(frozen=True, eq=False)
class DescentPath:
    """Where the descent of one machine went.

    Attributes
    ----------
    weights : ndarray, shape (n_iterations + 1, n_features)
        v, beginning with the start; 0 once a feature is eliminated.
    objective : ndarray, shape (n_iterations + 1,)
    n_active : ndarray of int, shape (n_iterations + 1,)
        Features that are not eliminated.
    converged : bool
        Whether all machines on the way reached their duality gap, and the descent a stopping rule.
    """

    weights: NDArray[np.float64]
    objective: NDArray[np.float64]
    n_active: NDArray[np.intp]
    converged: bool
