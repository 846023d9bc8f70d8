"""Both bounds against brute force, which leaves out one sample after the other, and their derivatives."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from fsvm_cli.bounds.bound import Bound, hard_margin_machine
from fsvm_cli.bounds.radius_margin import enclosing_ball, radius_margin_bound
from fsvm_cli.bounds.span import _bordered_inverse, _pseudo_solve, predicted_slacks, span_bound
from fsvm_cli.svm import Gaussian, InfeasibleError, Kernel, Laplace, Linear, Polynomial, WeightedSum
from fsvm_cli.svm.kernels.gram import centred

if TYPE_CHECKING:
    from collections.abc import Callable

TIGHT = 1e-10
N = 24


def curved_classes() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(N, 4))
    return X, np.where(X[:, 0] + 0.6 * X[:, 1] ** 2 + 0.5 * rng.normal(size=N) > 0.4, 1.0, -1.0)


X, Y = curved_classes()
KERNELS = [Linear(), Polynomial(2), Polynomial(3, offset=0.5), Gaussian(4.0), Laplace(3.0)]
every_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=repr)


def gram_of(kernel: Kernel, ridge: float, samples: np.ndarray = X) -> np.ndarray:
    return kernel.gram(samples, samples) + ridge * np.eye(len(samples))


def radius_margin(gram: np.ndarray, y: np.ndarray = Y) -> Bound:
    return radius_margin_bound(y, enclosing_ball(gram, tolerance=TIGHT), hard_margin_machine(gram, y, tolerance=TIGHT))


def span(gram: np.ndarray, y: np.ndarray = Y) -> Bound:
    return span_bound(gram, y, hard_margin_machine(gram, y, tolerance=TIGHT))


every_bound = pytest.mark.parametrize("bound", [radius_margin, span])


def left_out(gram: np.ndarray, y: np.ndarray, alpha: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return 1 - y_p f(x_p) of the machines without sample p, and whether their support vectors are the others'."""
    slacks, is_same = np.empty(len(y)), np.empty(len(y), dtype=bool)
    for p in range(len(y)):
        rest = np.delete(np.arange(len(y)), p)
        machine = hard_margin_machine(gram[np.ix_(rest, rest)], y[rest], tolerance=TIGHT)
        slacks[p] = 1 - y[p] * (gram[p, rest] @ (machine.alpha * y[rest]) + machine.bias)
        is_same[p] = ((machine.alpha > 0) == (alpha[rest] > 0)).all()
    return slacks, is_same


@every_kernel
@pytest.mark.parametrize("ridge", [0.05, 1.0])
def test_spans_predict_machines_whose_support_vectors_stay(kernel: Kernel, ridge: float) -> None:
    gram = gram_of(kernel, ridge)
    alpha = hard_margin_machine(gram, Y, tolerance=TIGHT).alpha
    slacks, is_same = left_out(gram, Y, alpha)
    supporting = alpha > 0
    predicted = predicted_slacks(gram, alpha)
    assert (is_same & supporting).any()
    np.testing.assert_allclose(predicted[is_same & supporting], slacks[is_same & supporting], rtol=1e-6, atol=1e-7)
    assert (predicted[~supporting] == 0).all()
    assert (slacks[~supporting] < 1e-6).all(), "a sample that supports nothing can be left out"


@pytest.mark.parametrize("seed", range(4))
def test_no_more_errors_than_the_bounds_say(seed: int) -> None:
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(20) % 2, 1.0, -1.0)
    samples = rng.normal(size=(20, 2)) + np.outer(y, [0.7, 0.0])
    gram = gram_of(Gaussian(6.0), 0.5, samples)
    machine = hard_margin_machine(gram, y, tolerance=TIGHT)
    ball = enclosing_ball(gram, tolerance=TIGHT)
    slacks, _ = left_out(gram, y, machine.alpha)
    value = radius_margin_bound(y, ball, machine).value
    assert 0 < np.count_nonzero(slacks > 1) <= value
    assert value == pytest.approx(ball.squared_radius * machine.alpha.sum(), rel=1e-8)
    # The proof: no span is longer than the diameter.
    diameter = 4 * ball.squared_radius
    assert (predicted_slacks(gram, machine.alpha) <= machine.alpha * diameter * (1 + 1e-9)).all()


def test_without_a_border_the_prediction_would_be_another() -> None:
    gram = gram_of(Gaussian(4.0), 0.5)
    alpha = hard_margin_machine(gram, Y, tolerance=TIGHT).alpha
    support = np.flatnonzero(alpha)
    printed = alpha[support] / np.linalg.inv(gram[np.ix_(support, support)]).diagonal()
    slacks, is_same = left_out(gram, Y, alpha)
    assert np.abs(printed - slacks[support])[is_same[support]].max() > 0.01


@every_kernel
def test_a_regularised_span_is_a_least_distance(kernel: Kernel) -> None:
    eta, gram = 0.3, gram_of(kernel, 0.2)
    alpha = hard_margin_machine(gram, Y, tolerance=TIGHT).alpha
    support = np.flatnonzero(alpha)
    expected = []
    for p in support:
        others = support[support != p]
        inner = gram[np.ix_(others, others)] + np.diag(eta / alpha[others])
        system = np.block([[inner, np.ones((len(others), 1))], [np.ones(len(others)), np.zeros(1)]])
        lambdas = np.linalg.solve(system, np.append(gram[others, p], 1.0))[:-1]
        expected.append(gram[p, p] - 2 * lambdas @ gram[others, p] + lambdas @ inner @ lambdas)
    found = predicted_slacks(gram, alpha, regularisation=eta)[support] / alpha[support]
    np.testing.assert_allclose(found, expected, rtol=1e-6)


@every_bound
@pytest.mark.parametrize(
    "kernel", [*KERNELS, WeightedSum((Gaussian(4.0), Linear()), (1.0, 0.3), constant=2.0)], ids=repr
)
@pytest.mark.parametrize("ridge", [0.1, 1.0])
def test_the_derivative_by_feature_weights(
    rng: np.random.Generator, bound: Callable[[np.ndarray], Bound], kernel: Kernel, ridge: float
) -> None:
    weights = rng.uniform(0.5, 1.5, size=4)
    here = bound(gram_of(kernel.with_weights(weights), ridge))
    assert here.converged
    gradient = kernel.with_weights(weights).weight_gradient(X, X, here.gram_gradient)
    shifts = 1e-6 * np.eye(4)
    values = [
        [bound(gram_of(kernel.with_weights(weights + sign * e), ridge)).value for e in shifts] for sign in (1, -1)
    ]
    numeric = (np.array(values[0]) - values[1]) / 2e-6
    np.testing.assert_allclose(gradient, numeric, rtol=1e-3, atol=1e-4 * np.abs(numeric).max())


@every_bound
def test_the_derivative_with_a_hard_margin(bound: Callable[[np.ndarray], Bound]) -> None:
    here = bound(Gaussian(2.0).gram(X, X))
    gradient = np.sum(here.gram_gradient * _by_log_theta(2.0))
    step = 1e-5
    values = [bound(Gaussian(2.0 * np.exp(sign * step)).gram(X, X)).value for sign in (1, -1)]
    assert gradient == pytest.approx((values[0] - values[1]) / (2 * step), rel=1e-4)


def _by_log_theta(theta: float) -> np.ndarray:
    distances = Gaussian(theta).statistic_matrix(X, X)
    return distances / theta * np.exp(-distances / theta)


@pytest.mark.parametrize("unit", [1e-120, 1e120])
@every_bound
def test_the_unit_of_the_kernel_does_not_matter(bound: Callable[[np.ndarray], Bound], unit: float) -> None:
    gram = gram_of(Gaussian(4.0), 0.5)
    expected, found = bound(gram), bound(unit * gram)
    assert found.value == pytest.approx(expected.value, rel=1e-7)
    np.testing.assert_allclose(unit * found.gram_gradient, expected.gram_gradient, rtol=1e-5, atol=1e-6)


def test_the_sharper_the_closer_to_a_count() -> None:
    gram = gram_of(Gaussian(4.0), 0.05)
    machine = hard_margin_machine(gram, Y, tolerance=TIGHT)
    n_errors = np.count_nonzero(predicted_slacks(gram, machine.alpha) > 1)
    assert n_errors > 0
    sharp = span_bound(gram, Y, machine, sharpness=1e5, regularisation=0.0)
    assert sharp.value == pytest.approx(n_errors, abs=1e-6)


def test_copies_support_each_other() -> None:
    twice = np.repeat(X[:6], 2, axis=0)
    slacks = predicted_slacks(twice @ twice.T, np.ones(12))
    np.testing.assert_allclose(slacks, 0, atol=1e-6)


@every_bound
def test_copies_of_samples_leave_the_derivative_finite(bound: Callable[..., Bound]) -> None:
    here = bound(Gaussian(4.0).gram(np.repeat(X, 2, axis=0), np.repeat(X, 2, axis=0)), np.repeat(Y, 2))
    assert np.isfinite(here.value)
    assert np.isfinite(here.gram_gradient).all()


@pytest.mark.parametrize("rank", [3, 8, 19])
def test_the_least_movement_is_that_of_the_pseudo_inverse(rng: np.random.Generator, rank: int) -> None:
    points, right = rng.normal(size=(20, rank)), rng.normal(size=20)
    matrix = centred(points @ points.T)
    expected = np.linalg.pinv(matrix, rcond=1e-12, hermitian=True) @ right
    np.testing.assert_allclose(_pseudo_solve(matrix, right), expected, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("weights", [np.zeros(20), np.linspace(0.1, 3.0, 20)])
def test_the_bordered_inverse_is_a_block_of_the_inverse(rng: np.random.Generator, weights: np.ndarray) -> None:
    points = rng.normal(size=(20, 25))
    bordered = np.block(
        [[points @ points.T + np.diag(weights), np.ones((20, 1))], [np.ones((1, 20)), np.zeros((1, 1))]]
    )
    inverse = _bordered_inverse(points @ points.T, weights)
    np.testing.assert_allclose(inverse, np.linalg.inv(bordered)[:-1, :-1], rtol=1e-7, atol=1e-9)


def test_no_hard_margin_where_classes_are_not_separable() -> None:
    with pytest.raises(InfeasibleError, match="not separable"):
        hard_margin_machine(Linear().gram(X, X), Y)
    flagged = hard_margin_machine(Linear().gram(X, X), Y, on_failure="flag")
    assert flagged.duality_gap == np.inf


def test_one_class_is_refused() -> None:
    with pytest.raises(ValueError, match="one class only"):
        hard_margin_machine(np.eye(3), np.ones(3))
