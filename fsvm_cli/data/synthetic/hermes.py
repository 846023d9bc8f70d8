"""The two artificial problems of Hermes & Buhmann (2000)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fsvm_cli.data.synthetic.generator import Generator

if TYPE_CHECKING:
    from numpy.typing import NDArray

SIGNS = ("-1", "+1")


def draw_noise20(
    rng: np.random.Generator, n_samples: int, *, smallest_sd: float, growth: float
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Draw two classes around ±(1, ..., 1) whose noise grows from feature to feature (section 4).

    Parameters
    ----------
    rng, n_samples
        As in `Generator`; the classes are equally likely.
    smallest_sd : float
        Standard deviation of feature 1.
    growth : float
        Factor from one feature's standard deviation to the next.

    Returns
    -------
    X : ndarray, shape (n_samples, 20)
        Feature i (from 1) has standard deviation ``smallest_sd * growth**(i - 1)`` about its class centre.
    y : ndarray of int64, shape (n_samples,)
        0 for the centre at -1, 1 for that at +1.
    """
    y = rng.integers(0, 2, size=n_samples)
    sd = smallest_sd * growth ** np.arange(20)
    X = (2.0 * y - 1.0)[:, None] + sd * rng.standard_normal((n_samples, 20))
    return X, y


def draw_plane(
    rng: np.random.Generator, n_samples: int, *, half_width: float, amplitude: float, gap: float, depth: float
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Draw two well separated classes on either side of a wave in the plane (Figure 1).

    The paper shows such a set without its numbers; this one has the same character.

    Parameters
    ----------
    rng, n_samples
        As in `Generator`; the classes are equally likely.
    half_width : float
        The first feature is uniform within plus or minus this.
    amplitude : float
        The boundary is ``amplitude * sin(pi * x1 / half_width)``: one full wave.
    gap : float
        Least vertical distance of a point from the boundary.
    depth : float
        Vertical extent of each class beyond the gap.

    Returns
    -------
    X : ndarray, shape (n_samples, 2)
        Points.
    y : ndarray of int64, shape (n_samples,)
        0 below the boundary, 1 above it.
    """
    y = rng.integers(0, 2, size=n_samples)
    x1 = rng.uniform(-half_width, half_width, size=n_samples)
    distance = gap + depth * rng.random(n_samples)
    x2 = amplitude * np.sin(np.pi * x1 / half_width) + (2.0 * y - 1.0) * distance
    return np.column_stack([x1, x2]), y


NOISE20 = Generator(draw_noise20, n_features=20, class_names=SIGNS, relevant_features=tuple(range(20)))
PLANE = Generator(draw_plane, n_features=2, class_names=SIGNS, relevant_features=(0, 1))
