"""Residuals of a point: plain, with a bound on their rounding errors, and in twice the precision.

The plain ones are for the steps, the bounded ones for the certificate, and those in twice the precision for a
certificate in which nothing but rounding is in doubt.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from numba import njit

from fsvm_cli.svm.vectors import COMPILED, EPSILON, IN_ORDER, Array, add_scaled, overwrite

if TYPE_CHECKING:
    from fsvm_cli.svm.solvers.pair_steps import Box

SPLITTER = 2.0**27 + 1.0
"""Times this, a double falls into two halves whose products are exact (Dekker 1971)."""


@njit(**COMPILED)
def refresh(K: Array, y: Array, box: Box) -> None:
    """Compute the residuals from the coefficients."""
    c, r = box.c, box.r
    overwrite(r, y)
    i = next_nonzero(c, 0)
    while i < c.size:
        j = next_nonzero(c, i + 1)
        if j < c.size:
            subtract_two(r, K[i], K[j], c[i], c[j])
        else:
            add_scaled(r, K[i], -c[i])
        i = next_nonzero(c, j + 1)


@njit(**COMPILED)
def next_nonzero(values: Array, start: int) -> int:
    """Return the first index from `start` on whose entry is not 0; the length or more where there is none."""
    i = start
    while i < values.size and values[i] == 0.0:
        i += 1
    return i


@njit(**COMPILED, fastmath=IN_ORDER)
def subtract_two(r: Array, row_i: Array, row_j: Array, c_i: float, c_j: float) -> None:
    """Subtract c_i * row_i, then c_j * row_j: two rows a pass, since reading and writing r takes most of the time."""
    for t in range(r.size):
        r[t] = (r[t] - c_i * row_i[t]) - c_j * row_j[t]


@njit(**COMPILED)
def refresh_bounded(K: Array, y: Array, box: Box) -> None:
    """Compute the residuals from the coefficients, and bound the error of each, as every certificate needs them."""
    residuals_of(K, y, box.c, box.r, box.error)


@njit(**COMPILED)
def residuals_of(K: Array, y: Array, c: Array, r: Array, error: Array) -> None:
    """Write y - K c, and a bound on its error.

    Each of m terms adds no more than half a last digit of the sum so far: in all, (m + 2) eps (|y| + |K| |c|) covers it
    twice over, in whatever order they are added (Higham 2002, section 3.1).
    """
    overwrite(r, y)
    for t in range(y.size):
        error[t] = 1.0
    terms = 2
    i = next_nonzero(c, 0)
    while i < c.size:
        j = next_nonzero(c, i + 1)
        if j < c.size:
            subtract_two_bounded(r, error, K[i], K[j], c[i], c[j])
            terms += 2
        else:
            subtract_bounded(r, error, K[i], c[i])
            terms += 1
        i = next_nonzero(c, j + 1)
    for t in range(y.size):
        error[t] *= terms * EPSILON


@njit(**COMPILED, fastmath=IN_ORDER)
def subtract_two_bounded(  # noqa: PLR0917
    r: Array, sizes: Array, row_i: Array, row_j: Array, c_i: float, c_j: float
) -> None:
    """Do as `subtract_two`, and add the absolute values of the terms to the sizes."""
    size_i, size_j = abs(c_i), abs(c_j)
    for t in range(r.size):
        r[t] = (r[t] - c_i * row_i[t]) - c_j * row_j[t]
        sizes[t] = (sizes[t] + size_i * abs(row_i[t])) + size_j * abs(row_j[t])


@njit(**COMPILED, fastmath=IN_ORDER)
def subtract_bounded(r: Array, sizes: Array, row: Array, factor: float) -> None:
    """Subtract factor * row from r, and add the absolute values of the terms to the sizes."""
    size = abs(factor)
    for t in range(r.size):
        r[t] -= factor * row[t]
        sizes[t] += size * abs(row[t])


@njit(**COMPILED)
def sharpen(K: Array, y: Array, c: Array, r: Array, error: Array, low: Array) -> None:  # noqa: PLR0917
    """Replace residuals and their error bounds by those of twice the precision, rounded once at the end.

    The compensated product of Ogita, Rump and Oishi (2005), Dot2, whose error is eps |r| + gamma_m^2 (|y| + |K| |c|).

    Parameters
    ----------
    K, y, c
        As in `residuals_of`.
    r, error : (n,) arrays
        As from `residuals_of`.
    low : (n,) array
        Scratch.
    """
    terms = 2
    for t in range(y.size):
        r[t], low[t] = y[t], 0.0
    for i in range(y.size):
        if c[i] != 0.0:
            subtract_exactly(r, low, K[i], c[i])
            terms += 1
    for t in range(y.size):
        r[t] += low[t]
        error[t] = EPSILON * (abs(r[t]) + terms * error[t])


@njit(**COMPILED)
def subtract_exactly(high: Array, low: Array, row: Array, factor: float) -> None:
    """Subtract factor * row from high, and add to low what rounding took."""
    scaled = SPLITTER * factor
    factor_high = scaled - (scaled - factor)
    factor_low = factor - factor_high
    for t in range(high.size):
        scaled = SPLITTER * row[t]
        row_high = scaled - (scaled - row[t])
        row_low = row[t] - row_high
        term = factor * row[t]
        rest = factor_low * row_low - (
            ((term - factor_high * row_high) - factor_low * row_high) - factor_high * row_low
        )
        total = high[t] - term
        taken = total - high[t]
        low[t] += ((high[t] - (total - taken)) - (term + taken)) - rest
        high[t] = total
