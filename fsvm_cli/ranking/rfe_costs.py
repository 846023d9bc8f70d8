"""What dropping a feature from a machine with a kernel costs, for recursive feature elimination."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numba import njit
from scipy.linalg.blas import dtrmm

from fsvm_cli.svm.compiled import COMPILED, EPSILON, REASSOCIATE, Array, add_scaled, overwrite
from fsvm_cli.svm.kernels.compiled import add_terms, apply_function

if TYPE_CHECKING:
    from fsvm_cli.svm.kernels.compiled import Form

MAX_DEGREE = 8
"""Of the expansion that bounds costs; with more products of matrices the costs themselves take no longer."""
MAX_REMAINDER = 1e-4
"""What the expansion may leave out, in units of sum_i r_i a_i^2: costs of features differ by a small part of that."""
ROUNDING_SHARE = 1e-10
"""Of the sum of all |c_mi c_mk|, more than rounding makes of a sum over pairs of kernel values, at most 1 each."""


def costs_of_power(form: Form, X: Array, weights: Array, statistic: Array, coefficients: Array) -> Array:
    """Return what dropping each feature from a power of an inner product costs, by the binomial theorem.

    With the power's base b_ik and the term of feature j in it, t_ik = scale w_j x_ij x_kj,

        b^p - (b - t)^p = -sum_m binomial(p, m) b^(p - m) (-t)^m,  m = 1 .. p.

    The sum over pairs is a quadratic form in the m-th powers of a column; for m = p one in the coefficients alone, so
    that a linear machine needs no pairs.

    Parameters
    ----------
    form : Form
    X : (n, d) array
        Samples, of the features that are left.
    weights : (d,) array
        Of these features in the kernel.
    statistic : (n, n) array
        Inner products.
    coefficients : (n_machines, n) array
        alpha_i y_i.

    Returns
    -------
    (d,) array
    """
    degree, columns, scales = form.degree, np.ascontiguousarray(X.T), form.scale * weights
    costs = np.zeros(len(columns))
    for power in range(1, degree + 1):
        factors = None
        if power < degree:
            factors = coefficients.T @ coefficients
            factors *= (form.offset + form.scale * statistic) ** (degree - power)
        # Column by column, not as one product: copies of a feature shall cost the same to the last digit.
        for j, column in enumerate(columns**power):
            if factors is None:
                outputs = coefficients @ column
                sum_of_pairs = outputs @ outputs
            else:
                sum_of_pairs = column @ (factors @ column)
            costs[j] -= math.comb(degree, power) * (-scales[j]) ** power * sum_of_pairs
    return costs


@njit(**COMPILED)
def add_costs(  # noqa: PLR0917
    form: Form,
    columns: Array,
    weights: Array,
    statistic: Array,
    gram: Array,
    coefficients: Array,
    memory: Array,
    costs: Array,
) -> None:
    """Add sum_ik p_ik (K_ik - K_ik without feature j) to the cost of each feature j, p_ik = sum_m c_mi c_mk.

    Row by row, so that what all features need of a row stays in the cache.

    Parameters
    ----------
    form : Form
        Of the kernel.
    columns : (d, n) array
        The features that are left.
    weights : (d,) array
        Of these in the kernel.
    statistic, gram : (n, n) arrays
        Sums over the features, and kernel values.
    coefficients : (n_machines, n) array
        c_mi = alpha_i y_i.
    memory : (3, n) array
        What it holds is lost.
    costs : (d,) array
    """
    n = gram.shape[0]
    for i in range(n):
        own, known = statistic[i, i:], gram[i, i:]
        without, factors = memory[0, : n - i], memory[2, : n - i]
        factors[:] = 0.0
        for c in coefficients:
            add_scaled(factors, c[i:], c[i])
        for j in range(columns.shape[0]):
            overwrite(without, own)
            add_terms(form, without, columns[j, i], columns[j, i:], -weights[j], memory[1])
            apply_function(form, without, without)
            # Each pair counts twice, and a sample with itself once.
            costs[j] += 2.0 * weighted_difference(factors, known, without) - factors[0] * (known[0] - without[0])


@njit(**COMPILED, fastmath=REASSOCIATE)
def weighted_difference(factors: Array, a: Array, b: Array) -> float:
    """Return sum_k p_k (a_k - b_k)."""
    result = 0.0
    for k in range(factors.size):
        result += factors[k] * (a[k] - b[k])
    return result


def bounds_of_costs(scaled: Array, coefficients: Array, gram: Array) -> tuple[Array, Array]:
    """Bound what dropping each feature from a Gaussian kernel costs, in less time than the costs take.

    Without a feature, of which the samples have the values a_i, a kernel value is K_ik exp((a_i - a_k)^2). With
    q_ik = p_ik K_ik and the vectors v_m = exp(a^2) a^m the feature costs, as in the fast Gauss transform,

        sum_ik q_ik (1 - exp(a_i^2) exp(a_k^2) exp(-2 a_i a_k)) = sum_ik q_ik - sum_m (-2)^m / m! v_m' q v_m.

    The sum over m from 0 ends at a degree n; each term is a product of matrices for all features. By Lagrange's form of
    the remainder, and since |v_i v_k| <= (v_i^2 + v_k^2) / 2, the terms beyond it are together at most

        2^(n + 1) / (n + 1)! exp(2 max a^2) sum_i r_i v_(n + 1),i^2,  where r_i = sum_k sum_m |c_mi c_mk| K_ik.

    Parameters
    ----------
    scaled : (n, d) array
        Samples in units in which the kernel is exp(-|a_i - a_k|^2).
    coefficients : (n_machines, n) array
        As in `add_costs`.
    gram : (n, n) array
        Kernel values.

    Returns
    -------
    low, high : (d,) arrays
        -inf and inf, where an expansion of `MAX_DEGREE` does not do.
    """
    a = np.asfortranarray(scaled - scaled.mean(axis=0))
    q = coefficients.T @ coefficients
    q *= gram
    r = (np.abs(coefficients) * (np.abs(coefficients) @ gram)).sum(axis=0)
    # Powers of an outlier may overflow; the feature then has infinite bounds, and its cost is computed.
    with np.errstate(over="ignore", invalid="ignore"):
        squares = a * a
        largest, needed = np.exp(2.0 * squares.max(axis=0)), MAX_REMAINDER * np.median(r @ squares)
        powers, sizes = [np.exp(squares)], []
        for m in range(MAX_DEGREE + 2):
            sizes.append(2.0**m / math.factorial(m) * (r @ powers[m] ** 2))
            if m > 0 and np.median(largest * sizes[m]) <= needed:
                break
            powers.append(powers[m] * a)
        else:
            return np.full(a.shape[1], -np.inf), np.full(a.shape[1], np.inf)
        value = np.full(a.shape[1], q.sum())
        np.fill_diagonal(q, 0.5 * q.diagonal())
        for m, v in enumerate(powers[:-1]):
            # Twice the quadratic form of a triangle with half the diagonal: half the operations of the whole.
            value -= 2.0 * (-2.0) ** m / math.factorial(m) * np.einsum("ij,ij->j", v, dtrmm(1.0, q.T, v))
        rounding = (
            2.0 * len(a) * EPSILON * sum(sizes[:-1]) + ROUNDING_SHARE * (np.abs(coefficients).sum(axis=1) ** 2).sum()
        )
        error = largest * sizes[-1] + rounding
        known = np.isfinite(value) & np.isfinite(error)
    return np.where(known, value - error, -np.inf), np.where(known, value + error, np.inf)
