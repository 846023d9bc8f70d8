"""An order of the features that does not hang on the order in which a table has them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def order_by_content(X: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the columns of `X` ordered by their values.

    Methods that draw features at random go through them in this order, so that the scores move with the features.

    Parameters
    ----------
    X : ndarray, shape (n_samples, n_features)

    Returns
    -------
    ndarray of int, shape (n_features,)
        Equal columns keep the order in which they stand.
    """
    contents = [np.ascontiguousarray(column).tobytes() for column in X.T]
    return np.array(sorted(range(X.shape[1]), key=contents.__getitem__), dtype=np.intp)
