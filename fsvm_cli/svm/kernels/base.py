"""The ranges of kernels' parameters, as their type hints state them.

What every kernel can do.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, NamedTuple, Self, get_type_hints

import annotated_types
import numpy as np
import numpy.typing as npt
from scipy import sparse

from fsvm_cli.svm.compiled import EPSILON

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from _typeshed import DataclassInstance

    from fsvm_cli.svm.compiled import Array
    from fsvm_cli.svm.kernels.pairwise import Matrix
    from fsvm_cli.svm.kernels.single_precision import SingleRows


def check_parameters(kernel: DataclassInstance) -> None:
    """Check that a kernel's numbers are in the ranges of their type hints, and that its weights are a tuple.

    Raises
    ------
    ValueError
        If a parameter is out of its range; the message names both.
    TypeError
        If weights are not a tuple.
    """
    hints = _parameter_hints(type(kernel))
    for field in fields(kernel):
        value = getattr(kernel, field.name)
        if field.name == "weights":
            _check_weights(value)
        else:
            check_number(f"{type(kernel).__name__}: {field.name}", value, hints[field.name])


def check_number(label: str, value: Any, hint: Any) -> None:
    """Check that a value is a finite number of the kind and within the bounds of a type hint.

    Raises
    ------
    ValueError
        If it is not; the message begins with `label`.
    """
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


@cache
def _parameter_hints(kernel: type[DataclassInstance]) -> dict[str, Any]:
    return get_type_hints(kernel, include_extras=True)


def _check_weights(weights: Any) -> None:
    if weights is None:
        return
    if not isinstance(weights, tuple):
        raise TypeError(f"weights must be a tuple of numbers, not {type(weights).__name__}")
    # A descent along weights makes a kernel for each of its points: checked one by one, they take as long as a fit.
    if all(type(weight) is float and 0.0 <= weight < math.inf for weight in weights):
        return
    for j, weight in enumerate(weights):
        check_number(f"weights[{j}]", weight, Annotated[float, annotated_types.Ge(0.0)])


if TYPE_CHECKING:
    Features = Sequence[int] | npt.NDArray[np.intp]


MAX_PAIRS_IN_MEMORY = 2**24
"""Kernel values held at a time where only sums over them are needed: 128 megabytes."""

DIAGONAL_BLOCK_ROWS = 64
"""Samples of one diagonal block where only the kernel of each sample with itself is needed."""


class Rounding(NamedTuple):
    """What rounding may do to kernel values: |error of K(x_i, x_k)| <= relative_i |K(x_i, x_k)| + reach_i lengths_k.

    Beside it, values below 1e-300 may be 0.

    Attributes
    ----------
    relative : (n,) array
        Parts of a kernel value.
    reach, lengths : (n,) arrays
        In units of the root of a kernel value, and no kernel value is larger than lengths_i lengths_k.
    """

    relative: Array
    reach: Array
    lengths: Array

    def restrict(self, rows: npt.NDArray[np.intp]) -> Rounding:
        """Return that of some samples with each other."""
        return Rounding(*(array[rows] for array in self))

    def of_machine(self) -> Rounding:
        """Return what separates a machine's exact outputs from those of its fit, and these from what it predicts.

        Kernel values are computed twice, from blocks of samples that may differ, and summed by `summed_in_blocks`.
        """
        n = len(self.relative)
        summed = 0.5 * EPSILON * (min(n, TERMS_PER_PRODUCT) + n // TERMS_PER_PRODUCT + 2)
        return Rounding(2.0 * self.relative + summed, 2.0 * self.reach, self.lengths)


UNKNOWN_KERNEL_ULPS = 16
"""Rounding error of a kernel without its own bound, in units in the last place, beside one unit for each feature."""
TERMS_PER_PRODUCT = 128
"""Terms of a sum over support vectors that one product of matrices adds up. m terms in blocks are rounded by some
TERMS_PER_PRODUCT + m / TERMS_PER_PRODUCT last digits, in one piece by up to m."""

SHARP_RELATIVE_ERROR = 2.0**-60
"""Relative error of a kernel value, and of a sum of them, in twice the precision: of EPSILON^2 = 2^-104 enough for any
number of features, samples and factors that memory holds."""


def summed_in_blocks(coefficients: Array, values: Array) -> Array:
    """Return the product of coefficients (n_machines, n_a) and kernel values (n_a, n_b), block by block."""
    total = np.asarray(coefficients[:, :TERMS_PER_PRODUCT] @ values[:TERMS_PER_PRODUCT], dtype=np.float64)
    for start in range(TERMS_PER_PRODUCT, values.shape[0], TERMS_PER_PRODUCT):
        total += coefficients[:, start : start + TERMS_PER_PRODUCT] @ values[start : start + TERMS_PER_PRODUCT]
    return total


def blocks_of_pairs(n_a: int, n_b: int) -> Iterator[slice]:
    """Yield slices of n_b samples with at most `MAX_PAIRS_IN_MEMORY` pairs with n_a others, or one sample each."""
    size = max(MAX_PAIRS_IN_MEMORY // max(n_a, 1), 1)
    for start in range(0, n_b, size):
        yield slice(start, start + size)


@dataclass(frozen=True)
class Kernel(ABC):
    """A kernel K(u, v): its Gram matrices, and its derivatives by inputs and by feature weights.

    Kernels are values: frozen dataclasses, equal where their parameters are, hashable, and free of any data.

    Attributes
    ----------
    name : str
        What configs and messages call the kernel.

    See Also
    --------
    fsvm_cli.svm.kernels.additive.AdditiveKernel : A function of a sum over features.
    WeightedSum : A weighted sum of kernels.

    Examples
    --------
    >>> from fsvm_cli import Gaussian, Kernel, Linear
    >>> isinstance(Gaussian(theta=2.0), Kernel), Linear() == Linear()
    (True, True)
    """

    name: ClassVar[str]

    @property
    def positive_semidefinite(self) -> bool:
        """Whether every Gram matrix of the kernel is positive semidefinite, so that the SVM dual is concave."""
        return True

    @property
    @abstractmethod
    def accepts_sparse(self) -> bool:
        """Whether the samples may be CSR matrices."""

    @property
    @abstractmethod
    def accepts_weights(self) -> bool:
        """Whether the kernel may have a weight for each feature."""

    @property
    def is_linear(self) -> bool:
        """Whether a machine with the kernel has a normal vector of features: its gradient is the same everywhere."""
        return False

    @property
    def roughness(self) -> tuple[float, ...]:
        """How much the kernel varies with its arguments: of kernels of one class the larger tuple is the rougher.

        Among candidates of equal accuracy a search takes the smallest.
        """
        return (0.0, 0.0)

    @abstractmethod
    def gram(self, A: Matrix, B: Matrix, features: Features | None = None) -> Array:
        """Return the Gram matrix K(a_i, b_k).

        Parameters
        ----------
        A, B : (n_a, d) and (n_b, d)
            Samples, dense or (where the kernel accepts them) CSR. Where they are one object, half is computed.
        features : sequence or array of int, optional
            The columns that the kernel is restricted to; all where it is None.

        Returns
        -------
        (n_a, n_b) array

        Raises
        ------
        ValueError
            If samples are sparse and the kernel takes dense ones only, or there is not one weight for each feature.
        """

    def write_rows(self, A: Matrix, B: Matrix, out: Array, places: npt.NDArray[np.intp], start: int) -> None:
        """Write K(a_i, b_k) into parts of rows of a matrix.

        Parameters
        ----------
        A, B : (n_a, d) and (n_b, d)
            Samples, as in `gram`.
        out : (any, any) array
            In the order of C; of doubles or of single precision, to which the values are rounded.
        places : (n_a,) array of int
            The row of each a_i in `out`.
        start : int
            The column of the first b_k in `out`.
        """
        out[places, start : start + B.shape[0]] = self.gram(A, B)

    def add_outputs(self, A: Matrix, B: Matrix, coefficients: Array, total: Array) -> None:
        """Add sum_i coefficients_i K(a_i, b_k) to totals.

        Parameters
        ----------
        A, B : (n_a, d) and (n_b, d)
            Samples, as in `gram`.
        coefficients : (n_a,) array
        total : (n_b,) array
        """
        total += coefficients @ self.gram(A, B)

    def single_rows(self, X: Matrix) -> SingleRows | None:  # noqa: ARG002 - of use where there is such a way
        """Return what computes kernel values of samples (n, d) in single precision; None where nothing does."""
        return None

    def diagonal(self, A: Matrix, features: Features | None = None) -> Array:
        """Return K(a_i, a_i), without the Gram matrix beside it.

        Parameters
        ----------
        A : (n_a, d)
            Samples, as in `gram`.
        features : sequence or array of int, optional
            As in `gram`.

        Returns
        -------
        (n_a,) array
        """
        rows = A.tocsr() if sparse.issparse(A) else np.asarray(A, dtype=np.float64)
        values = np.empty(rows.shape[0])
        for start in range(0, len(values), DIAGONAL_BLOCK_ROWS):
            own = rows[start : start + DIAGONAL_BLOCK_ROWS]
            values[start : start + DIAGONAL_BLOCK_ROWS] = self.gram(own, own, features).diagonal()
        return values

    def explicit_features(self, X: Matrix) -> Array | None:  # noqa: ARG002 - of kernels that have them
        """Compute phi(x_i) with phi(u) . phi(v) = K(u, v), where the feature space is small.

        A Gram matrix has lost what is below the rounding of the largest kernel value; the features have not, so that a
        machine on them may be certified where one on the matrix is not.

        Parameters
        ----------
        X : (n, d)
            Samples, as in `gram`.

        Returns
        -------
        (n, n_explicit) array or None
            None of a kernel without such a map, of sparse samples, and where there would be many of them.
        """
        return None

    def rounding(self, X: Matrix, features: Features | None = None) -> Rounding:
        """Bound what rounding does to kernel values of samples with each other, however they are computed.

        Of a kernel that does not say more, values are taken to be off by no more than some last digits of the root of
        K(u, u) K(v, v).

        Parameters
        ----------
        X : (n, d)
            Samples, as in `gram`.
        features : sequence or array of int, optional
            As in `gram`.
        """
        lengths = np.sqrt(np.abs(self.diagonal(X, features)))
        return Rounding(np.zeros(len(lengths)), (X.shape[1] + UNKNOWN_KERNEL_ULPS) * EPSILON * lengths, lengths)

    def expansion(self, A: Matrix, B: Matrix, coefficients: Array, features: Features | None = None) -> Array:
        """Return sum_i coefficients_mi K(a_i, b_k): the outputs of machines, without their biases.

        Parameters
        ----------
        A, B : (n_a, d) and (n_b, d)
            Samples, as in `gram`.
        coefficients : (n_machines, n_a) array
            For an SVM alpha_i y_i.
        features : sequence or array of int, optional
            As in `gram`.

        Returns
        -------
        (n_machines, n_b) array
        """
        return summed_in_blocks(coefficients, self.gram(A, B, features))

    def sharp_expansion(
        self,
        A: Matrix,  # noqa: ARG002 - of use where there is such a way
        B: Matrix,  # noqa: ARG002
        coefficients: Array,  # noqa: ARG002
    ) -> Array | None:
        """Return the outputs of one machine, shape (n_b,), in twice the precision; None where nothing computes them.

        The error of each is half a unit in its last place plus `SHARP_RELATIVE_ERROR` times the sum of the absolute
        values of its terms.

        Parameters
        ----------
        A, B : (n_a, d) and (n_b, d)
            Samples, as in `gram`.
        coefficients : (n_a,) array
        """
        return None

    def expansion_in_blocks(self, A: Matrix, B: Matrix, coefficients: Array) -> Array:
        """Return `expansion` without a matrix of more than `MAX_PAIRS_IN_MEMORY` kernel values at a time.

        Parameters
        ----------
        A, B : (n_a, d) and (n_b, d)
            Samples, as in `gram`.
        coefficients : (n_machines, n_a) array

        Returns
        -------
        (n_machines, n_b) array
        """
        if self.is_linear or A.shape[0] * B.shape[0] <= MAX_PAIRS_IN_MEMORY:
            return self.expansion(A, B, coefficients)
        return np.hstack([self.expansion(A, B[rows], coefficients) for rows in blocks_of_pairs(A.shape[0], B.shape[0])])

    @abstractmethod
    def input_gradient(self, A: Matrix, B: Matrix, coefficients: Array) -> Array:
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

    @abstractmethod
    def weight_gradient(self, A: Matrix, B: Matrix, coefficients: Array) -> Array:
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
            If the kernel has no feature weights.
        """

    @abstractmethod
    def with_weights(self, weights: npt.ArrayLike) -> Self:
        """Return the kernel with other feature weights.

        Parameters
        ----------
        weights : (d,) array-like
            One per feature, >= 0.

        Raises
        ------
        ValueError
            If the kernel has no feature weights, or one is negative or not finite.
        """

    @abstractmethod
    def feature_weights(self, n_features: int) -> Array | None:
        """Return the weights as an array, None where the kernel states none.

        Raises
        ------
        ValueError
            If there are weights, but not one for each of `n_features`.
        """
