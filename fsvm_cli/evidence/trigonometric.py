"""The trigonometric loss of Chu, Keerthi and Ong."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from fsvm_cli.evidence.loss import Loss, Smoothed

if TYPE_CHECKING:
    from fsvm_cli.svm.vectors import Array


@dataclass(frozen=True)
class Trigonometric(Loss):
    """l(z) = 2 ln sec(π/4 (1 - z)) for |z| < 1, 0 for z >= 1, infinity for z <= -1.

    With C = 1 the likelihood is cos^2(π/4 (1 - z)), and sums to 1 over the two classes for every θ.

    See Also
    --------
    Hinge, SquaredHinge : The losses of gold2005, which compares its machine with this one.

    Notes
    -----
    With q = cos^2(π/4 (1 - θ)), exp(-C l(θ)) + exp(-C l(-θ)) = q^C + (1 - q)^C. That is largest at q = 1 for C >= 1, so
    that κ = 1, and at q = 1/2 for C < 1, so that κ = 2^(C - 1).

    A normal distribution always reaches where the loss is infinite, so that no average exists: `smoothed` takes values
    and derivatives at the means alone.

    References
    ----------
    - W. Chu, S. S. Keerthi and C. J. Ong, "Bayesian Trigonometric Support Vector Classifier", Neural Computation 15,
      2003, pages 2227-2254.
    """

    name: ClassVar[str] = "trigonometric"
    has_strength: ClassVar[bool] = False

    def value(self, margins: Array) -> Array:  # noqa: D102 - as in Loss
        cosine = np.cos(_angle(margins))
        return np.where(margins > -1.0, -2.0 * np.log(np.where(margins > -1.0, cosine, 1.0)), np.inf)

    def slope(self, margins: Array) -> Array:  # noqa: D102 - as in Loss
        return np.where(margins > -1.0, -0.5 * math.pi * np.tan(_angle(margins)), 0.0)

    def smoothed(self, margins: Array, spreads: Array) -> Smoothed:  # noqa: ARG002, D102 - as in Loss
        inside = np.abs(margins) < 1.0
        curvature = np.where(inside, math.pi**2 / 8.0 / np.cos(_angle(margins)) ** 2, 0.0)
        return Smoothed(self.value(margins), self.slope(margins), curvature)

    def log_normaliser(self, C: float) -> float:  # noqa: D102 - as in Loss
        return min(0.0, C - 1.0) * math.log(2.0)

    def log_normaliser_slope(self, C: float) -> float:  # noqa: D102 - as in Loss
        return math.log(2.0) if C < 1.0 else 0.0


def _angle(margins: Array) -> Array:
    """Return π/4 (1 - z) within [0, π/2], which margins beyond ±1 do not leave."""
    angles: Array = 0.25 * math.pi * (1.0 - np.clip(margins, -1.0, 1.0))
    return angles
