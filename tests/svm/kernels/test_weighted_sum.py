"""Weighted sums of kernels: values, mistakes, and machines, searches, curves and rankings with them."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC

from fsvm_cli.ranking.gradient_angle import GradientAngle
from fsvm_cli.ranking.infoprop import Infoprop
from fsvm_cli.ranking.kpd import KernelParameterDescent
from fsvm_cli.ranking.rfe import RecursiveFeatureElimination
from fsvm_cli.svm import (
    SVM,
    Gaussian,
    Laplace,
    Linear,
    Polynomial,
    Tanh,
    WeightedSum,
    fit_one_vs_rest,
    grid_search,
    nested_curves,
    predict_codes,
)
from tests.svm.kernels.found_kernels import SUMS, D, name_of, samples

X, Y = load_iris(return_X_y=True)
TRAIN, TEST = np.arange(0, 150, 2), np.arange(1, 150, 2)
ARD = WeightedSum((Gaussian(2.0, (0.25, 0.0, 1.0, 2.0)),), (1.5,), constant=0.7)
MIXED = WeightedSum((Linear(), Gaussian(3.0), Polynomial(2, scale=0.1)), (0.2, 1.0, 0.1), constant=0.3)
both = pytest.mark.parametrize("kernel", [ARD, MIXED], ids=["ard", "mixed"])


def in_numpy(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    squares = ((A[:, None] - B[None]) ** 2).sum(axis=2)
    return 0.3 + 0.2 * A @ B.T + np.exp(-squares / 3.0) + 0.1 * (1.0 + 0.1 * A @ B.T) ** 2


def test_the_sum_is_that_of_numpy():
    np.testing.assert_allclose(MIXED.gram(X[TRAIN], X[TEST]), in_numpy(X[TRAIN], X[TEST]), rtol=1e-13)
    np.testing.assert_allclose(MIXED.gram(X, X), in_numpy(X, X), rtol=1e-13)


def test_the_ard_kernel_is_the_printed_one():
    lengths, k0, k_off = np.array([0.5, 2.0, 1.0, 3.0]), 1.5, 0.7
    kernel = WeightedSum((Gaussian(2.0),), (k0,), constant=k_off).with_weights(1.0 / lengths**2)
    A, B = samples(6, 0), samples(5, 1)
    expected = k0 * np.exp(-0.5 * (((A[:, None] - B[None]) / lengths) ** 2).sum(axis=2)) + k_off
    np.testing.assert_allclose(kernel.gram(A, B), expected, rtol=1e-13)


@pytest.mark.parametrize("kernel", SUMS, ids=name_of)
def test_the_parts_of_a_sum_are_left_as_they_are(kernel: WeightedSum):
    A = samples(9, 2)
    before = [each.gram(A, A) for each in kernel.kernels]
    kernel.gram(A, A)
    kernel.input_gradient(A, A, np.ones(9))
    for each, K in zip(kernel.kernels, before, strict=True):
        np.testing.assert_array_equal(each.gram(A, A), K)


@both
def test_a_machine_with_a_sum_is_that_on_its_gram_matrix(kernel: WeightedSum):
    machine = clone(SVM(kernel, C=2.0, tolerance=1e-9)).fit(X[TRAIN], Y[TRAIN])
    decision = machine.decision_function(X[TEST])
    for code in range(3):
        alone = SVC(C=2.0, kernel="precomputed", tol=1e-9).fit(kernel.gram(X[TRAIN], X[TRAIN]), Y[TRAIN] == code)
        expected = alone.decision_function(kernel.gram(X[TEST], X[TRAIN]))
        np.testing.assert_allclose(decision[:, code], expected, atol=1e-5)
    np.testing.assert_array_equal(machine.predict(X[TEST]), np.argmax(decision, axis=1))
    gradient = machine.input_gradient(X[::30])
    for j, shift in enumerate(1e-5 * np.eye(D)):
        difference = machine.decision_function(X[::30] + shift) - machine.decision_function(X[::30] - shift)
        np.testing.assert_allclose(gradient[:, :, j], difference.T / 2e-5, rtol=1e-5, atol=1e-6)


def test_a_machine_with_a_bias_does_not_depend_on_the_constant():
    decisions = [
        SVM(WeightedSum((Gaussian(2.0),), (1.0,), constant=constant), tolerance=1e-9).fit(X, Y).decision_function(X)
        for constant in (0.0, 5.0)
    ]
    np.testing.assert_allclose(*decisions, atol=1e-6)


def test_a_class_may_have_a_sum_of_its_own():
    machine = SVM(Linear(), class_kernels={1: MIXED}).fit(X, Y)
    assert machine.machine_kernels_ == (Linear(), MIXED, Linear())
    alone = SVM(MIXED).fit(X, Y == 1).decision_function(X)
    np.testing.assert_allclose(machine.decision_function(X)[:, 1], alone, atol=1e-9)


@pytest.mark.parametrize("solver", ["auto", "smo", "interior-point"])
@both
def test_nested_subsets_have_a_gram_matrix_each(kernel: WeightedSum, solver):
    orders, sizes = np.array([[2, 3, 0, 1], [1, 0, 3, 2]]), (1, 3, 4)
    found = nested_curves(
        kernel, 5.0, X[TRAIN], Y[TRAIN], X[TEST], orders, sizes, n_classes=3, tolerance=1e-8, solver=solver
    )
    assert found.converged.all()
    weights = kernel.feature_weights(D)
    for o, order in enumerate(orders):
        for s, size in enumerate(sizes):
            subset = order[:size]
            own = kernel if weights is None else kernel.with_weights(weights[subset])
            A, B = X[TRAIN][:, subset], X[TEST][:, subset]
            alone = fit_one_vs_rest(own.gram(A, A), Y[TRAIN], 5.0, 3, tolerance=1e-8)
            expected = alone.decision_values(own.gram(A, B))
            np.testing.assert_allclose(found.test_decision[o, s], expected, atol=1e-5)
            np.testing.assert_allclose(found.train_decision[o, s], alone.decision_values(own.gram(A, A)), atol=1e-5)
            codes = predict_codes(expected, alone.class_counts, 1e-7)
            np.testing.assert_array_equal(found.test_predicted[o, s], codes)


def test_a_grid_search_chooses_among_sums_and_others():
    folds = list(StratifiedKFold(3, shuffle=True, random_state=0).split(X, Y))
    kernels = [Gaussian(1e-4), ARD, WeightedSum((Gaussian(1e-4),), (2.0,)), WeightedSum((Gaussian(4.0),), (1.0,))]
    found = grid_search(kernels, [1.0, 0.1], X, Y, folds, n_classes=3)
    for k, kernel in enumerate(kernels):
        alone = grid_search([kernel], [1.0, 0.1], X, Y, folds, n_classes=3)
        np.testing.assert_array_equal(found.accuracy[k], alone.accuracy[0])
    twin = grid_search([Gaussian(4.0)], [1.0, 0.1], X, Y, folds, n_classes=3)
    np.testing.assert_array_equal(found.accuracy[3], twin.accuracy[0])
    assert found.kernel in kernels[1::2]


def test_of_equals_the_sum_without_a_rough_kernel_is_taken():
    far = np.vstack([X[:20] * 0.01 + 5.0, X[:20] * 0.01 - 5.0])
    codes = np.repeat([0, 1], 20)
    folds = list(StratifiedKFold(4).split(far, codes))
    rough, smooth = (WeightedSum((Gaussian(1e3), Gaussian(theta)), (1.0, 1.0)) for theta in (10.0, 100.0))
    assert grid_search([rough, smooth], [1.0], far, codes, folds, n_classes=2).kernel == smooth


def test_rankings_by_gradients_take_a_sum():
    scaled = Gaussian(4.0)
    for ranker in (GradientAngle(C=2.0), Infoprop(C=2.0, random_state=0)):
        # Twice the kernel at half of C has half of the coefficients: the same decision function.
        twin = clone(ranker).set_params(kernel=WeightedSum((scaled,), (2.0,), constant=1.0), C=1.0).fit(X, Y)
        expected = clone(ranker).set_params(kernel=scaled).fit(X, Y)
        np.testing.assert_allclose(twin.scores_, expected.scores_, rtol=1e-3, atol=1e-5)
        mixed = clone(ranker).set_params(kernel=MIXED).fit(X, Y)
        assert mixed.converged_
        assert np.isfinite(mixed.scores_).all()


@pytest.mark.parametrize("method", [RecursiveFeatureElimination, KernelParameterDescent])
def test_what_walks_one_sum_over_features_says_that_it_cannot(method):
    with pytest.raises(ValueError, match=f"{method.method} .* the weighted-sum"):
        method(MIXED).fit(X, Y)


def test_different_weights_have_no_common_derivative():
    kernel = WeightedSum((Linear((1.0, 2.0, 3.0, 4.0)), Laplace(1.0)), (1.0, 1.0))
    assert kernel.gram(X, X).shape == (150, 150)
    with pytest.raises(ValueError, match="different feature weights"):
        kernel.weight_gradient(X, X, np.ones((150, 150)))


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: WeightedSum((), ()), ValueError, "0 kernels and 0 coefficients"),
        (lambda: WeightedSum((Linear(),), (1.0, 2.0)), ValueError, "1 kernels and 2 coefficients"),
        (lambda: WeightedSum((Linear(), Tanh()), (1.0, -0.5)), ValueError, r"coefficients\[1\] must be >= 0"),
        (lambda: WeightedSum((Linear(),), (1.0,), constant=-1.0), ValueError, "constant must be >= 0"),
        (lambda: WeightedSum((Linear(),), (np.nan,), free_sign=True), ValueError, "must be a finite number"),
        (lambda: WeightedSum([Linear()], (1.0,)), TypeError, "kernels must be a tuple, not list"),
        (lambda: WeightedSum((Linear(),), [1.0]), TypeError, "coefficients must be a tuple, not list"),
        (lambda: WeightedSum(("linear",), (1.0,)), TypeError, r"kernels\[0\] must be a kernel, not 'linear'"),
    ],
)
def test_mistakes_are_named(make, error, message):
    with pytest.raises(error, match=message):
        make()
