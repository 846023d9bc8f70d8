"""The polynomial kernel."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, ClassVar, Self

import annotated_types
import numpy as np
from scipy import sparse

from fsvm_cli.svm.kernels.additive import ScaledKernel, Weights
from fsvm_cli.svm.kernels.compiled import INNER_PRODUCT, POWER, Form

if TYPE_CHECKING:
    from fsvm_cli.svm.compiled import Array
    from fsvm_cli.svm.kernels.pairwise import Matrix

MAX_EXPLICIT_FEATURES = 2000
"""Monomials: as many as a machine in the space of the features takes in about a second."""


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

    def explicit_features(self, X: Matrix) -> Array | None:
        """Compute the monomials of up to this degree, each times the root of its coefficient in the kernel."""
        n_features = X.shape[1]
        if sparse.issparse(X) or math.comb(n_features + self.degree, self.degree) > MAX_EXPLICIT_FEATURES:
            return None
        roots = np.sqrt(self.scale * self._weights_or_ones(n_features))
        base = np.column_stack([np.full(len(X), math.sqrt(self.offset)), X * roots])
        columns = []
        for chosen in itertools.combinations_with_replacement(range(n_features + 1), self.degree):
            powers = Counter(chosen).values()
            coefficient = math.factorial(self.degree) // math.prod(map(math.factorial, powers))
            columns.append(math.sqrt(coefficient) * base[:, chosen].prod(axis=1))
        return np.column_stack(columns)

    def at_unit_scale(self, n_features: int) -> Self:
        """Return the kernel with a scale of 1: its weights are the a_j of KPD-SVM (2018), eq. (8)."""
        return replace(self, scale=1.0).with_weights(self.scale * self._weights_or_ones(n_features))
