"""Linear discriminants, a baseline of infoprop2001."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fsvm_cli.extraction.base import Extractor

if TYPE_CHECKING:
    from fsvm_cli.extraction.base import Array, Codes


class LinearDiscriminants(Extractor):
    """The directions along which the classes lie farthest apart, in units of their spread.

    There are at most n_classes - 1 of them: a curve is level from there on.

    Parameters
    ----------
    n_components : int or None, default=None
        Components to keep; as many as there are where None.

    Notes
    -----
    Source: scikit-learn's LinearDiscriminantAnalysis, one of the methods of Bollacker and Ghosh (1996) that
    infoprop2001 compares in Tables 2 and 3; both in full in `Extractor`.

    See Also
    --------
    PrincipalComponents : Does not look at the classes.

    Examples
    --------
    >>> from fsvm_cli import LinearDiscriminants
    >>> LinearDiscriminants().fit([[0, 3], [1, 1], [0, 2], [5, 3], [6, 1], [5, 2]], list("aaabbb")).directions_.shape
    (2, 1)
    """

    method = "lda"

    def _directions(self, X: Array, y: Codes, n_classes: int, n_components: int) -> Array:
        from sklearn.discriminant_analysis import LinearDiscriminantAnalysis  # noqa: PLC0415 - slow to import, and seldom needed

        # Shares of the variance, which are not used, are 0/0 where the classes have the same mean.
        with np.errstate(invalid="ignore"):
            discriminants = LinearDiscriminantAnalysis(n_components=min(n_components, n_classes - 1, X.shape[1]))
            try:
                fitted = discriminants.fit(X, y)
            except IndexError as error:  # which scikit-learn ends with where it has no spread to divide by
                raise ValueError(
                    f"{self.method} needs samples that differ within their classes; all are alike there: leave it out"
                ) from error
        directions: Array = fitted.scalings_[:, :n_components]
        return directions
