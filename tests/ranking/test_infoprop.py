"""SVM-Infoprop against closed forms, numerical gradients, and confusion matrices counted in another way."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.metrics import mutual_info_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.svm import SVC

from fsvm_cli.numerics import indicator_credits
from fsvm_cli.ranking.content import content_order
from fsvm_cli.ranking.infoprop import Infoprop, feature_influence
from fsvm_cli.svm import SVM, Anova, Gaussian, Kernel, Linear, Polynomial


def noisy_classes() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(11)
    X = rng.normal(size=(90, 4)) * [1.0, 2.0, 0.5, 1.0]
    two = (X[:, 0] + 0.4 * X[:, 1] + 0.6 * rng.normal(size=90) > 0.3).astype(int)
    return X, two, np.where(X[:, 2] > 0.3, 2, (X[:, 0] + 0.5 * rng.normal(size=90) > 0).astype(int))


X, BINARY, THREE = noisy_classes()
TRAIN, TEST = np.arange(60), np.arange(60, 90)
KERNELS = [Linear(), Polynomial(degree=2), Polynomial(degree=3, offset=0.5), Anova(gamma=0.3), Gaussian(theta=4.0)]
every_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=repr)
every_problem = pytest.mark.parametrize("y", [BINARY, THREE], ids=["two classes", "three classes"])


def fit_on_test(y: np.ndarray, **parameters: Any) -> Infoprop:
    return Infoprop(credit_on="test", **parameters).fit(X[TRAIN], y[TRAIN], X_test=X[TEST], y_test=y[TEST])


def counted(y: np.ndarray, predicted: np.ndarray, n_classes: int) -> np.ndarray:
    return np.array([[np.sum((y == i) & (predicted == j)) for j in range(n_classes)] for i in range(n_classes)])


@every_problem
def test_linear_kernel_shares_by_the_size_of_the_weights(y: np.ndarray) -> None:
    svm = SVM("linear", C=1.0).fit(X[TRAIN], y[TRAIN])
    weights = np.abs(svm.dual_coef_ @ svm.support_vectors_)
    earned = indicator_credits(counted(y[TEST], svm.predict(X[TEST]), len(svm.classes_)))
    per_machine = [earned.sum()] if len(svm.classes_) == 2 else earned
    expected = per_machine @ (weights / weights.sum(axis=1, keepdims=True))
    np.testing.assert_allclose(fit_on_test(y, kernel="linear", C=1.0).scores_, expected, rtol=1e-9)


@every_problem
def test_the_support_vectors_are_those_of_another_solver(y: np.ndarray) -> None:
    classes = np.unique(y)
    machines = [SVC(kernel="linear", C=1.0, tol=1e-8).fit(X[TRAIN], y[TRAIN] == each) for each in classes]
    expected = round(np.mean([machine.n_support_.sum() for machine in machines]))
    assert fit_on_test(y, kernel="linear", C=1.0).chosen_["support_vectors"] == expected


def test_how_copies_share_a_coefficient_does_not_change_the_number_of_support_vectors(
    rng: np.random.Generator,
) -> None:
    places = rng.normal(size=(24, 4))
    samples, y = np.vstack([places] * 6), rng.integers(0, 2, 144)
    counts = set()
    for _ in range(5):
        order = rng.permutation(len(y))
        ranker = Infoprop(kernel=Polynomial(degree=2), C=0.7).fit(samples[order], y[order])
        counts.add(ranker.chosen_["support_vectors"])
    assert len(counts) == 1


@every_kernel
def test_influence_is_that_of_numerical_gradients(kernel: Kernel) -> None:
    svm = SVM(kernel, C=1.0).fit(X, BINARY)
    points, coefficients, step = svm.support_vectors_, svm.dual_coef_[0], 1e-5
    expected = []
    for shift in step * np.eye(X.shape[1]):
        above, below = (svm.decision_function(points + sign * shift) for sign in (1, -1))
        expected.append(np.abs(coefficients) @ np.abs(above - below) / (2 * step))
    found = feature_influence(kernel, points, coefficients, np.ones(X.shape[1]), 0.0)
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_influence_on_the_margin_is_the_gradient_of_the_square_of_w() -> None:
    # For points all on one side the absolute values of (5) fall away, and what is left is half of x · d(w²)/dx summed.
    points, coefficients = np.array([[1.0, 2.0], [2.0, 1.0]]), np.array([0.3, 0.5])
    step, kernel = 1e-6, Polynomial(degree=2)

    def square_of_w(moved: np.ndarray) -> float:
        return float(coefficients @ kernel.gram(moved, moved) @ coefficients)

    gradient = np.zeros_like(points)
    for place in np.ndindex(points.shape):
        shift = np.zeros_like(points)
        shift[place] = step
        gradient[place] = (square_of_w(points + shift) - square_of_w(points - shift)) / (2 * step)
    found = feature_influence(kernel, points, coefficients, np.ones(2), 0.0)
    np.testing.assert_allclose(found, np.abs(gradient / 2).sum(axis=0), rtol=1e-6)


@every_kernel
@every_problem
def test_scores_on_the_test_part_add_up_to_its_information(kernel: Kernel, y: np.ndarray) -> None:
    ranker = fit_on_test(y, kernel=kernel)
    predicted = SVM(kernel).fit(X[TRAIN], y[TRAIN]).predict(X[TEST])
    assert ranker.scores_.sum() == pytest.approx(mutual_info_score(y[TEST], predicted) / np.log(2))
    assert (ranker.scores_ >= 0).all()


@pytest.mark.parametrize("credit_on", ["validation", "cross-validation"])
def test_samples_are_asked_of_machines_that_have_not_seen_them(credit_on: Any) -> None:
    # So narrow a kernel knows every sample that it has seen, and nothing else.
    ranker = Infoprop(Gaussian(theta=1e-6), C=100, credit_on=credit_on, random_state=0).fit(X, BINARY)
    assert SVM(Gaussian(theta=1e-6), C=100).fit(X, BINARY).score(X, BINARY) == 1
    assert ranker.scores_.sum() == pytest.approx(0, abs=1e-12)


@every_problem
@pytest.mark.parametrize(("credit_on", "lowest"), [("validation", 0.28), ("cross-validation", 1.0)])
def test_the_samples_that_are_asked_are_a_like_share_of_each_class(
    y: np.ndarray, credit_on: Any, lowest: float
) -> None:
    divided = Infoprop(credit_on=credit_on, folds=4, random_state=0)._parts_to_ask(y)
    for train, held_out in divided:
        assert sorted([*train, *held_out]) == list(range(len(y)))
    parts = [np.isin(np.arange(len(y)), held_out) for _, held_out in divided]
    asked = np.sum(parts, axis=0)
    assert asked.max() == 1
    assert asked.mean() >= lowest
    for code in np.unique(y):
        counts = [np.sum(part & (y == code)) for part in parts]
        assert max(counts) - min(counts) <= 1
        assert np.sum(counts) == pytest.approx(asked.mean() * np.sum(y == code), abs=1)


def test_every_class_keeps_a_sample_to_learn_from() -> None:
    y = np.array([0, 0, 1])
    for fraction in (0.4, 0.99):
        ((train, held_out),) = Infoprop(validation_fraction=fraction, random_state=0)._parts_to_ask(y)
        assert len(held_out) == 1
        assert 2 in train


def test_where_nothing_can_be_held_out_it_says_so() -> None:
    with pytest.raises(ValueError, match="infoprop: no class has so many samples"):
        Infoprop().fit(X[:2], [0, 1])


@pytest.mark.parametrize("kernel", [Linear(), Polynomial(degree=2)], ids=repr)
@pytest.mark.parametrize(("output_scaling", "power"), [("none", 0), ("times-margin", -1), ("divided-by-margin", 1)])
def test_outputs_are_compared_in_the_unit_that_is_asked_for(kernel: Kernel, output_scaling: Any, power: int) -> None:
    svm = SVM(kernel, C=10).fit(X[TRAIN], THREE[TRAIN])
    norms = [np.sqrt(c @ kernel.gram(svm.support_vectors_, svm.support_vectors_) @ c) for c in svm.dual_coef_]
    outputs = svm.decision_function(X[TEST]) * np.array(norms) ** power
    scaled = SVM(kernel, C=10, output_scaling=output_scaling).fit(X[TRAIN], THREE[TRAIN])
    np.testing.assert_allclose(scaled.decision_function(X[TEST]), outputs, rtol=1e-9)
    expected = mutual_info_score(THREE[TEST], outputs.argmax(axis=1)) / np.log(2)
    ranker = fit_on_test(THREE, kernel=kernel, C=10, output_scaling=output_scaling)
    assert ranker.scores_.sum() == pytest.approx(expected)


def test_each_machine_is_credited_by_the_gradient_of_its_own_kernel() -> None:
    own, other = Anova(gamma=0.3, degree=1), Polynomial(degree=2)
    svm = SVM(other, class_kernels={1: own}).fit(X[TRAIN], THREE[TRAIN])
    earned = indicator_credits(counted(THREE[TEST], svm.predict(X[TEST]), 3))
    expected = np.zeros(4)
    for credit, kernel, coefficients in zip(earned, [other, own, other], svm.dual_coef_, strict=True):
        kept = coefficients != 0
        influence = feature_influence(kernel, svm.support_vectors_[kept], coefficients[kept], np.ones(4), 0.0)
        expected += credit * influence / influence.sum()
    found = fit_on_test(THREE, kernel=other, class_kernels={1: own})
    np.testing.assert_allclose(found.scores_, expected, rtol=1e-9)


def test_names_of_the_test_part_s_classes_are_those_of_the_training_part() -> None:
    names = np.array(["b", "a", "c"])
    by_name = fit_on_test(names[THREE])
    np.testing.assert_allclose(by_name.scores_, fit_on_test(THREE).scores_, rtol=1e-9)


def test_a_class_that_only_the_test_part_has_is_never_recognised() -> None:
    y_test = THREE[TEST].copy()
    y_test[:5] = 7
    ranker = Infoprop(credit_on="test").fit(X[TRAIN], THREE[TRAIN], X_test=X[TEST], y_test=y_test)
    predicted = SVM().fit(X[TRAIN], THREE[TRAIN]).predict(X[TEST])
    assert ranker.scores_.sum() == pytest.approx(mutual_info_score(y_test, predicted) / np.log(2))


def test_a_class_that_the_test_part_lacks_earns_what_its_indicator_says() -> None:
    present = THREE[TEST] != 2
    ranker = Infoprop(credit_on="test").fit(
        X[TRAIN], THREE[TRAIN], X_test=X[TEST][present], y_test=THREE[TEST][present]
    )
    assert np.isfinite(ranker.scores_).all()


def test_features_that_are_zero_on_the_support_vectors_earn_nothing() -> None:
    with_zero = np.column_stack([X, np.zeros(len(X))])
    for kernel in (Linear(), Polynomial(degree=2)):
        scores = Infoprop(kernel, random_state=0).fit(with_zero, THREE).scores_
        assert scores[-1] == 0
        assert scores[0] > 0


def test_words_that_always_stand_together_earn_the_same() -> None:
    # To the last bit: ties go by the number of the feature, not by what rounding leaves.
    rng = np.random.default_rng(3)
    words = (rng.random((90, 61)) < 0.2).astype(float)
    twins = rng.permutation(61)
    scores = Infoprop(random_state=0).fit(csr_array(np.hstack([words, words[:, twins]])), THREE).scores_
    assert np.count_nonzero(scores) > 100
    np.testing.assert_array_equal(scores[61:], scores[twins])


def test_where_all_features_are_zero_all_scores_are() -> None:
    scores = Infoprop(random_state=0).fit(np.zeros((12, 3)), np.arange(12) % 3).scores_
    np.testing.assert_array_equal(scores, 0)


@pytest.mark.parametrize("credit_on", ["validation", "cross-validation"])
def test_a_test_part_is_refused_where_none_is_credited(credit_on: Any) -> None:
    with pytest.raises(ValueError, match=f"credit_on='{credit_on}' must not see a test part"):
        Infoprop(credit_on=credit_on).fit(X, THREE, X_test=X, y_test=THREE)


def test_the_leak_needs_its_test_part() -> None:
    with pytest.raises(ValueError, match="credit_on='test' needs X_test and y_test"):
        Infoprop(credit_on="test").fit(X, THREE)


def test_the_test_part_is_not_kept() -> None:
    kept = vars(fit_on_test(THREE))
    assert not [name for name, value in kept.items() if np.shape(value)[:1] == TEST.shape]


def test_machines_that_miss_their_gap_are_told_of() -> None:
    assert fit_on_test(THREE).converged_
    # No machine of single-precision kernel values has so small a gap.
    few = Infoprop("linear", tolerance=1e-14, solver="libsvm", random_state=0).fit(X[:12], BINARY[:12])
    assert not few.converged_


def test_folds_are_scikit_learns() -> None:
    ranker = Infoprop(credit_on="cross-validation", folds=3, random_state=4).fit(X, THREE)
    rows = content_order(X, THREE).rows
    predicted = cross_val_predict(SVM(), X[rows], THREE[rows], cv=StratifiedKFold(3, shuffle=True, random_state=4))
    assert ranker.scores_.sum() == pytest.approx(mutual_info_score(THREE[rows], predicted) / np.log(2))


def test_more_folds_than_samples_of_a_class_are_refused() -> None:
    y = np.r_[np.zeros(20, dtype=int), np.ones(4, dtype=int)]
    with pytest.raises(ValueError, match=r"infoprop: folds is 5; .* the smallest class has 4 samples"):
        Infoprop(credit_on="cross-validation").fit(X[:24], y)


def test_the_credit_of_a_machine_that_is_constant_goes_to_no_feature() -> None:
    # That of the class in the middle of three in a row says -1 everywhere, and fires where the others say less.
    rng = np.random.default_rng(5)
    y = np.repeat([0, 1, 2], 30)
    data = rng.normal(size=(90, 4)) + 3.0 * y[:, None] * [1.0, 0.5, 0.0, 0.0]
    ranker = Infoprop(C=1.0, credit_on="test").fit(data, y, X_test=data, y_test=y)
    svm = SVM("linear", C=1.0).fit(data, y)
    weights = np.abs(svm.dual_coef_ @ svm.support_vectors_)
    assert weights[1].max() < 1e-3 * weights[[0, 2]].max()
    earned = indicator_credits(counted(y, svm.predict(data), 3))
    shares = weights / weights.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(ranker.scores_, earned[[0, 2]] @ shares[[0, 2]], atol=1e-4)
    assert earned[1] > 0.05
    assert ranker.scores_.sum() == pytest.approx(earned.sum() - earned[1], abs=1e-4)
