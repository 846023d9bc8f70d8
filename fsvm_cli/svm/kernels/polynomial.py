"""The polynomial kernel."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, ClassVar, Self

import annotated_types

from fsvm_cli.svm.kernels.additive import ScaledKernel, Weights
from fsvm_cli.svm.kernels.compiled import INNER_PRODUCT, POWER, Form


@dataclass(frozen=True)
class Polynomial(ScaledKernel):
    """K(u, v) = (offset + scale sum_j w_j u_j v_j)^degree; scikit-learn's "poly" with gamma = scale, coef0 = offset.

    Attributes
    ----------
    degree : int
        >= 1.
    offset : float
        >= 0, in units of the inner product.
    weights : tuple of float or None
        One per feature, >= 0: the a_j of KPD-SVM (2018), eq. (8).
    scale : float
        > 0, in units of one over the inner product.

    See Also
    --------
    Anova : A power of a sum of bounded terms.

    References
    ----------
    - KPD-SVM, "Kernel Parameter Descent Support Vector Machine", Chinese Conference on Pattern Recognition and Computer
      Vision (PRCV), 2018, doi:10.1007/978-3-030-03338-5_30; here kpd2018.

    Examples
    --------
    >>> from fsvm_cli.svm import Polynomial
    >>> X = [[1.0, 2.0], [3.0, -1.0]]
    >>> Polynomial(degree=2, offset=1.0).gram(X, X)
    array([[ 36.,   4.],
           [  4., 121.]])
    """

    name: ClassVar[str] = "polynomial"
    weight_exponent: ClassVar[int] = 1
    is_bounded: ClassVar[bool] = False
    degree: Annotated[int, annotated_types.Ge(1)] = 2
    offset: Annotated[float, annotated_types.Ge(0.0)] = 1.0
    weights: Weights = None
    scale: Annotated[float, annotated_types.Gt(0.0)] = 1.0

    @property
    def form(self) -> Form:  # noqa: D102 - as in AdditiveKernel
        return Form(INNER_PRODUCT, POWER, scale=float(self.scale), offset=float(self.offset), degree=int(self.degree))

    @property
    def roughness(self) -> tuple[float, ...]:
        """Degree, scale, and the less the larger the offset, which favours terms of low degree."""
        return (self.degree, self.scale, -self.offset)

    def at_unit_scale(self, n_features: int) -> Self:
        """Return the kernel with a scale of 1: its weights are the a_j of KPD-SVM (2018), eq. (8)."""
        return replace(self, scale=1.0).with_weights(self.scale * self._weights_or_ones(n_features))
