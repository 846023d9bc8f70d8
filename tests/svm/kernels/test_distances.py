"""Kernel values of samples that are far from the origin or from their mean, against extended precision."""

from __future__ import annotations

import numpy as np
import pytest

from fsvm_cli import SVM, Gaussian, Laplace
from fsvm_cli.svm.kernels.base import TERMS_PER_PRODUCT, summed_in_blocks

KERNELS = [Gaussian(2.0), Gaussian(0.7, weights=(0.5, 2.0)), Laplace(2.0), Laplace(0.7, weights=(0.5, 2.0))]
LEAST_DIGITS = 1e-12


def precise_gram(kernel: Gaussian | Laplace, A: np.ndarray, B: np.ndarray) -> np.ndarray:
    differences = A[:, None, :].astype(np.longdouble) - B[None].astype(np.longdouble)
    powers = differences**2 if isinstance(kernel, Gaussian) else np.abs(differences)
    weights = np.ones(A.shape[1]) if kernel.weights is None else np.array(kernel.weights)
    return np.exp(-(powers * weights.astype(np.longdouble)).sum(axis=-1) / np.longdouble(kernel.theta))


def far_samples(n: int, offset: float) -> np.ndarray:
    """Groups far from each other, with neighbours in each, and copies."""
    rng = np.random.default_rng(n)
    X = offset * rng.integers(1, 4, (n, 2)) + rng.standard_normal((n, 2))
    X[:4] = X[4:8]
    return X


@pytest.mark.parametrize("offset", [1e2, 1e5, 1e7, 1e10])
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_every_way_to_kernel_values_keeps_their_digits(kernel, offset):
    A, B = far_samples(90, offset), far_samples(70, offset)
    B[:10] = A[:10]
    expected, own = precise_gram(kernel, A, B), precise_gram(kernel, A, A)
    assert np.count_nonzero(expected > LEAST_DIGITS) > len(A)
    coefficients = np.random.default_rng(0).standard_normal(len(A))
    out, total = np.empty((90, 70)), np.zeros(70)
    kernel.write_rows(A, B, out, np.arange(90), 0)
    kernel.add_outputs(A, B, coefficients, total)
    for found, values in ((kernel.gram(A, A), own), (kernel.gram(A, B), expected), (out, expected)):
        np.testing.assert_allclose(found, values.astype(float), rtol=LEAST_DIGITS * 700, atol=LEAST_DIGITS)
    sums = (coefficients @ expected).astype(float)
    for outputs in (total, kernel.expansion(A, B, coefficients[None])[0]):
        np.testing.assert_allclose(outputs, sums, atol=90 * LEAST_DIGITS)


def test_a_sample_has_one_kernel_value_alone_and_among_others():
    """Of 1, 2 and 3 times 1e7 the squared distances were 0 or 2 by the samples beside them."""
    X = np.random.default_rng(0).integers(1, 4, (2000, 1)) * 1e7
    y = (X[:, 0] > 1.5e7).astype(int)
    machine = SVM(Gaussian(2.0)).fit(X, y)
    np.testing.assert_array_equal(machine.predict(X), y)
    alone = [machine.decision_function(row[None])[0] for row in X[:20]]
    np.testing.assert_allclose(alone, machine.decision_function(X)[:20], rtol=1e-12)


def test_sums_in_blocks_are_sums():
    rng = np.random.default_rng(0)
    n_terms = 2 * TERMS_PER_PRODUCT + 3
    coefficients, values = rng.standard_normal((2, n_terms)), rng.random((n_terms, 5))
    np.testing.assert_allclose(summed_in_blocks(coefficients, values), coefficients @ values, rtol=1e-12)


@pytest.mark.parametrize("constant", [False, True])
@pytest.mark.parametrize("kernel", [Gaussian(2.0), Gaussian(0.7, weights=(0.5, 2.0))], ids=repr)
def test_an_offset_of_all_samples_leaves_gradients_as_they_are(kernel, constant):
    rng = np.random.default_rng(0)
    A, B = rng.integers(-99, 99, (40, 2)) / 64.0, rng.integers(-99, 99, (30, 2)) / 64.0
    if constant:
        A[:, 1], B[:, 1] = 0.0, 0.0
    coefficients, offset = rng.standard_normal(40), np.array([2.0**30, -(2.0**30)])
    expected = kernel.input_gradient(A, B, coefficients)
    np.testing.assert_allclose(kernel.input_gradient(A + offset, B + offset, coefficients), expected, atol=1e-13)
