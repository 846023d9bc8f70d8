"""What a distribution to draw from says of itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Draw = Callable[..., tuple[NDArray[np.float64], NDArray[np.int64]]]


@dataclass(frozen=True)
class Generator:
    """A distribution of features and classes.

    Attributes
    ----------
    draw : callable
        ``draw(rng, n_samples, **parameters)``, with a ``numpy.random.Generator`` and a number of rows, returns X of
        shape (n_samples, n_features) and class codes of shape (n_samples,).
    n_features : int
        Number of features.
    class_names : tuple of str
        Names of the classes, in the order of the codes.
    relevant_features : tuple of int
        Columns on which the class depends, counted from 0.
    """

    draw: Draw
    n_features: int
    class_names: tuple[str, ...]
    relevant_features: tuple[int, ...]
