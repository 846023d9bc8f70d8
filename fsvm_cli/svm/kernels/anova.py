"""The Anova kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import annotated_types

from fsvm_cli.svm.kernels.additive import AdditiveKernel
from fsvm_cli.svm.kernels.compiled import ANOVA_SUM, POWER, Form


@dataclass(frozen=True)
class Anova(AdditiveKernel):
    """K(u, v) = (sum_j exp(-gamma (u_j - v_j)^2))^degree, infoprop2001 with the square that its print lacks.

    Attributes
    ----------
    gamma : float
        > 0, in units of one over the features' unit squared.
    degree : int
        >= 1.

    See Also
    --------
    Gaussian : The product of the same terms.

    References
    ----------
    - V. Sindhwani, P. Bhattacharya and S. Rakshit, "Information Theoretic Feature Crediting in Multiclass Support
      Vector Machines", SIAM International Conference on Data Mining, 2001; here infoprop2001.

    Examples
    --------
    >>> from fsvm_cli.svm import Anova
    >>> X = [[0.0, 0.0], [1.0, 1.0]]
    >>> Anova(gamma=1.0, degree=2).gram(X, X).round(4)
    array([[4.    , 0.5413],
           [0.5413, 4.    ]])
    """

    name: ClassVar[str] = "anova"
    gamma: Annotated[float, annotated_types.Gt(0.0)] = 1.0
    degree: Annotated[int, annotated_types.Ge(1)] = 2

    @property
    def form(self) -> Form:  # noqa: D102 - as in AdditiveKernel
        return Form(ANOVA_SUM, POWER, gamma=float(self.gamma), degree=int(self.degree))

    @property
    def roughness(self) -> tuple[float, ...]:
        """Degree and inverse squared width."""
        return (self.degree, self.gamma)
