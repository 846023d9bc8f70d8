"""The linear kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from fsvm_cli.svm.kernels.additive import AdditiveKernel, Weights
from fsvm_cli.svm.kernels.compiled import IDENTITY, INNER_PRODUCT, Form


@dataclass(frozen=True)
class Linear(AdditiveKernel):
    """K(u, v) = sum_j w_j u_j v_j; scikit-learn's "linear" where there are no weights.

    Attributes
    ----------
    weights : tuple of float or None
        One per feature, >= 0. The scaling k(x s, x' s) of Weston et al. (2000) is w_j = s_j^2.

    See Also
    --------
    Polynomial : A power of the same inner product.

    References
    ----------
    - J. Weston, S. Mukherjee, O. Chapelle, M. Pontil, T. Poggio and V. Vapnik, "Feature Selection for SVMs",
      Advances in Neural Information Processing Systems 13, 2000, pages 668-674.

    Examples
    --------
    >>> from fsvm_cli.svm import Linear
    >>> X = [[1.0, 2.0], [3.0, -1.0]]
    >>> Linear().gram(X, X)
    array([[ 5.,  1.],
           [ 1., 10.]])
    >>> Linear(weights=(1.0, 0.0)).gram(X, X)
    array([[1., 3.],
           [3., 9.]])
    """

    name: ClassVar[str] = "linear"
    weights: Weights = None

    @property
    def form(self) -> Form:  # noqa: D102 - as in AdditiveKernel
        return Form(INNER_PRODUCT, IDENTITY)
