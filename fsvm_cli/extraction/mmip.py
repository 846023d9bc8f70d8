"""Orthogonal projections with the largest information about the class: MMIP, a baseline of infoprop2001.

The information of a projection is estimated as a smooth function of its direction.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import numpy as np
from annotated_types import Ge
from scipy.special import xlogy

from fsvm_cli.extraction.base import Extractor
from fsvm_cli.extraction.lda import LinearDiscriminants
from fsvm_cli.ranking.base import first_largest, order_of

if TYPE_CHECKING:
    from scipy.optimize import OptimizeResult

    from fsvm_cli.extraction.base import Array, Codes

BINNED_DEVIATIONS = 2.5
"""Standard deviations on either side of the mean over which the bins are counted."""

BLOCK_VALUES = 2**16
"""Values of projections that are processed together: their parts stay in the processor's cache."""


@dataclass(frozen=True, eq=False)
class SplineInformation:
    """Mutual information of a projection and the class, with bins that overlap smoothly.

    A sample belongs to four neighbouring bins in parts, the values of cubic B-splines at its projection; relative
    frequencies of bins and classes are means of these parts. Bins are of one width, 2 `BINNED_DEVIATIONS` standard
    deviations of the projection divided by `n_bins`, and there are as many as the projection needs. The estimate does
    not depend on the length of the direction, and its derivative by the direction is continuous. O(n d) for n samples,
    d features.

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

    X: Array
    y: Codes
    n_bins: int

    def of(self, directions: Array) -> Array:
        """Estimate for several directions.

        Parameters
        ----------
        directions : ndarray, shape (n_features, n_directions)

        Returns
        -------
        ndarray, shape (n_directions,)
            In bits, at least 0 and at most the entropy of the class; 0 where the projection is constant.
        """
        at_once = max(BLOCK_VALUES // len(self.y), 1)
        blocks = (directions[:, begin : begin + at_once] for begin in range(0, directions.shape[1], at_once))
        return np.concatenate([self._of_block(block) for block in blocks] or [np.empty(0)])

    def _of_block(self, directions: Array) -> Array:
        projections = (self.X @ directions).T
        offset, bins = _shared(projections * self._bins_per_unit(projections)[:, None])
        return _bits(*self._frequencies(cubic_parts(offset), bins))

    def with_gradient(self, direction: Array) -> tuple[float, Array]:
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

    def _bins_per_unit(self, projections: Array) -> Array:
        spread = np.sqrt((projections**2).mean(axis=-1))
        per_unit: Array = np.divide(
            self.n_bins / (2 * BINNED_DEVIATIONS), spread, out=np.zeros_like(spread), where=spread > 0
        )
        return per_unit

    def _frequencies(self, parts: Array, bins: Codes) -> tuple[Array, Array]:
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


def _shared(places: Array) -> tuple[Array, Codes]:
    """Find the four bins of each sample: offsets from the knots, and numbers of bins, from 0, along a first axis."""
    knots = np.floor(places)
    first = (knots - knots.min(axis=-1, keepdims=True)).astype(np.intp)
    return places - knots, first + np.arange(4).reshape(4, *([1] * places.ndim))


def _bits(joint: Array, ratio: Array) -> Array:
    bits: Array = xlogy(joint, ratio).sum(axis=(-2, -1)) / np.log(2)
    return np.maximum(bits, 0)


def cubic_parts(offset: Array) -> Array:
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


def cubic_slopes(offset: Array) -> Array:
    """Differentiate `cubic_parts`; shape (4, n), and the four add up to 0."""
    u, v = offset, 1 - offset
    return np.array([-(v**2), 3 * u**2 - 4 * u, 4 * v - 3 * v**2, u**2]) / 2


N_ASCENTS = 5
"""Best starts, from which the search climbs."""

CURVATURE_STEP = 1e-6
"""Distance over which slopes are compared, to find the curvature at the top."""

NEWTON_STEPS = 3
"""Steps with one curvature; each gains some six digits."""

ROUNDING_SPREAD = 1e-10
"""Spread of samples that is rounding, in units of the largest of any direction."""


class InformativeProjections(Extractor):
    """Directions w_1, w_2, ... at right angles, each the one whose projection says most about the class.

    Among the directions orthogonal to those before it, w_k has the largest I(w'x; c). The information is estimated with
    overlapping bins (cubic B-splines), which makes it a smooth function of w. Its gradient leads upwards (L-BFGS) from
    the best of many starts: the linear discriminants, the principal axes, the features and random directions, each in
    the space that is left. The direction that is found never says less than any of them; it is a local maximum, and
    no search can promise more. Directions along which the samples do not differ are left out. O(n d n_starts) for each
    direction.

    Parameters
    ----------
    n_bins : int, default=10
        Bins within two and a half standard deviations of the mean of a projection, at least 2.
    n_starts : int, default=500
        Random directions to begin at, at least 0; they are the same for every fit.
    n_components : int or None, default=None
        Components to keep; as many as there are, at most the smaller of samples and features, where None.

    Notes
    -----
    Source: the maximum mutual information projection of Bollacker and Ghosh (1996), which infoprop2001 compares in
    Tables 2 and 3, as far as its definition is known: their text, and how they search, was not at hand. Both
    are cited in full in `Extractor`. The directions depend on the units of the features; standardise these first.
    Directions of samples fewer than features separate classes by chance.

    See Also
    --------
    SeparatedInformation : Eigenvectors in place of a search.

    Examples
    --------
    >>> from fsvm_cli import InformativeProjections
    >>> InformativeProjections().fit([[0, 3], [1, 1], [0, 2], [5, 3], [6, 1], [5, 2]], list("aaabbb")).directions_.shape
    (2, 2)
    """

    method = "mmip"

    n_bins: Annotated[int, Ge(2)] = 10
    n_starts: Annotated[int, Ge(0)] = 500

    def _directions(self, X: Array, y: Codes, n_classes: int, n_components: int) -> Array:  # noqa: ARG002
        axes = spanned(X)
        if not X.any():
            return axes
        random = np.random.default_rng(0).standard_normal((self.n_starts, X.shape[1])).T
        found = np.empty((X.shape[1], 0))
        for _ in range(min(n_components, axes.shape[1])):
            information = SplineInformation(X @ axes, y, self.n_bins)
            best = climbed(information, starts(information.X, y, axes.T @ np.hstack([np.eye(len(axes)), random])))
            direction = axes @ best
            found = np.column_stack([found, direction * np.sign(direction[first_largest(np.abs(direction))])])
            axes = axes @ complement(best)
        return found


def spanned(X: Array) -> Array:
    """Orthonormal columns that span the directions in which centred samples differ; one where they never do."""
    _, spreads, rows = np.linalg.svd(X, full_matrices=False)
    if spreads[0] == 0:
        return np.eye(X.shape[1])[:, :1]
    axes: Array = rows[spreads > ROUNDING_SPREAD * spreads[0]].T
    return axes


def starts(Z: Array, y: Codes, others: Array) -> Array:
    """List where a search begins.

    Parameters
    ----------
    Z : ndarray, shape (n_samples, n_axes)
        Samples in the space that is left.
    y : ndarray of int, shape (n_samples,)
        Class codes.
    others : ndarray, shape (n_axes, n_others)
        Columns, directions to begin at beside the linear discriminants and the principal axes.

    Returns
    -------
    ndarray, shape (n_axes, n_starts)
        Columns of length 1.
    """
    discriminants = np.empty((Z.shape[1], 0))
    with contextlib.suppress(ValueError):  # where classes have no spread, or one is alone
        discriminants = LinearDiscriminants().fit(Z, y).directions_
    principal = np.linalg.svd(Z, full_matrices=False)[2].T
    directions = np.hstack([discriminants, principal, others])
    lengths = np.linalg.norm(directions, axis=0)
    # A feature may lie in the directions that were found before, and leave none.
    within: Array = directions[:, lengths > ROUNDING_SPREAD] / lengths[lengths > ROUNDING_SPREAD]
    return within


def climbed(information: SplineInformation, begin: Array) -> Array:
    """Maximise from the best starts, and return the best direction.

    Parameters
    ----------
    information : SplineInformation
    begin : ndarray, shape (n_axes, n_starts)
        Columns.

    Returns
    -------
    ndarray, shape (n_axes,)
        Of length 1; its information is no less than at any start, up to rounding.
    """
    from scipy.optimize import minimize  # noqa: PLC0415 - slow to import, and seldom needed

    best = order_of(information.of(begin))[:N_ASCENTS]
    # In coordinates in which the samples spread alike in all directions, the ascent takes a tenth of the steps.
    spreads, turned = np.linalg.eigh(information.X.T @ information.X)
    alike = turned / np.sqrt(np.maximum(spreads, ROUNDING_SPREAD * spreads[-1]))

    def descent(coordinates: Array) -> tuple[float, Array]:
        bits, gradient = information.with_gradient(alike @ coordinates)
        return -bits, -(alike.T @ gradient)

    def descended(coordinates: Array, accuracy: float) -> OptimizeResult:
        unit = coordinates / np.linalg.norm(coordinates)
        options = {"maxiter": 1000, "ftol": accuracy, "gtol": 1e-9}
        return minimize(descent, unit, method="L-BFGS-B", jac=True, options=options)

    # Most lead to the same top, which only one need reach with all digits.
    tops = [descended(np.linalg.solve(alike, direction), 1e-5) for direction in begin[:, best].T]
    highest = tops[first_largest(np.array([-top.fun for top in tops]))]
    direction = alike @ descended(highest.x, 0.0).x
    return sharpened(information, direction / np.linalg.norm(direction))


def sharpened(information: SplineInformation, direction: Array) -> Array:
    """Refine a direction near a maximum by Newton steps on the gradient.

    A climb ends where the information no longer rises, and it is flat at the top: half of the digits of the direction
    are rounding then, other ones on another processor, and each direction hands them on to those after it. The gradient
    is not flat there.

    Parameters
    ----------
    information : SplineInformation
    direction : ndarray, shape (n_axes,)
        Of length 1.

    Returns
    -------
    ndarray, shape (n_axes,)
        Of length 1; the given one where it is no top, or the steps do not lead nearer.
    """
    from scipy.optimize import approx_fprime  # noqa: PLC0415 - as above

    across = complement(direction)

    def slopes(place: Array) -> Array:
        slope: Array = across.T @ information.with_gradient(direction + across @ place)[1]
        return slope

    place = np.zeros(across.shape[1])
    if not place.size:
        return direction
    with contextlib.suppress(np.linalg.LinAlgError):
        curvature = np.atleast_2d(approx_fprime(place, slopes, CURVATURE_STEP))
        if np.linalg.eigvalsh(curvature + curvature.T).max() >= 0:
            return direction
        for _ in range(NEWTON_STEPS):
            place = place - np.linalg.solve(curvature, slopes(place))
    if not np.linalg.norm(slopes(place)) < np.linalg.norm(slopes(np.zeros_like(place))):
        return direction
    top: Array = direction + across @ place
    return top / np.linalg.norm(top)


def complement(direction: Array) -> Array:
    """Orthonormal columns at right angles to a unit vector: its reflection to an axis, applied to the others.

    The axis is that of the largest entry, the first of equals. Any other choice, as that of a library that computes a
    null space, may depend on the sign of an entry that is 0 up to rounding, and turn the columns arbitrarily.

    Parameters
    ----------
    direction : ndarray, shape (n,)

    Returns
    -------
    ndarray, shape (n, n - 1)
    """
    axis = first_largest(np.abs(direction))
    normal = direction.copy()
    normal[axis] += np.copysign(1.0, direction[axis])
    mirror = np.eye(len(direction)) - np.outer(normal, normal) * (2 / (normal @ normal))
    return np.delete(mirror, axis, axis=1)
