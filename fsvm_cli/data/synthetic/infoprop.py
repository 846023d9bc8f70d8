"""The three artificial problems of Sindhwani et al. (2001): their own, LED-24 and Waveform-40."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fsvm_cli.data.synthetic.generator import Generator

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

# Breiman et al. (1984), p. 43: the lit segments of the digits 0 to 9, from the top down and from left to right.
DIGITS = (0b1110111, 0b0010010, 0b1011101, 0b1011011, 0b0111010, 0b1101011, 0b1101111, 0b1010010, 0b1111111, 0b1111011)
SEGMENTS = np.array([[digit >> bit & 1 for bit in range(6, -1, -1)] for digit in DIGITS])
POSITIONS = np.arange(1, 22)
# Breiman et al. (1984), p. 49: three triangles, which all vanish at the positions 1 and 21.
TRIANGLES = np.array([np.maximum(6 - np.abs(POSITIONS - peak), 0) for peak in (11, 15, 7)], dtype=np.float64)
MIXED = np.array([[0, 1], [0, 2], [1, 2]])


def draw_three_class(
    rng: np.random.Generator,
    n_samples: int,
    *,
    means: Sequence[float],
    priors: Sequence[float],
    variance: float,
    noise_variance: float,
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Draw three classes, each of which raises one feature of its own (section 5, "Synthetic Dataset").

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
    segments = SEGMENTS[y] ^ (rng.random((n_samples, 7)) < inversion)
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
    X[:, :21] += u * TRIANGLES[MIXED[y, 0]] + (1 - u) * TRIANGLES[MIXED[y, 1]]
    return X, y


THREE_CLASS = Generator(draw_three_class, n_features=9, class_names=("1", "2", "3"), relevant_features=(0, 1, 2))
LED24 = Generator(draw_led24, n_features=24, class_names=tuple(map(str, range(10))), relevant_features=tuple(range(7)))
WAVEFORM40 = Generator(
    draw_waveform40, n_features=40, class_names=("1", "2", "3"), relevant_features=tuple(range(1, 20))
)
