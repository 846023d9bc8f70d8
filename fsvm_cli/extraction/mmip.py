"""Orthogonal projections that say most about the class: MMIP, a baseline of infoprop2001."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Annotated

import numpy as np
from annotated_types import Ge

from fsvm_cli.extraction.base import Extractor
from fsvm_cli.extraction.lda import LinearDiscriminants
from fsvm_cli.extraction.spline_information import SplineInformation
from fsvm_cli.ranking.base import first_largest, order_of

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.optimize import OptimizeResult

N_ASCENTS = 5
"""Starts, the best of all, from which the search climbs."""

APART = 1e-6
"""Distance over which slopes are compared, to find the curvature at the top."""

NEWTON_STEPS = 3
"""With one curvature, each gains some six digits."""

ROUNDING = 1e-10
"""Spread of samples that is none, in units of the largest of any direction."""


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

    def _directions(
        self,
        X: NDArray[np.float64],
        y: NDArray[np.intp],
        n_classes: int,  # noqa: ARG002 - the codes tell
        n_components: int,
    ) -> NDArray[np.float64]:
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


def spanned(X: NDArray[np.float64]) -> NDArray[np.float64]:
    """Orthonormal columns that span the directions in which centred samples differ; one where they never do."""
    _, spreads, rows = np.linalg.svd(X, full_matrices=False)
    if spreads[0] == 0:
        return np.eye(X.shape[1])[:, :1]
    axes: NDArray[np.float64] = rows[spreads > ROUNDING * spreads[0]].T
    return axes


def starts(Z: NDArray[np.float64], y: NDArray[np.intp], others: NDArray[np.float64]) -> NDArray[np.float64]:
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
    within: NDArray[np.float64] = directions[:, lengths > ROUNDING] / lengths[lengths > ROUNDING]
    return within


def climbed(information: SplineInformation, begin: NDArray[np.float64]) -> NDArray[np.float64]:
    """Climb from the best starts, and return the best direction that was met.

    Parameters
    ----------
    information : SplineInformation
    begin : ndarray, shape (n_axes, n_starts)
        Columns.

    Returns
    -------
    ndarray, shape (n_axes,)
        Of length 1; it says no less than any start, but for rounding.
    """
    from scipy.optimize import minimize  # noqa: PLC0415 - slow to import, and seldom needed

    best = order_of(information.of(begin))[:N_ASCENTS]
    # In coordinates in which the samples spread alike in all directions, the ascent takes a tenth of the steps.
    spreads, turned = np.linalg.eigh(information.X.T @ information.X)
    alike = turned / np.sqrt(np.maximum(spreads, ROUNDING * spreads[-1]))

    def descent(coordinates: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        bits, gradient = information.with_gradient(alike @ coordinates)
        return -bits, -(alike.T @ gradient)

    def descended(coordinates: NDArray[np.float64], accuracy: float) -> OptimizeResult:
        unit = coordinates / np.linalg.norm(coordinates)
        options = {"maxiter": 1000, "ftol": accuracy, "gtol": 1e-9}
        return minimize(descent, unit, method="L-BFGS-B", jac=True, options=options)

    # Most lead to the same top, which only one need reach with all digits.
    tops = [descended(np.linalg.solve(alike, direction), 1e-5) for direction in begin[:, best].T]
    highest = tops[first_largest(np.array([-top.fun for top in tops]))]
    direction = alike @ descended(highest.x, 0.0).x
    return sharpened(information, direction / np.linalg.norm(direction))


def sharpened(information: SplineInformation, direction: NDArray[np.float64]) -> NDArray[np.float64]:
    """Take a direction that is nearly the top to it, by Newton steps on the gradient.

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

    def slopes(place: NDArray[np.float64]) -> NDArray[np.float64]:
        slope: NDArray[np.float64] = across.T @ information.with_gradient(direction + across @ place)[1]
        return slope

    place = np.zeros(across.shape[1])
    if not place.size:
        return direction
    with contextlib.suppress(np.linalg.LinAlgError):
        curvature = np.atleast_2d(approx_fprime(place, slopes, APART))
        if np.linalg.eigvalsh(curvature + curvature.T).max() >= 0:
            return direction
        for _ in range(NEWTON_STEPS):
            place = place - np.linalg.solve(curvature, slopes(place))
    if not np.linalg.norm(slopes(place)) < np.linalg.norm(slopes(np.zeros_like(place))):
        return direction
    top: NDArray[np.float64] = direction + across @ place
    return top / np.linalg.norm(top)


def complement(direction: NDArray[np.float64]) -> NDArray[np.float64]:
    """Orthonormal columns at right angles to a unit vector: the mirror that puts it on an axis moves the other axes.

    The axis is that of the largest entry, the first of equals. Any other choice, as that of a library that computes a
    null space, may hang on the sign of an entry that is 0 but for rounding, and turn the columns arbitrarily.

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
