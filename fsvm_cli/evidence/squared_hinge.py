"""The squared hinge loss, p = 2 in gold2005."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import scipy.optimize
from scipy.special import ndtr

from fsvm_cli.evidence.hinge import normal_density
from fsvm_cli.evidence.loss import Loss, Smoothed

if TYPE_CHECKING:
    from fsvm_cli.svm.vectors import Array


@dataclass(frozen=True)
class SquaredHinge(Loss):
    """l(z) = 1/2 max(0, 1 - z)^2, Gold et al. (2005), equation (1) with p = 2.

    The loss of the machine with 1/C on the diagonal of its Gram matrix, and coefficients without a bound.

    See Also
    --------
    Hinge : p = 1.

    Notes
    -----
    For |θ| < 1, exp(-C l(θ)) + exp(-C l(-θ)) = 2 exp(-C (1 + θ^2) / 2) cosh(Cθ), which is largest where θ = tanh(Cθ):
    at θ* = 0 for C <= 1, and at some 0 < θ* < 1 beyond. So ln κ = C (1 + θ*^2) / 2 - ln(2 cosh(Cθ*)), and, θ* being
    stationary, d ln κ / dC = (1 - θ*^2) / 2, which (8) needs.
    """

    name: ClassVar[str] = "squared hinge"

    def value(self, margins: Array) -> Array:  # noqa: D102 - as in Loss
        return 0.5 * np.maximum(0.0, 1.0 - margins) ** 2

    def slope(self, margins: Array) -> Array:  # noqa: D102 - as in Loss
        return -np.maximum(0.0, 1.0 - margins)

    def smoothed(self, margins: Array, spreads: Array) -> Smoothed:  # noqa: D102 - as in Loss
        u = (1.0 - margins) / spreads
        below, density = ndtr(u), normal_density(u)
        value = 0.5 * spreads**2 * ((1.0 + u**2) * below + u * density)
        return Smoothed(value, -spreads * (u * below + density), below)

    def log_normaliser(self, C: float) -> float:  # noqa: D102 - as in Loss
        theta = _most_probable(C)
        return 0.5 * C * (1.0 + theta**2) - float(np.logaddexp(C * theta, -C * theta))

    def log_normaliser_slope(self, C: float) -> float:  # noqa: D102 - as in Loss
        return 0.5 * (1.0 - _most_probable(C) ** 2)


def _most_probable(C: float) -> float:
    """Return θ*, the root of θ = tanh(Cθ) that is not negative, and positive where there is one."""
    if C <= 1.0:
        return 0.0
    # tanh(x) > x - x^3/3 puts the root above this; just above C = 1 rounding cannot tell the two apart.
    lower = math.sqrt(3.0 * (C - 1.0) / C**3)
    if math.tanh(C * lower) <= lower:
        return lower
    return float(scipy.optimize.brentq(lambda theta: math.tanh(C * theta) - theta, lower, 1.0, xtol=1e-15))
