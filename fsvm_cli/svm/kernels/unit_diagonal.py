"""A kernel divided by the lengths of its samples, so that each is as similar to itself as any other."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np
import numpy.typing as npt

from fsvm_cli.svm.compiled import EPSILON
from fsvm_cli.svm.kernels.base import Kernel, Rounding

if TYPE_CHECKING:
    from fsvm_cli.svm.compiled import Array
    from fsvm_cli.svm.kernels.base import Features
    from fsvm_cli.svm.kernels.pairwise import Matrix


@dataclass(frozen=True)
class UnitDiagonal(Kernel):
    """K(u, v) = K'(u, v) / sqrt(K'(u, u) K'(v, v)), the cosine of the angle between u and v in feature space.

    Attributes
    ----------
    kernel : Kernel
        The K'. A sample with K'(u, u) = 0 is similar to none.

    Raises
    ------
    TypeError
        On construction, if `kernel` is none.

    See Also
    --------
    WeightedSum : Adds up kernels, which are best brought to one scale before.

    References
    ----------
    - G. R. G. Lanckriet, N. Cristianini, P. Bartlett, L. El Ghaoui and M. I. Jordan, "Learning the Kernel Matrix with
      Semidefinite Programming", Journal of Machine Learning Research 5, 2004, pages 27-72: kernels on one scale.

    Examples
    --------
    >>> from fsvm_cli.svm import Linear, UnitDiagonal
    >>> X = [[3.0, 4.0], [0.0, 2.0]]
    >>> UnitDiagonal(Linear()).gram(X, X)
    array([[1. , 0.8],
           [0.8, 1. ]])
    """

    name: ClassVar[str] = "unit-diagonal"
    kernel: Kernel

    def __post_init__(self) -> None:
        if not isinstance(self.kernel, Kernel):
            raise TypeError(f"UnitDiagonal: kernel must be a kernel, not {self.kernel!r}")

    @property
    def positive_semidefinite(self) -> bool:  # noqa: D102 - as in Kernel
        return self.kernel.positive_semidefinite

    @property
    def accepts_sparse(self) -> bool:  # noqa: D102 - as in Kernel
        return self.kernel.accepts_sparse

    @property
    def accepts_weights(self) -> bool:  # noqa: D102 - as in Kernel
        return self.kernel.accepts_weights

    @property
    def roughness(self) -> tuple[float, ...]:  # noqa: D102 - as in Kernel
        return self.kernel.roughness

    def gram(self, A: Matrix, B: Matrix, features: Features | None = None) -> Array:  # noqa: D102 - as in Kernel
        inverse_a = self._inverse_lengths(A, features)
        inverse_b = inverse_a if A is B else self._inverse_lengths(B, features)
        gram = self.kernel.gram(A, B, features)
        gram *= np.multiply.outer(inverse_a, inverse_b)
        if A is B:
            np.fill_diagonal(gram, inverse_a > 0.0)
        return gram

    def explicit_features(self, X: Matrix) -> Array | None:  # noqa: D102 - as in Kernel
        features = self.kernel.explicit_features(X)
        if features is None:
            return None
        lengths = np.linalg.norm(features, axis=1, keepdims=True)
        unit: Array = np.divide(features, lengths, out=np.zeros_like(features), where=lengths > 0.0)
        return unit

    def rounding(self, X: Matrix, features: Features | None = None) -> Rounding:  # noqa: D102 - as in Kernel
        own, inverse = self.kernel.rounding(X, features), self._inverse_lengths(X, features)
        reach, lengths = own.reach * inverse, own.lengths * inverse
        of_squares = own.relative + reach * lengths
        relative = own.relative + 0.5 * (of_squares + of_squares.max()) + 4.0 * EPSILON
        return Rounding(relative, reach, np.maximum(lengths, 1.0))

    def input_gradient(self, A: Matrix, B: Matrix, coefficients: Array) -> Array:  # noqa: D102 - as in Kernel
        inverse_b = self._inverse_lengths(B)[:, None]
        scaled = coefficients * self._inverse_lengths(A)
        outputs = self.kernel.expansion_in_blocks(A, B, scaled[None])[0][:, None] * inverse_b
        along = self.kernel.input_gradient(A, B, scaled) * inverse_b
        # K'(v, v) changes by both of its arguments, and its root by half of that.
        own = np.vstack([self.kernel.input_gradient(row, row, np.ones(1)) for row in _rows(B)])
        return np.asarray(along - outputs * own * inverse_b**2, dtype=np.float64)

    def weight_gradient(self, A: Matrix, B: Matrix, coefficients: Array) -> Array:  # noqa: D102 - as in Kernel
        inverse_a, inverse_b = self._inverse_lengths(A), self._inverse_lengths(B)
        scaled = coefficients * np.multiply.outer(inverse_a, inverse_b)
        shares = scaled * self.kernel.gram(A, B)
        gradient = self.kernel.weight_gradient(A, B, scaled)
        for samples, factors in ((A, shares.sum(axis=1) * inverse_a**2), (B, shares.sum(axis=0) * inverse_b**2)):
            for row, factor in zip(_rows(samples), factors, strict=True):
                gradient = gradient - 0.5 * self.kernel.weight_gradient(row, row, np.array([[factor]]))
        return np.asarray(gradient, dtype=np.float64)

    def with_weights(self, weights: npt.ArrayLike) -> Self:  # noqa: D102 - as in Kernel
        return replace(self, kernel=self.kernel.with_weights(weights))

    def feature_weights(self, n_features: int) -> Array | None:  # noqa: D102 - as in Kernel
        return self.kernel.feature_weights(n_features)

    def _inverse_lengths(self, samples: Matrix, features: Features | None = None) -> Array:
        """Return 1 / sqrt(K'(u, u)) of each sample; 0 where that is 0."""
        squares = self.kernel.diagonal(samples, features)
        has_length = squares > 0.0
        lengths = np.sqrt(np.maximum(squares, 0.0))
        inverse: Array = np.divide(1.0, lengths, out=np.zeros_like(squares), where=has_length)
        return inverse


def _rows(samples: Matrix) -> list[Matrix]:
    """Return each sample as a matrix of one row."""
    rows = samples if hasattr(samples, "tocsr") else np.asarray(samples, dtype=np.float64)
    return [rows[place : place + 1] for place in range(rows.shape[0])]
