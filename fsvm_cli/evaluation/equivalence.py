"""How probable it is that one of two methods is better by more than matters."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import stdtr

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Equivalence(NamedTuple):
    """Posterior probabilities; they sum to 1.

    Attributes
    ----------
    lower, equivalent, higher : float
        That the mean difference lies below the region of practical equivalence, inside it, or above it.
    """

    lower: float
    equivalent: float
    higher: float


def practical_equivalence(differences: NDArray[np.float64], test_to_train: float, margin: float) -> Equivalence:
    """Bayesian correlated t-test of the mean difference between two methods on the same splits.

    Parameters
    ----------
    differences : ndarray, shape (n,)
        One per split, n at least 2.
    test_to_train : float
        Rows of the test part over rows of the training part; 0 where every trial draws new data.
    margin : float
        Differences of at most this size make no difference in practice: half the width of the region, not negative.

    Notes
    -----
    Source: Corani and Benavoli, A Bayesian approach for comparing cross-validated algorithms on multiple data sets,
    Machine Learning 100 (2015), equation 7: the posterior of the mean is Student's distribution with n - 1 degrees of
    freedom, centred at the mean difference, with the variance of Nadeau and Bengio's test.
    """
    n = len(differences)
    mean = float(np.mean(differences))
    scale = float(np.std(differences, ddof=1)) * float(np.sqrt(1 / n + test_to_train))
    if scale == 0.0:
        return Equivalence(float(mean < -margin), float(abs(mean) <= margin), float(mean > margin))
    lower = float(stdtr(n - 1, (-margin - mean) / scale))
    higher = float(stdtr(n - 1, (mean - margin) / scale))
    return Equivalence(lower, max(1.0 - lower - higher, 0.0), higher)
