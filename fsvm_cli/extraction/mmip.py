"""Orthogonal projections that say most about the class: MMIP, a baseline of infoprop2001."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import numpy as np
from annotated_types import Ge

from fsvm_cli.extraction.base import Extractor
from fsvm_cli.ranking.base import ROUNDING_OF_ZERO, first_largest
from fsvm_cli.ranking.quantise import Indicators, quantise

if TYPE_CHECKING:
    from numpy.typing import NDArray

ANGLES = np.pi / 4 * np.array([1.0, -1.0, 0.5, -0.5, 0.25, -0.25])
"""By which a direction is turned towards another in search of a better one."""


class InformativeProjections(Extractor):
    """Directions w_1, w_2, ... at right angles, each the one whose projection says most about the class.

    Among the directions orthogonal to those before it, w_k has the largest I(w'x; c), the projection being quantised
    into bins of about equally many samples. The estimate is a step function of w: the search begins at the best axis of
    what is left and turns w towards one axis after the other, by angles from 45 to 11 degrees, as long as this helps.
    O(n d² log n) for each sweep over all directions.

    Parameters
    ----------
    n_bins : int, default=10
        Bins of a projection, at least 2.
    n_sweeps : int, default=3
        Sweeps over the axes, at most, at least 1.
    n_components : int or None, default=None
        Components to keep; as many as there are features where None.

    Notes
    -----
    Source: the maximum mutual information projection of Bollacker and Ghosh (1996), which infoprop2001 compares in
    Tables 2 and 3, as far as its definition is known: their text, and how they search, was not at hand. Both
    are cited in full in `Extractor`. The directions depend on the units of the features; standardise these first.

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
    n_sweeps: Annotated[int, Ge(1)] = 3

    def _directions(
        self,
        X: NDArray[np.float64],
        y: NDArray[np.intp],
        n_classes: int,  # noqa: ARG002 - the codes tell
        n_components: int,
    ) -> NDArray[np.float64]:
        found = np.empty((X.shape[1], 0))
        axes = np.eye(X.shape[1])
        for _ in range(n_components):
            best = self._climb(X @ axes, y)
            found = np.column_stack([found, axes @ best])
            axes = axes @ complement(best)
        return found

    def _climb(self, Z: NDArray[np.float64], y: NDArray[np.intp]) -> NDArray[np.float64]:
        """Find the direction in the space of the axes that says most; Z holds the samples' coordinates there."""
        informed = Indicators.of(quantise(Z, self.n_bins)).information(y)
        start = first_largest(informed)
        direction, projection, most = np.eye(Z.shape[1])[start], Z[:, start], informed[start]
        for _ in range(self.n_sweeps):
            before = most
            for axis in range(Z.shape[1]):
                towards = np.eye(Z.shape[1])[axis] - direction[axis] * direction
                length = np.linalg.norm(towards)
                if length < 1e-6:  # the direction is this axis
                    continue
                towards /= length
                turned = np.outer(projection, np.cos(ANGLES)) + np.outer(Z @ towards, np.sin(ANGLES))
                informed = Indicators.of(quantise(turned, self.n_bins)).information(y)
                best = first_largest(informed)
                if informed[best] > most + ROUNDING_OF_ZERO:
                    direction = np.cos(ANGLES[best]) * direction + np.sin(ANGLES[best]) * towards
                    projection, most = turned[:, best], informed[best]
            if most == before:
                break
        unit: NDArray[np.float64] = direction
        return unit


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
