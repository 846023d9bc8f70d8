"""Many samples whose features leave one after the other, in the memory of the first copy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fsvm_cli.svm.linear.looks import blocks_of, squared_lengths

if TYPE_CHECKING:
    from numpy.typing import NDArray

FULL = 0.8
"""Part of the columns that are left in a matrix when these move together: those between are read for nothing."""
RECOMPUTE_BELOW = 0.25
"""A sum over features that has fallen to this part of itself is computed afresh: subtractions leave their rounding."""


class LeavingFeatures:
    """Samples on the features that are left.

    Attributes
    ----------
    X : ndarray, shape (n_samples, n_left)
        Row by row in memory, with columns between the rows that nobody needs any more.
    features : ndarray of int, shape (n_left,)
        Of the columns. The last column takes the place of one that is dropped, and no other moves.
    squared_lengths : ndarray, shape (n_samples,)
        Of the samples.
    """

    def __init__(self, X: NDArray[np.float64], weights: NDArray[np.float64] | None) -> None:
        self.X = np.multiply(X, 1.0 if weights is None else np.sqrt(weights), order="C")
        self._memory = self.X.reshape(-1)
        self.features = np.arange(X.shape[1])
        self.squared_lengths = squared_lengths(self.X)
        self._computed = self.squared_lengths.copy()

    def drop(self, feature: int) -> NDArray[np.float64]:
        """Let a feature go; return its column, shape (n_samples,)."""
        (column,) = np.flatnonzero(self.features == feature)
        last = len(self.features) - 1
        dropped = self.X[:, column].copy()
        if column != last:
            self.X[:, column], self.features[column] = self.X[:, last], self.features[last]
        self.X, self.features = self.X[:, :last], self.features[:last]
        if last * self.X.itemsize <= FULL * self.X.strides[0]:
            self._move_together()
        self._shorten(dropped)
        return dropped

    def _move_together(self) -> None:
        """Move the rows to the front of the memory, from the first one on, so that none is overwritten before."""
        n, d = self.X.shape
        together = self._memory[: n * d].reshape(n, d)
        for rows in blocks_of(n):
            together[rows] = self.X[rows]
        self.X = together

    def _shorten(self, dropped: NDArray[np.float64]) -> None:
        self.squared_lengths = self.squared_lengths - dropped * dropped
        few = np.flatnonzero(self.squared_lengths < RECOMPUTE_BELOW * self._computed)
        self.squared_lengths[few] = self._computed[few] = np.einsum("ij,ij->i", self.X[few], self.X[few])
