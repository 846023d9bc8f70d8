"""The hyperbolic tangent as a kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import annotated_types

from fsvm_cli.svm.kernels.additive import AdditiveKernel
from fsvm_cli.svm.kernels.compiled import INNER_PRODUCT, TANH, Form


@dataclass(frozen=True)
class Tanh(AdditiveKernel):
    """K(u, v) = tanh(scale u.v - offset); scikit-learn's "sigmoid" with gamma = scale, coef0 = -offset.

    Indefinite: the dual of an SVM with it need not be concave (see the solver's guarantees in docs/solver.md).

    Attributes
    ----------
    scale : float
        > 0, in units of one over the inner product.
    offset : float
        Any finite number.

    See Also
    --------
    Polynomial : Of the same inner product, and positive semidefinite.

    Examples
    --------
    >>> from fsvm_cli.svm import Gaussian, Tanh
    >>> X = [[0.0, 0.0], [1.0, 1.0]]
    >>> Tanh(scale=0.5).gram(X, X).round(4)
    array([[0.    , 0.    ],
           [0.    , 0.7616]])
    >>> Tanh(scale=0.5).positive_semidefinite, Gaussian().positive_semidefinite
    (False, True)
    """

    name: ClassVar[str] = "tanh"
    scale: Annotated[float, annotated_types.Gt(0.0)] = 1.0
    offset: float = 0.0

    @property
    def positive_semidefinite(self) -> bool:
        """False: Gram matrices may have eigenvalues of both signs."""
        return False

    @property
    def form(self) -> Form:  # noqa: D102 - as in AdditiveKernel
        return Form(INNER_PRODUCT, TANH, scale=float(self.scale), offset=-float(self.offset))

    @property
    def roughness(self) -> tuple[float, ...]:
        """Scale, and the less the larger the offset."""
        return (self.scale, -self.offset)
