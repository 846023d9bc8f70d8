"""Inner products of sparse rows against dense ones, and scores by normal vectors against those by Gram matrices."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from fsvm_cli.svm import Gaussian, Linear, Polynomial
from fsvm_cli.svm.kernels.pairwise import Compressed, add_products, fill_own_products, sparse_inner_products

WEIGHTS = tuple(np.random.default_rng(5).uniform(0.0, 2.0, 40))


def random_rows(n: int, density: float = 0.2, seed: int = 0) -> sparse.csr_matrix:
    return sparse.random_array((n, 40), density=density, format="csr", rng=np.random.default_rng(seed))


@pytest.mark.parametrize("n", [1, 5, 64, 130])
@pytest.mark.parametrize("density", [0.0, 0.02, 0.5, 1.0])
def test_products_are_those_of_dense_matrices(n: int, density: float) -> None:
    A, B = random_rows(n, density), random_rows(7, density, seed=1)
    np.testing.assert_allclose(sparse_inner_products(A, B), A.toarray() @ B.toarray().T, rtol=1e-13, atol=1e-15)
    own = sparse_inner_products(A, A)
    np.testing.assert_allclose(own, A.toarray() @ A.toarray().T, rtol=1e-13, atol=1e-15)
    assert (own == own.T).all()


def test_half_of_the_products_are_the_same_bits_as_all() -> None:
    A = random_rows(150)
    assert (sparse_inner_products(A, A) == sparse_inner_products(A, A.copy())).all()


def test_columns_out_of_order_and_entries_that_stand_twice_are_added_up() -> None:
    data, indices, indptr = np.array([1.0, 2.0, 3.0, 4.0]), np.array([3, 1, 3, 0]), np.array([0, 3, 4])
    A = sparse.csr_array((data, indices, indptr), shape=(2, 5))
    before = A.copy()
    np.testing.assert_array_equal(sparse_inner_products(A, A), A.toarray() @ A.toarray().T)
    np.testing.assert_array_equal(A.indices, before.indices)


def test_counts_are_added_exactly() -> None:
    A = random_rows(90)
    A.data = np.ceil(9 * A.data)
    assert (sparse_inner_products(A, A) == A.toarray() @ A.toarray().T).all()


def test_the_compiled_functions_do_what_their_python_does() -> None:
    A, B = random_rows(70), random_rows(9, seed=1)
    columns = B.tocsc()
    for function, other, shape in ((add_products, columns, (70, 9)), (fill_own_products, A.tocsc(), (70, 70))):
        compiled, plain = np.zeros(shape), np.zeros(shape)
        arguments = [Compressed(each.indptr, each.indices, each.data) for each in (A, other)]
        function(*arguments, compiled)
        function.py_func(*arguments, plain)
        assert (compiled == plain).all()


@pytest.mark.parametrize("features", [None, [3, 1, 39, 8]])
@pytest.mark.parametrize(
    "kernel", [Linear(), Linear(WEIGHTS), Polynomial(2, 1.0, WEIGHTS), Polynomial(3), Gaussian(4.0)], ids=repr
)
@pytest.mark.parametrize("is_sparse", [False, True])
def test_scores_are_those_of_the_gram_matrix(rng: np.random.Generator, kernel, features, is_sparse) -> None:
    A, B = random_rows(30), random_rows(11, seed=1)
    if not (is_sparse and kernel.statistic.accepts_sparse):
        A, B = A.toarray(), B.toarray()
    coefficients = rng.standard_normal((3, 30))
    found = kernel.expansion(A, B, coefficients, features)
    expected = coefficients @ kernel.value(kernel.statistic_matrix(A, B, features))
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
