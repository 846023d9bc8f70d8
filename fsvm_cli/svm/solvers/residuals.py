"""Residuals of a point: plain, with a bound on their rounding errors, and in twice the precision.

The plain ones are for the steps, the bounded ones for the certificate, and those in twice the precision for a
certificate in which nothing but rounding is in doubt.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from numba import njit

from fsvm_cli.svm.vectors import COMPILED, EPSILON, IN_ORDER, UNFUSED, Array, add_scaled, overwrite

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from fsvm_cli.svm.solvers.pair_steps import Box

SPLITTER = 2.0**27 + 1.0
"""Times this, a double falls into two halves whose products are exact (Dekker 1971)."""


@njit(**COMPILED)
def refresh(K: Array, y: Array, box: Box) -> None:
    """Compute the residuals from the coefficients."""
    overwrite(box.r, y)
    subtract_rows(box.r, K, box.c)


@njit(**COMPILED)
def subtract_rows(r: Array, K: Array, c: Array) -> None:
    """Subtract c' K from r, by the rows whose coefficients are not 0."""
    i = next_nonzero(c, 0)
    while i < c.size:
        j = next_nonzero(c, i + 1)
        k = next_nonzero(c, j + 1)
        m = next_nonzero(c, k + 1)
        if m < c.size:
            subtract_four(r, K[i], K[j], K[k], K[m], c[i], c[j], c[k], c[m])
            i = next_nonzero(c, m + 1)
        else:
            add_scaled(r, K[i], -c[i])
            i = j


@njit(**COMPILED)
def next_nonzero(values: Array, start: int) -> int:
    """Return the first index from `start` on whose entry is not 0; the length or more where there is none."""
    i = start
    while i < values.size and values[i] == 0.0:
        i += 1
    return i


@njit(**COMPILED)
def subtract_members(r: Array, K: Array, factors: Array, members: npt.NDArray[np.int64], size: int) -> None:
    """Subtract the rows of the first `size` members times their factors, in this order."""
    a = 0
    while a + 4 <= size:
        i, j, k, m = members[a], members[a + 1], members[a + 2], members[a + 3]
        subtract_four(r, K[i], K[j], K[k], K[m], factors[a], factors[a + 1], factors[a + 2], factors[a + 3])
        a += 4
    while a < size:
        add_scaled(r, K[members[a]], -factors[a])
        a += 1


@njit(**COMPILED, fastmath=IN_ORDER)
def subtract_four(  # noqa: PLR0917
    r: Array,
    row_i: Array,
    row_j: Array,
    row_k: Array,
    row_m: Array,
    c_i: float,
    c_j: float,
    c_k: float,
    c_m: float,
) -> None:
    """Subtract four rows times their coefficients, in this order.

    Four rows a pass, since reading and writing r takes most of the time.
    """
    for t in range(r.size):
        r[t] = (((r[t] - c_i * row_i[t]) - c_j * row_j[t]) - c_k * row_k[t]) - c_m * row_m[t]


@njit(**COMPILED)
def refresh_bounded(K: Array, y: Array, box: Box) -> None:
    """Compute the residuals from the coefficients, and bound the error of each, as every certificate needs them."""
    terms = residuals_of(K, y, box.c, box.r, box.error)
    kernel_errors(box.c, box.error, terms, box.relative, box.reach, box.lengths, box.kernel_error)


@njit(**COMPILED)
def residuals_of(K: Array, y: Array, c: Array, r: Array, error: Array) -> int:
    """Write y - K c, and a bound on its error, the same number of last digits of 1 + |K| |c| everywhere; return it.

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
        k = next_nonzero(c, j + 1)
        m = next_nonzero(c, k + 1)
        if m < c.size:
            subtract_four_bounded(r, error, K, c, i, j, k, m)
            terms += 4
            i = next_nonzero(c, m + 1)
        else:
            subtract_bounded(r, error, K[i], c[i])
            terms += 1
            i = j
    for t in range(y.size):
        error[t] *= terms * EPSILON
    return terms


@njit(**COMPILED)
def kernel_errors(  # noqa: PLR0917
    c: Array, error: Array, terms: int, relative: Array, reach: Array, lengths: Array, out: Array
) -> None:
    """Write bounds on what the rounding of kernel values does to residuals and outputs; see `Rounding`.

    Parameters
    ----------
    c
        Coefficients.
    error, terms
        As from `residuals_of`.
    relative, reach, lengths
        As of `Rounding.of_machine`.
    out : (n,) array
    """
    total = 0.0
    for t in range(c.size):
        total += abs(c[t]) * lengths[t]
    for t in range(c.size):
        out[t] = error[t] * (relative[t] / (terms * EPSILON)) + reach[t] * total


@njit(**COMPILED, fastmath=UNFUSED)
def subtract_four_bounded(  # noqa: PLR0917
    r: Array, sizes: Array, K: Array, c: Array, i: int, j: int, k: int, m: int
) -> None:
    """Do as `subtract_four`, and add the absolute values of the terms to the sizes."""
    row_i, row_j, row_k, row_m = K[i], K[j], K[k], K[m]
    c_i, c_j, c_k, c_m = c[i], c[j], c[k], c[m]
    size_i, size_j, size_k, size_m = abs(c_i), abs(c_j), abs(c_k), abs(c_m)
    for t in range(r.size):
        a_i, a_j, a_k, a_m = row_i[t], row_j[t], row_k[t], row_m[t]
        r[t] = (((r[t] - c_i * a_i) - c_j * a_j) - c_k * a_k) - c_m * a_m
        sizes[t] = (((sizes[t] + size_i * abs(a_i)) + size_j * abs(a_j)) + size_k * abs(a_k)) + size_m * abs(a_m)


@njit(**COMPILED, fastmath=UNFUSED)
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
    for t in range(y.size):
        r[t], low[t] = y[t], 0.0
    terms = 2 + subtract_rows_exactly(r, low, K, c)
    for t in range(y.size):
        r[t] += low[t]
        error[t] = EPSILON * (abs(r[t]) + terms * error[t])


@njit(**COMPILED)
def subtract_rows_exactly(high: Array, low: Array, K: Array, c: Array) -> int:
    """Do as `subtract_exactly` for the rows whose coefficients are not 0; return how many they are."""
    terms = 0
    for i in range(c.size):
        if c[i] != 0.0:
            subtract_exactly(high, low, K[i], c[i])
            terms += 1
    return terms


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
