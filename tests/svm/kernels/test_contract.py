"""What every kernel must keep to, sums included: restriction, derivatives, definiteness, sparse samples, values."""

from __future__ import annotations

import doctest
import importlib
import pickle

import numpy as np
import pytest
from scipy import sparse

from fsvm_cli.svm import Gaussian, Kernel, UnitDiagonal, WeightedSum
from fsvm_cli.svm.kernels.additive import AdditiveKernel, ScaledKernel
from fsvm_cli.svm.kernels.gram import gram_of_statistic
from tests.svm.kernels.found_kernels import ADDITIVE, EVERY, PHI, D, kernel_classes, name_of, samples

every_kernel = pytest.mark.parametrize("kernel", EVERY, ids=name_of)
every_additive = pytest.mark.parametrize("kernel", ADDITIVE, ids=name_of)
weighted = pytest.mark.parametrize("kernel", [each for each in EVERY if each.accepts_weights], ids=name_of)
scaled = pytest.mark.parametrize("kernel", [each for each in ADDITIVE if isinstance(each, ScaledKernel)], ids=name_of)


EPSILON = np.finfo(np.float64).eps
ROUNDINGS = 6 + 3 * 2 * D + 10
"""On the way to an input gradient: the sum over 6 samples, inner products of D features, which a cubic kernel takes to
the third power, and some ten more for phi and lengths. Each is at most half an epsilon of the terms that are added."""


def size_of_terms(kernel: Kernel, A: np.ndarray, B: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
    """Add up the absolute values of all that an input gradient is the sum of."""
    if isinstance(kernel, WeightedSum):
        parts = zip(kernel.coefficients, kernel.kernels, strict=True)
        return sum(abs(weight) * size_of_terms(part, A, B, coefficients) for weight, part in parts)
    if isinstance(kernel, UnitDiagonal):
        inner = kernel.kernel
        squares = (np.diag(inner.gram(rows, rows)) for rows in (A, B))
        a, b = (np.sqrt(np.where(each > 0, each, np.inf)) for each in squares)  # what has no length is like nothing
        along = size_of_terms(inner, A, B, coefficients / a)
        own = np.vstack([size_of_terms(inner, row[None], row[None], np.ones(1)) for row in B])
        outputs = np.abs(coefficients / a) @ np.abs(inner.gram(A, B))
        return along / b[:, None] + outputs[:, None] * own / b[:, None] ** 3
    return sum(
        np.abs(kernel.input_gradient(row[None], B, each)) for row, each in zip(A, coefficients[:, None], strict=True)
    )


def test_every_kernel_that_there_is_takes_part():
    assert {type(kernel) for kernel in EVERY} == kernel_classes()


@every_kernel
def test_gram_matrices_are_symmetric_and_those_of_two_sets_of_samples(kernel: Kernel):
    A = samples(150, 0)
    K = kernel.gram(A, A)
    assert K.shape == (150, 150)
    np.testing.assert_allclose(K, K.T, rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose(K, kernel.gram(A, A.copy()), rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(kernel.diagonal(A), K.diagonal(), rtol=1e-11, atol=1e-13)


@every_kernel
def test_outputs_are_added_without_the_matrix(kernel: Kernel, monkeypatch: pytest.MonkeyPatch):
    for name, size in (("BLOCK_ROWS", 5), ("EXPANSION_BLOCK_COLUMNS", 7)):
        monkeypatch.setattr(f"fsvm_cli.svm.kernels.gram.{name}", size)
    A, B, rng = samples(13, 0), samples(24, 1), np.random.default_rng(2)
    coefficients, total = rng.standard_normal(13), rng.standard_normal(24)
    expected = total + coefficients @ kernel.gram(A, B)
    kernel.add_outputs(A, B, coefficients, total)
    size = np.abs(coefficients) @ np.abs(kernel.gram(A, B))
    assert (np.abs(total - expected) <= 1e-11 * (1.0 + size)).all()


@pytest.mark.parametrize("precision", [np.float64, np.float32])
@every_kernel
def test_rows_are_written_where_they_belong(kernel: Kernel, precision: type, monkeypatch: pytest.MonkeyPatch):
    for name, size in (("BLOCK_ROWS", 5), ("BLOCK_COLUMNS", 7)):
        monkeypatch.setattr(f"fsvm_cli.svm.kernels.gram.{name}", size)
    A, B = samples(13, 0), samples(24, 1)
    out, places = np.full((20, 30), np.nan, dtype=precision), np.random.default_rng(2).permutation(20)[:13]
    kernel.write_rows(A, B, out, places, 4)
    expected = np.full((20, 30), np.nan)
    expected[places, 4:28] = kernel.gram(A, B)
    rounding = np.finfo(precision).eps
    np.testing.assert_allclose(out, expected, rtol=max(rounding, 1e-11), atol=max(rounding * 1e-6, 1e-13))


@every_kernel
def test_a_kernel_on_some_features_is_that_of_their_columns(kernel: Kernel):
    A, B, features = samples(7, 1), samples(5, 2), [3, 0]
    weights = kernel.feature_weights(D)
    on_columns = kernel if weights is None else kernel.with_weights(weights[features])
    expected = on_columns.gram(A[:, features], B[:, features])
    np.testing.assert_allclose(kernel.gram(A, B, features), expected, rtol=1e-13)
    np.testing.assert_allclose(kernel.gram(A, A, features), kernel.gram(A, A.copy(), features), rtol=1e-11, atol=1e-13)


@every_kernel
@pytest.mark.parametrize("features", [None, [3, 0]])
def test_an_expansion_is_that_of_the_gram_matrix(kernel: Kernel, features: list[int] | None):
    A, B = samples(30, 3), samples(11, 4)
    coefficients = np.random.default_rng(5).standard_normal((3, 30))
    expected = coefficients @ kernel.gram(A, B, features)
    np.testing.assert_allclose(kernel.expansion(A, B, coefficients, features), expected, rtol=1e-9, atol=1e-11)


@every_kernel
def test_the_input_gradient_is_the_finite_difference(kernel: Kernel):
    A, B, step = samples(6, 6), samples(3, 7), 1e-6
    coefficients = np.random.default_rng(8).standard_normal(6)
    gradient = kernel.input_gradient(A, B, coefficients)
    for j, shift in enumerate(step * np.eye(D)):
        difference = coefficients @ (kernel.gram(A, B + shift) - kernel.gram(A, B - shift)) / (2 * step)
        np.testing.assert_allclose(gradient[:, j], difference, rtol=1e-6, atol=1e-7)


@weighted
def test_the_weight_gradient_is_the_finite_difference(kernel: Kernel):
    A, B, step = samples(6, 9) + 10.0, samples(4, 10) + 10.0, 1e-6
    coefficients = np.random.default_rng(11).standard_normal((6, 4))
    weights = np.array([0.6, 0.1, 2.1, 1.4])

    def total(moved: np.ndarray) -> float:
        return float(np.vdot(coefficients, kernel.with_weights(moved).gram(A, B)))

    difference = [(total(weights + shift) - total(weights - shift)) / (2 * step) for shift in step * np.eye(D)]
    gradient = kernel.with_weights(weights).weight_gradient(A, B, coefficients)
    np.testing.assert_allclose(gradient, difference, rtol=1e-5, atol=1e-6 * np.abs(difference).max())


@weighted
def test_weights_of_one_are_no_weights(kernel: Kernel):
    A, ones = samples(5, 12), kernel.with_weights(np.ones(D))
    if kernel.feature_weights(D) is None:
        np.testing.assert_allclose(ones.gram(A, A), kernel.gram(A, A), rtol=1e-13)
        G = np.ones((5, 5))
        np.testing.assert_allclose(ones.weight_gradient(A, A, G), kernel.weight_gradient(A, A, G), rtol=1e-12)
    np.testing.assert_array_equal(ones.feature_weights(D), np.ones(D))
    assert type(ones) is type(kernel)


@pytest.mark.parametrize("kernel", [each for each in EVERY if not each.accepts_weights], ids=name_of)
def test_a_kernel_without_weights_refuses_them_by_name(kernel: Kernel):
    with pytest.raises(ValueError, match=r"the (anova|tanh) kernel has no feature weights"):
        kernel.with_weights(np.ones(D))
    with pytest.raises(ValueError, match=r"the (anova|tanh) kernel has no feature weights"):
        kernel.weight_gradient(samples(2, 0), samples(2, 0), np.ones((2, 2)))


@weighted
def test_each_feature_needs_its_weight(kernel: Kernel):
    short = kernel.with_weights((1.0,))
    for ask in (
        lambda: short.gram(samples(2, 0), samples(2, 0)),
        lambda: short.weight_gradient(samples(2, 0), samples(2, 0), np.ones((2, 2))),
        lambda: short.feature_weights(D),
    ):
        with pytest.raises(ValueError, match="1 entries for 4 features"):
            ask()


@every_kernel
def test_what_says_that_it_is_positive_semidefinite_is(kernel: Kernel):
    # Far apart, near and equal samples: where a kernel has negative eigenvalues, some show there.
    A = np.vstack([samples(30, 13), 0.1 * samples(30, 14), 3.0 * samples(30, 15), np.zeros((1, D))])
    eigenvalues = np.linalg.eigvalsh(kernel.gram(A, A))
    assert kernel.positive_semidefinite == (eigenvalues[0] >= -1e-10 * np.abs(eigenvalues).max())


@every_kernel
def test_sparse_samples_give_what_dense_ones_give_or_are_refused(kernel: Kernel):
    A, B = samples(6, 16), samples(5, 17)
    A[A < 0.5], B[B < 0.5] = 0.0, 0.0
    csr = sparse.csr_matrix(A), sparse.csr_matrix(B)
    if not kernel.accepts_sparse:
        with pytest.raises(ValueError, match="kernel takes dense samples only"):
            kernel.gram(*csr)
        return
    coefficients = np.arange(1.0, 7.0)
    np.testing.assert_allclose(kernel.gram(*csr), kernel.gram(A, B), rtol=1e-13)
    np.testing.assert_allclose(kernel.gram(csr[0], csr[0], [2, 1]), kernel.gram(A, A, [2, 1]), rtol=1e-13)
    difference = kernel.input_gradient(*csr, coefficients) - kernel.input_gradient(A, B, coefficients)
    assert (np.abs(difference) <= ROUNDINGS * EPSILON * size_of_terms(kernel, A, B, coefficients)).all()
    if kernel.accepts_weights:
        G = np.outer(coefficients, np.ones(5))
        np.testing.assert_allclose(kernel.weight_gradient(*csr, G), kernel.weight_gradient(A, B, G), rtol=1e-12)


@every_kernel
def test_a_kernel_is_a_value(kernel: Kernel):
    copied = pickle.loads(pickle.dumps(kernel))
    assert copied == kernel
    assert hash(copied) == hash(kernel)
    assert copied is not kernel
    assert len({kernel, copied, Gaussian(0.123)}) == 2


@every_kernel
def test_only_the_linear_kernel_has_the_same_gradient_everywhere(kernel: Kernel):
    gradients = kernel.input_gradient(samples(6, 18), samples(4, 19), np.arange(1.0, 7.0))
    is_constant = np.ptp(gradients, axis=0).max() < 1e-12
    assert kernel.is_linear == is_constant


@every_additive
def test_phi_and_its_derivative_are_those_of_plain_numpy(kernel: AdditiveKernel):
    s, step = kernel.statistic_matrix(samples(40, 20), samples(9, 21)), 1e-6
    np.testing.assert_allclose(kernel.value(s), PHI[type(kernel)](kernel, s), rtol=1e-13)
    difference = (PHI[type(kernel)](kernel, s + step) - PHI[type(kernel)](kernel, s - step)) / (2 * step)
    np.testing.assert_allclose(kernel.slope(s), difference, rtol=1e-7, atol=1e-9)


@every_additive
def test_phi_leaves_its_argument_alone_and_takes_any_layout(kernel: AdditiveKernel):
    s = np.abs(samples(8, 22))
    before = s.copy()
    expected = kernel.value(s)
    np.testing.assert_array_equal(s, before)
    np.testing.assert_array_equal(kernel.value(np.asfortranarray(s)), expected)
    np.testing.assert_array_equal(kernel.value(s[::2, ::-1]), expected[::2, ::-1])
    np.testing.assert_array_equal(kernel.value(s[3]), expected[3])


@every_additive
def test_there_is_one_phi(kernel: AdditiveKernel):
    A, B = samples(60, 23), samples(9, 24)
    s = kernel.statistic.matrix(A, B, kernel.feature_weights(A.shape[1]), kernel.form)
    assert (kernel.value(s) == kernel.gram(A, B)).all()
    np.testing.assert_allclose(kernel.statistic_matrix(A, B), s, rtol=1e-12, atol=1e-13)
    square = kernel.statistic_matrix(A, A)
    assert (gram_of_statistic(kernel.form, square) == kernel.value(square)).all()


@every_additive
def test_statistics_of_samples_with_themselves_are_those_of_two_sets(kernel: AdditiveKernel):
    X, statistic = samples(40, 25), kernel.statistic
    for weights in (np.array([0.4, 0.0, 1.3, 0.0]), np.ones(D), np.zeros(D)):
        expected = statistic.matrix(X, X.copy(), weights)
        np.testing.assert_allclose(statistic.symmetric_matrix(X, weights), expected, rtol=1e-12, atol=1e-13)
    G = np.random.default_rng(26).standard_normal((40, 40))
    G += G.T
    expected = statistic.weight_contraction(X, X.copy(), G)
    np.testing.assert_allclose(statistic.symmetric_weight_contraction(X, G), expected, rtol=1e-9, atol=1e-11)


def test_a_derivative_by_a_weight_keeps_its_digits_where_only_near_pairs_count_that_are_far_from_the_mean():
    """Of a column of 1, 2, 3 times 1e7 squares of 1e14 cancelled, and left a hundredth per pair."""
    rng = np.random.default_rng(29)
    steps, noise = 1e7 * rng.integers(1, 4, 40), rng.standard_normal((40, 2))
    X, kernel = np.column_stack([steps, steps + noise[:, 0], noise[:, 1]]), Gaussian(2.0)
    G = kernel.gram(X, X) * rng.standard_normal((40, 40))
    differences = X[:, None, :].astype(np.longdouble) - X[None].astype(np.longdouble)
    exact = (G[:, :, None] * differences**2).sum(axis=(0, 1)).astype(np.float64)
    found = kernel.statistic.weight_contraction(X, X.copy(), G)
    np.testing.assert_allclose(found, exact, rtol=1e-12)


@scaled
def test_weights_take_over_the_scale(kernel: ScaledKernel):
    A, B = samples(6, 27), samples(5, 28)
    moved = kernel.at_unit_scale(D)
    np.testing.assert_allclose(moved.gram(A, B), kernel.gram(A, B), rtol=1e-13)
    large = np.abs(moved.with_weights(1e6 * np.ones(D)).gram(A, B)).max()
    assert kernel.is_bounded == (large <= 1.0)


@pytest.mark.parametrize("module", sorted({kernel.__module__ for kernel in kernel_classes()}))
def test_examples_in_docstrings_run(module: str):
    found = doctest.testmod(importlib.import_module(module))
    assert found.failed == 0


def test_every_kernel_shows_an_example():
    assert all("Examples\n" in (kernel.__doc__ or "") for kernel in kernel_classes())
