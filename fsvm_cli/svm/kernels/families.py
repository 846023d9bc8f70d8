"""The kernels of the papers as values.

Each is K(u, v) = phi(s(u, v)) for a statistic s that is a sum over features
(:mod:`fsvm_cli.svm.kernels.pairwise`): a kernel states its parameters and which s and phi they stand for
(:class:`fsvm_cli.svm.kernels.compiled.Form`), and :mod:`fsvm_cli.svm.kernels.additive` does the rest.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self

import annotated_types

from fsvm_cli.svm.kernels.additive import AdditiveKernel, ScaledKernel, Weights
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

if TYPE_CHECKING:
    from collections.abc import Mapping


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
      Advances in Neural Information Processing Systems 13, 2000.

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
    - "KPD-SVM: Kernel Parameter Descent", 2018; here kpd2018.

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


@dataclass(frozen=True)
class Gaussian(ScaledKernel):
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
    - "KPD-SVM: Kernel Parameter Descent", 2018; here kpd2018.
    - C. Gold, A. Holub and P. Sollich, "Bayesian Approach to Feature Selection and Parameter Tuning for Support
      Vector Machine Classifiers", Neural Networks 18, 2005.
    - J. Weston, S. Mukherjee, O. Chapelle, M. Pontil, T. Poggio and V. Vapnik, "Feature Selection for SVMs",
      Advances in Neural Information Processing Systems 13, 2000.

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
    is_bounded: ClassVar[bool] = True
    theta: Annotated[float, annotated_types.Gt(0.0)] = 1.0
    weights: Weights = None

    @property
    def form(self) -> Form:  # noqa: D102 - as in AdditiveKernel
        return Form(SQUARED_DISTANCE, EXPONENTIAL, scale=-1.0 / self.theta)

    @property
    def roughness(self) -> tuple[float, ...]:
        """One over the squared width."""
        return (1.0 / self.theta, 0.0)

    def at_unit_scale(self, n_features: int) -> Self:
        """Return the kernel with theta = 2: its weights are v_j^2 = 1 / sigma_j^2 in KPD-SVM (2018)."""
        return replace(self, theta=2.0).with_weights(2 * self._weights_or_ones(n_features) / self.theta)


@dataclass(frozen=True)
class Laplace(ScaledKernel):
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
    - "KPD-SVM: Kernel Parameter Descent", 2018; here kpd2018.

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
    is_bounded: ClassVar[bool] = True
    theta: Annotated[float, annotated_types.Gt(0.0)] = 1.0
    weights: Weights = None

    @property
    def form(self) -> Form:  # noqa: D102 - as in AdditiveKernel
        return Form(L1_DISTANCE, EXPONENTIAL, scale=-1.0 / self.theta)

    @property
    def roughness(self) -> tuple[float, ...]:
        """One over the width."""
        return (1.0 / self.theta, 0.0)

    def at_unit_scale(self, n_features: int) -> Self:
        """Return the kernel with theta = 1: its weights are the gamma_j of KPD-SVM (2018), eq. (9)."""
        return replace(self, theta=1.0).with_weights(self._weights_or_ones(n_features) / self.theta)


@dataclass(frozen=True)
class Anova(AdditiveKernel):
    """K(u, v) = (sum_j exp(-gamma (u_j - v_j)^2))^degree, SVM-Infoprop (2001) with the square that its print lacks.

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
    >>> from fsvm_cli.svm import Tanh
    >>> X = [[0.0, 0.0], [1.0, 1.0]]
    >>> Tanh(scale=0.5).gram(X, X).round(4)
    array([[0.    , 0.    ],
           [0.    , 0.7616]])
    >>> Tanh(scale=0.5).positive_semidefinite
    False
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


KERNELS: Mapping[str, type[AdditiveKernel]] = MappingProxyType(
    {kernel.name: kernel for kernel in (Linear, Polynomial, Gaussian, Laplace, Anova, Tanh)}
)


def kernel_from_name(name: str, **parameters: Any) -> AdditiveKernel:
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

    Examples
    --------
    >>> from fsvm_cli.svm import kernel_from_name
    >>> kernel_from_name("polynomial", degree=3)
    Polynomial(degree=3, offset=1.0, weights=None, scale=1.0)
    """
    if name not in KERNELS:
        raise ValueError(f"no kernel is called {name!r}; there are {', '.join(KERNELS)}")
    known = {field.name for field in fields(KERNELS[name])}
    if unknown := sorted(set(parameters) - known):
        raise ValueError(
            f"the {name} kernel has no parameter {unknown[0]!r}; it has {', '.join(sorted(known)) or 'none'}"
        )
    return KERNELS[name](**parameters)
