"""Bootstrap intervals of a figure of merit that comes from a single test part."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fsvm_cli.evaluation.statistics import CONFIDENCE

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

N_RESAMPLES = 2000


def bootstrap_interval(
    metric: Callable[[NDArray[np.intp]], NDArray[np.float64]], confusion: NDArray[np.intp], rng: np.random.Generator
) -> tuple[float, float]:
    """Percentile bootstrap of a metric over the samples of one test part.

    Where the source fixes the split there is one confusion matrix and no spread between trials. Drawing its samples
    with replacement estimates how far the metric of these machines may differ on other samples of the same kind; what
    another training part would do remains unknown. For information, which is never negative, the bootstrap inherits the
    upward bias of the estimate from finite samples, about (n_classes - 1)² / (2 n ln 2) bits for n samples.

    Parameters
    ----------
    metric : callable
        A value of `METRICS`.
    confusion : ndarray of int, shape (n_classes, n_classes)
        At least one sample.
    rng : numpy.random.Generator

    Returns
    -------
    low, high : float
        Bounds of the 95 % interval, as fractions.

    Notes
    -----
    Source: Efron and Tibshirani, An introduction to the bootstrap (1993), section 13.3.
    """
    n_samples = int(confusion.sum())
    counts = rng.multinomial(n_samples, confusion.ravel() / n_samples, size=N_RESAMPLES)
    values = metric(counts.reshape(N_RESAMPLES, *confusion.shape))
    low, high = np.quantile(values, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return float(low), float(high)


@dataclass(frozen=True)
class BootstrapInterval:
    """A difference between two classifiers over the samples of one test part.

    Attributes
    ----------
    low, high : float
        Bounds of the 95 % interval.
    p : float
        Two-sided, by the share of draws on the rarer side of 0; NaN where every draw gives 0.
    """

    low: float
    high: float
    p: float


def paired_bootstrap_interval(  # noqa: PLR0917 - two sets of classifiers on the same samples
    metric: Callable[[NDArray[np.intp]], NDArray[np.float64]],
    y: NDArray[np.intp],
    first: NDArray[np.intp],
    second: NDArray[np.intp],
    n_classes: int,
    rng: np.random.Generator,
) -> BootstrapInterval:
    """Percentile bootstrap of the difference of a metric between classifiers on one test part.

    All classifiers see the same drawn samples: where they agree, a draw moves none against another. As with
    `bootstrap_interval`, it describes what these machines would do on other samples, not what another training part
    would.

    Parameters
    ----------
    metric : callable
        A value of `METRICS`.
    y : ndarray of int, shape (n_samples,)
        Class codes, 0 to ``n_classes - 1``.
    first, second : ndarray of int, shape (n_classifiers, n_samples)
        Codes that classifiers assign; the metric is averaged over those of the first, and over those of the second.
    n_classes : int
    rng : numpy.random.Generator

    Returns
    -------
    BootstrapInterval
        Of the first minus the second, as fractions.

    Notes
    -----
    Source: Efron and Tibshirani, An introduction to the bootstrap (1993), section 13.3.
    """
    # Samples on which all say the same are drawn as one pattern.
    patterns, counts = np.unique(np.vstack([y, first, second]), axis=1, return_counts=True)
    drawn = rng.multinomial(len(y), counts / len(y), size=N_RESAMPLES)

    def values(predicted: NDArray[np.intp]) -> NDArray[np.float64]:
        cells = np.eye(n_classes**2, dtype=np.intp)[patterns[0] * n_classes + predicted]
        return metric((drawn @ cells).reshape(N_RESAMPLES, n_classes, n_classes))

    minuends, subtrahends = np.split(patterns[1:], [len(first)])
    differences = np.mean([values(each) for each in minuends], axis=0) - np.mean(
        [values(each) for each in subtrahends], axis=0
    )
    low, high = np.quantile(differences, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    rarer = min(np.count_nonzero(differences <= 0), np.count_nonzero(differences >= 0))
    p = min(2 * (rarer + 1) / (N_RESAMPLES + 1), 1.0) if differences.any() else np.nan
    return BootstrapInterval(float(low), float(high), float(p))
