"""The kernels of the papers: values against scikit-learn, compiled sums over features, names, ranges."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import pairwise

from fsvm_cli.svm import KERNELS, Anova, Gaussian, Kernel, Laplace, Linear, Polynomial, Tanh, kernel_from_name
from fsvm_cli.svm.kernels.compiled import add_feature, exponentials, fill_gram
from tests.svm.kernels.found_kernels import ADDITIVE, PHI, D, name_of, samples


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


@pytest.mark.parametrize("kernel", ADDITIVE, ids=name_of)
def test_statistics_of_disjoint_feature_sets_add_up(kernel):
    A, B = samples(6, 9), samples(5, 10)
    parts = kernel.statistic_matrix(A, B, [2, 0]) + kernel.statistic_matrix(A, B, [1, 3])
    np.testing.assert_allclose(PHI[type(kernel)](kernel, parts), kernel.gram(A, B), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("kernel", ADDITIVE, ids=name_of)
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
    expected = PHI[type(kernel)](kernel, kernel.statistic_matrix(A, A))
    np.testing.assert_allclose(K, expected, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(cross, kernel.statistic_matrix(A, B), rtol=1e-12, atol=1e-13)


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
        (lambda: kernel_from_name("rbff"), "no kernel is called 'rbff'; there are linear"),
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


@pytest.mark.parametrize("wrong", [-1.0, np.float64(-1.0), np.nan, np.inf, True, "1"])
def test_each_weight_is_checked(wrong: object):
    with pytest.raises(ValueError, match=r"weights\[2\] must be"):
        Linear(weights=(1.0, 0, wrong))  # type: ignore[arg-type]


def test_weights_must_be_a_tuple():
    with pytest.raises(TypeError, match="must be a tuple"):
        Linear(weights=[1.0, 2.0])  # type: ignore[arg-type]
