"""Kernels: values against scikit-learn, derivatives against finite differences, sums over features, ranges."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.metrics import pairwise

from fsvm_cli.svm import KERNELS, Anova, Gaussian, Kernel, Laplace, Linear, Polynomial, Tanh, kernel_from_name
from fsvm_cli.svm.kernels.compiled import add_feature, exponentials, fill_gram

D = 4
WEIGHTS = (0.5, 0.0, 2.0, 1.3)
UNWEIGHTED = [Linear(), Polynomial(3, 0.7, scale=0.6), Gaussian(2.5), Laplace(3.0), Anova(0.4, 3), Tanh(0.3, 0.2)]
WEIGHTED = [Linear(WEIGHTS), Polynomial(2, 1.0, WEIGHTS, 0.6), Gaussian(2.0, WEIGHTS), Laplace(1.5, WEIGHTS)]


def samples(n: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((n, D))


def name_of(kernel: Kernel) -> str:
    return f"{kernel.name}{'-weighted' if getattr(kernel, 'weights', None) else ''}"


@pytest.mark.parametrize(
    ("kernel", "expected"),
    [
        (Linear(), pairwise.linear_kernel),
        (Polynomial(3, 0.7, scale=0.4), lambda A, B: pairwise.polynomial_kernel(A, B, degree=3, gamma=0.4, coef0=0.7)),
        (Gaussian(2.5), lambda A, B: pairwise.rbf_kernel(A, B, gamma=1 / 2.5)),
        (Laplace(3.0), lambda A, B: pairwise.laplacian_kernel(A, B, gamma=1 / 3.0)),
        (Tanh(0.3, 0.2), lambda A, B: pairwise.sigmoid_kernel(A, B, gamma=0.3, coef0=-0.2)),
        (Anova(0.4, 3), lambda A, B: np.exp(-0.4 * (A[:, None] - B[None]) ** 2).sum(axis=2) ** 3),
    ],
    ids=lambda value: value.name if isinstance(value, Kernel) else "",
)
def test_values_are_those_of_the_definition(kernel, expected):
    A, B = samples(7, 0), samples(5, 1)
    np.testing.assert_allclose(kernel.gram(A, B), expected(A, B), rtol=1e-12)


@pytest.mark.parametrize("kernel", UNWEIGHTED + WEIGHTED, ids=name_of)
def test_input_gradient_is_the_finite_difference(kernel):
    A, B, step = samples(6, 2), samples(3, 3), 1e-6
    coefficients = np.random.default_rng(4).standard_normal(6)
    gradient = kernel.input_gradient(A, B, coefficients)
    for j in range(D):
        shift = step * np.eye(D)[j]
        difference = coefficients @ (kernel.gram(A, B + shift) - kernel.gram(A, B - shift)) / (2 * step)
        np.testing.assert_allclose(gradient[:, j], difference, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("kernel", WEIGHTED, ids=name_of)
def test_weight_gradient_is_the_finite_difference(kernel):
    A, B, step = samples(6, 5) + 10.0, samples(4, 6) + 10.0, 1e-6
    coefficients = np.random.default_rng(7).standard_normal((6, 4))
    weights = np.array(kernel.weights) + 0.1
    moved = [
        [np.vdot(coefficients, with_weights(kernel, weights + sign * step * np.eye(D)[j]).gram(A, B)) for j in range(D)]
        for sign in (1, -1)
    ]
    gradient = with_weights(kernel, weights).weight_gradient(A, B, coefficients)
    difference = (np.array(moved[0]) - np.array(moved[1])) / (2 * step)
    np.testing.assert_allclose(gradient, difference, rtol=1e-5, atol=1e-6 * np.abs(difference).max())


def with_weights(kernel: Kernel, weights: np.ndarray) -> Kernel:
    return type(kernel)(**{**vars(kernel), "weights": tuple(weights)})


def test_weights_of_one_are_no_weights():
    A = samples(5, 8)
    for kernel in (Linear(), Polynomial(), Gaussian(), Laplace()):
        np.testing.assert_allclose(with_weights(kernel, np.ones(D)).gram(A, A), kernel.gram(A, A), rtol=1e-13)
        np.testing.assert_allclose(
            with_weights(kernel, np.ones(D)).weight_gradient(A, A, np.ones((5, 5))),
            kernel.weight_gradient(A, A, np.ones((5, 5))),
            rtol=1e-13,
        )


@pytest.mark.parametrize("kernel", UNWEIGHTED + WEIGHTED, ids=name_of)
def test_statistics_of_disjoint_feature_sets_add_up(kernel):
    A, B = samples(6, 9), samples(5, 10)
    parts = kernel.statistic_matrix(A, B, [2, 0]) + kernel.statistic_matrix(A, B, [1, 3])
    np.testing.assert_allclose(kernel.value(parts), kernel.gram(A, B), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("kernel", [Linear(), Linear(WEIGHTS), Polynomial(2), Tanh(0.5)], ids=name_of)
def test_csr_samples_give_what_dense_ones_give(kernel):
    A, B = samples(6, 11), samples(5, 12)
    A[A < 0.5], B[B < 0.5] = 0.0, 0.0
    coefficients = np.arange(1.0, 7.0)
    sparse_A, sparse_B = sparse.csr_matrix(A), sparse.csr_matrix(B)
    np.testing.assert_allclose(kernel.gram(sparse_A, sparse_B), kernel.gram(A, B), rtol=1e-13)
    np.testing.assert_allclose(
        kernel.input_gradient(sparse_A, sparse_B, coefficients), kernel.input_gradient(A, B, coefficients), rtol=1e-12
    )
    if not isinstance(kernel, Tanh):
        G = np.outer(coefficients, np.ones(5))
        np.testing.assert_allclose(
            kernel.weight_gradient(sparse_A, sparse_B, G), kernel.weight_gradient(A, B, G), rtol=1e-12
        )


@pytest.mark.parametrize("kernel", [Gaussian(), Laplace(), Anova()], ids=name_of)
def test_distance_kernels_refuse_csr_samples(kernel):
    with pytest.raises(ValueError, match="dense samples only"):
        kernel.gram(sparse.csr_matrix(samples(3, 0)), samples(3, 0))


@pytest.mark.parametrize("kernel", UNWEIGHTED + WEIGHTED, ids=name_of)
def test_compiled_kernels_give_the_same_gram_matrix(kernel):
    A, B = samples(150, 13), samples(9, 14)
    form = kernel.form
    square, cross, K = np.zeros((150, 150)), np.zeros((150, 9)), np.empty((150, 150))
    scratch = np.empty(150)
    weights = kernel.feature_weights(D)
    for j in range(D):
        weight = 1.0 if weights is None else weights[j]
        column_a, column_b = np.ascontiguousarray(A[:, j]), np.ascontiguousarray(B[:, j])
        add_feature(form, square, cross, column_a, column_b, weight, scratch)
    fill_gram(form, square, K)
    expected = kernel.value(kernel.statistic_matrix(A, A))
    np.testing.assert_allclose(K, expected, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(cross, kernel.statistic_matrix(A, B), rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("kernel", UNWEIGHTED + WEIGHTED, ids=name_of)
def test_gram_matrices_are_the_kernel_of_the_statistic(kernel):
    A, B = samples(150, 13), samples(9, 14)
    K = kernel.gram(A, A)
    np.testing.assert_allclose(K, kernel.value(kernel.statistic_matrix(A, A)), rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose(kernel.gram(A, B), kernel.value(kernel.statistic_matrix(A, B)), rtol=1e-13, atol=1e-15)


@given(st.lists(st.floats(-800.0, 0.0), min_size=1, max_size=40))
@settings(max_examples=200, deadline=None, derandomize=True)
def test_exponentials_are_right_to_two_units_in_the_last_place(values):
    x = np.array(values)
    out = x.copy()
    exponentials(out)
    normal = x > -708.0
    np.testing.assert_allclose(out[normal], np.exp(x[normal]), rtol=4.5e-16)
    assert (out[~normal] == 0.0).all()


@pytest.mark.parametrize("name", list(KERNELS))
def test_kernels_are_found_by_name_and_hashable(name):
    kernel = kernel_from_name(name)
    assert kernel.name == name
    assert hash(kernel) == hash(kernel_from_name(name))
    A = samples(4, 15)
    np.testing.assert_allclose(kernel.gram(A, A), kernel.gram(A, A).T, rtol=1e-14)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: kernel_from_name("rbf"), "no kernel is called 'rbf'; there are linear"),
        (lambda: kernel_from_name("gaussian", gamma=1.0), "has no parameter 'gamma'; it has theta, weights"),
        (lambda: Gaussian(theta=0.0), "theta must be > 0"),
        (lambda: Gaussian(theta=float("nan")), "theta must be a finite number"),
        (lambda: Polynomial(degree=0), "degree must be >= 1"),
        (lambda: Polynomial(degree=2.0), "degree must be an integer"),
        (lambda: Polynomial(degree=True), "degree must be an integer"),
        (lambda: Polynomial(offset=-1.0), "offset must be >= 0"),
        (lambda: Polynomial(scale=0.0), "scale must be > 0"),
        (lambda: Linear(weights=(1.0, -1.0)), r"weights\[1\] must be >= 0"),
        (lambda: Linear(weights=(1.0,)).gram(samples(2, 0), samples(2, 0)), "1 entries for 4 features"),
        (lambda: Anova().weight_gradient(samples(2, 0), samples(2, 0), np.ones((2, 2))), "no feature weights"),
    ],
)
def test_mistakes_are_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_weights_must_be_a_tuple():
    with pytest.raises(TypeError, match="must be a tuple"):
        Linear(weights=[1.0, 2.0])  # type: ignore[arg-type]
