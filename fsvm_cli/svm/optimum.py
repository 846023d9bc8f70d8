"""Where the optimum of a machine is: a better machine, by Newton steps or else by training, and bounds around it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fsvm_cli.svm.certified import (
    Points,
    bias_interval,
    computed_machine,
    locate_by_gram,
    locate_computed,
)
from fsvm_cli.svm.compiled import EPSILON
from fsvm_cli.svm.estimator import SVM
from fsvm_cli.svm.margin_factor import VALUE_TERMS
from fsvm_cli.svm.solvers.dual import DualProblem
from fsvm_cli.svm.solvers.solve import balanced, solve

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from fsvm_cli.svm.certified import ComputedMachine, Location
    from fsvm_cli.svm.compiled import Array
    from fsvm_cli.svm.kernels.base import Kernel

REPAIRS = 3
"""Newton steps from a given machine, before one is trained."""
CLOSE_ENOUGH = 1e-9
"""Radius, relative to the length of w, with which a repaired machine is not trained again."""
RETRAINED_TO = 1e-12
"""Relative duality gap of what is trained where a repair is not close enough."""
FEW_ROWS = 2_000
"""Up to which a linear machine that a repair leaves open is trained from a matrix of all pairs of rows."""
ROUNDED_UP = 1.0 + 1e-9


class Optimum(NamedTuple):
    """A machine near the optimum, and how near.

    Attributes
    ----------
    c : (n,) array
        Its coefficients alpha_i y_i.
    bias : float
    norm : float
        The length of w.
    radius : float
        Upper bound of |w - w*|; infinite where none is known.
    is_repaired : bool
        Whether Newton steps did, and no training.
    computed : ComputedMachine or None
        Its normal vector and outputs, of the linear kernel.
    """

    c: Array
    bias: float
    norm: float
    radius: float
    is_repaired: bool
    computed: ComputedMachine | None

    @property
    def w(self) -> Array | None:
        """The normal vector, of the linear kernel."""
        return None if self.computed is None else self.computed.w


class Outputs(NamedTuple):
    """Bounds of the optimal outputs of some rows, before the bias, and of the bias.

    Attributes
    ----------
    low, high : (n_rows,) arrays
    bias : tuple of float
    """

    low: Array
    high: Array
    bias: tuple[float, float]


def optimum_of_linear(  # noqa: PLR0917
    X: Array,
    originals: Array,
    rows: npt.NDArray[np.intp],
    y: Array,
    C: Array,
    c: Array,
    bias: float,
    computed: ComputedMachine | None = None,
) -> Optimum:
    """Find the optimum of a linear machine.

    Parameters
    ----------
    X, originals : (n_rows, d) arrays
        Samples, whose columns are those of `Points`.
    rows : (n,) array of int
        Those that the machine is trained on, in ascending order.
    y, C : (n,) arrays
        Their labels, and upper bounds of alpha.
    c : (n,) array
        Coefficients alpha_i y_i in the box, where it is sought from.
    bias : float
    computed : ComputedMachine, optional
        That of c, where it is known.
    """
    is_all = len(rows) == len(X)
    Z, distinct = (X, originals) if is_all else (X[rows], originals[rows])
    start = computed_machine(X, rows, c) if computed is None else computed
    points = Points(Z.T, distinct.T, np.arange(X.shape[1]), start.at(rows).lengths, y, C)

    def around(tried: Array, bias: float) -> tuple[Location, ComputedMachine, float]:
        machine = start if tried is c else computed_machine(X, rows, tried)
        return locate_computed(points, tried, machine.at(rows), bias), machine, float(np.linalg.norm(machine.w))

    return _nearest(around, c, bias, lambda: _trained_linear(Z, y, C))


def optimum_with_kernel(kernel: Kernel, Z: Array, K: Array, y: Array, C: Array, c: Array, bias: float) -> Optimum:  # noqa: PLR0917
    """Find the optimum of a machine with a positive semidefinite kernel.

    Parameters
    ----------
    kernel : Kernel
    Z : (n, d) array
        Samples.
    K : (n, n) array
        Their Gram matrix.
    y, C, c, bias
        As of `optimum_of_linear`.
    """
    rounding = kernel.rounding(Z)

    def around(c: Array, bias: float) -> tuple[Location, None, float]:
        return locate_by_gram(K, rounding, Z, y, C, c, bias), None, float(np.sqrt(max(float(c @ (K @ c)), 0.0)))

    problem = DualProblem(K, y, C, rounding=rounding.of_machine())
    start = balanced(problem, c * y)
    by_gap = np.inf

    def trained() -> tuple[Array, float]:
        nonlocal by_gap
        found = solve(problem, tolerance=RETRAINED_TO, alpha0=start, on_failure="flag")
        by_gap = root_of_gap(found.duality_gap, found.objective)
        return found.alpha * y, found.bias

    found = _nearest(around, c, bias, trained)
    return found if not by_gap < found.radius else found._replace(radius=by_gap)


def _nearest(
    around: Callable[[Array, float], tuple[Location, ComputedMachine | None, float]],
    c: Array,
    bias: float,
    train: Callable[[], tuple[Array, float]],
) -> Optimum:
    """Repair a machine, and train it where that does not do; return the one with the smallest radius."""
    is_repaired = True
    found, machine, norm = around(c, bias)
    best = Optimum(c, bias, norm, found.radius, is_repaired, machine)
    for is_repaired in (True, False):
        for _ in range(REPAIRS):
            if best.radius <= CLOSE_ENOUGH * best.norm:
                return best
            c, bias = found.c, found.bias
            found, machine, norm = around(c, bias)
            if not found.radius < best.radius:
                break
            best = Optimum(c, bias, norm, found.radius, is_repaired, machine)
        if not is_repaired or best.radius <= CLOSE_ENOUGH * best.norm:
            break
        c, bias = train()
        found, machine, norm = around(c, bias)
        if not best.radius < found.radius:
            best = Optimum(c, bias, norm, found.radius, False, machine)
    return best


def _trained_linear(Z: Array, y: Array, C: Array) -> tuple[Array, float]:
    if len(Z) <= FEW_ROWS:
        centre = Z.mean(axis=0)
        centred = Z - centre
        found = solve(DualProblem(centred @ centred.T, y, C), tolerance=RETRAINED_TO, on_failure="flag")
        return found.alpha * y, found.bias - float(centre @ (Z.T @ (found.alpha * y)))
    machine = SVM(tolerance=RETRAINED_TO, on_failure="flag").fit(Z, y, sample_weight=C)
    c = np.zeros(len(Z))
    c[machine.support_] = machine.dual_coef_[0]
    return c, float(machine.intercept_[0])


def outputs_of_linear(optimum: Optimum, rows: npt.NDArray[np.intp], y: Array, C: Array) -> Outputs:
    """Bound the optimal outputs of a linear machine at the rows of its matrix.

    Parameters
    ----------
    optimum : Optimum
        Of a linear kernel.
    rows : (n,) array of int
        Those that the machine is trained on.
    y, C : (n,) arrays
        Their labels, and upper bounds of alpha.
    """
    assert optimum.computed is not None
    w, _, values, lengths = optimum.computed
    reach = lengths * (optimum.radius + EPSILON * (len(w) + VALUE_TERMS) * optimum.norm) * ROUNDED_UP
    low, high = values - reach, values + reach
    return Outputs(low, high, bias_interval(y, C, low[rows], high[rows]))


def outputs_with_kernel(  # noqa: PLR0917
    kernel: Kernel, optimum: Optimum, across: Array, X: Array, rows: npt.NDArray[np.intp], y: Array, C: Array
) -> Outputs:
    """Bound the optimal outputs of a machine with a kernel: |f - f*| <= |w - w*| sqrt(K(x, x)).

    Parameters
    ----------
    kernel : Kernel
    optimum : Optimum
    across : (n_rows, n) array
        Kernel values of the rows and those that the machine is trained on.
    X : (n_rows, d) array
    rows, y, C
        As of `outputs_of_linear`.
    """
    own, sizes = kernel.rounding(X), np.abs(optimum.c)
    lengths = np.sqrt(kernel.diagonal(X) * (1.0 + own.relative) + own.reach * own.lengths)
    error = np.abs(across) @ sizes * (float(own.relative.max()) + EPSILON * (len(sizes) + VALUE_TERMS))
    error += float(own.reach.max()) * float(sizes @ own.lengths[rows])
    reach = (lengths * optimum.radius + error) * ROUNDED_UP
    values = across @ optimum.c
    low, high = values - reach, values + reach
    return Outputs(low, high, bias_interval(y, C, low[rows], high[rows]))


def root_of_gap(relative: float, objective: float) -> float:
    """Return the bound on |w - w*| by a relative duality gap: |w - w*|^2 <= P - D where v = w."""
    if not relative < 1.0:
        return np.inf
    return float(np.sqrt(relative * abs(objective) / (1.0 - relative) * ROUNDED_UP))
