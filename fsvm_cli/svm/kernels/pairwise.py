"""Pairwise statistics that are sums over features, and their contracted derivatives.

Every kernel of the papers is a function of one such sum, so a feature enters or leaves a Gram matrix by adding or
subtracting its term, and all derivatives follow from the few contractions below. Compiled loops compute sums whose
weights change often or whose terms do not factorise.

Inner products of sparse rows are written into a dense matrix: scipy's product makes three passes, one to count the
entries, one to write them and one to fill the dense matrix. Where nearly all entries are non-zero, as between texts,
one pass over half of the pairs is enough.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit
from scipy import sparse

from fsvm_cli.svm.compiled import ALLOCATING, COMPILED, EPSILON, REASSOCIATE, Array
from fsvm_cli.svm.kernels.compiled import (
    ANOVA_SUM,
    IDENTITY,
    INNER_PRODUCT,
    L1_DISTANCE,
    ROWS_PER_MIRRORED_BLOCK,
    SQUARED_DISTANCE,
    Form,
    add_terms,
    differences_of,
    distances_in_place,
    mirror_rows,
)

Sparse = Any  # scipy ships no types
Indices = npt.NDArray[np.integer]


def sparse_inner_products(A: Sparse, B: Sparse) -> Array:
    """Return the inner products of all rows of two CSR matrices.

    Parameters
    ----------
    A, B : (n_a, d) and (n_b, d) CSR matrices
        Where they are one object, half of the products are computed.

    Returns
    -------
    (n_a, n_b) array
    """
    products = np.zeros((A.shape[0], B.shape[0]))
    if A is not B:
        columns = B.tocsc()
        add_products(_compressed(A), _compressed(columns), products)
        return products
    if not A.has_canonical_format:
        A = A.copy()
        A.sum_duplicates()
    fill_own_products(_compressed(A), _compressed(A.tocsc()), products)
    return products


class Compressed(NamedTuple):
    """The arrays of a CSR or CSC matrix: line i holds `indices` and `values` from `begins[i]` to `begins[i + 1]`."""

    begins: Indices
    indices: Indices
    values: Array


def _compressed(A: Sparse) -> Compressed:
    return Compressed(A.indptr, A.indices, np.asarray(A.data, dtype=np.float64))


@njit(**COMPILED)
def add_products(rows: Compressed, columns: Compressed, products: Array) -> None:
    """Add the inner products of the rows of a CSR matrix with those of another, which is given as CSC."""
    for i in range(products.shape[0]):
        row = products[i]
        for entry in range(rows.begins[i], rows.begins[i + 1]):
            j, value = rows.indices[entry], rows.values[entry]
            for other in range(columns.begins[j], columns.begins[j + 1]):
                row[columns.indices[other]] += value * columns.values[other]


@njit(**ALLOCATING)
def fill_own_products(rows: Compressed, columns: Compressed, products: Array) -> None:
    """Add to zeros the inner products of a matrix's rows, given as CSR and CSC without duplicates."""
    # Rows before the present one stand first in each column; they have had their products.
    begins = columns.begins[:-1].copy()
    n = products.shape[0]
    for start in range(0, n, ROWS_PER_MIRRORED_BLOCK):
        stop = min(start + ROWS_PER_MIRRORED_BLOCK, n)
        for i in range(start, stop):
            row = products[i]
            for entry in range(rows.begins[i], rows.begins[i + 1]):
                j, value = rows.indices[entry], rows.values[entry]
                for other in range(begins[j], columns.begins[j + 1]):
                    row[columns.indices[other]] += value * columns.values[other]
                begins[j] += 1
        mirror_rows(products, start, stop)


def weighted_statistic(form: Form, X: Array, weights: Array) -> Array:
    """Return s(x_i, x_k) for all pairs of samples; features of weight 0 cost nothing.

    Parameters
    ----------
    form : Form
        Of which the statistic is used.
    X : (n, d) array
    weights : (d,) array

    Returns
    -------
    (n, n) array
    """
    active = np.flatnonzero(weights)
    statistic: Array = _sum_terms(form, np.ascontiguousarray(X.T[active]), weights[active])
    return statistic


def cross_statistic(form: Form, A: Array, B: Array, weights: Array) -> Array:
    """Return s(a_i, b_k) for all pairs.

    Parameters
    ----------
    form : Form
        Of which the statistic is used.
    A, B : (n_a, d) and (n_b, d) array
    weights : (d,) array

    Returns
    -------
    (n_a, n_b) array
    """
    statistic: Array = _sum_cross_terms(form, np.ascontiguousarray(A), np.ascontiguousarray(B.T), weights)
    return statistic


def contract_differences(X: Array, coefficients: Array) -> Array:
    """Return sum_ik coefficients_ik |x_ij - x_kj| for each feature j.

    Parameters
    ----------
    X : (n, d) array
    coefficients : (n, n) array
        Symmetric.

    Returns
    -------
    (d,) array
    """
    contracted: Array = _contract_differences(np.ascontiguousarray(X.T), coefficients)
    return contracted


@njit(**ALLOCATING)
def _sum_terms(form: Form, columns: Array, weights: Array) -> Array:
    n = columns.shape[1]
    statistic, scratch = np.zeros((n, n)), np.empty(n)
    for start in range(0, n, ROWS_PER_MIRRORED_BLOCK):
        stop = min(start + ROWS_PER_MIRRORED_BLOCK, n)
        for i in range(start, stop):
            for j in range(weights.size):
                add_terms(form, statistic[i, i:], columns[j, i], columns[j, i:], weights[j], scratch)
        mirror_rows(statistic, start, stop)
    return statistic


@njit(**ALLOCATING)
def _sum_cross_terms(form: Form, A: Array, columns: Array, weights: Array) -> Array:
    statistic, scratch = np.zeros((A.shape[0], columns.shape[1])), np.empty(columns.shape[1])
    for i in range(A.shape[0]):
        for j in range(weights.size):
            add_terms(form, statistic[i], A[i, j], columns[j], weights[j], scratch)
    return statistic


@njit(**ALLOCATING, fastmath=REASSOCIATE)
def _contract_differences(columns: Array, coefficients: Array) -> Array:
    contracted = np.zeros(len(columns))
    for i in range(columns.shape[1]):
        # The samples outside, so that one row of coefficients serves all features while it is near.
        for j in range(len(columns)):
            total = 0.0
            for k in range(i):
                total += coefficients[i, k] * abs(columns[j, i] - columns[j, k])
            contracted[j] += 2.0 * total
    return contracted


Matrix = Any  # a dense array or a CSR matrix (n, d); scipy ships no types


class PairwiseStatistic(ABC):
    """A sum over features s(u, v) = sum_j w_j t(u_j, v_j) with weights w_j >= 0.

    Attributes
    ----------
    code : int
        What the compiled functions call the statistic.
    accepts_sparse : bool
        Whether the samples may be CSR matrices.
    """

    code: ClassVar[int]
    accepts_sparse: ClassVar[bool] = False

    @abstractmethod
    def matrix(self, A: Matrix, B: Matrix, weights: Array | None, form: Form | None = None) -> Array:
        """Return s(a_i, b_k) for all pairs.

        Parameters
        ----------
        A, B : (n_a, d) and (n_b, d)
            Samples.
        weights : (d,) or None
            Non-negative weights of the features; None means ones.
        form : Form, optional
            Of the kernel that the statistic is for: squared distances are as precise as its values need them, and
            without it as precise as can be.

        Returns
        -------
        (n_a, n_b) array
        """

    def symmetric_matrix(self, X: Array, weights: Array) -> Array:
        """Return s(x_i, x_k) for all pairs of dense samples, at weights of which many may be 0.

        Parameters
        ----------
        X : (n, d) array
        weights : (d,) array

        Returns
        -------
        (n, n) array
        """
        return self.matrix(X, X, weights)

    def factors(self, A: Matrix, weights: Array | None) -> tuple[Array, Array] | None:  # noqa: ARG002
        """Return two matrices of rows whose inner products, in a dense matrix, lead to s(a_i, a_k); None: none do."""
        return None

    def cross_factors(
        self,
        A: Matrix,  # noqa: ARG002
        B: Matrix,  # noqa: ARG002
        weights: Array | None,  # noqa: ARG002
    ) -> tuple[Array, Array] | None:
        """Return two matrices of rows whose inner products, in a dense matrix, lead to s(a_i, b_k); None: none do."""
        return None

    @abstractmethod
    def input_contraction(self, A: Matrix, B: Matrix, weights: Array | None, G: Array) -> Array:
        """Return sum_i G_ik ds(a_i, b_k)/db_k, shape (n_b, d), for coefficients G of shape (n_a, n_b)."""

    @abstractmethod
    def weight_contraction(self, A: Matrix, B: Matrix, G: Array) -> Array:
        """Return sum_ik G_ik ds(a_i, b_k)/dw_j, shape (d,), for coefficients G of shape (n_a, n_b)."""

    def symmetric_weight_contraction(self, X: Array, G: Array) -> Array:
        """Return `weight_contraction` of dense samples (n, d) with themselves, for symmetric coefficients G (n, n)."""
        return self.weight_contraction(X, X, G)


def _weighted(A: Matrix, weights: Array | None) -> Matrix:
    if weights is None:
        return A
    return A.multiply(weights).tocsr() if sparse.issparse(A) else A * weights


def _centred(centre: Array, A: Matrix, weights: Array | None) -> Array:
    """Return the samples relative to a centre, in units in which the weights are 1."""
    shifted: Array = A - centre
    return shifted if weights is None else shifted * np.sqrt(weights)


def _centre(A: Array) -> Array:
    """Return the mean of each column, and for a constant one its value, which rounding may keep the mean from."""
    centre: Array = np.where(np.equal(A, A[0]).all(axis=0), A[0], A.mean(axis=0))
    return centre


FAR_MEAN_DEVIATIONS = 8.0
"""In standard deviations, or units where there is none: columns with means farther from 0 are centred before sums over
samples, of which differences are left."""


MAX_LOST_OF_CONTRACTION = 1e-6
"""Of a sum over pairs: where rounding of the expanded squares may be more, the sum is taken over differences."""


def _far_centre(A: Array) -> Array | None:
    """Return the centre of the columns that are far from 0, and 0 for the others; None where no column is far."""
    centre, constant = _centre(A), np.equal(A, A[:1]).all(axis=0)
    far: npt.NDArray[np.bool_] = np.abs(centre) > FAR_MEAN_DEVIATIONS * np.where(constant, 1.0, A.std(axis=0))
    return np.where(far, centre, 0.0) if far.any() else None


def _dense(A: Matrix) -> Array:
    return np.asarray(A.toarray() if sparse.issparse(A) else A, dtype=np.float64)


@dataclass(frozen=True)
class InnerProduct(PairwiseStatistic):
    """t(u, v) = u v."""

    code: ClassVar[int] = INNER_PRODUCT
    accepts_sparse: ClassVar[bool] = True

    def matrix(  # noqa: D102
        self,
        A: Matrix,
        B: Matrix,
        weights: Array | None,
        form: Form | None = None,  # noqa: ARG002
    ) -> Array:
        if sparse.issparse(A) and sparse.issparse(B):
            return sparse_inner_products(_weighted(A, weights), B)
        return _dense(_weighted(A, weights) @ B.T)

    def factors(self, A: Matrix, weights: Array | None) -> tuple[Array, Array] | None:  # noqa: D102
        return self.cross_factors(A, A, weights)

    def cross_factors(self, A: Matrix, B: Matrix, weights: Array | None) -> tuple[Array, Array] | None:  # noqa: D102
        return None if sparse.issparse(A) or sparse.issparse(B) else (_weighted(A, weights), B)

    def input_contraction(self, A: Matrix, B: Matrix, weights: Array | None, G: Array) -> Array:  # noqa: ARG002, D102
        contracted = _dense(A.T @ G).T
        return contracted if weights is None else contracted * weights

    def weight_contraction(self, A: Matrix, B: Matrix, G: Array) -> Array:  # noqa: D102
        projected = _dense(B.T @ G.T).T
        product = A.multiply(projected) if sparse.issparse(A) else A * projected
        return np.asarray(product.sum(axis=0), dtype=np.float64).ravel()


@dataclass(frozen=True)
class SquaredDistance(PairwiseStatistic):
    """t(u, v) = (u - v)^2, for a kernel as |a|^2 + |b|^2 - 2 a.b.

    That is the fast form. It is computed relative to the mean of A, so that it is precise for features far from the
    origin, too. Pairs far from that mean but near each other are recomputed from differences; see
    `FAR_SQUARED_DISTANCE`.
    """

    code: ClassVar[int] = SQUARED_DISTANCE

    def matrix(  # noqa: D102
        self, A: Matrix, B: Matrix, weights: Array | None, form: Form | None = None
    ) -> Array:
        if form is None:
            ones, own = np.ones(A.shape[1]) if weights is None else weights, Form(self.code, IDENTITY)
            return weighted_statistic(own, A, ones) if A is B else cross_statistic(own, A, B, ones)
        a, b = self.cross_factors(A, B, weights)
        result: Array = a @ b.T
        squares_a, squares_b = np.einsum("ij,ij->i", a, a), np.einsum("ij,ij->i", b, b)
        differences = differences_of(form, A, B, weights, squares_a, squares_b)
        distances_in_place(form, result, squares_a, squares_b, differences)
        if A is B:
            np.fill_diagonal(result, 0.0)
        return result

    def symmetric_matrix(self, X: Array, weights: Array) -> Array:  # noqa: D102
        return weighted_statistic(Form(self.code, IDENTITY), X, weights)

    def factors(self, A: Matrix, weights: Array | None) -> tuple[Array, Array] | None:  # noqa: D102
        return self.cross_factors(A, A, weights)

    def cross_factors(self, A: Matrix, B: Matrix, weights: Array | None) -> tuple[Array, Array]:  # noqa: D102
        centre = _centre(A)
        a = _centred(centre, A, weights)
        return a, a if A is B else _centred(centre, B, weights)

    def input_contraction(self, A: Matrix, B: Matrix, weights: Array | None, G: Array) -> Array:  # noqa: D102
        a, b = (A, B) if (centre := _far_centre(A)) is None else (A - centre, B - centre)
        contracted: Array = 2.0 * (b * G.sum(axis=0)[:, None] - G.T @ a)
        return contracted if weights is None else contracted * weights

    def weight_contraction(self, A: Matrix, B: Matrix, G: Array) -> Array:  # noqa: D102
        centre = _centre(A)  # keeps the expanded square accurate for features far from the origin
        a, b = A - centre, B - centre
        product = G @ np.column_stack([b, np.ones(len(b))])  # the sums of the rows come with it
        of_rows, of_columns = product[:, -1], np.ones(len(a)) @ G
        contracted: Array = of_rows @ a**2 + of_columns @ b**2 - 2.0 * np.sum(a * product[:, :-1], axis=0)
        # Where only pairs that are near each other count, and are far from the centre, rounding is what is left.
        largest = 2.0 * np.maximum(np.abs(a).max(axis=0), np.abs(b).max(axis=0)) ** 2
        terms = np.sqrt(G.size) * np.linalg.norm(G) * largest
        for j in np.flatnonzero(EPSILON * terms > MAX_LOST_OF_CONTRACTION * np.abs(contracted)):
            contracted[j] = np.vdot(G, (A[:, j, None] - B[None, :, j]) ** 2)
        return contracted


class _FeatureLoop(PairwiseStatistic):
    """A statistic whose terms do not factorise: one feature after the other, never an (n_a, n_b, d) array."""

    @abstractmethod
    def _term(self, difference: Array) -> Array:
        """Return t as a function of u - v."""

    @abstractmethod
    def _slope(self, difference: Array) -> Array:
        """Return dt/dv as a function of u - v."""

    def input_contraction(self, A: Matrix, B: Matrix, weights: Array | None, G: Array) -> Array:
        contracted = np.empty((B.shape[0], A.shape[1]))
        for j in range(A.shape[1]):
            contracted[:, j] = np.einsum("ik,ik->k", G, self._slope(A[:, j, None] - B[None, :, j]))
        return contracted if weights is None else contracted * weights

    def weight_contraction(self, A: Matrix, B: Matrix, G: Array) -> Array:
        return np.array([np.vdot(G, self._term(A[:, j, None] - B[None, :, j])) for j in range(A.shape[1])])


@dataclass(frozen=True)
class L1Distance(_FeatureLoop):
    """t(u, v) = |u - v|; where u = v the derivative with respect to v is taken as 0."""

    code: ClassVar[int] = L1_DISTANCE

    def matrix(  # noqa: D102
        self,
        A: Matrix,
        B: Matrix,
        weights: Array | None,
        form: Form | None = None,  # noqa: ARG002
    ) -> Array:
        if weights is not None:  # weighted samples would lose the digits of differences far from the origin
            return cross_statistic(Form(self.code, IDENTITY), A, B, weights)
        from scipy.spatial.distance import cdist  # noqa: PLC0415 - slow to import, and this kernel's alone

        return np.asarray(cdist(A, B, "cityblock"), dtype=np.float64)

    def symmetric_matrix(self, X: Array, weights: Array) -> Array:  # noqa: D102
        return weighted_statistic(Form(self.code, IDENTITY), X, weights)

    def symmetric_weight_contraction(self, X: Array, G: Array) -> Array:  # noqa: D102
        return contract_differences(X, G)

    def _term(self, difference: Array) -> Array:
        return np.abs(difference)

    def _slope(self, difference: Array) -> Array:
        return -np.sign(difference)


@dataclass(frozen=True)
class AnovaSum(_FeatureLoop):
    """t(u, v) = exp(-gamma (u - v)^2).

    Attributes
    ----------
    gamma : float
        Inverse squared width, > 0, in units of one over the features' unit squared.
    """

    code: ClassVar[int] = ANOVA_SUM
    gamma: float

    def matrix(  # noqa: D102
        self,
        A: Matrix,
        B: Matrix,
        weights: Array | None,
        form: Form | None = None,  # noqa: ARG002
    ) -> Array:
        weights = np.ones(A.shape[1]) if weights is None else weights
        if A is B:
            return weighted_statistic(self._form, A, weights)
        return cross_statistic(self._form, A, B, weights)

    @property
    def _form(self) -> Form:
        return Form(self.code, IDENTITY, gamma=self.gamma)

    def _term(self, difference: Array) -> Array:
        return np.exp(-self.gamma * difference**2)

    def _slope(self, difference: Array) -> Array:
        return 2.0 * self.gamma * difference * self._term(difference)


def statistic_of(form: Form) -> PairwiseStatistic:
    """Return the statistic that a kernel's form names."""
    if form.statistic == ANOVA_SUM:
        return AnovaSum(form.gamma)
    return _WITHOUT_PARAMETERS[form.statistic]


_WITHOUT_PARAMETERS = {each.code: each for each in (InnerProduct(), SquaredDistance(), L1Distance())}
