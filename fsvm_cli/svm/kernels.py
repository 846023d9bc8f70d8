"""The kernels of the papers as values, with exact derivatives.

Every kernel is K(u, v) = phi(s(u, v)) for a statistic s that is a sum over features
(:mod:`fsvm_cli.svm.pairwise`): phi and its derivative are all that a kernel adds.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, get_type_hints

import annotated_types
import numpy as np
import numpy.typing as npt
from scipy import sparse

from fsvm_cli.svm.pairwise import (
    AnovaSum,
    Array,
    InnerProduct,
    L1Distance,
    PairwiseStatistic,
    Samples,
    SquaredDistance,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Weights = Annotated[tuple[Annotated[float, annotated_types.Ge(0.0)], ...] | None, "one per feature"]


@dataclass(frozen=True)
class Kernel(ABC):
    """A kernel K(u, v) = phi(s(u, v)).

    Attributes
    ----------
    name : str
        What configs call the kernel.
    positive_semidefinite : bool
        Whether every Gram matrix of the kernel is positive semidefinite, so that the SVM dual is concave.

    Raises
    ------
    ValueError
        On construction, if a parameter is outside its range; the message names both.
    TypeError
        On construction, if weights are not a tuple (a kernel is hashable).
    """

    name: ClassVar[str]
    positive_semidefinite: ClassVar[bool] = True

    def __post_init__(self) -> None:
        hints = get_type_hints(type(self), include_extras=True)
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name == "weights":
                _check_weights(value)
            else:
                _check_number(f"{type(self).__name__}: {field.name}", value, hints[field.name])

    @property
    @abstractmethod
    def statistic(self) -> PairwiseStatistic:
        """The sum over features that the kernel is a function of."""

    @abstractmethod
    def value(self, s: Array) -> Array:
        """Return phi(s), elementwise."""

    @abstractmethod
    def slope(self, s: Array) -> Array:
        """Return the derivative of phi at s, elementwise."""

    def feature_weights(self, n_features: int) -> Array | None:
        """Return the weights as an array, None where the kernel has none.

        Raises
        ------
        ValueError
            If there are weights, but not one for each of `n_features`.
        """
        weights = getattr(self, "weights", None)
        if weights is None:
            return None
        if len(weights) != n_features:
            raise ValueError(f"{type(self).__name__}: weights has {len(weights)} entries for {n_features} features")
        return np.asarray(weights, dtype=np.float64)

    def statistic_matrix(
        self, A: Samples, B: Samples, features: Sequence[int] | npt.NDArray[np.intp] | None = None
    ) -> Array:
        """Return s(a_i, b_k); over disjoint sets of features the results add up to that of their union.

        Parameters
        ----------
        A, B : (n_a, d) and (n_b, d)
            Samples, dense or (inner-product kernels) CSR.
        features : sequence or array of int, optional
            The columns to sum over; all where it is None.

        Returns
        -------
        (n_a, n_b) array
        """
        A, B = self._samples(A), self._samples(B)
        weights = self.feature_weights(A.shape[1])
        if features is not None:
            columns = np.asarray(features, dtype=np.intp)
            A, B = A[:, columns], B[:, columns]
            weights = None if weights is None else weights[columns]
        return self.statistic.matrix(A, B, weights)

    def gram(self, A: Samples, B: Samples) -> Array:
        """Return the Gram matrix K(a_i, b_k), shape (n_a, n_b), of samples (n_a, d) and (n_b, d)."""
        return self.value(self.statistic_matrix(A, B))

    def input_gradient(self, A: Samples, B: Samples, coefficients: Array) -> Array:
        """Return the gradient of x -> sum_i coefficients_i K(a_i, x) at each row of B.

        Parameters
        ----------
        A : (n_a, d)
            Expansion points, for an SVM its training samples.
        B : (n_b, d)
            Evaluation points; the derivative is with respect to these.
        coefficients : (n_a,)
            For an SVM alpha_i y_i.

        Returns
        -------
        (n_b, d) array
            In units of the kernel per unit of each feature. Hermes and Buhmann (2000), Table 1.
        """
        A, B = self._samples(A), self._samples(B)
        weights = self.feature_weights(A.shape[1])
        G = np.asarray(coefficients, dtype=np.float64)[:, None] * self.slope(self.statistic.matrix(A, B, weights))
        return self.statistic.input_contraction(A, B, weights, G)

    def weight_gradient(self, A: Samples, B: Samples, coefficients: Array) -> Array:
        """Return the derivative of sum_ik coefficients_ik K(a_i, b_k) with respect to each feature weight.

        Parameters
        ----------
        A, B : (n_a, d) and (n_b, d)
            Samples.
        coefficients : (n_a, n_b)
            For the dual objective of an SVM -1/2 alpha_i alpha_k y_i y_k.

        Returns
        -------
        (d,) array
            At the kernel's weights, which are ones where it states none. A parametrisation w = f(v) of the weights
            multiplies this by f'(v).

        Raises
        ------
        ValueError
            If the papers give this kernel no feature weights.
        """
        if not any(field.name == "weights" for field in fields(self)):
            raise ValueError(f"the {self.name} kernel has no feature weights")
        A, B = self._samples(A), self._samples(B)
        G = coefficients * self.slope(self.statistic.matrix(A, B, self.feature_weights(A.shape[1])))
        return self.statistic.weight_contraction(A, B, G)

    def _samples(self, X: Samples) -> Samples:
        if not sparse.issparse(X):
            return np.asarray(X, dtype=np.float64)
        if not self.statistic.accepts_sparse:
            raise ValueError(f"the {self.name} kernel takes dense samples only; convert them with X.toarray()")
        return X.tocsr()


@dataclass(frozen=True)
class Linear(Kernel):
    """K(u, v) = sum_j w_j u_j v_j; scikit-learn's "linear" where there are no weights.

    Attributes
    ----------
    weights : tuple of float or None
        One per feature, >= 0. The scaling k(x s, x' s) of Weston et al. (2000) is w_j = s_j^2.
    """

    name: ClassVar[str] = "linear"
    weights: Weights = None

    @property
    def statistic(self) -> PairwiseStatistic:  # noqa: D102
        return InnerProduct()

    def value(self, s: Array) -> Array:  # noqa: D102
        return s

    def slope(self, s: Array) -> Array:  # noqa: D102
        return np.ones_like(s)


@dataclass(frozen=True)
class Polynomial(Kernel):
    """K(u, v) = (offset + sum_j w_j u_j v_j)^degree; scikit-learn's "poly" with gamma = 1, coef0 = offset.

    Attributes
    ----------
    degree : int
        >= 1.
    offset : float
        >= 0, in units of the inner product.
    weights : tuple of float or None
        One per feature, >= 0: the a_j of KPD-SVM (2018), eq. (8).
    """

    name: ClassVar[str] = "polynomial"
    degree: Annotated[int, annotated_types.Ge(1)] = 2
    offset: Annotated[float, annotated_types.Ge(0.0)] = 1.0
    weights: Weights = None

    @property
    def statistic(self) -> PairwiseStatistic:  # noqa: D102
        return InnerProduct()

    def value(self, s: Array) -> Array:  # noqa: D102
        return (self.offset + s) ** self.degree

    def slope(self, s: Array) -> Array:  # noqa: D102
        return self.degree * (self.offset + s) ** (self.degree - 1)


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
    """

    name: ClassVar[str] = "gaussian"
    theta: Annotated[float, annotated_types.Gt(0.0)] = 1.0
    weights: Weights = None

    @property
    def statistic(self) -> PairwiseStatistic:  # noqa: D102
        return SquaredDistance()

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
    """

    name: ClassVar[str] = "laplace"
    theta: Annotated[float, annotated_types.Gt(0.0)] = 1.0
    weights: Weights = None

    @property
    def statistic(self) -> PairwiseStatistic:  # noqa: D102
        return L1Distance()

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
    """

    name: ClassVar[str] = "anova"
    gamma: Annotated[float, annotated_types.Gt(0.0)] = 1.0
    degree: Annotated[int, annotated_types.Ge(1)] = 2

    @property
    def statistic(self) -> PairwiseStatistic:  # noqa: D102
        return AnovaSum(self.gamma)

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
    """

    name: ClassVar[str] = "tanh"
    positive_semidefinite: ClassVar[bool] = False
    scale: Annotated[float, annotated_types.Gt(0.0)] = 1.0
    offset: float = 0.0

    @property
    def statistic(self) -> PairwiseStatistic:  # noqa: D102
        return InnerProduct()

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


def _check_number(label: str, value: Any, hint: Any) -> None:
    bare = getattr(hint, "__origin__", hint)
    kinds = (int, np.integer) if bare is int else (int, float, np.integer, np.floating)
    if isinstance(value, bool) or not isinstance(value, kinds) or not np.isfinite(value):
        raise ValueError(f"{label} must be {'an integer' if bare is int else 'a finite number'}, not {value!r}")
    number: Any = value  # annotated_types compares what supports it; the type checker cannot know that numbers do
    for bounds in getattr(hint, "__metadata__", ()):
        if isinstance(bounds, annotated_types.Gt) and not number > bounds.gt:
            raise ValueError(f"{label} must be > {bounds.gt}, not {value!r}")
        if isinstance(bounds, annotated_types.Ge) and not number >= bounds.ge:
            raise ValueError(f"{label} must be >= {bounds.ge}, not {value!r}")


def _check_weights(weights: Any) -> None:
    if weights is None:
        return
    if not isinstance(weights, tuple):
        raise TypeError(f"weights must be a tuple of numbers, not {type(weights).__name__}")
    for j, weight in enumerate(weights):
        _check_number(f"weights[{j}]", weight, Annotated[float, annotated_types.Ge(0.0)])
