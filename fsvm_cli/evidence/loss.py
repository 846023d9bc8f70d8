"""What the Bayesian machine needs to know of a loss."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from fsvm_cli.svm.vectors import Array


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
        Whether `expanded` tells a curvature, which only the gradient of the bound needs.

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
