"""Features chosen one by one by what they say about the class, less what those before them say already."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fsvm_cli.ranking.base import first_largest
from fsvm_cli.ranking.quantise import Indicators, quantise

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray


def select_greedily(
    X: NDArray[np.float64], y: NDArray[np.intp], n_bins: int, price: Callable[[int], float], priority: NDArray[np.intp]
) -> Iterator[tuple[int, float]]:
    """Yield features in the order of choice, each with its criterion I(x_j; c) - price(|S|) Σ_{s in S} I(x_j; x_s).

    Parameters
    ----------
    X : ndarray, shape (n_samples, n_features)
    y : ndarray of int, shape (n_samples,)
        Class codes.
    n_bins : int
        Of each feature, as in `quantise`.
    price : callable
        Gives the price of redundancy, by the number of features in S, those chosen before.
    priority : ndarray of int, shape (n_features,)
        Of features that tie the one with the least number is chosen.

    Yields
    ------
    feature : int
        The one whose criterion, in bits, is largest of those that are left.
    criterion : float
    """
    codes = quantise(X, n_bins)
    features = Indicators.of(codes)
    relevance = features.information(y)
    redundancy = np.zeros(X.shape[1])
    remaining = np.ones(X.shape[1], dtype=bool)
    for n_chosen in range(X.shape[1]):
        criterion = relevance - price(n_chosen) * redundancy
        chosen = first_largest(np.where(remaining, criterion, -np.inf), priority)
        yield chosen, float(criterion[chosen])
        remaining[chosen] = False
        redundancy += features.information(codes[:, chosen])
