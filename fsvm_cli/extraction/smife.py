"""Principal directions of pairwise information about the class: SMIFE, a baseline of infoprop2001."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import numpy as np
from annotated_types import Ge

from fsvm_cli.extraction.base import Extractor
from fsvm_cli.ranking.base import order_of
from fsvm_cli.ranking.koller_sahami import pairwise_conditional_information
from fsvm_cli.ranking.quantise import Indicators, quantise

if TYPE_CHECKING:
    from fsvm_cli.extraction.base import Array, Codes


class SeparatedInformation(Extractor):
    """Eigenvectors of what each two features say together about the class.

    The matrix has the entries I(x_i, x_j; c), and I(x_i; c) on its diagonal, in bits; the directions are its
    eigenvectors in the order of the sizes of their eigenvalues. Features are quantised into bins of about equally many
    samples. O(n d² bins²) for d features.

    Parameters
    ----------
    n_bins : int, default=10
        Bins of a feature, at least 2; a feature with no more distinct values than that keeps them.
    n_components : int or None, default=None
        Components to keep; as many as there are features where None.

    Notes
    -----
    Source: the separated mutual information feature extractor of Bollacker and Ghosh (1996), which infoprop2001
    compares in Tables 2 and 3, as far as its definition is known: their text was not at hand. Both are cited in full
    in `Extractor`. Eigenvectors depend on the units of the features; standardise these first. The first one is nearly
    the mean of all features, because the entries are all positive.

    See Also
    --------
    InformativeProjections : Searches the directions.

    Examples
    --------
    >>> from fsvm_cli import SeparatedInformation
    >>> SeparatedInformation().fit([[0, 3], [1, 1], [0, 2], [5, 3], [6, 1], [5, 2]], list("aaabbb")).directions_.shape
    (2, 2)
    """

    method = "smife"

    n_bins: Annotated[int, Ge(2)] = 10

    def _directions(self, X: Array, y: Codes, n_classes: int, n_components: int) -> Array:  # noqa: ARG002
        values, vectors = np.linalg.eigh(joint_information(quantise(X, self.n_bins), y))
        largest_first = order_of(np.abs(values))
        directions: Array = vectors[:, largest_first[:n_components]]
        return directions


def joint_information(codes: Codes, y: Codes) -> Array:
    """Return the information of each two features together about the class.

    Parameters
    ----------
    codes : ndarray of int, shape (n_samples, n_features)
        Quantised features.
    y : ndarray of int, shape (n_samples,)
        Class codes.

    Returns
    -------
    ndarray, shape (n_features, n_features)
        I(x_i, x_j; c) in bits, symmetric; on the diagonal I(x_i; c).
    """
    joint = pairwise_conditional_information(codes, y) + Indicators.of(codes).information(y)
    symmetric: Array = 0.5 * (joint + joint.T)
    return symmetric
