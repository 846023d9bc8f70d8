"""Principal components, a baseline of infoprop2001."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn.decomposition import PCA

from fsvm_cli.extraction.base import Extractor

if TYPE_CHECKING:
    from numpy.typing import NDArray


class PrincipalComponents(Extractor):
    """The directions along which the samples spread most, whatever their classes.

    Parameters
    ----------
    n_components : int or None, default=None
        Components to keep; as many as there are, at most the smaller of samples and features, where None.

    Notes
    -----
    Source: scikit-learn's PCA, one of the methods of Bollacker and Ghosh (1996) that infoprop2001 compares in Tables 2
    and 3.

    See Also
    --------
    LinearDiscriminants : Looks at the classes.

    References
    ----------
    Bollacker and Ghosh (1996) and infoprop2001, in full in `Extractor`.

    Examples
    --------
    >>> from fsvm_cli import PrincipalComponents
    >>> X = [[0, 3], [1, 1], [0, 2], [1, 4], [5, 3], [6, 1], [5, 2], [6, 4]]
    >>> PrincipalComponents(n_components=1).fit(X, [0, 0, 0, 0, 1, 1, 1, 1]).transform(X).shape
    (8, 1)
    """

    method = "pca"

    def _directions(
        self,
        X: NDArray[np.float64],
        y: NDArray[np.intp],  # noqa: ARG002 - the classes do not matter
        n_classes: int,  # noqa: ARG002
        n_components: int,
    ) -> NDArray[np.float64]:
        # Shares of the variance, which are not used, are 0/0 where samples do not vary.
        with np.errstate(invalid="ignore"):
            fitted = PCA(min(n_components, *X.shape), svd_solver="full").fit(X)
        directions: NDArray[np.float64] = fitted.components_.T
        return directions
