"""Where the optimum of a machine is: a better machine, by Newton steps or else by training, and bounds around it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fsvm_cli.svm.certified import (
    Points,
    accurate_normal_vector,
    bias_interval,
    lengths_of,
    locate,
    locate_by_gram,
)
from fsvm_cli.svm.compiled import EPSILON
from fsvm_cli.svm.estimator import SVM
from fsvm_cli.svm.margin_factor import UNDERFLOW, VALUE_TERMS
from fsvm_cli.svm.solvers.dual import DualProblem
from fsvm_cli.svm.solvers.solve import balanced, solve

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from fsvm_cli.svm.certified import Location
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
    w : (d,) array or None
        Its normal vector, of the linear kernel.
    norm : float
        The length of w.
    radius : float
        Upper bound of |w - w*|; infinite where none is known.
    is_repaired : bool
        Whether Newton steps did, and no training.
    """

    c: Array
    bias: float
    w: Array | None
    norm: float
    radius: float
    is_repaired: bool


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


def optimum_of_linear(columns: Array, originals: Array, y: Array, C: Array, c: Array, bias: float) -> Optimum:  # noqa: PLR0917
    """Find the optimum of a linear machine.

    Parameters
    ----------
    columns, originals : (d, n) arrays
        As of `Points`.
    y, C : (n,) arrays
        Labels, and upper bounds of alpha.
    c : (n,) array
        Coefficients alpha_i y_i in the box, where it is sought from.
    bias : float
    """
    features = np.arange(len(columns))
    points = Points(columns, originals, features, lengths_of(columns, features), y, C)

    def around(c: Array, bias: float) -> tuple[Location, Array, float]:
        w, rounding = accurate_normal_vector(columns, points.lengths, c)
        return locate(points, c, w, bias, rounding=rounding), w, float(np.linalg.norm(w))

    return _nearest(around, c, bias, lambda: _trained_linear(columns.T, y, C))


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
    around: Callable[[Array, float], tuple[Location, Array | None, float]],
    c: Array,
    bias: float,
    train: Callable[[], tuple[Array, float]],
) -> Optimum:
    """Repair a machine, and train it where that does not do; return the one with the smallest radius."""
    is_repaired = True
    found, w, norm = around(c, bias)
    best = Optimum(c, bias, w, norm, found.radius, is_repaired)
    for is_repaired in (True, False):
        for _ in range(REPAIRS):
            if best.radius <= CLOSE_ENOUGH * best.norm:
                return best
            c, bias = found.c, found.bias
            found, w, norm = around(c, bias)
            if not found.radius < best.radius:
                break
            best = Optimum(c, bias, w, norm, found.radius, is_repaired)
        if not is_repaired or best.radius <= CLOSE_ENOUGH * best.norm:
            break
        c, bias = train()
        found, w, norm = around(c, bias)
        if not best.radius < found.radius:
            best = Optimum(c, bias, w, norm, found.radius, is_repaired=False)
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


def outputs_of_linear(optimum: Optimum, X: Array, rows: npt.NDArray[np.intp], y: Array, C: Array) -> Outputs:
    """Bound the optimal outputs of a linear machine.

    Parameters
    ----------
    optimum : Optimum
    X : (n_rows, d) array
    rows : (n,) array of int
        Those that the machine is trained on.
    y, C : (n,) arrays
        Their labels, and upper bounds of alpha.
    """
    w, terms = np.asarray(optimum.w), X.shape[1] + VALUE_TERMS
    lengths = np.sqrt(np.einsum("ij,ij->i", X, X) * (1.0 + EPSILON * terms) + UNDERFLOW) * ROUNDED_UP
    reach = lengths * (optimum.radius + EPSILON * terms * optimum.norm) * ROUNDED_UP
    values = X @ w
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
    X, rows, y, C
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
