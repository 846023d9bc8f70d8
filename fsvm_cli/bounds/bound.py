"""The interface of the bounds: functions of the Gram matrix of a hard-margin machine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from fsvm_cli.svm.solvers.dual import DualProblem, DualSolution
from fsvm_cli.svm.solvers.solve import solve

if TYPE_CHECKING:
    from fsvm_cli.svm.compiled import Array
    from fsvm_cli.svm.kernels.base import Rounding
    from fsvm_cli.svm.solvers.dual import Solver


@dataclass(frozen=True, eq=False)
class Bound:
    """A bound on the number of leave-one-out errors of a machine.

    Attributes
    ----------
    value : float
        In errors: over the number of samples, it bounds the error rate.
    gram_gradient : (n, n) array
        Its derivative by the entries of the Gram matrix, symmetric. That by any parameter of the kernel is the sum of
        the products with the derivatives of the entries: ``kernel.weight_gradient(X, X, bound.gram_gradient)``.
    machine : DualSolution
    converged : bool
        Whether all that the bound was computed from reached its tolerance.
    beta : (n,) array or None
        Coefficients of the centre of the enclosing ball, where the bound has one.
    """

    value: float
    gram_gradient: Array
    machine: DualSolution
    converged: bool
    beta: Array | None = None


def hard_margin_machine(
    gram: Array,
    y: Array,
    *,
    tolerance: float = 1e-6,
    solver: Solver = "auto",
    alpha0: Array | None = None,
    on_failure: Literal["raise", "flag"] = "raise",
    rounding: Rounding | None = None,
) -> DualSolution:
    """Train the machine that bounds are about.

    Parameters
    ----------
    gram : (n, n) array
        With a ridge of 1/C on its diagonal, the machine is that of the squared loss C/2 sum_i xi_i^2.
    y : (n,) array
        Labels, -1 or +1.
    tolerance, solver, alpha0, on_failure
        As in `fsvm_cli.svm.solve`.
    rounding : Rounding, optional
        As of `fsvm_cli.svm.DualProblem`: the gap is then that for exact kernel values.

    Raises
    ------
    InfeasibleError
        If the classes are not separable and `on_failure` is "raise"; with "flag" the duality gap is infinite.
    ConvergenceError, ValueError
        As `fsvm_cli.svm.solve`.
    """
    problem = DualProblem(gram, y, np.inf, rounding=rounding)
    return solve(problem, tolerance=tolerance, solver=solver, alpha0=alpha0, on_failure=on_failure)


def spread(gram: Array) -> float:
    """Return the mean squared distance of the samples from their mean in feature space; `gram` is (n, n)."""
    return float(gram.trace() / len(gram) - gram.mean())


def add_gradient_of_ridge(by_entry: Array, relative_ridge: float) -> None:
    """Add to a derivative by the entries of a Gram matrix (n, n) what a ridge of `relative_ridge` spreads adds."""
    if relative_ridge == 0.0:
        return
    n, by_ridge = len(by_entry), float(by_entry.trace())
    by_entry -= relative_ridge * by_ridge / n**2
    by_entry.flat[:: n + 1] += relative_ridge * by_ridge / n
