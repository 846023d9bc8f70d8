"""Principal components, a baseline of infoprop2001."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fsvm_cli.extraction.base import Extractor

if TYPE_CHECKING:
    from fsvm_cli.extraction.base import Array, Codes


class PrincipalComponents(Extractor):
    """The directions along which the samples spread most, whatever their classes.

    Parameters
    ----------
    n_components : int or None, default=None
        Components to keep; as many as there are, at most the smaller of samples and features, where None.

    Notes
    -----
    Source: scikit-learn's PCA, one of the methods of Bollacker and Ghosh (1996) that infoprop2001 compares in Tables 2
    and 3; both in full in `Extractor`.

    See Also
    --------
    LinearDiscriminants : Looks at the classes.

    Examples
    --------
    >>> from fsvm_cli import PrincipalComponents
    >>> PrincipalComponents().fit([[0, 3], [1, 1], [0, 2], [5, 3], [6, 1], [5, 2]], list("aaabbb")).directions_.shape
    (2, 2)
    """

    method = "pca"

    def _directions(self, X: Array, y: Codes, n_classes: int, n_components: int) -> Array:  # noqa: ARG002
        from sklearn.decomposition import PCA  # noqa: PLC0415 - slow to import, and seldom needed

        # Shares of the variance, which are not used, are 0/0 where samples do not vary.
        with np.errstate(invalid="ignore"):
            fitted = PCA(min(n_components, *X.shape), svd_solver="full").fit(X)
        directions: Array = fitted.components_.T
        return directions
