"""Places on a grid, for searches that would let the last digit of a number grow from step to step."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt


def on_grid(values: npt.ArrayLike, spacing: float) -> npt.NDArray[np.float64]:
    """Return the nearest multiples of a spacing.

    Processors differ in the last digit of a sum. Where a search goes on from a place that it has computed, that digit
    grows, and may come to another choice. From places on a grid it goes on alike everywhere, unless a value lies, to
    its last digit, in the middle between two of them: the part of the values that do is their error over the spacing.

    Parameters
    ----------
    values : array
    spacing : float
        A power of 2, so that its multiples are exact.

    Returns
    -------
    array
        Of the same shape.
    """
    return spacing * np.round(np.asarray(values, dtype=np.float64) / spacing)
