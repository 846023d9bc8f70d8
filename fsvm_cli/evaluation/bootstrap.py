"""How uncertain a figure of merit is that comes from a single test part."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fsvm_cli.evaluation.statistics import CONFIDENCE

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

RESAMPLES = 2000


def bootstrap_interval(
    metric: Callable[[NDArray[np.intp]], NDArray[np.float64]], confusion: NDArray[np.intp], rng: np.random.Generator
) -> tuple[float, float]:
    """Percentile bootstrap of a metric over the samples of one test part.

    Where the source fixes the split there is one confusion matrix and no spread between trials. Drawing its samples
    with replacement says how far the metric of these machines may lie on other samples of the same kind; what another
    training part would do remains unknown. For information, which is never negative, the bootstrap inherits the upward
    bias of the estimate from finite samples, about (n_classes - 1)² / (2 n ln 2) bits for n samples.

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
    counts = rng.multinomial(n_samples, confusion.ravel() / n_samples, size=RESAMPLES)
    values = metric(counts.reshape(RESAMPLES, *confusion.shape))
    low, high = np.quantile(values, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return float(low), float(high)
