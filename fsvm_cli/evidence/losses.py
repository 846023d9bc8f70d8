"""Losses of the Bayesian machine: hinge and squared hinge (p = 1 and 2 in gold2005), and trigonometric.

The trigonometric loss is that of Chu, Keerthi and Ong (2003).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np
import scipy.optimize
from scipy.special import ndtr

if TYPE_CHECKING:
    from fsvm_cli.svm.compiled import Array


class Smoothed(NamedTuple):
    """A loss averaged over normal distributions of its argument, with its first two derivatives by their means."""

    value: Array
    slope: Array
    curvature: Array


@dataclass(frozen=True)
class Loss(ABC):
    """A loss l(z) of the margin z = y θ(x), and the likelihood Q(y | x, θ) = κ(C) exp(-C l(yθ(x))) that it stands for.

    Gold et al. (2005), equation (4). The normaliser κ(C) is the largest factor at which the probabilities of both
    classes sum to no more than 1 for every θ,

        κ(C) = 1 / max_θ [exp(-C l(θ)) + exp(-C l(-θ))].

    Without it the evidence would only fall with C. What the sum lacks of 1 is disregarded, as in the paper.

    Attributes
    ----------
    name : str
        What messages call the loss.
    has_strength : bool
        Whether C is a hyperparameter; the likelihood of a loss without one has C = 1.
    has_curvature : bool
        Whether `expanded` computes a curvature, which only the gradient of the bound needs.
    has_average : bool
        Whether `smoothed` averages; if not, it takes the loss at the means.

    See Also
    --------
    Hinge, SquaredHinge : The losses of the paper.
    Trigonometric : That of its rival.

    References
    ----------
    - P. Sollich, "Bayesian Methods for Support Vector Machines: Evidence and Predictive Class Probabilities", Machine
      Learning 46, 2002, pages 21-52: the normaliser.
    """

    name: ClassVar[str]
    has_strength: ClassVar[bool] = True
    has_curvature: ClassVar[bool] = False
    has_average: ClassVar[bool] = True

    @abstractmethod
    def value(self, margins: Array) -> Array:
        """Return l(z) of each margin; infinity where the likelihood is 0."""

    @abstractmethod
    def slope(self, margins: Array) -> Array:
        """Return l'(z) of each margin, finite everywhere: 0 at a kink's far side, and where the loss is infinite."""

    def expanded(self, margins: Array) -> Smoothed:
        """Return value, slope and curvature at each margin; of a loss with kinks the curvature counts as 0."""
        return Smoothed(self.value(margins), self.slope(margins), np.broadcast_to(0.0, margins.shape))

    def of_rows(self, rows: slice) -> Loss:  # noqa: ARG002 - a loss that is the same for all samples has no use for it
        """Return the loss of some of the samples."""
        return self

    @abstractmethod
    def smoothed(self, margins: Array, spreads: Array) -> Smoothed:
        """Return the averages of l over normal distributions, and their derivatives by the means.

        Parameters
        ----------
        margins : (n,) array
            The means.
        spreads : (n,) array
            The standard deviations, > 0.
        """

    @abstractmethod
    def log_normaliser(self, C: float) -> float:
        """Return ln κ(C), C > 0."""

    @abstractmethod
    def log_normaliser_slope(self, C: float) -> float:
        """Return d ln κ / dC, C > 0."""


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
        shortfall = 1.0 - margins
        return np.maximum(shortfall, 0.0, out=shortfall)

    def slope(self, margins: Array) -> Array:  # noqa: D102 - as in Loss
        return np.multiply(margins < 1.0, -1.0)

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
    # tanh(x) > x - x^3/3 puts the root above this; just above C = 1 the two are equal up to rounding.
    lower = math.sqrt(3.0 * (C - 1.0) / C**3)
    if math.tanh(C * lower) <= lower:
        return lower
    return float(scipy.optimize.brentq(lambda theta: math.tanh(C * theta) - theta, lower, 1.0, xtol=1e-15))


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
    has_average: ClassVar[bool] = False

    def value(self, margins: Array) -> Array:  # noqa: D102 - as in Loss
        return self.expanded(margins).value

    def slope(self, margins: Array) -> Array:  # noqa: D102 - as in Loss
        return self.expanded(margins).slope

    def expanded(self, margins: Array) -> Smoothed:  # noqa: D102 - as in Loss
        tangent = np.tan(_angle(margins))
        inside = margins > -1.0
        value = np.where(inside, np.log1p(tangent**2), np.inf)  # ln sec^2
        return Smoothed(value, np.where(inside, -0.5 * math.pi * tangent, 0.0), np.broadcast_to(0.0, margins.shape))

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
