"""Length scales of a Gaussian kernel tuned by a bound on the leave-one-out error, and the estimator that uses them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np
from annotated_types import Ge

from fsvm_cli.bounds.bound import add_gradient_of_ridge, hard_margin_machine, spread
from fsvm_cli.bounds.radius_margin import enclosing_ball, radius_margin_bound
from fsvm_cli.bounds.span import span_bound
from fsvm_cli.numerics import quantised, refusing_overflow
from fsvm_cli.quasi_newton import minimise_quantised
from fsvm_cli.svm.base import TOLERANCE, TunedMachines
from fsvm_cli.svm.kernels.gaussian import Gaussian

if TYPE_CHECKING:
    from fsvm_cli.bounds.bound import Bound
    from fsvm_cli.svm.compiled import Array
    from fsvm_cli.svm.kernels.base import Rounding
    from fsvm_cli.svm.solvers.dual import DualSolution

INITIAL_RELATIVE_RIDGE = 0.1
RELATIVE_RIDGE_LIMITS = (1e-6, 1.0)
"""Limits of the ridge, in units of the spread of the samples in feature space."""
MAX_LOG_CHANGE = float(np.log(1e3))
"""Of the logarithm of a length scale: beyond it a feature has no effect on the kernel."""
MIN_RELATIVE_DECREASE, MIN_RELATIVE_SLOPE = 2e-9, 1e-5
"""What a step lowers the bound by, and its slopes, where the descent ends; in units of the first value."""
LOG_SPACING, VALUE_SPACING, SLOPE_SPACING = 2.0**-20, 2.0**-32, 2.0**-20
"""Of the logarithms at which the bound is computed; of its values and slopes, in units of the first value: a tenth of
those at which the descent ends. Processors differ by 5e-13 in values and 2e-10 in slopes, at the most."""


@dataclass(frozen=True, eq=False)
class TunedArd:
    """The machine of the squared loss with the kernel and the C that a bound has chosen.

    Attributes
    ----------
    kernel : Gaussian
        exp(-1/2 sum_a w_a (x_a - x'_a)^2); the weight w_a is 1 / l_a^2 for a length scale l_a.
    C : float
        Of the loss C/2 sum_i xi_i^2: a ridge of 1/C on the Gram matrix.
    bound, first_bound : float
        In errors, at the end and at the start.
    n_evaluations : int
    converged : bool
        Whether all bounds on the way reached their tolerance, and the descent ended before `max_iterations`.
    X : (n, d) array
    coefficients : (n,) array
        y_i alpha_i.
    bias : float
    """

    kernel: Gaussian
    C: float
    bound: float
    first_bound: float
    n_evaluations: int
    converged: bool
    X: Array
    coefficients: Array
    bias: float

    def decision_function(self, A: Array) -> Array:
        """Return the machine's values at samples (n_a, d), shape (n_a,)."""
        values: Array = self.kernel.expansion(self.X, A, self.coefficients[None])[0] + self.bias
        return values


@dataclass(frozen=True, eq=False)
class _Place:
    """Kernel, ridge and bound at logarithms of the relative ridge and of the length scales; slope by these."""

    kernel: Gaussian
    ridge: float
    machine: DualSolution
    value: float
    slope: Array
    converged: bool


def tune_ard(
    X: Array,
    y: Array,
    bound: Literal["radius-margin", "span"],
    *,
    max_iterations: int = 100,
    tolerance: float = 1e-6,
) -> TunedArd:
    """Choose length scales and C at which a bound on the leave-one-out error is small.

    From length scales of sqrt(d) and a ridge of a tenth of the spread, `minimise_quantised` moves the logarithms. Each
    step costs a machine, its bound and O(n^2 d).

    Parameters
    ----------
    X : (n, d) array
        Scaled features.
    y : (n,) array
        Labels, -1 or +1, of both classes.
    bound : {"radius-margin", "span"}
        Span is smoothed, as `span_bound` does.
    max_iterations : int
        >= 1.
    tolerance : float
        Relative duality gap of the machines, and of the ball, > 0.

    Returns
    -------
    TunedArd

    Raises
    ------
    ValueError
        If all samples are in one place.

    Notes
    -----
    Source: O. Chapelle, V. Vapnik, O. Bousquet and S. Mukherjee, "Choosing Multiple Parameters for Support Vector
    Machines", Machine Learning 46, 2002, pages 131-159. Ours: the ridge is counted in units of the mean squared
    distance of the samples from their mean in feature space. Were it free, the bound could be least where the ridge
    leaves the machine nothing to tell. The span bound has many local minima: where it matters, compare the length
    scales of several samples.
    """
    if not np.ptp(X, axis=0).any():
        raise ValueError("all samples are in one place: there is no length scale to tune")
    n_features = X.shape[1]
    length_scales = np.full(n_features, 0.5 * np.log(n_features))
    start = quantised(np.append(np.log(INITIAL_RELATIVE_RIDGE), length_scales), LOG_SPACING)
    least, most = quantised(np.log(RELATIVE_RIDGE_LIMITS), LOG_SPACING)
    change = quantised(MAX_LOG_CHANGE, LOG_SPACING)
    converged = True

    def value_and_slope(logarithms: Array) -> tuple[float, Array]:
        nonlocal converged
        here = _place(X, y, bound, logarithms, tolerance)
        converged &= here.converged
        return float(quantised(here.value / first, VALUE_SPACING)), quantised(here.slope / first, SLOPE_SPACING)

    first = _place(X, y, bound, start, tolerance).value
    found = minimise_quantised(
        value_and_slope,
        start,
        lower=np.append(least, start[1:] - change),
        upper=np.append(most, start[1:] + change),
        spacing=LOG_SPACING,
        max_iterations=max_iterations,
        smallest_fall=MIN_RELATIVE_DECREASE,
        smallest_slope=MIN_RELATIVE_SLOPE,
    )
    end = _place(X, y, bound, found.x, tolerance)
    return TunedArd(
        kernel=end.kernel,
        C=1.0 / end.ridge,
        bound=end.value,
        first_bound=first,
        n_evaluations=found.n_evaluations,
        converged=converged and found.ended,
        X=X,
        coefficients=y * end.machine.alpha,
        bias=end.machine.bias,
    )


def _place(X: Array, y: Array, bound: str, logarithms: Array, tolerance: float) -> _Place:
    n, relative_ridge = len(X), float(np.exp(logarithms[0]))
    weights = np.exp(-2.0 * logarithms[1:])
    kernel = Gaussian(2.0, weights=tuple(weights.tolist()))
    gram = kernel.gram(X, X)
    ridge = relative_ridge * spread(gram)
    gram.flat[:: n + 1] += ridge
    rounding = kernel.rounding(X).of_machine()
    machine = hard_margin_machine(gram, y, tolerance=tolerance, on_failure="flag", rounding=rounding)
    found = _bound(bound, gram, y, machine, tolerance, rounding)
    by_entry = found.gram_gradient.copy()
    by_ridge = float(by_entry.trace())
    add_gradient_of_ridge(by_entry, relative_ridge)
    slope = np.append(ridge * by_ridge, -2.0 * weights * kernel.weight_gradient(X, X, by_entry))
    return _Place(kernel, ridge, machine, found.value, slope, found.converged)


def _bound(  # noqa: PLR0917
    name: str, gram: Array, y: Array, machine: DualSolution, tolerance: float, rounding: Rounding
) -> Bound:
    if name == "span":
        return span_bound(gram, y, machine)
    return radius_margin_bound(y, enclosing_ball(gram, tolerance=tolerance, rounding=rounding), machine)


@dataclass(eq=False, repr=False)
class BoundTunedSVM(TunedMachines):
    """Support vector machine of the squared loss whose C and length scales, one for each feature, a bound has chosen.

    The kernel is exp(-½ Σ_a (x_a - x'_a)² / l_a²). A quasi-Newton method goes down a bound on the leave-one-out error,
    along the logarithms of the length scales and of the ridge 1/C. Several classes are separated one against the rest,
    each machine with length scales of its own. Scale the features first.

    Parameters
    ----------
    bound : {"radius-margin", "span"}, default="radius-margin"
        Radius over margin, or the smoothed span of the support vectors; see `tune_ard`.
    max_iterations : int, default=100
        Of the descent, at least 1.

    Attributes
    ----------
    classes_ : (n_classes,) array
    machines_ : tuple of TunedArd
        With the kernel, C and bound of each machine.
    converged_ : (n_machines,) array of bool
        Whether all machines and balls on the way reached their tolerance, and the descent ended before
        `max_iterations`.
    n_features_in_ : int
    feature_names_in_ : (n_features,) array of str
        Where `X` had string column names.

    See Also
    --------
    BayesianSVM : Tunes such length scales by the evidence.
    RadiusMargin, Span : Rank features by such bounds.

    References
    ----------
    - O. Chapelle, V. Vapnik, O. Bousquet and S. Mukherjee, "Choosing Multiple Parameters for Support Vector Machines",
      Machine Learning 46, 2002, pages 131-159; the comparison is that of gold2005.

    Examples
    --------
    >>> from fsvm_cli.bounds.ard import BoundTunedSVM
    >>> X, y = [[0, 3], [1, 1], [0, 2], [5, 3], [6, 1], [5, 2]], list("aaabbb")
    >>> BoundTunedSVM().fit(X, y).predict([[0, 0], [6, 6]]).tolist()
    ['a', 'b']
    """

    bound: Literal["radius-margin", "span"] = "radius-margin"
    max_iterations: Annotated[int, Ge(1)] = 100

    def _tune(self, X: Array, labels: Array) -> None:
        with refusing_overflow("the machine tuned by a bound"):
            # The balls have the tolerance of the machines.
            self.machines_: tuple[TunedArd, ...] = tuple(
                tune_ard(X, each, self.bound, max_iterations=self.max_iterations, tolerance=TOLERANCE)
                for each in labels
            )
        self.converged_ = np.array([machine.converged for machine in self.machines_])
