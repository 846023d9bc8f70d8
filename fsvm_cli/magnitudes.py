"""Which values doubles can compute with, and units that bring others there."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

LARGEST = 2.0**250
"""Of a feature's values; the fourth power, which is that of a squared inner product, is still a number."""
SMALLEST = 2.0**-250
"""The largest value of a feature, unless all are 0, is no smaller: its square is a normal number, with all digits."""


def check_magnitudes(X: Any, names: Sequence[str] | None = None, *, unseen: bool = False) -> None:
    """Refuse features whose squares and products a double cannot hold.

    Parameters
    ----------
    X : ndarray or sparse matrix, shape (n_samples, n_features)
        Finite values.
    names : sequence of str, optional
        Of the features; their numbers, from 1 on, where left out.
    unseen : bool, default=False
        Whether nothing is learnt from these rows: they may all be close to 0.

    Raises
    ------
    ValueError
        Naming the first feature that has a value beyond `LARGEST`, or values other than 0 that are all closer to 0
        than `SMALLEST`.
    """
    sizes = column_sizes(X)
    too_small = (sizes > 0) & (sizes < SMALLEST) & (not unseen)
    for feature in np.flatnonzero((sizes > LARGEST) | too_small)[:1].tolist():
        kind, bound = ("large", LARGEST) if sizes[feature] > LARGEST else ("small", SMALLEST)
        raise ValueError(
            f"{feature_called(feature, names)} has values of up to {sizes[feature]:.3g}, too {kind} to compute with "
            f"(the bound is {bound:.2g}): scale the features, for example to unit variance, or give it in other units"
        )


def feature_called(feature: int, names: Sequence[str] | None) -> str:
    """Name a feature in a message: by its name, or by its number, from 1 on, where it has none."""
    return f"feature {feature + 1}" if names is None else f"feature '{names[feature]}'"


def column_sizes(X: Any) -> NDArray[np.float64]:
    """Largest absolute value of each column of a dense or sparse matrix, shape (n_features,)."""
    if sp.issparse(X):
        largest: NDArray[np.float64] = abs(X).max(axis=0).toarray().ravel()
    else:
        largest = np.maximum(X.max(axis=0), -X.min(axis=0))
    return largest


def value_ranges(X: Any) -> NDArray[np.float64]:
    """Largest minus smallest value of each column of a dense or CSR matrix, shape (n_features,).

    The largest double where the difference is beyond it; 0 only where all values are equal.
    """
    highest, lowest = X.max(axis=0), X.min(axis=0)
    if sp.issparse(X):
        highest, lowest = highest.toarray().ravel(), lowest.toarray().ravel()
    with np.errstate(over="ignore"):
        ranges: NDArray[np.float64] = np.minimum(highest - lowest, np.finfo(np.float64).max)
    return ranges


def binary_exponents(sizes: NDArray[np.float64]) -> NDArray[np.int32]:
    """Find the powers of two that bring sizes to between ½ and 1.

    Multiplying by a power of two rounds nothing, so that what does not depend on units stays the same to the last bit.

    Parameters
    ----------
    sizes : ndarray
        Finite, at least 0.

    Returns
    -------
    ndarray of int
        For ``ldexp``; 0 where the size is 0.
    """
    exponents: NDArray[np.int32] = -np.frexp(sizes)[1]
    return exponents


@contextlib.contextmanager
def refusing_overflow(who: str) -> Iterator[None]:
    """Turn arithmetic that leaves the doubles into a ValueError that says what to do.

    Without this, a NaN or an infinity on the way may end in scores that look like any others.

    Parameters
    ----------
    who : str
        The method, for the message.
    """
    try:
        with np.errstate(over="raise", invalid="raise", divide="raise"):
            yield
    except (FloatingPointError, OverflowError) as error:
        raise ValueError(
            f"{who}: the values lead beyond what doubles hold ({error}): scale the features, or mend the parameters"
        ) from error
