"""A weighted sum of kernels and a constant."""

from __future__ import annotations

import functools
import operator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, ClassVar, Self

import annotated_types
import numpy as np
import numpy.typing as npt

from fsvm_cli.svm.compiled import EPSILON
from fsvm_cli.svm.kernels.base import TERMS_PER_PRODUCT, Kernel, Rounding, check_number

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fsvm_cli.svm.compiled import Array
    from fsvm_cli.svm.kernels.base import Features
    from fsvm_cli.svm.kernels.pairwise import Matrix


@dataclass(frozen=True)
class WeightedSum(Kernel):
    """K(u, v) = constant + sum_i coefficients_i K_i(u, v).

    Attributes
    ----------
    kernels : tuple of Kernel
        The K_i, at least one; sums themselves, too.
    coefficients : tuple of float
        The mu_i, one per kernel, >= 0 unless `free_sign` is set.
    constant : float
        mu_0, >= 0 unless `free_sign` is set. A machine with a bias does not depend on it; a Gaussian process does.
    free_sign : bool
        Whether coefficients and constant may be negative. Where one is, Gram matrices need not be positive
        semidefinite.

    Raises
    ------
    ValueError
        On construction, if there is no kernel, there is not one coefficient for each, or one is out of its range.
    TypeError
        On construction, if kernels and coefficients are not tuples (a kernel is hashable) of their kind.

    See Also
    --------
    Gaussian : With one weight per feature, the term of the example.

    Notes
    -----
    A sum has the feature weights that all of its kernels share, and `with_weights` gives each kernel the same ones;
    the derivative by a weight is that of all of them together. It is no function of one sum over features, so that
    nothing can be walked feature by feature: each subset takes a Gram matrix of its own.

    References
    ----------
    - C. Gold, A. Holub and P. Sollich, "Bayesian Approach to Feature Selection and Parameter Tuning for Support
      Vector Machine Classifiers", Neural Networks 18, 2005: the kernel of the example; here gold2005.
    - G. R. G. Lanckriet, N. Cristianini, P. Bartlett, L. El Ghaoui and M. I. Jordan, "Learning the Kernel Matrix with
      Semidefinite Programming", Journal of Machine Learning Research 5, 2004, pages 27-72: coefficients of both signs,
      or none negative.

    Examples
    --------
    The kernel k0 exp(-1/2 sum_j (u_j - v_j)^2 / l_j^2) + k_off with the length scales l = (1, 2):

    >>> from fsvm_cli.svm import Gaussian, WeightedSum
    >>> ard = WeightedSum((Gaussian(2.0, weights=(1.0, 0.25)),), (3.0,), constant=0.5)
    >>> X = [[0.0, 0.0], [1.0, 2.0]]
    >>> ard.gram(X, X).round(4)
    array([[3.5   , 1.6036],
           [1.6036, 3.5   ]])
    >>> ard.with_weights([1.0, 0.0]).kernels
    (Gaussian(theta=2.0, weights=(1.0, 0.0)),)
    """

    name: ClassVar[str] = "weighted-sum"
    kernels: tuple[Kernel, ...]
    coefficients: tuple[float, ...]
    constant: float = 0.0
    free_sign: bool = False

    def __post_init__(self) -> None:
        for field, values in (("kernels", self.kernels), ("coefficients", self.coefficients)):
            if not isinstance(values, tuple):
                raise TypeError(f"WeightedSum: {field} must be a tuple, not {type(values).__name__}")
        for i, kernel in enumerate(self.kernels):
            if not isinstance(kernel, Kernel):
                raise TypeError(f"WeightedSum: kernels[{i}] must be a kernel, not {kernel!r}")
        if not self.kernels or len(self.kernels) != len(self.coefficients):
            counts = f"{len(self.kernels)} kernels and {len(self.coefficients)} coefficients"
            raise ValueError(f"WeightedSum: a sum needs kernels, and a coefficient for each, not {counts}")
        hint = float if self.free_sign else Annotated[float, annotated_types.Ge(0.0)]
        for i, coefficient in enumerate(self.coefficients):
            check_number(f"WeightedSum: coefficients[{i}]", coefficient, hint)
        check_number("WeightedSum: constant", self.constant, hint)

    @property
    def positive_semidefinite(self) -> bool:
        """Whether no coefficient is negative, and all kernels are positive semidefinite."""
        return min(self.constant, *self.coefficients) >= 0.0 and all(k.positive_semidefinite for k in self.kernels)

    @property
    def accepts_sparse(self) -> bool:
        """Whether all kernels do."""
        return all(kernel.accepts_sparse for kernel in self.kernels)

    @property
    def accepts_weights(self) -> bool:
        """Whether all kernels do."""
        return all(kernel.accepts_weights for kernel in self.kernels)

    @property
    def roughness(self) -> tuple[float, ...]:
        """That of the roughest kernel."""
        return max(kernel.roughness for kernel in self.kernels)

    def gram(self, A: Matrix, B: Matrix, features: Features | None = None) -> Array:  # noqa: D102 - as in Kernel
        total = _added_up(mu * kernel.gram(A, B, features) for mu, kernel in self._terms())
        total += self.constant
        return total

    def rounding(self, X: Matrix, features: Features | None = None) -> Rounding:  # noqa: D102 - as in Kernel
        n = X.shape[0]
        root = np.sqrt(abs(self.constant))
        digits = EPSILON * (len(self.kernels) + 4)
        reaches, lengths = [np.full(n, digits * root)], [np.full(n, root)]
        # What cancels between kernels of both signs is rounded before it does, in sums over support vectors, too.
        has_both_signs = min(self.constant, *self.coefficients) < 0.0
        if has_both_signs:
            digits += EPSILON * (min(n, TERMS_PER_PRODUCT) + n // TERMS_PER_PRODUCT)
        for mu, kernel in self._terms():
            own, root = kernel.rounding(X, features), np.sqrt(abs(mu))
            reaches += [root * own.reach, root * (own.relative + digits) * own.lengths]
            lengths += [root * own.lengths] * 2
        # By Cauchy and Schwarz.
        return Rounding(np.zeros(n), np.linalg.norm(reaches, axis=0), np.linalg.norm(lengths, axis=0))

    def expansion(  # noqa: D102 - as in Kernel
        self, A: Matrix, B: Matrix, coefficients: Array, features: Features | None = None
    ) -> Array:
        total = _added_up(mu * kernel.expansion(A, B, coefficients, features) for mu, kernel in self._terms())
        total += self.constant * coefficients.sum(axis=1, keepdims=True)
        return total

    def input_gradient(self, A: Matrix, B: Matrix, coefficients: Array) -> Array:  # noqa: D102 - as in Kernel
        return _added_up(mu * kernel.input_gradient(A, B, coefficients) for mu, kernel in self._terms())

    def weight_gradient(self, A: Matrix, B: Matrix, coefficients: Array) -> Array:
        """Return the derivative by each feature weight that the kernels share; see `Kernel.weight_gradient`.

        Raises
        ------
        ValueError
            If a kernel has no feature weights, or has others than the rest.
        """
        self.feature_weights(np.shape(A)[1])
        return _added_up(mu * kernel.weight_gradient(A, B, coefficients) for mu, kernel in self._terms())

    def with_weights(self, weights: npt.ArrayLike) -> Self:
        """Return the sum with these feature weights in each of its kernels; see `Kernel.with_weights`."""
        return replace(self, kernels=tuple(kernel.with_weights(weights) for kernel in self.kernels))

    def feature_weights(self, n_features: int) -> Array | None:
        """Return the weights that all kernels share, None where they state none.

        Raises
        ------
        ValueError
            If a kernel's weights are not one for each of `n_features`, or not those of the rest.
        """
        stated = [kernel.feature_weights(n_features) for kernel in self.kernels]
        if all(weights is None for weights in stated):
            return None
        first, *others = [np.ones(n_features) if weights is None else weights for weights in stated]
        if not all(np.array_equal(first, other) for other in others):
            raise ValueError("the kernels of the sum have different feature weights")
        return first

    def _terms(self) -> Iterator[tuple[float, Kernel]]:
        return zip(self.coefficients, self.kernels, strict=True)


def _added_up(terms: Iterator[Array]) -> Array:
    """Add arrays that nobody else holds, in place."""
    return functools.reduce(operator.iadd, terms)
