"""Gram matrices as products of thin ones."""

from __future__ import annotations

import numpy as np
import pytest

from fsvm_cli.evidence.kernels import ArdKernel, nystroem_factor
from fsvm_cli.svm.nystroem import choose_landmarks
from tests.evidence.problems import thin_factor, two_classes


def test_with_all_samples_and_all_eigenvectors_it_is_the_gram_matrix() -> None:
    X, _ = two_classes(60)
    factor = thin_factor(X, 60, 60)
    np.testing.assert_allclose(factor.V @ factor.V.T, factor.kernel.kernel.gram(X, X), atol=1e-10)


def test_it_is_near_the_best_of_its_rank_and_the_printed_equation_17_is_not() -> None:
    """(17) as printed lacks a division by the landmarks' eigenvalue."""
    n, m, p = 300, 100, 20
    X, _ = two_classes(n)
    factor = thin_factor(X, m, p)
    K = factor.kernel.kernel.gram(X, X)
    values, vectors = np.linalg.eigh(K)
    best = (vectors[:, -p:] * values[-p:]) @ vectors[:, -p:].T

    def relative_error(approximation: np.ndarray) -> float:
        return float(np.linalg.norm(approximation - K) / np.linalg.norm(K))

    assert relative_error(factor.V @ factor.V.T) < 5 * relative_error(best)
    printed = np.sqrt(m / n) * factor.cross @ factor.eigenvectors[:, :p]
    assert relative_error((printed * (n / m * factor.eigenvalues[:p])) @ printed.T) > 100.0
    printed_root = factor.V / (n / m * factor.eigenvalues[:p])  # the columns of V with the printed power of -1/2
    assert relative_error(printed_root @ printed_root.T) > 0.99


def test_its_inverse_roots_lead_to_it() -> None:
    X, _ = two_classes(50)
    factor = thin_factor(X, 20, 6)
    assert (factor.rank, factor.V.shape) == (6, (50, 6))
    np.testing.assert_allclose(factor.cross @ factor.inverse_roots, factor.V)


@pytest.mark.parametrize("oddity", ["equal samples", "constant features"])
def test_what_is_rounding_is_left_out(oddity: str) -> None:
    X, _ = two_classes(12)
    if oddity == "equal samples":
        X[3:] = X[0]
        n_different = 4 - 1
    else:
        X[:] = 0.3
        n_different = 1
    kernel = ArdKernel(1.0, 1.0, (1.0, 1.0, 1.0))
    factor = nystroem_factor(kernel, X, np.arange(12), 12)
    assert factor.rank == n_different
    np.testing.assert_allclose(factor.V @ factor.V.T, kernel.kernel.gram(X, X), atol=1e-10)


def test_landmarks_depend_on_the_stream_alone() -> None:
    first, again, other = (choose_landmarks(50, 10, np.random.default_rng(seed)) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()
    assert (np.diff(first) > 0).all()
    np.testing.assert_array_equal(choose_landmarks(5, 10, np.random.default_rng(0)), np.arange(5))
