"""The two toy problems of Weston et al. (2000), as the slides of Jebara show them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fsvm_cli.data.synthetic.generator import Generator

if TYPE_CHECKING:
    from numpy.typing import NDArray

SIGNS = ("-1", "+1")


def draw_linear(
    rng: np.random.Generator, n_samples: int, *, first_share: float, noise_sd: float
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Draw a linear problem of which six features, redundant in threes, carry the class.

    Parameters
    ----------
    rng, n_samples
        As in `Generator`; the classes are equally likely.
    first_share : float
        Probability that features 1 to 3 carry the class of a row; otherwise features 4 to 6 do.
    noise_sd : float
        Standard deviation of features 7 to 202, in the units of the others.

    Returns
    -------
    X : ndarray, shape (n_samples, 202)
        With sign s = ±1, the carrying features are ``s * N(i, 1)``, i = 1, 2, 3; the other three are N(0, 1).
    y : ndarray of int64, shape (n_samples,)
        0 for the sign -1, 1 for +1.
    """
    y = rng.integers(0, 2, size=n_samples)
    sign = 2.0 * y - 1.0
    first_carries = rng.random(n_samples) < first_share
    carries = np.repeat(np.column_stack([first_carries, ~first_carries]), 3, axis=1)
    X = rng.standard_normal((n_samples, 202))
    X[:, :6] = np.where(carries, sign[:, None] * (X[:, :6] + np.tile([1.0, 2.0, 3.0], 2)), X[:, :6])
    X[:, 6:] *= noise_sd
    return X, y


def draw_nonlinear(
    rng: np.random.Generator, n_samples: int, *, noise_sd: float
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Draw a problem whose classes have the same mean and differ in two features together.

    Parameters
    ----------
    rng, n_samples
        As in `Generator`; the classes are equally likely.
    noise_sd : float
        Standard deviation of features 3 to 52, in the units of the others.

    Returns
    -------
    X : ndarray, shape (n_samples, 52)
        Features 1 and 2 have variance 1 about ±(3/4, 3) in the first class and ±(3, -3) in the second, each sign
        equally likely.
    y : ndarray of int64, shape (n_samples,)
        0 for the first class, 1 for the second.
    """
    y = rng.integers(0, 2, size=n_samples)
    side = 2.0 * rng.integers(0, 2, size=n_samples) - 1.0
    X = rng.standard_normal((n_samples, 52))
    X[:, :2] += side[:, None] * np.array([[0.75, 3.0], [3.0, -3.0]])[y]
    X[:, 2:] *= noise_sd
    return X, y


LINEAR = Generator(draw_linear, n_features=202, class_names=SIGNS, relevant_features=tuple(range(6)))
NONLINEAR = Generator(draw_nonlinear, n_features=52, class_names=SIGNS, relevant_features=(0, 1))
