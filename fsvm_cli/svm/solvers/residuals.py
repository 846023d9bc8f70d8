"""Residuals of a point, with a bound on what rounding does to them; the second form knows nearly every digit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from numba import njit

from fsvm_cli.svm.vectors import COMPILED, EPSILON, REASSOCIATE, Array

if TYPE_CHECKING:
    from fsvm_cli.svm.solvers.pair_steps import Box

SPLITTER = 2.0**27 + 1.0
"""Times this, a double falls into two halves whose products are exact (Dekker 1971)."""


@njit(**COMPILED)
def refresh(K: Array, y: Array, box: Box) -> None:
    """Compute the residuals from the coefficients, and bound the error of each."""
    residuals_of(K, y, box.c, box.r, box.error)


@njit(**COMPILED)
def residuals_of(K: Array, y: Array, c: Array, r: Array, error: Array) -> None:
    """Write y - K c, and a bound on its error.

    Each of m terms adds no more than half a last digit of the sum so far: in all, (m + 2) eps (|y| + |K| |c|) covers it
    twice over, in whatever order they are added (Higham 2002, section 3.1).
    """
    terms = 2
    for t in range(y.size):
        r[t], error[t] = y[t], 1.0
    for i in range(y.size):
        if c[i] != 0.0:
            subtract_term_of(r, error, K[i], c[i])
            terms += 1
    for t in range(y.size):
        error[t] *= terms * EPSILON


@njit(**COMPILED, fastmath=REASSOCIATE)
def subtract_term_of(r: Array, sizes: Array, row: Array, factor: float) -> None:
    """Subtract factor * row from r, and add its absolute values to the sizes."""
    for t in range(r.size):
        term = factor * row[t]
        r[t] -= term
        sizes[t] += abs(term)


@njit(**COMPILED)
def sharpen(K: Array, y: Array, c: Array, r: Array, error: Array, low: Array) -> None:  # noqa: PLR0917
    """Replace residuals and their error bounds by those of twice the precision, rounded once.

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
