"""A kernel as a function of a sum over features."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, get_type_hints

import annotated_types
import numpy as np
import numpy.typing as npt
from scipy import sparse

from fsvm_cli.svm.kernels.compiled import IDENTITY, INNER_PRODUCT, apply_in_place
from fsvm_cli.svm.kernels.symmetric_gram import symmetric_gram

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fsvm_cli.svm.kernels.compiled import Form
    from fsvm_cli.svm.kernels.pairwise import Array, PairwiseStatistic, Samples

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
        hints = _parameter_hints(type(self))
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

    @property
    @abstractmethod
    def form(self) -> Form:
        """The statistic and phi in the words of the compiled functions."""

    @property
    def is_linear(self) -> bool:
        """Whether K(u, v) is linear in each of its arguments, so that a machine has a normal vector of features."""
        return self.form.statistic == INNER_PRODUCT and self.form.function == IDENTITY

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
        return self.statistic.matrix(*self._parts(A, B, features))

    def gram(self, A: Samples, B: Samples) -> Array:
        """Return the Gram matrix K(a_i, b_k), shape (n_a, n_b), of samples (n_a, d) and (n_b, d)."""
        if A is B:
            samples = self._samples(A)
            if factors := self.statistic.factors(samples, self.feature_weights(samples.shape[1])):
                return symmetric_gram(self.form, *factors)
        result = self.statistic_matrix(A, B)
        if self.form.function != IDENTITY:
            apply_in_place(self.form, result)
        return result

    def expansion(
        self,
        A: Samples,
        B: Samples,
        coefficients: Array,
        features: Sequence[int] | npt.NDArray[np.intp] | None = None,
    ) -> Array:
        """Return sum_i coefficients_mi K(a_i, b_k): what machines say of samples, but for their biases.

        Parameters
        ----------
        A, B : (n_a, d) and (n_b, d)
            Samples, dense or (inner-product kernels) CSR.
        coefficients : (n_machines, n_a) array
            For an SVM alpha_i y_i.
        features : sequence or array of int, optional
            The columns that the kernel sums over; all where it is None.

        Returns
        -------
        (n_machines, n_b) array
            Of a linear kernel by normal vectors, without a Gram matrix.
        """
        A, B, weights = self._parts(A, B, features)
        if not self.is_linear:
            values = self.statistic.matrix(A, B, weights)
            apply_in_place(self.form, values)
            return np.asarray(coefficients @ values, dtype=np.float64)
        normals = coefficients @ A if weights is None else (coefficients @ A) * weights
        return np.asarray((B @ normals.T).T, dtype=np.float64)

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

    def _parts(
        self, A: Samples, B: Samples, features: Sequence[int] | npt.NDArray[np.intp] | None
    ) -> tuple[Samples, Samples, Array | None]:
        """Give the samples' columns with their weights; samples that are one object stay one."""
        a = self._samples(A)
        b = a if B is A else self._samples(B)
        weights = self.feature_weights(a.shape[1])
        if features is None:
            return a, b, weights
        columns = np.asarray(features, dtype=np.intp)
        picked = a[:, columns]
        return picked, picked if b is a else b[:, columns], None if weights is None else weights[columns]

    def _samples(self, X: Samples) -> Samples:
        if not sparse.issparse(X):
            return np.asarray(X, dtype=np.float64)
        if not self.statistic.accepts_sparse:
            raise ValueError(f"the {self.name} kernel takes dense samples only; convert them with X.toarray()")
        return X.tocsr()


@cache
def _parameter_hints(kernel: type[Kernel]) -> dict[str, Any]:
    return get_type_hints(kernel, include_extras=True)


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
