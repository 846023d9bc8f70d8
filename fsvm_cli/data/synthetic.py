"""Distributions to draw data from: the artificial problems of the papers.

Hermes & Buhmann (2000) have two; Sindhwani et al. (2001) three: their own, LED-24 and Waveform-40; Weston et al. (2000)
two, as the slides of Jebara show them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Sequence

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


SIGN_CLASSES = ("-1", "+1")
# Breiman et al. (1984), p. 43: the lit segments of the digits 0 to 9, from the top down and from left to right.
LED_DIGIT_BITS = (
    0b1110111,
    0b0010010,
    0b1011101,
    0b1011011,
    0b0111010,
    0b1101011,
    0b1101111,
    0b1010010,
    0b1111111,
    0b1111011,
)
LED_SEGMENTS = np.array([[digit >> bit & 1 for bit in range(6, -1, -1)] for digit in LED_DIGIT_BITS])
WAVEFORM_POSITIONS = np.arange(1, 22)
# Breiman et al. (1984), p. 49: three triangles, which all vanish at the positions 1 and 21.
WAVEFORM_TRIANGLES = np.array(
    [np.maximum(6 - np.abs(WAVEFORM_POSITIONS - peak), 0) for peak in (11, 15, 7)], dtype=np.float64
)
WAVEFORM_PAIRS = np.array([[0, 1], [0, 2], [1, 2]])


def draw_noise20(
    rng: np.random.Generator, n_samples: int, *, smallest_sd: float, growth: float
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Draw two classes around ±(1, ..., 1), with noise that grows by feature (Hermes & Buhmann 2000, section 4).

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
    """Draw two well separated classes on either side of a wave in the plane (Hermes & Buhmann 2000, Figure 1).

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


def draw_three_class(
    rng: np.random.Generator,
    n_samples: int,
    *,
    means: Sequence[float],
    priors: Sequence[float],
    variance: float,
    noise_variance: float,
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Draw three classes, each of which raises one feature of its own (Sindhwani et al. 2001, section 5).

    Parameters
    ----------
    rng, n_samples
        As in `Generator`.
    means : sequence of three floats
        Mean of feature i in class i; in the other classes it is 0.
    priors : sequence of three floats
        Probability of each class; they sum to 1.
    variance, noise_variance : float
        Variance of features 1 to 3, and of features 4 to 9.

    Returns
    -------
    X : ndarray, shape (n_samples, 9)
        Feature values.
    y : ndarray of int64, shape (n_samples,)
        0, 1, 2 for the classes 1, 2, 3.
    """
    y = rng.choice(3, size=n_samples, p=priors)
    X = rng.standard_normal((n_samples, 9)) * np.sqrt([variance] * 3 + [noise_variance] * 6)
    X[:, :3] += np.diag(means)[y]
    return X, y


def draw_led24(
    rng: np.random.Generator, n_samples: int, *, inversion: float
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Draw digits on a faulty display of seven segments, beside 17 random bits.

    Parameters
    ----------
    rng, n_samples
        As in `Generator`; the digits are equally likely.
    inversion : float
        Probability that a segment shows the opposite.

    Returns
    -------
    X : ndarray, shape (n_samples, 24)
        0 or 1; features 8 to 24 are fair bits.
    y : ndarray of int64, shape (n_samples,)
        The digit.
    """
    y = rng.integers(0, 10, size=n_samples)
    segments = LED_SEGMENTS[y] ^ (rng.random((n_samples, 7)) < inversion)
    bits = rng.integers(0, 2, size=(n_samples, 17))
    return np.hstack([segments, bits]).astype(np.float64), y


def draw_waveform40(rng: np.random.Generator, n_samples: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Draw noisy mixtures of two out of three triangles, beside 19 features of noise.

    The paper calls features 1 to 21 necessary; 1 and 21 carry no signal, because every triangle vanishes there.

    Parameters
    ----------
    rng, n_samples
        As in `Generator`; the classes are equally likely.

    Returns
    -------
    X : ndarray, shape (n_samples, 40)
        ``u * h + (1 - u) * h'`` with u uniform in [0, 1] in features 1 to 21, plus N(0, 1) in all.
    y : ndarray of int64, shape (n_samples,)
        0, 1, 2: the triangles h and h' are the first and second, first and third, second and third.
    """
    y = rng.integers(0, 3, size=n_samples)
    u = rng.random((n_samples, 1))
    X = rng.standard_normal((n_samples, 40))
    X[:, :21] += u * WAVEFORM_TRIANGLES[WAVEFORM_PAIRS[y, 0]] + (1 - u) * WAVEFORM_TRIANGLES[WAVEFORM_PAIRS[y, 1]]
    return X, y


def draw_weston_linear(
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


def draw_weston_linear_tasks(
    rng: np.random.Generator, n_samples: int, *, first_share: float, noise_sd: float
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Draw two tasks that have their features in common: Weston's linear problem, and the same with classes exchanged.

    Parameters
    ----------
    rng, n_samples
        As in `Generator`; the classes are equally likely, and so are the tasks.
    first_share, noise_sd : float
        As in `draw_weston_linear`.

    Returns
    -------
    X : ndarray, shape (n_samples, 203)
        Features 1 to 202 of `draw_weston_linear`; feature 203 is the task, 0 or 1.
    y : ndarray of int64, shape (n_samples,)
        Of the first task as in `draw_weston_linear`, of the second the other class.
    """
    X, y = draw_weston_linear(rng, n_samples, first_share=first_share, noise_sd=noise_sd)
    is_second = rng.integers(0, 2, size=n_samples)
    return np.column_stack([X, is_second]), y ^ is_second


def draw_weston_nonlinear(
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


GENERATORS: dict[str, Generator] = {
    "led24": Generator(
        draw_led24, n_features=24, class_names=tuple(map(str, range(10))), relevant_features=tuple(range(7))
    ),
    "noise20": Generator(draw_noise20, n_features=20, class_names=SIGN_CLASSES, relevant_features=tuple(range(20))),
    "plane": Generator(draw_plane, n_features=2, class_names=SIGN_CLASSES, relevant_features=(0, 1)),
    "three-class": Generator(draw_three_class, n_features=9, class_names=("1", "2", "3"), relevant_features=(0, 1, 2)),
    "waveform40": Generator(
        draw_waveform40, n_features=40, class_names=("1", "2", "3"), relevant_features=tuple(range(1, 20))
    ),
    "weston-linear": Generator(
        draw_weston_linear, n_features=202, class_names=SIGN_CLASSES, relevant_features=tuple(range(6))
    ),
    "weston-linear-tasks": Generator(
        draw_weston_linear_tasks, n_features=203, class_names=SIGN_CLASSES, relevant_features=(*range(6), 202)
    ),
    "weston-nonlinear": Generator(
        draw_weston_nonlinear, n_features=52, class_names=SIGN_CLASSES, relevant_features=(0, 1)
    ),
}
"""By the names that data cards use."""
