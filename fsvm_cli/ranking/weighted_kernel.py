"""A kernel on fixed samples whose feature weights change again and again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fsvm_cli.svm.kernels.symmetric_gram import gram_of_statistic

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fsvm_cli.svm.kernels.additive import AdditiveKernel


class WeightedKernel:
    """Statistic, Gram matrix and derivative by the weights of one kernel; features of weight 0 cost little.

    Parameters
    ----------
    kernel : AdditiveKernel
        Its own weights are not used.
    X : ndarray, shape (n_samples, n_features)
    """

    def __init__(self, kernel: AdditiveKernel, X: NDArray[np.float64]) -> None:
        self.kernel = kernel
        self.X = X

    def statistic(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the statistic that the kernel is a function of, shape (n_samples, n_samples)."""
        return self.kernel.statistic.symmetric_matrix(self.X, weights)

    def gram(self, statistic: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the Gram matrix at a statistic."""
        gram: NDArray[np.float64] = gram_of_statistic(self.kernel.form, statistic)
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
        return self.kernel.statistic.symmetric_weight_contraction(self.X[support], coefficients)
