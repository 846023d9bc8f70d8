"""Machines at shares of the kernels in the trace, and what each says of other shares."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fsvm_cli.kernel_learning.margin import longest_scaling, scaled_bound

if TYPE_CHECKING:
    from fsvm_cli.kernel_learning.base_kernels import BaseKernels
    from fsvm_cli.kernel_learning.margin import Margin
    from fsvm_cli.svm.solvers.dual import DualSolution
    from fsvm_cli.svm.vectors import Array


@dataclass(frozen=True, eq=False)
class Trained:
    """The machine at some shares.

    The value is half the objective of Lanckriet et al. (2004), the machine's own.

    Attributes
    ----------
    shares : (m,) array
        Parts of the kernels in the trace of their sum; they add up to 1.
    gram : (n, n) array
        The sum of the kernels on the training rows; in memory that the trainer uses again once it has trained the
        machine after next.
    machine : DualSolution
    products : (m, n) array
        Each kernel, at unit trace, times the machine's coefficients c = alpha y.
    forms : (m,) array
        The same once more times the coefficients, c' K_i c.
    upper : float
        The machine's primal objective; infinity where it has none.
    """

    shares: Array
    gram: Array
    machine: DualSolution
    products: Array
    forms: Array
    upper: float

    @property
    def slopes(self) -> Array:
        """Derivative of the value by the shares."""
        return -0.5 * self.forms

    def lower_bound(self, margin: Margin) -> float:
        """Return what no shares >= 0 at all can go below: the dual objective with the worst of the kernels."""
        alpha = self.machine.alpha
        longest = longest_scaling(alpha, margin.bound)
        ridge_term = margin.ridge * float(alpha @ alpha)
        return scaled_bound(float(alpha.sum()), ridge_term, float(self.forms.max()), longest)


class Trainer:
    """Trains machines at one point after the other.

    Parameters
    ----------
    kernels : BaseKernels
    y : (n,) array
        Labels, -1 or +1.
    margin : Margin
    tolerance : float
        Relative gap of the machines.

    Attributes
    ----------
    n_machines : int
        Machines that were trained.
    """

    def __init__(self, kernels: BaseKernels, y: Array, margin: Margin, tolerance: float) -> None:
        self.kernels, self.y, self.margin, self.tolerance = kernels, y, margin, tolerance
        self.n_machines = 0
        self._memory: list[Array] = []

    def first(self, shares: Array) -> Trained:
        """Train the machine on all kernels together; where it has no hard margin, there is none at all.

        Raises
        ------
        ConvergenceError
            If the margin is hard and no machine is found: `InfeasibleError` where the classes are not separable.
        """
        point = self.at(shares)
        if math.isinf(point.upper) and self.margin.is_hard:
            self.margin.machine(point.gram, self.y, tolerance=self.tolerance, on_failure="raise")
        return point

    def at(self, shares: Array, before: Trained | None = None) -> Trained:
        """Train the machine at some shares, beginning at another if one is given."""
        self.n_machines += 1
        gram = self.kernels.combined(shares * self.kernels.units, self._memory_beside(before))
        alpha0 = None if before is None else before.machine.alpha
        machine = self.margin.machine(gram, self.y, tolerance=self.tolerance, alpha0=alpha0)
        c = machine.alpha * self.y
        products = self.kernels.products(c) * self.kernels.units[:, None]
        known = machine.duality_gap < 1.0
        upper = machine.objective / (1.0 - machine.duality_gap) if known else math.inf
        return Trained(shares, gram, machine, products, products @ c, upper)

    def _memory_beside(self, before: Trained | None) -> Array:
        """Return memory for a Gram matrix that is not that of a point; fresh memory would cost more than the sum."""
        held = None if before is None else before.gram
        for memory in self._memory:
            if memory is not held:
                return memory
        self._memory.append(np.empty((len(self.y), len(self.y))))
        return self._memory[-1]
