"""The Gaussian kernel."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from fsvm_cli.svm.kernels.compiled import EXPONENTIAL, SQUARED_DISTANCE, Form
from fsvm_cli.svm.kernels.exponential import ExponentialKernel
from fsvm_cli.svm.kernels.single_precision import SingleRows

if TYPE_CHECKING:
    from fsvm_cli.svm.kernels.pairwise import Matrix


@dataclass(frozen=True)
class Gaussian(ExponentialKernel):
    """K(u, v) = exp(-sum_j w_j (u_j - v_j)^2 / theta); scikit-learn's "rbf" with gamma = 1 / theta.

    Attributes
    ----------
    theta : float
        > 0, squared width in the features' unit squared, as in Hermes and Buhmann (2000); theta = 2 sigma^2.
    weights : tuple of float or None
        One per feature, >= 0. With theta = 2, KPD-SVM (2018) has w_j = v_j^2, Gold et al. (2005) w_j = 1 / l_j^2 and
        the scaling of Weston et al. (2000) w_j = s_j^2.

    See Also
    --------
    Laplace : The same of absolute differences.
    WeightedSum : With a constant added, the kernel of Gold et al. (2005).

    References
    ----------
    - L. Hermes and J. M. Buhmann, "Feature Selection for Support Vector Machines", International Conference on
      Pattern Recognition (ICPR), 2000; here hermes2000.
    - KPD-SVM, "Kernel Parameter Descent Support Vector Machine", Chinese Conference on Pattern Recognition and Computer
      Vision (PRCV), 2018, doi:10.1007/978-3-030-03338-5_30; here kpd2018.
    - C. Gold, A. Holub and P. Sollich, "Bayesian Approach to Feature Selection and Parameter Tuning for Support
      Vector Machine Classifiers", Neural Networks 18, 2005; here gold2005.
    - J. Weston, S. Mukherjee, O. Chapelle, M. Pontil, T. Poggio and V. Vapnik, "Feature Selection for SVMs",
      Advances in Neural Information Processing Systems 13, 2000, pages 668-674.

    Examples
    --------
    >>> from fsvm_cli.svm import Gaussian
    >>> X = [[0.0, 0.0], [1.0, 1.0]]
    >>> Gaussian(theta=2.0).gram(X, X).round(4)
    array([[1.    , 0.3679],
           [0.3679, 1.    ]])
    """

    name: ClassVar[str] = "gaussian"
    weight_exponent: ClassVar[int] = 2

    @property
    def form(self) -> Form:  # noqa: D102 - as in AdditiveKernel
        return Form(SQUARED_DISTANCE, EXPONENTIAL, scale=-1.0 / self.theta)

    def single_rows(self, X: Matrix) -> SingleRows | None:  # noqa: D102 - as in Kernel
        samples, _, weights = self._parts(X, X, None)
        centred = samples - samples.mean(axis=0)
        return SingleRows.of_samples(centred if weights is None else centred * np.sqrt(weights), self.theta)

    def at_unit_scale(self, n_features: int) -> Self:
        """Return the kernel with theta = 2: its weights are v_j^2 = 1 / sigma_j^2 in KPD-SVM (2018)."""
        return replace(self, theta=2.0).with_weights(2 * self._weights_or_ones(n_features) / self.theta)
