"""Random division of the rows of a data set into a training and a test part."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Split:
    """Rows of the two parts.

    Attributes
    ----------
    train, test : ndarray of int
        Row indices, disjoint, in random order.
    """

    train: NDArray[np.intp]
    test: NDArray[np.intp]


def count_rows(part: Fraction | int, n_samples: int) -> int:
    """Turn a part of the data into a number of rows.

    Parameters
    ----------
    part : Fraction or int
        A number of rows, or a fraction of them, rounded down.
    n_samples : int
        Rows of the data set.
    """
    return int(part * n_samples) if isinstance(part, Fraction) else part


def random_split(n_samples: int, n_train: int, n_test: int, rng: np.random.Generator) -> Split:
    """Draw a split without replacement.

    Training parts of different sizes drawn from the same stream are nested, and their test parts overlap as much as
    they can, so that the points of a learning curve are compared on like data.

    Parameters
    ----------
    n_samples : int
        Rows of the data set.
    n_train, n_test : int
        Rows of the two parts, each at least 1, together at most `n_samples`.
    rng : numpy.random.Generator
        The split's own stream.

    Raises
    ------
    ValueError
        If a part would be empty or the parts would overlap.
    """
    if n_train < 1 or n_test < 1 or n_train + n_test > n_samples:
        raise ValueError(f"{n_train} training and {n_test} test rows cannot be drawn from {n_samples} rows")
    order = rng.permutation(n_samples)
    return Split(train=order[:n_train], test=order[n_samples - n_test :])
