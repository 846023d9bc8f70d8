"""What a projection says about the class, as a smooth function of its direction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import xlogy

if TYPE_CHECKING:
    from numpy.typing import NDArray

REACH = 2.5
"""Standard deviations on either side of the mean over which the bins are counted."""

BLOCK = 2**16
"""Values of projections that are looked at together: their parts stay in the processor's cache."""


@dataclass(frozen=True, eq=False)
class SplineInformation:
    """Mutual information of a projection and the class, with bins that overlap smoothly.

    A sample belongs to four neighbouring bins in parts, the values of cubic B-splines at its projection; relative
    frequencies of bins and classes are means of these parts. Bins are of one width, 2 `REACH` standard deviations of
    the projection divided by `n_bins`, and there are as many as the projection needs. The estimate does not depend on
    the length of the direction, and its derivative by the direction is continuous. O(n d) for n samples, d features.

    Attributes
    ----------
    X : ndarray, shape (n_samples, n_features)
        Centred samples.
    y : ndarray of int, shape (n_samples,)
        Class codes.
    n_bins : int
        At least 2.

    Notes
    -----
    Source: C. O. Daub, R. Steuer, J. Selbig and S. Kloska, "Estimating mutual information using B-spline functions",
    BMC Bioinformatics 5, 2004, article 118; bins in units of the standard deviation are ours.
    """

    X: NDArray[np.float64]
    y: NDArray[np.intp]
    n_bins: int

    def of(self, directions: NDArray[np.float64]) -> NDArray[np.float64]:
        """Estimate for several directions.

        Parameters
        ----------
        directions : ndarray, shape (n_features, n_directions)

        Returns
        -------
        ndarray, shape (n_directions,)
            In bits, at least 0 and at most the entropy of the class; 0 where the projection is constant.
        """
        at_once = max(BLOCK // len(self.y), 1)
        blocks = (directions[:, begin : begin + at_once] for begin in range(0, directions.shape[1], at_once))
        return np.concatenate([self._of_block(block) for block in blocks] or [np.empty(0)])

    def _of_block(self, directions: NDArray[np.float64]) -> NDArray[np.float64]:
        projections = (self.X @ directions).T
        offset, bins = _shared(projections * self._bins_per_unit(projections)[:, None])
        return _bits(*self._frequencies(cubic_parts(offset), bins))

    def with_gradient(self, direction: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        """Estimate in bits, and its derivative by the direction, both 0 for a projection that is constant."""
        projection = self.X @ direction
        bins_per_unit = self._bins_per_unit(projection)
        if bins_per_unit == 0:
            return 0.0, np.zeros_like(direction)
        offset, bins = _shared(projection * bins_per_unit)
        joint, ratio = self._frequencies(cubic_parts(offset), bins)
        # The parts of a sample add up to one: of the derivatives of p log p only the logarithms are left.
        by_place = (cubic_slopes(offset) * np.log2(ratio)[self.y, bins]).sum(axis=0) / len(self.y)
        # A longer direction changes the unit of the bins with it.
        by_projection = by_place - (by_place @ projection / (projection @ projection)) * projection
        return float(_bits(joint, ratio)), (self.X.T @ by_projection) * bins_per_unit

    def _bins_per_unit(self, projections: NDArray[np.float64]) -> NDArray[np.float64]:
        spread = np.sqrt((projections**2).mean(axis=-1))
        per_unit: NDArray[np.float64] = np.divide(
            self.n_bins / (2 * REACH), spread, out=np.zeros_like(spread), where=spread > 0
        )
        return per_unit

    def _frequencies(
        self, parts: NDArray[np.float64], bins: NDArray[np.intp]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Joint relative frequencies of classes and bins, and their ratios to the products of the two by themselves.

        Both are of shape (..., n_classes, n_bins), for parts and bins of shape (4, ..., n_samples).
        """
        n_classes, n_bins = int(self.y.max()) + 1, int(bins.max()) + 1
        projections = bins.shape[1:-1]
        tables = np.arange(int(np.prod(projections))).reshape(*projections, 1) * (n_classes * n_bins)
        cells = tables + self.y * n_bins + bins
        counted = np.bincount(cells.ravel(), parts.ravel(), minlength=tables.size * n_classes * n_bins)
        joint = counted.reshape(*projections, n_classes, n_bins) / len(self.y)
        alone = joint.sum(axis=-2, keepdims=True) * joint.sum(axis=-1, keepdims=True)
        return joint, np.divide(joint, alone, out=np.ones_like(joint), where=joint > 0)


def _shared(places: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Find the four bins of each sample: offsets from the knots, and numbers of bins, from 0, along a first axis."""
    knots = np.floor(places)
    first = (knots - knots.min(axis=-1, keepdims=True)).astype(np.intp)
    return places - knots, first + np.arange(4).reshape(4, *([1] * places.ndim))


def _bits(joint: NDArray[np.float64], ratio: NDArray[np.float64]) -> NDArray[np.float64]:
    bits: NDArray[np.float64] = xlogy(joint, ratio).sum(axis=(-2, -1)) / np.log(2)
    return np.maximum(bits, 0)


def cubic_parts(offset: NDArray[np.float64]) -> NDArray[np.float64]:
    """Values of the four cubic B-splines that are not 0 between two knots.

    Parameters
    ----------
    offset : ndarray, shape (n,)
        Distance to the knot on the left, in units of that between knots, 0 to 1.

    Returns
    -------
    ndarray, shape (4, n)
        From left to right; they add up to 1.
    """
    u, v = offset, 1 - offset
    return np.array([v**3, 3 * u**3 - 6 * u**2 + 4, 3 * v**3 - 6 * v**2 + 4, u**3]) / 6


def cubic_slopes(offset: NDArray[np.float64]) -> NDArray[np.float64]:
    """Differentiate `cubic_parts`; shape (4, n), and the four add up to 0."""
    u, v = offset, 1 - offset
    return np.array([-(v**2), 3 * u**2 - 4 * u, 4 * v - 3 * v**2, u**2]) / 2
