"""The functions of kernels, compiled: for Gram matrices, and for those that grow feature by feature."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from fsvm_cli.svm.compiled import COMPILED, EPSILON, Array, double_of

INNER_PRODUCT, SQUARED_DISTANCE, L1_DISTANCE, ANOVA_SUM = 0, 1, 2, 3
IDENTITY, POWER, EXPONENTIAL, TANH = 0, 1, 2, 3

ROWS_PER_MIRRORED_BLOCK = 32
"""Rows that are mirrored together, while they are in the cache."""
LOG2_E = 1.4426950408889634
LN2_HIGH, LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
EXP_UNDERFLOW = -708.0
"""Below it exp leaves the normal numbers; it is taken as 0 there."""
FAR_SQUARED_DISTANCE = 1024.0
"""Where a pair's squared distances from the centre, added up and in units of theta, are more than this, and its kernel
value is not 0, the squared distance is computed from differences: |a|^2 + |b|^2 - 2 a.b would lose digits."""
NEAR_SQUARED_DISTANCE = 16.0
"""Where a pair's squared distance itself is at most this, in units of theta, it is so where those from the centre add
up to more than this, too: of other pairs the kernel value is so small that its lost digits do not count."""


class Form(NamedTuple):
    """A kernel phi(s): codes of the statistic s and of the function phi, and the parameters of both.

    Attributes
    ----------
    statistic : int
    function : int
    gamma : float
        Of the Anova sum.
    scale, offset : float
        phi is applied to scale * s + offset.
    degree : int
        Of the power.
    """

    statistic: int
    function: int
    gamma: float = 0.0
    scale: float = 1.0
    offset: float = 0.0
    degree: int = 1


class Differences(NamedTuple):
    """Samples as they are, of which squared distances are computed where the centred ones would lose digits.

    Attributes
    ----------
    left, right : (n_a, d) and (n_b, d) arrays
    weights : (d,) array
        Of the features; empty, as the other two, where no pair is far from the centre.
    """

    left: Array
    right: Array
    weights: Array


def differences_of(  # noqa: PLR0917
    form: Form, A: Array, B: Array, weights: Array | None, squares_a: Array, squares_b: Array
) -> Differences:
    """Return the samples for distances from differences; empty arrays where the kernel or the pairs need none.

    Parameters
    ----------
    form : Form
    A, B : (n_a, d) and (n_b, d) arrays
    weights : (d,) array or None
    squares_a, squares_b : (n_a,) and (n_b,) arrays
        Squared distances of the samples from a common centre.
    """
    is_gaussian = form.statistic == SQUARED_DISTANCE and form.function == EXPONENTIAL
    if is_gaussian and -form.scale * (squares_a.max(initial=0.0) + squares_b.max(initial=0.0)) > NEAR_SQUARED_DISTANCE:
        factors = np.ones(A.shape[1]) if weights is None else np.ascontiguousarray(weights)
        return Differences(np.ascontiguousarray(A), np.ascontiguousarray(B), factors)
    return Differences(np.empty((0, 0)), np.empty((0, 0)), np.empty(0))


@njit(**COMPILED, fastmath={"contract"})
def exponential(value: float) -> float:
    """Return the exponential of a number, at most 0, to within 2 units in the last place.

    exp(x) = 2^k exp(r) with |r| <= ln(2)/2 and a Taylor polynomial of degree 13 for exp(r). Written without branches,
    so that a loop of it compiles to vector instructions; reassociation would undo the two-part reduction by ln 2.
    """
    x = value if value > EXP_UNDERFLOW else EXP_UNDERFLOW
    k = np.floor(x * LOG2_E + 0.5)
    r = (x - k * LN2_HIGH) - k * LN2_LOW
    p = 1.0 / 6227020800.0
    p = p * r + 1.0 / 479001600.0
    p = p * r + 1.0 / 39916800.0
    p = p * r + 1.0 / 3628800.0
    p = p * r + 1.0 / 362880.0
    p = p * r + 1.0 / 40320.0
    p = p * r + 1.0 / 5040.0
    p = p * r + 1.0 / 720.0
    p = p * r + 1.0 / 120.0
    p = p * r + 1.0 / 24.0
    p = p * r + 1.0 / 6.0
    p = p * r + 0.5
    p = p * r + 1.0
    p = p * r + 1.0
    power = double_of((np.int64(k) + 1023) << 52)
    return p * power if value > EXP_UNDERFLOW else 0.0


@njit(**COMPILED, fastmath={"contract"})
def exponentials(values: Array) -> None:
    """Replace values, at most 0, by their exponentials."""
    for t in range(values.size):
        values[t] = exponential(values[t])


@njit(**COMPILED, fastmath={"contract"})
def add_terms(  # noqa: PLR0917
    form: Form, total: Array, value: float, others: Array, weight: float, scratch: Array
) -> None:
    """Add the statistic's terms of one feature between one sample and others."""
    if form.statistic == INNER_PRODUCT:
        scaled = weight * value
        for t in range(total.size):
            total[t] += scaled * others[t]
    elif form.statistic == SQUARED_DISTANCE:
        for t in range(total.size):
            difference = value - others[t]
            total[t] += weight * difference * difference
    elif form.statistic == L1_DISTANCE:
        for t in range(total.size):
            total[t] += weight * abs(value - others[t])
    else:
        terms = scratch[: total.size]
        for t in range(total.size):
            difference = value - others[t]
            terms[t] = -form.gamma * difference * difference
        exponentials(terms)
        for t in range(total.size):
            total[t] += weight * terms[t]


@njit(**COMPILED, fastmath={"contract"})
def apply_function(form: Form, statistic: Array, out: Array) -> None:
    """Write phi of a row of the statistic."""
    if form.function == POWER and form.degree == 2:
        for t in range(out.size):
            base = form.scale * statistic[t] + form.offset
            out[t] = base * base
        return
    for t in range(out.size):
        out[t] = form.scale * statistic[t] + form.offset
    if form.function == EXPONENTIAL:
        exponentials(out)
    elif form.function == TANH:
        for t in range(out.size):
            out[t] = np.tanh(out[t])
    elif form.function == POWER:
        for t in range(out.size):
            base = out[t]
            for _ in range(form.degree - 1):
                out[t] *= base


@njit(**COMPILED)
def is_mirrored(form: Form) -> bool:
    """Return whether phi is costly enough to be computed for one triangle only, and copied to the other."""
    return bool(form.function >= EXPONENTIAL)


@njit(**COMPILED)
def add_feature(  # noqa: PLR0917
    form: Form, square: Array, cross: Array, train: Array, test: Array, weight: float, scratch: Array
) -> None:
    """Add one feature to the statistic of training against training and against test samples.

    Of the former only the upper triangle is kept where `fill_gram` reads no more than that.
    """
    mirrored = is_mirrored(form)
    for i in range(train.size):
        first = i if mirrored else 0
        add_terms(form, square[i, first:], train[i], train[first:], weight, scratch)
    if cross.shape[1] > 0:
        for i in range(train.size):
            add_terms(form, cross[i], train[i], test, weight, scratch)


@njit(**COMPILED)
def mirror_rows(K: Array, start: int, stop: int) -> None:
    """Copy the upper triangle of rows from `start` to `stop` to the columns of the same numbers.

    Four rows together, for the processor fetches as many entries of a row as it would for one.
    """
    n = K.shape[0]
    for left in range(start, stop, 4):
        right = min(left + 4, stop)
        for i in range(left, right):
            for k in range(i + 1, right):
                K[k, i] = K[i, k]
        if right - left == 4:
            a, b, c, d = K[left], K[left + 1], K[left + 2], K[left + 3]
            for k in range(right, n):
                K[k, left], K[k, left + 1], K[k, left + 2], K[k, left + 3] = a[k], b[k], c[k], d[k]
        else:
            for i in range(left, right):
                for k in range(right, n):
                    K[k, i] = K[i, k]


@njit(**COMPILED)
def fill_gram(form: Form, square: Array, K: Array) -> None:
    """Write the Gram matrix from the statistic of training samples."""
    n = K.shape[0]
    if not is_mirrored(form):
        for i in range(n):
            apply_function(form, square[i], K[i])
        return
    for start in range(0, n, ROWS_PER_MIRRORED_BLOCK):
        stop = min(start + ROWS_PER_MIRRORED_BLOCK, n)
        for i in range(start, stop):
            apply_function(form, square[i, i:], K[i, i:])
        mirror_rows(K, start, stop)


@njit(**COMPILED)
def apply_in_place(form: Form, statistic: Array) -> None:
    """Replace a matrix of the statistic by phi of it."""
    for i in range(statistic.shape[0]):
        apply_function(form, statistic[i], statistic[i])


@njit(**COMPILED, fastmath={"contract", "nnan"})
def distances_in_row(inner: Array, square: float, squares: Array) -> None:
    """Replace inner products a.b by |a|^2 + |b|^2 - 2 a.b, at least 0."""
    for k in range(inner.size):
        inner[k] = max(square + squares[k] - 2.0 * inner[k], 0.0)


@njit(**COMPILED, fastmath={"contract", "nnan"})
def exponentials_of_distances(form: Form, inner: Array, square: float, squares: Array, out: Array) -> None:
    """Combine `distances_in_row` and `apply_function` of an exponential in one loop: a third faster."""
    for t in range(out.size):
        out[t] = exponential(form.scale * max(square + squares[t] - 2.0 * inner[t], 0.0) + form.offset)


@njit(**COMPILED, fastmath={"contract", "nnan"})
def add_exponentials_of_distances(  # noqa: PLR0917
    form: Form, inner: Array, square: float, squares: Array, factor: float, total: Array
) -> None:
    """Add factor times what `exponentials_of_distances` writes."""
    for t in range(total.size):
        argument = form.scale * max(square + squares[t] - 2.0 * inner[t], 0.0) + form.offset
        total[t] += factor * exponential(argument)


@njit(**COMPILED)
def recompute_far(  # noqa: PLR0917
    form: Form, row: Array, square: float, squares: Array, sample: Array, others: Array, weights: Array
) -> None:
    """Replace squared distances in a row by those from differences, for pairs that would lose digits.

    See `FAR_SQUARED_DISTANCE` and `NEAR_SQUARED_DISTANCE`.

    The rule is applied to each pair by itself, so that a sample has the same kernel values alone and among others.
    """
    theta_inverse = -form.scale
    for k in range(row.size):
        size = theta_inverse * (square + squares[k])
        # What rounding may have taken from the exponent of a value that is not 0.
        lost = (weights.size + 12) * EPSILON * size
        farthest = 1.0 - EXP_UNDERFLOW if size > FAR_SQUARED_DISTANCE else NEAR_SQUARED_DISTANCE
        if (size > NEAR_SQUARED_DISTANCE) & (theta_inverse * row[k] <= farthest + lost):
            total = 0.0
            for j in range(weights.size):
                difference = sample[j] - others[k, j]
                total += weights[j] * difference * difference
            row[k] = total


@njit(**COMPILED)
def distances_in_place(form: Form, inner: Array, squares_a: Array, squares_b: Array, differences: Differences) -> None:
    """Combine `distances_in_row` and `recompute_far` for a matrix: numpy would make four passes over it."""
    for i in range(inner.shape[0]):
        distances_in_row(inner[i], squares_a[i], squares_b)
        if differences.weights.size > 0:
            left, right = differences.left[i], differences.right
            recompute_far(form, inner[i], squares_a[i], squares_b, left, right, differences.weights)
