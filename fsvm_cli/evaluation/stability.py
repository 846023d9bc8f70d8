"""Stability of selected features over training samples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtri

from fsvm_cli.evaluation.statistics import CONFIDENCE

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Stability:
    """Stability of a selection, with its 95 % interval.

    Attributes
    ----------
    index : float
        1 where every trial selects the same features, about 0 where they are selected at random; at least
        ``-1 / (n_trials - 1)``.
    low, high : float
        Bounds of the asymptotic interval.
    """

    index: float
    low: float
    high: float


def selection_stability(selected: NDArray[np.bool_]) -> Stability:
    """Nogueira's index of stability.

    Parameters
    ----------
    selected : ndarray of bool, shape (n_trials, n_features)
        Whether each trial selected each feature; at least 2 trials.

    Returns
    -------
    Stability
        NaN where every trial selects all features, or none: there is nothing to be stable about.

    Notes
    -----
    Source: S. Nogueira, K. Sechidis and G. Brown, "On the Stability of Feature Selection Algorithms", Journal of
    Machine Learning Research 18(174), 2018, pages 1-54: the definition of the index, and its asymptotic variance.
    """
    n_trials, n_features = selected.shape
    frequency = selected.mean(axis=0)
    sizes = selected.sum(axis=1)
    mean_fraction = sizes.mean() / n_features
    chance = mean_fraction * (1 - mean_fraction)
    if chance == 0:
        return Stability(np.nan, np.nan, np.nan)
    spread = n_trials / (n_trials - 1) * np.mean(frequency * (1 - frequency))
    index = float(1 - spread / chance)
    fractions = sizes / n_features
    per_trial = (
        selected @ frequency / n_features
        - fractions * mean_fraction
        + index / 2 * (2 * mean_fraction * fractions - fractions - mean_fraction + 1)
    ) / chance
    standard_error = 2 * np.sqrt(np.sum((per_trial - per_trial.mean()) ** 2)) / n_trials
    half_width = float(ndtri((1 + CONFIDENCE) / 2) * standard_error)
    return Stability(index, index - half_width, index + half_width)
