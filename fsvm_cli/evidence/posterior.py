"""The posterior of the latent function, in coordinates in which its prior is white."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from fsvm_cli.evidence.loss import Loss
    from fsvm_cli.svm.vectors import Array

ROWS_IN_BLOCK = 256
"""How many samples' losses are looked at together: with some hundred points they stay in the processor's cache."""


@dataclass(frozen=True, eq=False)
class Posterior:
    """Q(b | D) ∝ exp(-1/2 b'b - C sum_i l(y_i θ_i)) with θ = V b, Gold et al. (2005), equations (7), (18) and (19).

    The prior of b is that of independent standard normal numbers, so that of θ has the covariance V V'. The full
    kernel is the case of a square V: the dynamics of (12) and (13) with the mass matrix M = K are, with θ = K a,
    b = V'a and V' times the momentum for the momentum, those of (20) and (21).

    Many points are taken at once, as columns, so that the work is in products of matrices.

    Attributes
    ----------
    V : (n, p) array
    y : (n,) array
        Labels, -1 or +1.
    C : float
        > 0.
    loss : Loss
    """

    V: Array
    y: Array
    C: float
    loss: Loss

    def margins(self, b: Array) -> Array:
        """Return z_i = y_i θ_i, (n,) of a point b (p,), or (n, k) of points (p, k)."""
        margins: Array = self.signed @ b
        return margins

    def potential(self, b: Array) -> Array:
        """Return 1/2 b'b + C sum_i l(y_i θ_i), shape (k,), of points b (p, k): minus ln Q(b | D) but for a constant."""
        prior: Array = 0.5 * np.einsum("pk,pk->k", b, b)
        prior += self.C * self.loss.value(self.margins(b)).sum(axis=0)
        return prior

    def summed_losses(self, b: Array, slopes: Array, curvatures: Array | None = None) -> Array:
        """Return sum_i l(y_i θ_i), (k,), of points b (p, k), and write down what else there is of each l(y_i θ_i).

        Some samples at a time, so that what is written stays in the processor's cache. Where this is done again and
        again, fresh memory would take longer than the losses.

        Parameters
        ----------
        b : (p, k) array
        slopes : (n, k) array
            Where the l' are written.
        curvatures : (n, k) array, optional
            Where the l'' are written, which only losses that have a curvature need.
        """
        total = np.zeros(b.shape[1])
        for start in range(0, len(self.y), ROWS_IN_BLOCK):
            rows = slice(start, start + ROWS_IN_BLOCK)
            found = self.loss.of_rows(rows).expanded(self.signed[rows] @ b)
            found.value[0] += total  # sums are then those of all rows at once, whatever the blocks
            total = found.value.sum(axis=0)
            slopes[rows] = found.slope
            if curvatures is not None:
                curvatures[rows] = found.curvature
        return total

    def force(self, b: Array) -> Array:
        """Return minus the gradient of the potential, shape (p, k): equation (21) with the signs mended.

        In print, dp/dτ = -b + C V'Y l'(YVb) would pull each sample to the wrong side.
        """
        slopes = self.loss.slope(self.margins(b))
        return -b - self.C * (self.signed.T @ slopes)

    @functools.cached_property
    def signed(self) -> Array:
        """Y V, (n, p), with rows that are one piece of memory."""
        return np.ascontiguousarray(self.y[:, None] * self.V)
