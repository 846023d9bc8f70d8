"""The loss of a θ that is known up to a normal distribution: a lower bound on the evidence of the whole kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from fsvm_cli.evidence.loss import Loss, Smoothed

if TYPE_CHECKING:
    from fsvm_cli.svm.vectors import Array


@dataclass(frozen=True, eq=False)
class BlurredLoss(Loss):
    """The average of another loss over θ_i ~ N((V b)_i, spread_i^2), one spread for each sample.

    Not in gold2005, whose θ = V b, equation (18), leaves out what V loses.

    Where b is known, θ of the whole kernel is that, with spread_i^2 = K_ii - (V V')_ii. By Jensen's inequality the
    average of exp(-C Σ l(y_i θ_i)) is at least exp of the average, so that the evidence with this loss and the kernel
    V V' is a lower bound on that with the whole kernel. The evidence of V V' alone is no bound: it disregards the
    variance that V V' has lost, and rises with k0.

    Attributes
    ----------
    loss : Loss
        One that normal distributions have an average of.
    spreads : (n,) array
        > 0.

    References
    ----------
    - J. Hensman, A. Matthews and Z. Ghahramani, "Scalable Variational Gaussian Process Classification", AISTATS 2015:
      the bound, there with a normal distribution for b.
    """

    name: ClassVar[str] = "blurred"
    has_curvature: ClassVar[bool] = True

    loss: Loss
    spreads: Array

    def value(self, margins: Array) -> Array:  # noqa: D102 - as in Loss
        return self.expanded(margins).value

    def slope(self, margins: Array) -> Array:  # noqa: D102 - as in Loss
        return self.expanded(margins).slope

    def expanded(self, margins: Array) -> Smoothed:  # noqa: D102 - as in Loss
        return self.loss.smoothed(margins, self._beside(margins))

    def of_rows(self, rows: slice) -> BlurredLoss:  # noqa: D102 - as in Loss
        return BlurredLoss(self.loss.of_rows(rows), self.spreads[rows])

    def smoothed(self, margins: Array, spreads: Array) -> Smoothed:  # noqa: D102 - as in Loss
        return self.loss.smoothed(margins, np.hypot(spreads, self._beside(margins)))

    def log_normaliser(self, C: float) -> float:  # noqa: D102 - as in Loss
        return self.loss.log_normaliser(C)

    def log_normaliser_slope(self, C: float) -> float:  # noqa: D102 - as in Loss
        return self.loss.log_normaliser_slope(C)

    def _beside(self, margins: Array) -> Array:
        """Return the spreads in the shape in which they go with margins (n,) or (n, k)."""
        return self.spreads.reshape(-1, *[1] * (margins.ndim - 1))
