"""The area under a receiver operating characteristic, with its interval."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import ndtri

from fsvm_cli.evaluation.statistics import CONFIDENCE

if TYPE_CHECKING:
    from numpy.typing import NDArray


class AreaUnderCurve(NamedTuple):
    """Area under a curve with its 95 % interval, between 0 and 1; half is chance.

    Attributes
    ----------
    area : float
        Share of the pairs of one positive and one negative sample in which the positive has the larger value.
    low, high : float
        NaN where there are fewer than two samples of a class.
    """

    area: float
    low: float
    high: float


def area_under_roc(values: NDArray[np.float64], is_positive: NDArray[np.bool_]) -> AreaUnderCurve:
    """Find the area under the receiver operating characteristic of decision values.

    Parameters
    ----------
    values : ndarray, shape (n_samples,)
        Larger for the positive class; of equal ones half counts.
    is_positive : ndarray of bool, shape (n_samples,)

    Returns
    -------
    AreaUnderCurve

    Raises
    ------
    ValueError
        If there is no sample of a class.

    Notes
    -----
    Source: E. R. DeLong, D. M. DeLong and D. L. Clarke-Pearson, "Comparing the Areas under Two or More Correlated
    Receiver Operating Characteristic Curves: A Nonparametric Approach", Biometrics 44, 1988, pages 837-845. The
    interval is that of one machine over other test samples; another training part would give another machine.
    """
    positive, negative = np.sort(values[is_positive]), np.sort(values[~is_positive])
    if not (len(positive) and len(negative)):
        raise ValueError("a receiver operating characteristic needs samples of both classes")
    above = _share_below(positive, negative)
    area = float(above.mean())
    if min(len(positive), len(negative)) < 2:
        return AreaUnderCurve(area, np.nan, np.nan)
    variance = above.var(ddof=1) / len(positive) + _share_below(negative, positive).var(ddof=1) / len(negative)
    half_width = float(ndtri((1 + CONFIDENCE) / 2) * np.sqrt(variance))
    return AreaUnderCurve(area, max(area - half_width, 0.0), min(area + half_width, 1.0))


def with_ties(values: NDArray[np.float64], width: float) -> NDArray[np.float64]:
    """Make values equal that differ by no more than their uncertainty.

    Samples on the margin all have the value 1 or -1. What solvers leave would put them in an order, and an area under
    a curve would be a matter of rounding.

    Parameters
    ----------
    values : ndarray, shape (n_samples,)
    width : float
        >= 0. Values are equal if others lie between them no farther apart than this.
    """
    order = np.argsort(values, kind="stable")
    ascending = values[order]
    begins = np.concatenate([[True], np.diff(ascending) > width])
    tied = np.empty_like(values)
    tied[order] = ascending[begins][np.cumsum(begins) - 1]
    return tied


def _share_below(values: NDArray[np.float64], others: NDArray[np.float64]) -> NDArray[np.float64]:
    """Count for each value the sorted others that are smaller, and half of the equal ones, as a share."""
    smaller, not_larger = (np.searchsorted(others, values, side=side) for side in ("left", "right"))
    share: NDArray[np.float64] = (smaller + not_larger) / (2 * len(others))
    return share
