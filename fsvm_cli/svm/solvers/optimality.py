"""The end of every compiled fit: residuals, coefficients on their bounds, the bias and the duality gap.

Residuals are plain for the steps, with a bound on their rounding errors for the certificate, and in twice the precision
(Ogita et al. 2005) where rounding alone keeps the gap above its tolerance.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numba import njit

from fsvm_cli.svm.compiled import (
    COMPILED,
    EPSILON,
    IN_ORDER,
    REASSOCIATE,
    SPLITTER,
    UNFUSED,
    Array,
    add_scaled,
    overwrite,
)
from fsvm_cli.svm.solvers.smo import Box, set_coefficient

if TYPE_CHECKING:
    import numpy.typing as npt


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
def subtract_rows_at(r: Array, K: Array, factors: Array, indices: npt.NDArray[np.int64], size: int) -> None:
    """Subtract the rows of the first `size` indices times their factors, in this order."""
    a = 0
    while a + 4 <= size:
        i, j, k, m = indices[a], indices[a + 1], indices[a + 2], indices[a + 3]
        subtract_four(r, K[i], K[j], K[k], K[m], factors[a], factors[a + 1], factors[a + 2], factors[a + 3])
        a += 4
    while a < size:
        add_scaled(r, K[indices[a]], -factors[a])
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


BOUND_TOLERANCE = 2.0**-42
"""A coefficient this close to a bound is set to it: about a thousand units in the last place. The unit is the largest
coefficient, or, if smaller, the coefficient by which this sample would change its own decision value as much as any
sample does: where kernel values span many orders of magnitude, so do the coefficients. Rounding stays far below this
distance, and a margin vector that close to a bound changes no decision value by more than rounding."""


@njit(**COMPILED)
def finish_fit(K: Array, y: Array, box: Box, tolerance: float) -> tuple[float, float]:
    """End a fit.

    Parameters
    ----------
    K : (n, n) array
        Gram matrix with the ridge on its diagonal.
    y : (n,) array
        Labels.
    box : Box
        With residuals from `refresh_bounded`. Coefficients that only rounding separates from a bound are set to it.
    tolerance : float
        The relative duality gap to reach. Where the gap is within it and its upper bound is not, the residuals are
        computed again in twice the precision.

    Returns
    -------
    bias : float
        See `compiled_bias`.
    gap : float
        An upper bound; see `compiled_gaps`.
    """
    if put_on_bounds(box):
        refresh_bounded(K, y, box)
    bias = compiled_bias(box)
    gap, bound = compiled_gaps(y, box, bias)
    if gap <= tolerance and not bound <= tolerance:
        sharpen(K, y, box.c, box.r, box.error, box.gains)
        bias = compiled_bias(box)
        gap, bound = compiled_gaps(y, box, bias)
    return bias, bound


@njit(**COMPILED)
def put_on_bounds(box: Box) -> bool:
    """Set coefficients that only rounding separates from a bound to it, see `BOUND_TOLERANCE`; return whether any was.

    Otherwise each would count as a margin vector, and so fix the bias.
    """
    largest, farthest = 0.0, 0.0
    for i in range(box.c.size):
        if not is_artificial(box, i):
            largest = max(largest, abs(box.c[i]))
            farthest = max(farthest, abs(box.c[i] * box.diagonal[i]))
    moved = False
    for i in range(box.c.size):
        unit = largest if largest * abs(box.diagonal[i]) <= farthest else farthest / abs(box.diagonal[i])
        below, above = box.c[i] - box.lower[i], box.upper[i] - box.c[i]
        nearest = min(below, above)
        if (nearest <= BOUND_TOLERANCE * unit) & (nearest != 0.0):
            set_coefficient(box, i, box.lower[i] if below <= above else box.upper[i])
            moved = True
    return moved


@njit(**COMPILED)
def is_artificial(box: Box, i: int) -> bool:
    """Return whether this is the sample without bounds that makes up for the equality constraint; see `solve`."""
    return bool((box.lower[i] == -np.inf) & (box.upper[i] == np.inf))


@njit(**COMPILED)
def compiled_bias(box: Box) -> float:
    """Return the bias: the mean residual of the free samples, else the midpoint of the interval; as `bias_of` does.

    Samples whose bounds are equal are left out. Of a machine without bias it is 0, the residual of the artificial
    sample.
    """
    total, free = 0.0, 0
    lower, upper = -np.inf, np.inf
    for i in range(box.c.size):
        if box.lower[i] == box.upper[i]:
            continue
        if is_artificial(box, i):
            return float(box.r[i])
        if box.c[i] > box.lower[i]:
            if box.c[i] < box.upper[i]:
                total += box.r[i]
                free += 1
            else:
                upper = min(upper, box.r[i])
        else:
            lower = max(lower, box.r[i])
    return total / free if free > 0 else 0.5 * (lower + upper)


@njit(**COMPILED)
def compiled_gaps(y: Array, box: Box, bias: float) -> tuple[float, float]:
    """Return the relative duality gap as computed, and an upper bound whatever the rounding; as `duality_gap` does.

    The ridge is part of the kernel. A term of the gap is convex in the residual, so that an end of the interval in
    which the residual lies is the worst for it. What the coefficients sum to, which should be 0, counts times
    the bias.
    """
    scale, steepest = scales(y, box, bias)
    if scale == np.inf:
        return np.inf, np.inf
    gap, worst, norm, norm_error, dual, blur, sum_alpha = gap_sums(y, box, bias, scale, steepest)
    if np.isnan(norm):
        return np.nan, np.nan
    gap += 0.5 * (scale * scale - 1.0) * norm
    worst += 0.5 * (steepest * steepest - 1.0) * (norm + norm_error)
    worst += 4.0 * EPSILON * (steepest * steepest - 1.0) * norm
    worst += abs(bias) * (abs(accurate_sum(box.c)) + (EPSILON * y.size) ** 2 * sum_alpha)
    computed, sure = relative_gaps(gap, worst, dual, blur)
    return computed, sure


@njit(**COMPILED, fastmath=REASSOCIATE - {"nnan"})
def gap_sums(
    y: Array, box: Box, bias: float, scale: float, steepest: float
) -> tuple[float, float, float, float, float, float, float]:
    """Return the sums over the samples of which `compiled_gaps` is made.

    The gap as computed and at worst, the squared norm of w with a bound on its error, the dual objective with one, and
    sum alpha. The artificial sample and those whose bounds are equal add 0, so that no branch prevents vector
    instructions.
    """
    c, r, errors, kernel_errors, lower, upper = box.c, box.r, box.error, box.kernel_error, box.lower, box.upper
    gap, worst, norm, norm_error, dual, blur, sum_alpha = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    unit = EPSILON * y.size
    for i in range(y.size):
        alpha, slack = c[i] * y[i], y[i] * (r[i] - bias)
        error = errors[i] + kernel_errors[i] + EPSILON * abs(slack)
        bound = upper[i] - lower[i]
        bound = 0.0 if bound == np.inf else bound
        gap += term(bound, alpha, slack, scale)
        above, below = term(bound, alpha, slack + error, steepest), term(bound, alpha, slack - error, steepest)
        worst += above if above > below else below
        norm += c[i] * (y[i] - r[i])
        norm_error += alpha * (error + unit * abs(y[i] - r[i]))
        dual += 0.5 * c[i] * (y[i] + r[i])
        blur += alpha * (error + unit * abs(y[i] + r[i]))
        blur += 4.0 * EPSILON * (alpha + (bound if slack > -error else 0.0)) * abs(slack)
        sum_alpha += alpha
    return gap, worst, norm, norm_error, dual, blur, sum_alpha


@njit(**COMPILED)
def scales(y: Array, box: Box, bias: float) -> tuple[float, float]:
    """Return the factors of w and the bias that bring samples without upper bound to their margin or beyond it.

    One for the residuals as they are, one for the worst end of their errors; infinity where no factor does it.
    """
    smallest, least = np.inf, np.inf
    for i in range(y.size):
        if y[i] != 0.0 and np.isinf(box.upper[i] - box.lower[i]):
            slack = y[i] * (box.r[i] - bias)
            smallest = min(smallest, 1.0 - slack)
            error = box.error[i] + box.kernel_error[i]
            least = min(least, 1.0 - slack - error - 4.0 * EPSILON * (1.0 + abs(slack)))
    scale = max(1.0, 1.0 / smallest) if smallest > 0.0 else np.inf
    return scale, max(1.0, 1.0 / least) if least > 0.0 else np.inf


@njit(**COMPILED, fastmath=REASSOCIATE - {"nnan"})
def term(bound: float, alpha: float, slack: float, scale: float) -> float:
    """Return a sample's part of the gap, its loss less alpha times its slack; the loss is that of the scaled w."""
    scaled = scale * slack - (scale - 1.0)
    return bound * (scaled if scaled > 0.0 else 0.0) - alpha * slack


@njit(**COMPILED)
def accurate_sum(values: Array) -> float:
    """Return the sum as if computed in twice the precision (Ogita, Rump and Oishi 2005, Sum2)."""
    result, rest = 0.0, 0.0
    for t in range(values.size):
        value = values[t]
        following = result + value
        added = following - result
        rest += (result - (following - added)) + (value - added)
        result = following
    return result + rest


@njit(**COMPILED)
def relative_gaps(gap: float, worst: float, dual: float, blur: float) -> tuple[float, float]:
    """Return a gap and its upper bound over the larger objective, which may be smaller by what is in doubt."""
    size = max(abs(dual), abs(dual + gap))
    if size == 0.0:
        return 0.0, 0.0 if worst == 0.0 else np.inf
    worst += blur
    least = size - blur - abs(worst - gap)
    return gap / size, worst / least if least > 0.0 or np.isnan(gap) else np.inf
