"""Kernels that are a function of a sum over features."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self

import annotated_types
import numpy as np
import numpy.typing as npt
from scipy import sparse

from fsvm_cli.svm.compiled import EPSILON
from fsvm_cli.svm.kernels.base import (
    MAX_PAIRS_IN_MEMORY,
    Kernel,
    Rounding,
    blocks_of_pairs,
    check_parameters,
    summed_in_blocks,
)
from fsvm_cli.svm.kernels.compiled import (
    EXPONENTIAL,
    FAR_SQUARED_DISTANCE,
    IDENTITY,
    INNER_PRODUCT,
    L1_DISTANCE,
    NEAR_SQUARED_DISTANCE,
    POWER,
    SQUARED_DISTANCE,
    TANH,
    apply_in_place,
)
from fsvm_cli.svm.kernels.gram import Factored, add_expansion, sharp_outputs, symmetric_gram, write_cross_gram
from fsvm_cli.svm.kernels.pairwise import statistic_of

if TYPE_CHECKING:
    from fsvm_cli.svm.compiled import Array
    from fsvm_cli.svm.kernels.base import Features
    from fsvm_cli.svm.kernels.compiled import Form
    from fsvm_cli.svm.kernels.pairwise import Matrix, PairwiseStatistic

Weights = Annotated[tuple[Annotated[float, annotated_types.Ge(0.0)], ...] | None, "one per feature"]


@dataclass(frozen=True)
class AdditiveKernel(Kernel):
    """A kernel K(u, v) = phi(s(u, v)) with s(u, v) = sum_j w_j t(u_j, v_j).

    A feature enters or leaves its Gram matrix by one term of the sum: this is what nested subsets of features and
    recursive elimination walk along. A subclass states its parameters and its `form`.

    Raises
    ------
    ValueError
        On construction, if a parameter is outside its range; the message names both.
    TypeError
        On construction, if weights are not a tuple (a kernel is hashable).
    """

    def __post_init__(self) -> None:
        check_parameters(self)

    @property
    @abstractmethod
    def form(self) -> Form:
        """The statistic s and the function phi in the words of the compiled functions."""

    @property
    def statistic(self) -> PairwiseStatistic:
        """The sum over features that the kernel is a function of."""
        return statistic_of(self.form)

    @property
    def accepts_sparse(self) -> bool:  # noqa: D102 - as in Kernel
        return self.statistic.accepts_sparse

    @property
    def accepts_weights(self) -> bool:  # noqa: D102 - as in Kernel
        return any(field.name == "weights" for field in fields(self))

    @property
    def is_linear(self) -> bool:  # noqa: D102 - as in Kernel
        return self.form.statistic == INNER_PRODUCT and self.form.function == IDENTITY

    def value(self, s: Array) -> Array:
        """Return phi(s), elementwise, for an array of one or two axes."""
        values = np.array(s, dtype=np.float64, order="C")
        apply_in_place(self.form, np.atleast_2d(values))
        return values

    def slope(self, s: Array) -> Array:
        """Return the derivative of phi at s, elementwise, for an array of one or two axes."""
        form = self.form
        if form.function == IDENTITY:
            return np.ones_like(s)
        argument: Array = form.scale * s
        argument += form.offset
        if form.function == POWER:
            powers: Array = form.degree * form.scale * argument ** (form.degree - 1)
            return powers
        if form.function == EXPONENTIAL:
            np.exp(argument, out=argument)
            argument *= form.scale
            return argument
        return form.scale * (1.0 - np.tanh(argument) ** 2)

    def with_weights(self, weights: npt.ArrayLike) -> Self:  # noqa: D102 - as in Kernel
        self._refuse_without_weights()
        changed: dict[str, Any] = {"weights": tuple(np.asarray(weights, dtype=np.float64).tolist())}
        return replace(self, **changed)

    def feature_weights(self, n_features: int) -> Array | None:  # noqa: D102 - as in Kernel
        weights = getattr(self, "weights", None)
        if weights is None:
            return None
        if len(weights) != n_features:
            raise ValueError(f"{type(self).__name__}: weights has {len(weights)} entries for {n_features} features")
        return np.asarray(weights, dtype=np.float64)

    def statistic_matrix(self, A: Matrix, B: Matrix, features: Features | None = None) -> Array:
        """Return s(a_i, b_k); over disjoint sets of features the results add up to that of their union.

        Distances are sums over differences: `rounding` holds for `value` of them, too.

        Parameters
        ----------
        A, B : (n_a, d) and (n_b, d)
            Samples, as in `gram`.
        features : sequence or array of int, optional
            The columns to sum over; all where it is None.

        Returns
        -------
        (n_a, n_b) array
        """
        return self.statistic.matrix(*self._parts(A, B, features))

    def gram(self, A: Matrix, B: Matrix, features: Features | None = None) -> Array:  # noqa: D102 - as in Kernel
        A, B, weights = self._parts(A, B, features)
        if A is B and (factors := self.statistic.factors(A, weights)):
            return symmetric_gram(self.form, *factors, A, weights)
        result = self.statistic.matrix(A, B, weights, self.form)
        if self.form.function != IDENTITY:
            apply_in_place(self.form, result)
        return result

    def rounding(self, X: Matrix, features: Features | None = None) -> Rounding:  # noqa: D102 - as in Kernel
        samples, _, weights = self._parts(X, X, features)
        form, (n, d) = self.form, samples.shape
        if form.statistic in {SQUARED_DISTANCE, L1_DISTANCE} and form.function == EXPONENTIAL:
            # Relative to any centre amid the samples a distance loses last digits of the distances from the centre, up
            # to a limit, beyond which it is computed again, or the kernel value is at most exp(-limit).
            digits, farthest = (d + 12) * EPSILON, -form.scale * _farthest(self.statistic, samples, weights)
            reach = digits * FAR_SQUARED_DISTANCE * np.exp(-NEAR_SQUARED_DISTANCE) * (farthest > NEAR_SQUARED_DISTANCE)
            relative = digits * np.minimum(farthest, NEAR_SQUARED_DISTANCE) + 4.0 * EPSILON
            return Rounding(relative, reach, np.ones(n))
        if form.function == TANH:
            scaled = samples if weights is None else samples * np.sqrt(weights)
            lengths = np.sqrt(np.asarray(_squared(scaled).sum(axis=1), dtype=np.float64).ravel())
            # The error is at most (d + 12) EPSILON / 2 (scale |u| |v| + |offset| + 1). With as much of the scale on
            # either side, the product of two roots is no larger where lengths are equal.
            roots = np.hypot(np.sqrt(form.scale) * lengths, np.sqrt(abs(form.offset) + 1.0))
            return Rounding(np.zeros(n), 0.5 * (d + 12) * EPSILON * roots, roots)
        # Of a sum of products d half digits, by its weight, the scale and the offset three; d + 4 of each factor of the
        # power (Higham 2002, section 3.1), and two more for the lengths.
        if form.statistic == INNER_PRODUCT and not sparse.issparse(samples):
            squares = _squared(samples)
            diagonal = self.value(squares.sum(axis=1) if weights is None else squares @ weights)
        else:
            diagonal = self.diagonal(X, features)
        lengths = np.sqrt(np.abs(diagonal))
        return Rounding(np.zeros(n), 0.5 * form.degree * (d + 6) * EPSILON * lengths, lengths)

    def sharp_expansion(self, A: Matrix, B: Matrix, coefficients: Array) -> Array | None:  # noqa: D102 - as in Kernel
        if self.form.statistic != INNER_PRODUCT or self.form.function != POWER or sparse.issparse(A):
            return None
        a, b, weights = self._parts(A, B, None)
        factors = np.ones(a.shape[1]) if weights is None else weights
        parts = blocks_of_pairs(b.shape[1], b.shape[0]) if sparse.issparse(b) else [slice(None)]
        blocks = [b[rows].toarray() if sparse.issparse(b) else b[rows] for rows in parts]
        return np.concatenate([sharp_outputs(self.form, a, block, factors, coefficients) for block in blocks])

    def write_rows(  # noqa: D102 - as in Kernel
        self, A: Matrix, B: Matrix, out: Array, places: npt.NDArray[np.intp], start: int
    ) -> None:
        a, b, weights = self._parts(A, B, None)
        if factors := self.statistic.cross_factors(a, b, weights):
            write_cross_gram(self.form, Factored(*factors, a, b, weights), out, places, start)
        else:
            super().write_rows(A, B, out, places, start)

    def add_outputs(  # noqa: D102 - as in Kernel
        self, A: Matrix, B: Matrix, coefficients: Array, total: Array
    ) -> None:
        a, b, weights = self._parts(A, B, None)
        if factors := self.statistic.cross_factors(a, b, weights):
            add_expansion(self.form, Factored(*factors, a, b, weights), coefficients, total)
        else:
            super().add_outputs(A, B, coefficients, total)

    def expansion(  # noqa: D102 - as in Kernel
        self, A: Matrix, B: Matrix, coefficients: Array, features: Features | None = None
    ) -> Array:
        A, B, weights = self._parts(A, B, features)
        if not self.is_linear:
            values = self.statistic.matrix(A, B, weights, self.form)
            apply_in_place(self.form, values)
            return summed_in_blocks(coefficients, values)
        # By normal vectors, without a Gram matrix.
        normals = coefficients @ A if weights is None else (coefficients @ A) * weights
        return np.asarray((B @ normals.T).T, dtype=np.float64)

    def input_gradient(self, A: Matrix, B: Matrix, coefficients: Array) -> Array:  # noqa: D102 - as in Kernel
        A, B, weights = self._parts(A, B, None)
        if self.is_linear and A.shape[0] * B.shape[0] > MAX_PAIRS_IN_MEMORY:
            normal = coefficients @ A if weights is None else (coefficients @ A) * weights
            return np.broadcast_to(np.asarray(normal, dtype=np.float64), B.shape)
        if A.shape[0] * B.shape[0] > MAX_PAIRS_IN_MEMORY and B.shape[0] > 1:
            parts = blocks_of_pairs(A.shape[0], B.shape[0])
            return np.vstack([self.input_gradient(A, B[rows], coefficients) for rows in parts])
        slopes = self.slope(self.statistic.matrix(A, B, weights, self.form))
        G = np.asarray(coefficients, dtype=np.float64)[:, None] * slopes
        return self.statistic.input_contraction(A, B, weights, G)

    def weight_gradient(self, A: Matrix, B: Matrix, coefficients: Array) -> Array:  # noqa: D102 - as in Kernel
        self._refuse_without_weights()
        A, B, weights = self._parts(A, B, None)
        if self.form.function in {IDENTITY, POWER} and self.form.degree == 1:
            return self.form.scale * self.statistic.weight_contraction(A, B, coefficients)
        G = coefficients * self.slope(self.statistic.matrix(A, B, weights, self.form))
        return self.statistic.weight_contraction(A, B, G)

    def _parts(self, A: Matrix, B: Matrix, features: Features | None) -> tuple[Matrix, Matrix, Array | None]:
        """Give the samples' columns with their weights; samples that are one object stay one."""
        a = self._samples(A)
        b = a if B is A else self._samples(B)
        weights = self.feature_weights(a.shape[1])
        if features is None:
            return a, b, weights
        columns = np.asarray(features, dtype=np.intp)
        picked = a[:, columns]
        return picked, picked if b is a else b[:, columns], None if weights is None else weights[columns]

    def _samples(self, X: Matrix) -> Matrix:
        if not sparse.issparse(X):
            return np.asarray(X, dtype=np.float64)
        if not self.accepts_sparse:
            raise ValueError(f"the {self.name} kernel takes dense samples only; convert them with X.toarray()")
        return X.tocsr()

    def _refuse_without_weights(self) -> None:
        if not self.accepts_weights:
            raise ValueError(f"the {self.name} kernel has no feature weights")


def _squared(samples: Matrix) -> Matrix:
    return samples.multiply(samples) if sparse.issparse(samples) else samples**2


def _farthest(statistic: PairwiseStatistic, X: Array, weights: Array | None) -> Array:
    """Return a bound of the sums of two samples' distances from any centre amid them, for each as one of the two."""
    distances = np.abs(X - X.mean(axis=0))
    factors = np.ones(X.shape[1]) if weights is None else weights
    if statistic.code == L1_DISTANCE:
        own = distances @ factors
        return np.asarray(own + own.max(), dtype=np.float64)
    own = np.sqrt(distances**2 @ factors)
    return np.asarray((own + own.max()) ** 2 + 4.0 * own.max() ** 2, dtype=np.float64)


@dataclass(frozen=True)
class ScaledKernel(AdditiveKernel):
    """An additive kernel whose scale parameter the weights of its features can take over.

    What is left is a kernel with one parameter v_j >= 0 for each feature, in which it can be optimised: its weights
    are w_j = v_j ** `weight_exponent`.

    Attributes
    ----------
    weight_exponent : int
        2 where v_j scales the feature itself and differences are squared, else 1.
    is_bounded : bool
        Whether kernel values stay within bounds however large the weights are.
    """

    weight_exponent: ClassVar[int]
    is_bounded: ClassVar[bool]

    @abstractmethod
    def at_unit_scale(self, n_features: int) -> Self:
        """Return the same kernel with its scale in its weights.

        Raises
        ------
        ValueError
            If there are weights, but not one for each of `n_features`.
        """

    def _weights_or_ones(self, n_features: int) -> Array:
        weights = self.feature_weights(n_features)
        return np.ones(n_features) if weights is None else weights


def require_additive(kernel: Kernel, method: str) -> AdditiveKernel:
    """Return the kernel if it is a function of a sum over features, which `method` needs.

    Raises
    ------
    ValueError
        If it is none; the message names the method and the kernel.
    """
    if isinstance(kernel, AdditiveKernel):
        return kernel
    raise ValueError(
        f"{method} needs a kernel that is a function of a sum over features, which the {kernel.name} kernel is not"
    )
