"""Words that a trial may know: those of its training part."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fsvm_cli.data.dataset import Dataset, Matrix


def with_training_vocabulary(dataset: Dataset, training: NDArray[np.integer]) -> Matrix:
    """Give the features of all rows, with the words that the training rows alone would suggest.

    Where the columns count occurrences of words (`Dataset.least_occurrences`), a word that occurs often enough in the
    training rows becomes 1 where it occurs and 0 where it does not, and every other word is 0 everywhere: the
    vocabulary does not depend on the test part. Other data are returned as they are.

    Parameters
    ----------
    dataset : Dataset
    training : ndarray of int
        Training rows.

    Returns
    -------
    ndarray or csr_array, shape (n_samples, n_features)
        The data set's own matrix where it holds no counts.
    """
    if dataset.least_occurrences is None:
        return dataset.X
    counts = sp.csr_array(dataset.X)
    is_known = counts[training].sum(axis=0) >= dataset.least_occurrences
    occurs = counts.copy()
    occurs.data = is_known[counts.indices].astype(np.float64)
    occurs.eliminate_zeros()
    return occurs
