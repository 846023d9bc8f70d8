"""The gradient angle against closed forms and finite differences."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fsvm_cli.ranking.gradient_angle import GradientAngle, margin_region
from fsvm_cli.svm import SVM, Gaussian, Kernel, Linear, Polynomial, Tanh


def curved_classes() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 4)) * [1.0, 2.0, 0.5, 1.0]
    return X, (X[:, 0] + 0.5 * X[:, 1] ** 2 + 0.3 * rng.normal(size=60) > 0.5).astype(int)


X, BINARY = curved_classes()
THREE = np.digitize(X[:, 0] + 0.4 * X[:, 1], [-0.5, 0.5])
KERNELS = [Linear(), Polynomial(degree=2), Polynomial(degree=3, offset=0.5), Gaussian(theta=4.0), Tanh(scale=0.05)]
every_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=repr)


@pytest.mark.parametrize("y", [BINARY, THREE], ids=["two classes", "three classes"])
def test_linear_kernel_has_the_closed_form(y: np.ndarray) -> None:
    svm = SVM("linear", C=1.0).fit(X, y)
    weights = svm.dual_coef_ @ svm.support_vectors_
    # The middle one of three classes in a row cannot be separated from both others: its machine is constant.
    weights = weights[np.abs(weights).max(axis=1) > 1e-9]
    assert len(weights) == (1 if y is BINARY else 2)
    expected = 2 / np.pi * np.arcsin(np.abs(weights) / np.linalg.norm(weights, axis=1, keepdims=True))
    for epsilon in (0.0, 0.1, 10.0):
        scores = GradientAngle("linear", C=1.0, epsilon=epsilon).fit(X, y).scores_
        np.testing.assert_allclose(scores, expected.mean(axis=0), rtol=1e-9)


def numerical_gradient(svm: SVM, points: np.ndarray, machine: int, step: float = 1e-5) -> np.ndarray:
    columns = []
    for feature in range(points.shape[1]):
        shift = np.zeros(points.shape[1])
        shift[feature] = step
        above, below = (svm.decision_function(points + sign * shift).reshape(len(points), -1) for sign in (1, -1))
        columns.append((above - below)[:, machine] / (2 * step))
    return np.column_stack(columns)


@every_kernel
@pytest.mark.parametrize("y", [BINARY, THREE], ids=["two classes", "three classes"])
def test_scores_are_the_mean_angles_of_numerical_gradients(kernel: Kernel, y: np.ndarray) -> None:
    epsilon = 0.2
    svm = SVM(kernel, C=1.0).fit(X, y)
    decision = svm.decision_function(X).reshape(len(X), -1)
    expected = []
    for machine in range(decision.shape[1]):
        sign = np.where(y == (1 if decision.shape[1] == 1 else machine), 1, -1)
        near = np.abs(sign * decision[:, machine] - 1) <= epsilon
        near[svm.margin_vectors_[machine]] = True
        gradient = numerical_gradient(svm, X[near], machine)
        gradient = gradient[np.abs(gradient) @ np.ptp(X, axis=0) > 1e-5]
        if not len(gradient):
            continue
        cosines = np.abs(gradient) / np.linalg.norm(gradient, axis=1, keepdims=True)
        expected.append((1 - 2 / np.pi * np.arccos(cosines)).mean(axis=0))
    scores = GradientAngle(kernel, C=1.0, epsilon=epsilon).fit(X, y).scores_
    np.testing.assert_allclose(scores, np.mean(expected, axis=0), atol=1e-6)


def test_the_angles_of_one_point_are_those_of_one_direction() -> None:
    # With a single gradient the squared cosines of its angles to the axes add up to one.
    scores = GradientAngle("linear", C=1.0).fit(X, BINARY).scores_
    assert np.sum(np.sin(np.pi / 2 * scores) ** 2) == pytest.approx(1.0)


@given(
    st.lists(st.floats(-3, 3), min_size=1, max_size=20),
    st.floats(0, 2),
    st.data(),
)
def test_the_region_is_what_lies_near_the_margin(margins: list[float], epsilon: float, data: st.DataObject) -> None:
    rows = st.lists(st.integers(0, len(margins) - 1), unique=True)
    margin_vectors = np.array(data.draw(rows), dtype=int)
    support = np.union1d(margin_vectors, np.array(data.draw(rows), dtype=int)).astype(int)
    found = margin_region(np.array(margins), margin_vectors, support, epsilon)
    near = {row for row, margin in enumerate(margins) if abs(margin - 1) <= epsilon} | set(margin_vectors.tolist())
    assert found.tolist() == (sorted(near) if near else support.tolist())


def test_without_margin_vectors_the_support_vectors_take_their_place() -> None:
    # Both alphas are at a bound of C that is too small for the margin to reach any point.
    points, y = np.array([[0.0, 0.0], [1.0, 3.0]]), np.array([0, 1])
    ranker = GradientAngle("linear", C=1e-3, epsilon=0.0).fit(points, y)
    np.testing.assert_allclose(ranker.scores_, 2 / np.pi * np.arcsin(np.array([1, 3]) / np.sqrt(10)), rtol=1e-9)


def test_where_every_gradient_vanishes_all_features_score_zero() -> None:
    constant = np.ones((4, 3))
    scores = GradientAngle("linear", C=1.0).fit(constant, np.array([0, 1, 0, 1])).scores_
    np.testing.assert_array_equal(scores, 0)


def test_a_feature_that_the_machine_ignores_scores_zero() -> None:
    with_constant = np.column_stack([X, np.zeros(len(X))])
    scores = GradientAngle(Gaussian(theta=4.0), C=1.0).fit(with_constant, BINARY).scores_
    assert scores[-1] == 0
    assert (scores[:-1] > 0).all()


def test_a_machine_that_is_constant_has_no_say_however_exact_the_solver() -> None:
    # The class in the middle of three in a row: what is left of its weights hangs on the tolerance.
    rng = np.random.default_rng(5)
    y = np.arange(90) % 3
    data = rng.normal(size=(90, 4)) + 3.0 * y[:, None] * [1.0, 0.5, 0.0, 0.0]
    scores = [GradientAngle("linear", C=1.0, tolerance=tolerance).fit(data, y).scores_ for tolerance in (1e-5, 1e-9)]
    svm = SVM("linear", C=1.0).fit(data, y)
    weights = np.abs(svm.dual_coef_ @ svm.support_vectors_)
    assert weights[1].max() < 1e-3 * weights[[0, 2]].max()
    cosines = weights / np.linalg.norm(weights, axis=1, keepdims=True)
    by_machine = 2 / np.pi * np.arcsin(cosines)
    np.testing.assert_allclose(scores[0], by_machine[[0, 2]].mean(axis=0), atol=1e-3)
    np.testing.assert_allclose(scores[1], by_machine[[0, 2]].mean(axis=0), atol=1e-5)
    assert np.abs(scores[1] - by_machine.mean(axis=0)).max() > 0.05
