"""The kernels of the papers as values.

Each is K(u, v) = phi(s(u, v)) for a statistic s that is a sum over features
(:mod:`fsvm_cli.svm.kernels.pairwise`): phi and its derivative are
all that a kernel adds to :mod:`fsvm_cli.svm.kernels.additive`.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import annotated_types
import numpy as np

from fsvm_cli.svm.kernels.additive import Kernel, Weights
from fsvm_cli.svm.kernels.compiled import (
    ANOVA_SUM,
    EXPONENTIAL,
    IDENTITY,
    INNER_PRODUCT,
    L1_DISTANCE,
    POWER,
    SQUARED_DISTANCE,
    TANH,
    Form,
)
from fsvm_cli.svm.kernels.pairwise import AnovaSum, Array, InnerProduct, L1Distance, PairwiseStatistic, SquaredDistance

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class Linear(Kernel):
    """K(u, v) = sum_j w_j u_j v_j; scikit-learn's "linear" where there are no weights.

    Attributes
    ----------
    weights : tuple of float or None
        One per feature, >= 0. The scaling k(x s, x' s) of Weston et al. (2000) is w_j = s_j^2.

    See Also
    --------
    Polynomial : Powers of the same inner product.

    References
    ----------
    - J. Weston, S. Mukherjee, O. Chapelle, M. Pontil, T. Poggio and V. Vapnik, "Feature Selection for SVMs",
      Advances in Neural Information Processing Systems 13, 2000.

    Examples
    --------
    >>> import numpy as np
    >>> from fsvm_cli import Linear
    >>> Linear().gram(np.array([[1.0, 2.0]]), np.array([[3.0, 4.0]])).tolist()
    [[11.0]]
    """

    name: ClassVar[str] = "linear"
    weights: Weights = None

    @property
    def statistic(self) -> PairwiseStatistic:  # noqa: D102
        return InnerProduct()

    @property
    def form(self) -> Form:  # noqa: D102
        return Form(INNER_PRODUCT, IDENTITY)

    def value(self, s: Array) -> Array:  # noqa: D102
        return s

    def slope(self, s: Array) -> Array:  # noqa: D102
        return np.ones_like(s)


@dataclass(frozen=True)
class Polynomial(Kernel):
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
    Linear : Of degree 1, without offset.

    References
    ----------
    - "KPD-SVM: Kernel Parameter Descent", 2018; here kpd2018.

    Examples
    --------
    >>> import numpy as np
    >>> from fsvm_cli import Polynomial
    >>> Polynomial(degree=2, offset=1.0).gram(np.array([[1.0, 2.0]]), np.array([[3.0, 4.0]])).tolist()
    [[144.0]]
    """

    name: ClassVar[str] = "polynomial"
    degree: Annotated[int, annotated_types.Ge(1)] = 2
    offset: Annotated[float, annotated_types.Ge(0.0)] = 1.0
    weights: Weights = None
    scale: Annotated[float, annotated_types.Gt(0.0)] = 1.0

    @property
    def statistic(self) -> PairwiseStatistic:  # noqa: D102
        return InnerProduct()

    @property
    def form(self) -> Form:  # noqa: D102
        return Form(INNER_PRODUCT, POWER, scale=float(self.scale), offset=float(self.offset), degree=int(self.degree))

    def value(self, s: Array) -> Array:  # noqa: D102
        return (self.offset + self.scale * s) ** self.degree

    def slope(self, s: Array) -> Array:  # noqa: D102
        return self.degree * self.scale * (self.offset + self.scale * s) ** (self.degree - 1)


@dataclass(frozen=True)
class Gaussian(Kernel):
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
    Laplace : By absolute differences.

    References
    ----------
    - L. Hermes and J. M. Buhmann, "Feature Selection for Support Vector Machines", International Conference on
      Pattern Recognition (ICPR), 2000; here hermes2000.
    - "KPD-SVM: Kernel Parameter Descent", 2018; here kpd2018.
    - C. Gold, A. Holub and P. Sollich, "Bayesian Approach to Feature Selection and Parameter Tuning for Support
      Vector Machine Classifiers", Neural Networks 18, 2005.
    - J. Weston, S. Mukherjee, O. Chapelle, M. Pontil, T. Poggio and V. Vapnik, "Feature Selection for SVMs",
      Advances in Neural Information Processing Systems 13, 2000.

    Examples
    --------
    >>> import numpy as np
    >>> from fsvm_cli import Gaussian
    >>> Gaussian(theta=2.0).gram(np.array([[1.0, 2.0]]), np.array([[1.0, 4.0]])).round(4).tolist()
    [[0.1353]]
    """

    name: ClassVar[str] = "gaussian"
    theta: Annotated[float, annotated_types.Gt(0.0)] = 1.0
    weights: Weights = None

    @property
    def statistic(self) -> PairwiseStatistic:  # noqa: D102
        return SquaredDistance()

    @property
    def form(self) -> Form:  # noqa: D102
        return Form(SQUARED_DISTANCE, EXPONENTIAL, scale=-1.0 / self.theta)

    def value(self, s: Array) -> Array:  # noqa: D102
        return np.exp(s / -self.theta)

    def slope(self, s: Array) -> Array:  # noqa: D102
        return self.value(s) / -self.theta


@dataclass(frozen=True)
class Laplace(Kernel):
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
    Gaussian : By squared differences.

    References
    ----------
    - "KPD-SVM: Kernel Parameter Descent", 2018; here kpd2018.

    Examples
    --------
    >>> import numpy as np
    >>> from fsvm_cli import Laplace
    >>> Laplace(theta=2.0).gram(np.array([[1.0, 2.0]]), np.array([[1.0, 4.0]])).round(4).tolist()
    [[0.3679]]
    """

    name: ClassVar[str] = "laplace"
    theta: Annotated[float, annotated_types.Gt(0.0)] = 1.0
    weights: Weights = None

    @property
    def statistic(self) -> PairwiseStatistic:  # noqa: D102
        return L1Distance()

    @property
    def form(self) -> Form:  # noqa: D102
        return Form(L1_DISTANCE, EXPONENTIAL, scale=-1.0 / self.theta)

    def value(self, s: Array) -> Array:  # noqa: D102
        return np.exp(s / -self.theta)

    def slope(self, s: Array) -> Array:  # noqa: D102
        return self.value(s) / -self.theta


@dataclass(frozen=True)
class Anova(Kernel):
    """K(u, v) = (sum_j exp(-gamma (u_j - v_j)^2))^degree, SVM-Infoprop (2001) with the square that its print lacks.

    Attributes
    ----------
    gamma : float
        > 0, in units of one over the features' unit squared.
    degree : int
        >= 1.

    See Also
    --------
    Gaussian : The product over the features, not the sum.

    References
    ----------
    - V. Sindhwani, P. Bhattacharya and S. Rakshit, "Information Theoretic Feature Crediting in Multiclass Support
      Vector Machines", SIAM International Conference on Data Mining, 2001; here infoprop2001.

    Examples
    --------
    >>> import numpy as np
    >>> from fsvm_cli import Anova
    >>> Anova(gamma=0.5, degree=1).gram(np.array([[1.0, 2.0]]), np.array([[1.0, 4.0]])).round(4).tolist()
    [[1.1353]]
    """

    name: ClassVar[str] = "anova"
    gamma: Annotated[float, annotated_types.Gt(0.0)] = 1.0
    degree: Annotated[int, annotated_types.Ge(1)] = 2

    @property
    def statistic(self) -> PairwiseStatistic:  # noqa: D102
        return AnovaSum(self.gamma)

    @property
    def form(self) -> Form:  # noqa: D102
        return Form(ANOVA_SUM, POWER, gamma=float(self.gamma), degree=int(self.degree))

    def value(self, s: Array) -> Array:  # noqa: D102
        return s**self.degree

    def slope(self, s: Array) -> Array:  # noqa: D102
        return self.degree * s ** (self.degree - 1)


@dataclass(frozen=True)
class Tanh(Kernel):
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
    Polynomial : A kernel of the inner product that is positive definite.

    Examples
    --------
    >>> import numpy as np
    >>> from fsvm_cli import Tanh
    >>> Tanh(scale=0.1, offset=0.0).gram(np.array([[1.0, 2.0]]), np.array([[3.0, 4.0]])).round(4).tolist()
    [[0.8005]]
    """

    name: ClassVar[str] = "tanh"
    positive_semidefinite: ClassVar[bool] = False
    scale: Annotated[float, annotated_types.Gt(0.0)] = 1.0
    offset: float = 0.0

    @property
    def statistic(self) -> PairwiseStatistic:  # noqa: D102
        return InnerProduct()

    @property
    def form(self) -> Form:  # noqa: D102
        return Form(INNER_PRODUCT, TANH, scale=float(self.scale), offset=-float(self.offset))

    def value(self, s: Array) -> Array:  # noqa: D102
        return np.tanh(self.scale * s - self.offset)

    def slope(self, s: Array) -> Array:  # noqa: D102
        return self.scale * (1.0 - self.value(s) ** 2)


KERNELS: Mapping[str, type[Kernel]] = MappingProxyType(
    {kernel.name: kernel for kernel in (Linear, Polynomial, Gaussian, Laplace, Anova, Tanh)}
)


def kernel_from_name(name: str, **parameters: Any) -> Kernel:
    """Return the kernel that configs call `name`.

    Parameters
    ----------
    name : str
        A key of `KERNELS`.
    **parameters
        The fields of its dataclass.

    Raises
    ------
    ValueError
        If there is no such kernel, it has no such parameter, or a parameter is out of range.
    """
    if name not in KERNELS:
        raise ValueError(f"no kernel is called {name!r}; there are {', '.join(KERNELS)}")
    known = {field.name for field in fields(KERNELS[name])}
    if unknown := sorted(set(parameters) - known):
        raise ValueError(
            f"the {name} kernel has no parameter {unknown[0]!r}; it has {', '.join(sorted(known)) or 'none'}"
        )
    return KERNELS[name](**parameters)
