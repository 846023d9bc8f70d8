"""The hinge loss, p = 1 in gold2005."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from scipy.special import ndtr

from fsvm_cli.evidence.loss import Loss, Smoothed

if TYPE_CHECKING:
    from fsvm_cli.svm.vectors import Array


@dataclass(frozen=True)
class Hinge(Loss):
    """l(z) = max(0, 1 - z), Gold et al. (2005), equation (1) with p = 1.

    The loss of the machine (2), whose coefficients are bounded by C.

    See Also
    --------
    SquaredHinge : p = 2.

    Notes
    -----
    exp(-C l(θ)) + exp(-C l(-θ)) is convex between the kinks and largest at them, θ = ±1, so that
    κ(C) = 1 / (1 + exp(-2C)), and d ln κ / dC = 1 - tanh C, which (8) needs.
    """

    name: ClassVar[str] = "hinge"

    def value(self, margins: Array) -> Array:  # noqa: D102 - as in Loss
        return np.maximum(0.0, 1.0 - margins)

    def slope(self, margins: Array) -> Array:  # noqa: D102 - as in Loss
        return -(margins < 1.0).astype(np.float64)

    def smoothed(self, margins: Array, spreads: Array) -> Smoothed:  # noqa: D102 - as in Loss
        u = (1.0 - margins) / spreads
        below, density = ndtr(u), normal_density(u)
        return Smoothed(spreads * (u * below + density), -below, density / spreads)

    def log_normaliser(self, C: float) -> float:  # noqa: D102 - as in Loss
        return -math.log1p(math.exp(-2.0 * C))

    def log_normaliser_slope(self, C: float) -> float:  # noqa: D102 - as in Loss
        return 1.0 - math.tanh(C)


def normal_density(u: Array) -> Array:
    """Return the density of the standard normal distribution at each u."""
    density: Array = np.exp(-0.5 * u**2) / math.sqrt(2.0 * math.pi)
    return density
