"""Statistics summed by compiled loops: at weights that change again and again, or of terms that do not factorise."""

from __future__ import annotations

import numpy as np
from numba import njit

from fsvm_cli.svm.kernels.compiled import Form, add_terms
from fsvm_cli.svm.vectors import ALLOCATING, REASSOCIATE, Array


def weighted_statistic(form: Form, X: Array, weights: Array) -> Array:
    """Return s(x_i, x_k) for all pairs of samples; features of weight 0 cost nothing.

    Parameters
    ----------
    form : Form
        Of which the statistic is used.
    X : (n, d) array
    weights : (d,) array

    Returns
    -------
    (n, n) array
    """
    active = np.flatnonzero(weights)
    statistic: Array = _sum_terms(form, np.ascontiguousarray(X.T[active]), weights[active])
    return statistic


def cross_statistic(form: Form, A: Array, B: Array, weights: Array) -> Array:
    """Return s(a_i, b_k) for all pairs.

    Parameters
    ----------
    form : Form
        Of which the statistic is used.
    A, B : (n_a, d) and (n_b, d) array
    weights : (d,) array

    Returns
    -------
    (n_a, n_b) array
    """
    statistic: Array = _sum_cross_terms(form, np.ascontiguousarray(A), np.ascontiguousarray(B.T), weights)
    return statistic


def contract_differences(X: Array, coefficients: Array) -> Array:
    """Return sum_ik coefficients_ik |x_ij - x_kj| for each feature j.

    Parameters
    ----------
    X : (n, d) array
    coefficients : (n, n) array
        Symmetric.

    Returns
    -------
    (d,) array
    """
    contracted: Array = _contract_differences(np.ascontiguousarray(X.T), coefficients)
    return contracted


@njit(**ALLOCATING)
def _sum_terms(form: Form, columns: Array, weights: Array) -> Array:
    n = columns.shape[1]
    statistic, scratch = np.zeros((n, n)), np.empty(n)
    for i in range(n):
        for j in range(weights.size):
            add_terms(form, statistic[i, i:], columns[j, i], columns[j, i:], weights[j], scratch)
        for k in range(i):
            statistic[i, k] = statistic[k, i]
    return statistic


@njit(**ALLOCATING)
def _sum_cross_terms(form: Form, A: Array, columns: Array, weights: Array) -> Array:
    statistic, scratch = np.zeros((A.shape[0], columns.shape[1])), np.empty(columns.shape[1])
    for i in range(A.shape[0]):
        for j in range(weights.size):
            add_terms(form, statistic[i], A[i, j], columns[j], weights[j], scratch)
    return statistic


@njit(**ALLOCATING, fastmath=REASSOCIATE)
def _contract_differences(columns: Array, coefficients: Array) -> Array:
    contracted = np.zeros(len(columns))
    for i in range(columns.shape[1]):
        # The samples outside, so that one row of coefficients serves all features while it is near.
        for j in range(len(columns)):
            total = 0.0
            for k in range(i):
                total += coefficients[i, k] * abs(columns[j, i] - columns[j, k])
            contracted[j] += 2.0 * total
    return contracted
