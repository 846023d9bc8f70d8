"""Information that a classifier delivers, in bits, from its confusion matrix, after infoprop2001, sections 3 and 4.

All functions take confusion matrices of shape (..., n_classes, n_classes), true classes in rows and class indicators in
columns, each with at least one sample. A class that is absent or an indicator that never fires contributes nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import entr

if TYPE_CHECKING:
    from numpy.typing import NDArray


def entropy(counts: NDArray[np.intp], axis: int | tuple[int, ...] = -1) -> NDArray[np.float64]:
    """Entropy of relative frequencies.

    Parameters
    ----------
    counts : ndarray
        At least 0.
    axis : int or tuple of int, default=-1
        Along which the counts of one distribution lie.

    Returns
    -------
    ndarray
        In bits, without `axis`; 0 where nothing was counted.
    """
    total = counts.sum(axis=axis, keepdims=True)
    bits: NDArray[np.float64] = entr(counts / np.maximum(total, 1)).sum(axis=axis) / np.log(2)
    return bits


def class_uncertainty(confusion: NDArray[np.intp]) -> NDArray[np.float64]:
    """H_d, the uncertainty of the class before the classifier is asked: how difficult the problem is.

    In bits, between 0 and log₂ n_classes; shape (...).
    """
    return entropy(confusion.sum(axis=-1))


def indicator_uncertainty(confusion: NDArray[np.intp]) -> NDArray[np.float64]:
    """H_Oj, the uncertainty of the class once indicator j has fired.

    In bits, between 0 and log₂ n_classes; 0 for an indicator that never fires; shape (..., n_classes).
    """
    return entropy(confusion, axis=-2)


def firing_frequency(confusion: NDArray[np.intp]) -> NDArray[np.float64]:
    """Fraction of the samples for which each indicator fires, shape (..., n_classes)."""
    frequency: NDArray[np.float64] = confusion.sum(axis=-2) / confusion.sum(axis=(-2, -1))[..., None]
    return frequency


def classifier_information(confusion: NDArray[np.intp]) -> NDArray[np.float64]:
    """H = H_d - Σ_j p_j H_Oj, by how much the classifier reduces the uncertainty of the class.

    In bits, between 0 and H_d: the mutual information of the true and the assigned class; shape (...).

    Notes
    -----
    Source: infoprop2001, equation (2).
    """
    left = (firing_frequency(confusion) * indicator_uncertainty(confusion)).sum(axis=-1)
    # The difference of two sums may fall below 0 by rounding; mutual information does not.
    information: NDArray[np.float64] = np.maximum(class_uncertainty(confusion) - left, 0.0)
    return information


def relative_classifier_information(confusion: NDArray[np.intp]) -> NDArray[np.float64]:
    """H / H_d, the share of the uncertainty that the classifier resolves (RCI).

    Between 0 and 1; 0 where all samples are of one class, because there is nothing to resolve; shape (...).

    Notes
    -----
    Source: infoprop2001, section 3.2, property 4, which prints it in per cent.
    """
    information, uncertainty = classifier_information(confusion), class_uncertainty(confusion)
    share: NDArray[np.float64] = np.divide(
        information, uncertainty, out=np.zeros_like(information), where=uncertainty > 0
    )
    return share


def indicator_credits(confusion: NDArray[np.intp]) -> NDArray[np.float64]:
    """Shares of the class indicators in the classifier's information.

        H_j = H p_j (log₂ M - H_Oj) / Σ_i p_i (log₂ M - H_Oi)

    In bits, at least 0; they add up to the information of the classifier; shape (..., n_classes).

    Notes
    -----
    Source: infoprop2001, equation (3), with M the number of classes of the problem, whether or not each occurs.
    """
    n_classes = confusion.shape[-1]
    # Rounding may push an even distribution above log₂ M.
    certainty = np.maximum(np.log2(n_classes) - indicator_uncertainty(confusion), 0.0)
    weights = firing_frequency(confusion) * certainty
    total = weights.sum(axis=-1, keepdims=True)
    shares = np.divide(weights, total, out=np.zeros_like(weights), where=total > 0)
    credit: NDArray[np.float64] = classifier_information(confusion)[..., None] * shares
    return credit
