"""Two methods compared over several data sets."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def signed_rank_p_value(differences: NDArray[np.float64]) -> float:
    """Wilcoxon's signed-rank test that differences lie about 0 evenly, two-sided.

    Parameters
    ----------
    differences : ndarray, shape (n_data_sets,)

    Returns
    -------
    float
        Exact for few data sets without ties; NaN where all differences are 0.

    Notes
    -----
    Source: Demsar (2006), section 3.1.3; the test is scipy's.
    """
    from scipy.stats import wilcoxon  # noqa: PLC0415 - slow to import

    if not np.any(differences):
        return float("nan")
    return float(wilcoxon(differences).pvalue)
