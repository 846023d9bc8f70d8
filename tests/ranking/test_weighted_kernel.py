"""The compiled kernel with changing weights, against the kernels' own numpy."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fsvm_cli.ranking.kernel_descent import WeightedKernel
from fsvm_cli.svm import Gaussian, Kernel, Laplace, Polynomial

X = np.random.default_rng(5).normal(size=(70, 6)) + 3.0
WEIGHTS = np.array([0.4, 0.0, 1.3, 0.01, 0.0, 2.0])


@pytest.mark.parametrize("weights", [WEIGHTS, np.ones(6), np.zeros(6)], ids=["some", "ones", "none"])
@pytest.mark.parametrize(
    "kernel", [Gaussian(6.0), Laplace(4.0), Polynomial(2), Polynomial(5, 0.5, scale=0.2)], ids=repr
)
def test_it_is_the_kernel_with_those_weights(rng: np.random.Generator, kernel: Kernel, weights: np.ndarray) -> None:
    expected = replace(kernel, weights=tuple(weights))
    weighted = WeightedKernel(kernel, X)
    statistic = weighted.statistic(weights)
    np.testing.assert_allclose(statistic, expected.statistic_matrix(X, X), rtol=1e-12, atol=1e-12)
    gram = weighted.gram(statistic)
    np.testing.assert_allclose(gram, expected.gram(X, X), rtol=1e-12)
    np.testing.assert_allclose(gram, gram.T, rtol=1e-12)
    support, signed = np.array([3, 10, 11, 40, 69]), rng.normal(size=5)
    gradient = expected.weight_gradient(X[support], X[support], np.outer(signed, signed))
    np.testing.assert_allclose(weighted.gradient(statistic, support, signed), gradient, rtol=1e-9)
