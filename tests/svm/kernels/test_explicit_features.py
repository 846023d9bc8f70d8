"""Explicit features of a polynomial kernel give its values, and certify hard margins that a Gram matrix loses."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import linprog

from fsvm_cli.learners.learned_kernel import LearnedKernelMachine
from fsvm_cli.svm import Gaussian, Polynomial, UnitDiagonal


@pytest.mark.parametrize("degree", [1, 2, 3])
@pytest.mark.parametrize("weights", [None, (0.5, 0.0, 2.0)])
def test_inner_products_of_the_features_are_kernel_values(
    rng: np.random.Generator, degree: int, weights: tuple[float, ...] | None
) -> None:
    X = rng.standard_normal((7, 3))
    kernel = Polynomial(degree, offset=1.5, scale=0.7, weights=weights)
    for each in (kernel, UnitDiagonal(kernel)):
        features = each.explicit_features(X)
        assert features is not None
        assert features.shape == (7, math.comb(3 + degree, degree))
        np.testing.assert_allclose(features @ features.T, each.gram(X, X), rtol=1e-12, atol=1e-12)


def test_there_are_none_of_other_kernels_of_sparse_samples_and_of_many(rng: np.random.Generator) -> None:
    X = rng.standard_normal((3, 100))
    assert Gaussian(1.0).explicit_features(X) is None
    assert UnitDiagonal(Gaussian(1.0)).explicit_features(X) is None
    assert Polynomial(2).explicit_features(X) is None
    assert UnitDiagonal(Polynomial(2)).explicit_features(sparse.csr_matrix(X[:, :3])) is None


def machine(unit_diagonal: bool = False) -> LearnedKernelMachine:
    return LearnedKernelMachine((Polynomial(2),), "qcqp", "hard", 1.0, unit_diagonal, 1e-4, transductive=False)


def test_the_margin_between_two_samples_is_their_distance_however_far_from_the_origin() -> None:
    X = np.array([[1000.0, 3.0], [1000.0, 3.0 + 2.0**-10]])
    found = machine()._in_explicit_features(X, np.array([0, 1]), X)
    assert found is not None

    def K(u: np.ndarray, v: np.ndarray) -> Fraction:
        return (1 + sum(Fraction(a) * Fraction(b) for a, b in zip(u.tolist(), v.tolist(), strict=True))) ** 2

    exact = math.sqrt(K(X[0], X[0]) + K(X[1], X[1]) - 2 * K(X[0], X[1]))
    assert found.measures["margin"] == pytest.approx(exact, rel=1e-6)
    assert found.converged.all()
    assert found.gap[0] <= 1e-4
    assert found.train.tolist() == found.test.tolist() == [0, 1]


@pytest.mark.parametrize("n", [14, 60])
def test_a_machine_is_found_where_a_linear_programme_separates_the_rows(n: int) -> None:
    n_found = 0
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X = np.rint(rng.uniform(50, 500, (n, 4)))
        y = rng.permutation(np.arange(n) % 2)
        features = UnitDiagonal(Polynomial(2)).explicit_features(X)
        assert features is not None
        signs = np.where(y == 1, 1.0, -1.0)
        # Largest t <= 1 with y (w . x + b) >= t, |w|, |b| bounded: above 0 where the rows are separable.
        rows = np.column_stack([-signs[:, None] * features, -signs, np.ones(n)])
        bounds = [(-1e8, 1e8)] * (features.shape[1] + 1) + [(None, 1)]
        cost = np.append(np.zeros(features.shape[1] + 1), -1.0)
        is_separable = linprog(cost, rows, np.zeros(n), bounds=bounds, method="highs").fun < -0.5
        found = machine(unit_diagonal=True)._in_explicit_features(X, y, X)
        assert (found is not None) == is_separable
        n_found += is_separable
        if found is not None:
            np.testing.assert_array_equal(found.train, y)
    assert n_found == (4 if n == 14 else 0)
