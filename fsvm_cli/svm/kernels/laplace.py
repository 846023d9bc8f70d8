"""The Laplace kernel."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Self

from fsvm_cli.svm.kernels.compiled import EXPONENTIAL, L1_DISTANCE, Form
from fsvm_cli.svm.kernels.exponential import ExponentialKernel


@dataclass(frozen=True)
class Laplace(ExponentialKernel):
    """K(u, v) = exp(-sum_j w_j |u_j - v_j| / theta).

    Attributes
    ----------
    theta : float
        > 0, width in the features' unit; scikit-learn's `laplacian_kernel` has gamma = 1 / theta.
    weights : tuple of float or None
        One per feature, >= 0: with theta = 1 the gamma_j of KPD-SVM (2018), eq. (9) with the absolute value that its
        print lacks.

    See Also
    --------
    Gaussian : The same of squared differences.

    References
    ----------
    - KPD-SVM, "Kernel Parameter Descent Support Vector Machine", Chinese Conference on Pattern Recognition and Computer
      Vision (PRCV), 2018, doi:10.1007/978-3-030-03338-5_30; here kpd2018.

    Examples
    --------
    >>> from fsvm_cli.svm import Laplace
    >>> X = [[0.0, 0.0], [1.0, 1.0]]
    >>> Laplace(theta=2.0).gram(X, X).round(4)
    array([[1.    , 0.3679],
           [0.3679, 1.    ]])
    """

    name: ClassVar[str] = "laplace"
    weight_exponent: ClassVar[int] = 1

    @property
    def form(self) -> Form:  # noqa: D102 - as in AdditiveKernel
        return Form(L1_DISTANCE, EXPONENTIAL, scale=-1.0 / self.theta)

    def at_unit_scale(self, n_features: int) -> Self:
        """Return the kernel with theta = 1: its weights are the gamma_j of KPD-SVM (2018), eq. (9)."""
        return replace(self, theta=1.0).with_weights(self._weights_or_ones(n_features) / self.theta)
