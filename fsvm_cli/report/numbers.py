"""How tables write numbers: to the digits that are the same on every processor."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Collection

    import pandas as pd
    from numpy.typing import NDArray

FLOAT_FORMAT = "%.9g"
"""Of what is computed from counts: figures of merit and their intervals, ranks, shares."""

DIGITS_OF_COUNTS = 12
"""Of sixteen, of the largest number in a column; where a smaller one has others, they are rounding."""

DIGITS_OF_MACHINES = 5
"""Of what machines lead to. Their certificates allow another processor a millionth of the largest score (`fsvm verify`
does, too); what was measured is 3e-11 of it, so that about one number in a million has another fifth digit."""


def rounded_alike(numbers: NDArray[np.float64], digits: int) -> NDArray[np.float64]:
    """Round numbers of one unit at the same decimal, so that the largest keeps `digits` significant ones.

    Parameters
    ----------
    numbers : ndarray
        NaN and infinity stay.
    digits : int
        At least 1.
    """
    sizes = np.abs(numbers)
    largest = sizes.max(initial=0.0, where=np.isfinite(sizes))
    if largest == 0:
        return numbers
    # The exponent of the rounded number: 0.9999999999999 and 1 are to have the same.
    exponent = int(f"{largest:.{digits - 1}e}".partition("e")[2])
    # No power of ten that is too large for a double; and 0 has no sign.
    rounded: NDArray[np.float64] = numbers.round(min(digits - 1 - exponent, 300)) + 0.0
    return rounded


def rounded_each(numbers: NDArray[np.float64], digits: int) -> NDArray[np.float64]:
    """Round each number to so many significant digits of its own.

    For numbers > 0 whose ratios count, such as length scales: beside one of 100,000, another of 0.01 is not 0.
    """
    return np.array([float(f"{number:.{digits - 1}e}") for number in numbers])


def briefly(number: float) -> str:
    """Write a number for people, to four significant digits, but all of those before the decimal point."""
    return f"{number:.0f}" if 9999.5 <= abs(number) < 1e9 else f"{number:.4g}"


def as_csv(frame: pd.DataFrame, digits: int = DIGITS_OF_COUNTS, ratios: Collection[str] = ()) -> str:
    """Write a table as CSV.

    Its columns of fractions are rounded to `digits` each, see `rounded_alike`; those whose names are in `ratios` by
    `rounded_each`.
    """
    fractions = {
        str(name): (rounded_each if name in ratios else rounded_alike)(frame[name].to_numpy(), digits)
        for name in frame.select_dtypes("float")
    }
    return str(frame.assign(**fractions).to_csv(index=False, float_format=FLOAT_FORMAT, lineterminator="\n"))
