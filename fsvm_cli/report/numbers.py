"""Number formats of tables: as many digits as are the same on every processor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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


ROUNDING = 1e-12
"""Of the largest number: what is smaller, and was computed without machines, may be rounding."""
BELOW_ROUNDING = 1e-20
"""Of the largest number: what is smaller is more than rounding leaves where something cancels, and of another scale."""


def rounded_by_scale(numbers: NDArray[np.float64], digits: int, noise: float) -> NDArray[np.float64]:
    """Round as `rounded_alike`, and what that makes 0 among itself, unless it may be rounding.

    Beside the score of a perfect separator, 1e30, those of other features keep their digits.

    Parameters
    ----------
    numbers : ndarray
        NaN and infinity stay.
    digits : int
    noise : float
        Numbers that are smaller than this part of the largest may be rounding.
    """
    rounded, sizes = rounded_alike(numbers, digits), np.abs(numbers)
    largest = sizes.max(initial=0.0, where=np.isfinite(sizes))
    is_own = (rounded == 0) & (sizes > 0) & ((sizes > noise * largest) | (sizes < BELOW_ROUNDING * largest))
    if is_own.any():
        rounded[is_own] = rounded_by_scale(numbers[is_own], digits, noise)
    return rounded


def rounded_each(numbers: NDArray[np.float64], digits: int) -> NDArray[np.float64]:
    """Round each number to so many significant digits of its own.

    For numbers > 0 whose ratios count, such as length scales: beside one of 100,000, another of 0.01 is not 0.
    """
    return np.array([float(f"{number:.{digits - 1}e}") for number in numbers])


def briefly(number: float) -> str:
    """Write a number for people, to four significant digits, but all of those before the decimal point."""
    return f"{number:.0f}" if 9999.5 <= abs(number) < 1e9 else f"{number:.4g}"


def as_csv(
    frame: pd.DataFrame,
    digits: int = DIGITS_OF_COUNTS,
    ratios: Collection[str] = (),
    groups: Collection[str] = (),
) -> str:
    """Write a table as CSV.

    Parameters
    ----------
    frame : DataFrame
    digits : int
        To which its columns of fractions are rounded each, see `rounded_alike`.
    ratios : collection of str
        Names of the columns that are rounded by `rounded_each` instead.
    groups : collection of str
        Names of columns, if the table has them: rows that agree in these have digits of their own, because what is
        large in one group and small in another is not of one scale.
    """
    keys = [name for name in groups if name in frame]
    codes = frame.groupby(keys, dropna=False).ngroup().to_numpy() if keys else np.zeros(len(frame), dtype=np.int64)
    fractions = {
        str(name): _rounded(frame[name].to_numpy(), digits, codes, each=name in ratios)
        for name in frame.select_dtypes("float")
    }
    return str(frame.assign(**fractions).to_csv(index=False, float_format=FLOAT_FORMAT, lineterminator="\n"))


def _rounded(numbers: NDArray[np.float64], digits: int, groups: NDArray[Any], *, each: bool) -> NDArray[np.float64]:
    if each:
        return rounded_each(numbers, digits)
    rounded = numbers.copy()
    for group in np.unique(groups):
        rounded[groups == group] = rounded_alike(numbers[groups == group], digits)
    return rounded
