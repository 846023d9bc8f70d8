"""Mutual information of each feature with the class, the baseline of infoprop2001."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import scipy.sparse as sp
from annotated_types import Ge
from scipy.special import xlogy
from sklearn.utils import check_random_state

from fsvm_cli.magnitudes import binary_exponents, value_ranges
from fsvm_cli.ranking.base import Ranker

if TYPE_CHECKING:
    from numpy.typing import NDArray


class MutualInformation(Ranker):
    """What each feature by itself says about the class, in bits.

    For a feature that holds 0 and 1 only, such as whether a word occurs in a text, with P̂ the relative frequency,

        score_j = Σ_c Σ_{v=0,1} P̂(c, v) log₂(P̂(c, v) / (P̂(c) P̂(v)))

    For any other feature the estimator of Ross (2014) from nearest neighbours, as scikit-learn has it, takes the place
    of the sum; it suits continuous features, needs some hundred samples to tell a weak feature from none, and costs
    O(n log n). Both are at least 0, and take any number of classes as they are.

    Use it for words in texts, and wherever a feature acts in a way that is neither linear nor monotone; not on few
    samples, nor to drop features that repeat each other.

    Parameters
    ----------
    n_neighbors : int, default=3
        Neighbours that the estimator for continuous features looks at, at least 1: fewer are less biased, more are
        less noisy. Features of 0 and 1 have no use for it.
    random_state : int, RandomState or None, default=None
        Of the tiny noise that makes the values of continuous features distinct, the same for every feature.
    n_features_to_select : int or None, default=None
        Size of the selected subset; half of the features where None.

    Notes
    -----
    Source: infoprop2001, section on Reuters, which ranks words by their average mutual information with the class. A
    feature that is constant scores 0.

    See Also
    --------
    Mifs : Also looks at redundancy.

    References
    ----------
    - infoprop2001: V. Sindhwani, P. Bhattacharya and S. Rakshit, SDM 2001; in full in `Ranker`.
    - B. C. Ross, "Mutual Information between Discrete and Continuous Data Sets", PLoS ONE 9(2), 2014, e87357.

    Examples
    --------
    >>> from fsvm_cli import MutualInformation
    >>> MutualInformation().fit([[0, 3], [1, 1], [0, 2], [5, 3], [6, 1], [5, 2]], list("aaabbb")).ranking_.tolist()
    [1, 2]
    """

    method = "mutual-information"
    accepts_sparse = True
    handed_down = frozenset({"random_state"})

    n_neighbors: Annotated[int, Ge(1)] = 3
    random_state: int | np.random.RandomState | None = None

    def _scores(self, X: NDArray[np.float64], y: NDArray[np.intp], n_classes: int) -> NDArray[np.float64]:
        binary = holds_zeros_and_ones(X)
        ranges = value_ranges(X)
        continuous = np.flatnonzero(~binary & (ranges > 0))
        exponents = binary_exponents(ranges)
        scores = np.zeros(X.shape[1])
        scores[binary] = occurrence_information(X[:, binary], y, n_classes)
        if continuous.size and np.bincount(y).max() < 2:
            raise ValueError(f"{self.method} needs a class of two samples or more, to find neighbours in it")
        from sklearn.feature_selection import mutual_info_classif  # noqa: PLC0415 - slow to import, and seldom needed

        # One feature at a time, with noise from the same seed: a score must not depend on the other features.
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        for feature in continuous:
            column: Any = X[:, [feature]]
            column = column.toarray() if sp.issparse(X) else column
            # scikit-learn takes a column whose spread is below 2e-15 for a constant one, whatever its unit.
            nats = mutual_info_classif(
                np.ldexp(column, exponents[feature]), y, n_neighbors=self.n_neighbors, random_state=seed
            )
            scores[feature] = nats[0] / np.log(2)
        return scores


def holds_zeros_and_ones(X: Any) -> NDArray[np.bool_]:
    """Whether each column of a dense or CSR matrix holds 0 and 1 only, shape (n_features,)."""
    if not sp.issparse(X):
        both: NDArray[np.bool_] = ((X == 0) | (X == 1)).all(axis=0)
        return both
    other = X.indices[(X.data != 0) & (X.data != 1)]
    only: NDArray[np.bool_] = np.bincount(other, minlength=X.shape[1]) == 0
    return only


def occurrence_information(X: NDArray[np.float64], y: NDArray[np.intp], n_classes: int) -> NDArray[np.float64]:
    """Mutual information of features of 0 and 1 with the class, from relative frequencies.

    Parameters
    ----------
    X : ndarray or csr_array, shape (n_samples, n_features)
        Zeros and ones.
    y : ndarray of int, shape (n_samples,)
        Class codes, each of 0 .. n_classes - 1 present.
    n_classes : int

    Returns
    -------
    ndarray, shape (n_features,)
        In bits, between 0 and the entropy of the class.
    """
    n_samples = len(y)
    members = np.eye(n_classes)[y]
    size = members.sum(axis=0)[:, None]
    present = members.T @ X
    joint = np.stack([size - present, present]) / n_samples
    marginals = joint.sum(axis=1, keepdims=True) * (size / n_samples)
    # Where a joint frequency is 0 its term is 0, and the ratio may be 0/0.
    ratio = np.divide(joint, marginals, out=np.ones_like(joint), where=joint > 0)
    information: NDArray[np.float64] = xlogy(joint, ratio).sum(axis=(0, 1)) / np.log(2)
    return np.maximum(information, 0)
