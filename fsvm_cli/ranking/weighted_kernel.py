"""A kernel on fixed samples whose feature weights change again and again, compiled."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numba import njit

from fsvm_cli.svm import Laplace, Polynomial
from fsvm_cli.svm.kernels.compiled import Form, add_terms, fill_gram
from fsvm_cli.svm.vectors import ALLOCATING, REASSOCIATE, Array

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fsvm_cli.svm import Kernel


class WeightedKernel:
    """Statistic, Gram matrix and derivative by the weights of one kernel; features of weight 0 cost nothing.

    Parameters
    ----------
    kernel : Kernel
        Its own weights are not used.
    X : ndarray, shape (n_samples, n_features)
    """

    def __init__(self, kernel: Kernel, X: NDArray[np.float64]) -> None:
        self.kernel = kernel
        self.X = X
        self._columns = np.ascontiguousarray(X.T)
        self._form = kernel.form

    def statistic(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the statistic that the kernel is a function of, shape (n_samples, n_samples)."""
        if isinstance(self.kernel, Polynomial):
            return self.kernel.statistic.matrix(self.X, self.X, weights)
        active = np.flatnonzero(weights)
        statistic: NDArray[np.float64] = _statistic(self._form, self._columns[active], weights[active])
        return statistic

    def gram(self, statistic: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the Gram matrix at a statistic."""
        gram: NDArray[np.float64] = _gram(self._form, statistic)
        return gram

    def gradient(
        self, statistic: NDArray[np.float64], support: NDArray[np.intp], signed: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return the derivative of signed' K signed by each weight.

        Parameters
        ----------
        statistic : ndarray, shape (n_samples, n_samples)
        support : ndarray of int
            The samples whose coefficients are not 0.
        signed : ndarray, shape (len(support),)
            Their coefficients.

        Returns
        -------
        ndarray, shape (n_features,)
        """
        coefficients = signed[:, None] * self.kernel.slope(statistic[np.ix_(support, support)]) * signed
        if not isinstance(self.kernel, Laplace):
            samples = self.X[support]
            return self.kernel.statistic.weight_contraction(samples, samples, coefficients)
        columns = np.ascontiguousarray(self._columns[:, support])
        gradient: NDArray[np.float64] = _contract_differences(columns, coefficients)
        return gradient


@njit(**ALLOCATING)
def _statistic(form: Form, columns: Array, weights: Array) -> Array:
    n = columns.shape[1]
    statistic, scratch = np.zeros((n, n)), np.empty(n)
    for i in range(n):
        for j in range(weights.size):
            add_terms(form, statistic[i, i:], columns[j, i], columns[j, i:], weights[j], scratch)
        for k in range(i):
            statistic[i, k] = statistic[k, i]
    return statistic


@njit(**ALLOCATING)
def _gram(form: Form, statistic: Array) -> Array:
    n = len(statistic)
    gram = np.empty((n, n))
    fill_gram(form, statistic, gram)
    return gram


@njit(**ALLOCATING, fastmath=REASSOCIATE)
def _contract_differences(columns: Array, coefficients: Array) -> Array:
    """Return sum_ik coefficients_ik |u_i - u_k| for each feature u, for symmetric coefficients."""
    contracted = np.zeros(len(columns))
    for i in range(columns.shape[1]):
        # The samples outside, so that one row of coefficients serves all features while it is near.
        for j in range(len(columns)):
            total = 0.0
            for k in range(i):
                total += coefficients[i, k] * abs(columns[j, i] - columns[j, k])
            contracted[j] += 2.0 * total
    return contracted
