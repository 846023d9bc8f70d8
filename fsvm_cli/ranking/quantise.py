"""Features as finitely many values, and the entropy of several of them together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import entr

if TYPE_CHECKING:
    from numpy.typing import NDArray

RELATIVE_ROUNDING = 1e-13
"""Rounding error of a difference that is 0, in units of the largest value."""


def quantise(X: NDArray[np.float64], n_bins: int) -> NDArray[np.intp]:
    """Replace values by the numbers of bins that hold about as many samples each.

    Parameters
    ----------
    X : ndarray, shape (n_samples, n_features)
    n_bins : int
        At least 2. A feature with no more distinct values than that keeps them. Values that differ by no more than
        `RELATIVE_ROUNDING` of the largest size are one. A value that reaches over the edge of a bin by as much as it
        falls short goes to the bin nearer to the middle, and one in the very middle has a bin of its own: the bins of a
        mirrored feature are the mirror images.

    Returns
    -------
    ndarray of int, shape (n_samples, n_features)
        Codes, of each feature 0 to one less than the number of its values.
    """
    codes = np.empty(X.shape, dtype=np.intp)
    for j, column in enumerate(X.T):
        values, codes[:, j] = _distinct(column)
        if len(values) > n_bins:
            held = np.bincount(codes[:, j])
            # The middle place of a value's samples, in half samples; bins are odd, the edges between them even.
            below, beyond = np.divmod((2 * np.cumsum(held) - held) * n_bins, 2 * len(column))
            bins = 2 * below + np.where(beyond > 0, 1, np.sign(n_bins - 2 * below))
            codes[:, j] = np.unique(bins[codes[:, j]], return_inverse=True)[1]
    return codes


def _distinct(column: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Give the distinct values, ascending, and the number of each sample's; those that differ by rounding are one.

    Equal rows need not have equal projections: the last bit depends on their place in the matrix.
    """
    order = np.argsort(column, kind="stable")
    ascending = column[order]
    first = np.diff(ascending, prepend=-np.inf) > RELATIVE_ROUNDING * np.abs(column).max()
    codes = np.empty(len(column), dtype=np.intp)
    codes[order] = np.cumsum(first) - 1
    return ascending[first], codes


def combined(*codes: NDArray[np.intp]) -> NDArray[np.intp]:
    """Give each combination of codes that occurs a code of its own, shape (n_samples,)."""
    together = codes[0]
    for further in codes[1:]:
        together = np.unique(together * (further.max() + 1) + further, return_inverse=True)[1]
    return together


def code_entropy(codes: NDArray[np.intp]) -> float:
    """Entropy of the relative frequencies of codes, in bits."""
    frequencies = np.bincount(codes) / len(codes)
    return float(entr(frequencies).sum() / np.log(2))


@dataclass(frozen=True)
class Indicators:
    """Quantised features, one column for each of their values.

    Attributes
    ----------
    columns : ndarray of float32, shape (n_samples, n_values)
        1 where the sample has the value, else 0: counts are sums of products, exact below 2^24 samples.
    starts : ndarray of int, shape (n_features,)
        First column of each feature.
    """

    columns: NDArray[np.float32]
    starts: NDArray[np.intp]

    @classmethod
    def of(cls, codes: NDArray[np.intp]) -> Indicators:
        """Build from codes of shape (n_samples, n_features)."""
        n_values = codes.max(axis=0) + 1
        starts = np.cumsum(n_values) - n_values
        columns = np.zeros((len(codes), int(n_values.sum())), dtype=np.float32)
        np.put_along_axis(columns, codes + starts, 1.0, axis=1)
        return cls(columns, starts)

    def joint_entropy(self, codes: NDArray[np.intp]) -> NDArray[np.float64]:
        """Entropy of each feature together with `codes`, in bits.

        Parameters
        ----------
        codes : ndarray of int, shape (n_samples,)

        Returns
        -------
        ndarray, shape (n_features,)
        """
        others = Indicators.of(codes[:, None]).columns
        frequencies = (self.columns.T @ others).astype(np.float64) / len(codes)
        bits: NDArray[np.float64] = np.add.reduceat(entr(frequencies).sum(axis=1), self.starts) / np.log(2)
        return bits

    def information(self, codes: NDArray[np.intp]) -> NDArray[np.float64]:
        """Mutual information of each feature with `codes`, in bits, at least 0, shape (n_features,)."""
        alone = self.joint_entropy(np.zeros_like(codes))
        return np.maximum(alone + code_entropy(codes) - self.joint_entropy(codes), 0)
