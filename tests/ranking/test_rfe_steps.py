"""The compiled steps of recursive feature elimination against dense linear algebra."""

from __future__ import annotations

import tracemalloc
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import pytest

from fsvm_cli.ranking import rfe_machines
from fsvm_cli.ranking.rfe_costs import add_costs, bounds_of_costs, costs_of_power
from fsvm_cli.ranking.rfe_machines import (
    PAIR_MATRICES,
    EliminationProblem,
    KernelMachines,
    LinearMachines,
    drop_feature,
    has_margin_violators,
    make_chunk,
    normal_vector,
    train,
)
from fsvm_cli.svm import SVM, Gaussian, Kernel, Laplace, Linear, Polynomial
from fsvm_cli.svm.solvers.optimality import compiled_bias, compiled_gaps
from tests.svm.kernels.found_kernels import ADDITIVE, D

if TYPE_CHECKING:
    from fsvm_cli.svm.kernels.additive import AdditiveKernel


def wide_samples() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(21)
    X = rng.normal(size=(30, 50))
    return X, np.where(X[:, 0] + rng.normal(size=30) > 0, 1.0, -1.0)


X, Y = wide_samples()
FEATURES = np.arange(50)


def trained_chunk(rows: np.ndarray | None = None):
    rows = np.arange(30) if rows is None else rows
    chunk = make_chunk(rows, np.ascontiguousarray(X.T), FEATURES, Y, np.zeros(30), np.full(30, 0.5))
    assert train(chunk, 1e-8)
    return chunk


def test_a_chunk_without_a_feature_is_consistent() -> None:
    chunk = trained_chunk()
    coefficients = chunk.box.c.copy()
    for feature in (3, 17):
        drop_feature(chunk, feature)
    left = np.delete(X, [3, 17], axis=1)
    np.testing.assert_array_equal(chunk.box.c, coefficients)
    np.testing.assert_allclose(chunk.K, left @ left.T, atol=1e-12)
    np.testing.assert_allclose(chunk.box.diagonal, (left**2).sum(axis=1), atol=1e-12)
    np.testing.assert_allclose(chunk.box.r, Y - left @ left.T @ coefficients, atol=1e-12)
    m, factor = chunk.factor.size[0], chunk.factor
    assert m > 5
    U, indices = np.triu(factor.U[:m, :m]), factor.indices[:m]
    expected = chunk.K[np.ix_(indices, indices)] + factor.tau[0] + np.diag(factor.shift[:m])
    np.testing.assert_allclose(U.T @ U, expected, atol=1e-10)


def test_a_factor_that_would_lose_its_digits_is_made_anew(rng: np.random.Generator) -> None:
    # Two features, one of them hundred million times the other: without it next to nothing of a pivot is left.
    small = rng.normal(size=20)
    columns = np.ascontiguousarray(np.stack([1e8 * rng.normal(size=20), small]))
    y = np.where(rng.random(20) > 0.5, 1.0, -1.0)
    chunk = make_chunk(np.arange(20), columns, np.arange(2), y, np.zeros(20), np.ones(20))
    train(chunk, 1e-6)
    assert chunk.factor.size[0] > 0
    drop_feature(chunk, 0)
    assert np.isfinite(np.triu(chunk.factor.U[: chunk.factor.size[0], : chunk.factor.size[0]])).all()


def test_training_again_reaches_the_optimum_with_its_certificate() -> None:
    chunk = trained_chunk()
    drop_feature(chunk, 3)
    assert train(chunk, 1e-8)
    assert compiled_gaps(chunk.y, chunk.box, compiled_bias(chunk.box))[1] <= 1e-8
    left = np.delete(FEATURES, 3)
    w = np.empty(49)
    normal_vector(chunk, left, w)
    svm = SVM(Linear(), 0.5, 1e-9).fit(X[:, left], Y)
    np.testing.assert_allclose(w, (svm.dual_coef_ @ svm.support_vectors_)[0], atol=1e-6)


@pytest.mark.parametrize("degree", [1, 2, 3, 4])
@pytest.mark.parametrize("weights", [None, (0.5, 2.0, 0.0, 1.0, 1.0)])
def test_costs_of_a_power_are_differences_of_its_values(degree: int, weights: tuple[float, ...] | None) -> None:
    samples, coefficients = X[:, :5].copy(), np.random.default_rng(4).normal(size=(3, len(X)))
    samples[:, 4] = samples[:, 3]
    kernel = Polynomial(degree=degree, offset=0.7, scale=0.3, weights=weights)
    of_features = np.ones(5) if weights is None else np.array(weights)
    statistic = kernel.statistic_matrix(samples, samples)
    costs = costs_of_power(kernel.form, samples, of_features, statistic, coefficients)
    whole = kernel.gram(samples, samples)
    expected = [
        np.einsum("mi,ik,mk->", coefficients, whole - kernel.gram(samples, samples, left), coefficients)
        for left in ([k for k in range(5) if k != j] for j in range(5))
    ]
    np.testing.assert_allclose(costs, expected, rtol=1e-10, atol=1e-10)
    assert costs[3] == costs[4]


@pytest.mark.parametrize("kernel", ADDITIVE, ids=repr)
def test_costs_are_differences_of_kernel_values(kernel: AdditiveKernel) -> None:
    samples, coefficients = X[:, :D].copy(), np.random.default_rng(4).normal(size=(3, len(X)))
    samples[:, 3] = samples[:, 0]
    weights = kernel.feature_weights(D)
    of_features = np.ones(D) if weights is None else weights
    statistic, whole = kernel.statistic_matrix(samples, samples), kernel.gram(samples, samples)
    costs, memory = np.zeros(D), np.empty((3, len(X)))
    columns = np.ascontiguousarray(samples.T)
    add_costs(kernel.form, columns, of_features, statistic, whole, coefficients, memory, costs)
    expected = [
        np.einsum("mi,ik,mk->", coefficients, whole - kernel.gram(samples, samples, left), coefficients)
        for left in ([k for k in range(D) if k != j] for j in range(D))
    ]
    np.testing.assert_allclose(costs, expected, rtol=1e-10, atol=1e-10)
    if weights is None:
        assert costs[0] == costs[3]  # copies cost the same to the last digit


def gaussian_machines(theta: float, weights: tuple[float, ...] | None, n_machines: int) -> KernelMachines:
    """Return trained machines on 60 samples of 12 features, one of them a copy and one constant."""
    rng = np.random.default_rng(8)
    samples = rng.normal(size=(60, 12))
    samples[:, 9], samples[:, 10] = samples[:, 2], 1.0
    labels = np.sign(samples[:, :n_machines].T + 0.5 * rng.normal(size=(n_machines, 60)))
    kernel = Gaussian(theta=theta, weights=weights)
    machines = KernelMachines(EliminationProblem(kernel, samples, labels, np.full(60, 2.0), 1e-6, "auto"))
    assert machines.train()
    return machines


WEIGHTS = (0.5, 2.0, 0.0, 1.0, 1.0, 0.1, 3.0, 1.0, 1.0, 0.0, 1.0, 1.0)


@pytest.mark.parametrize("n_machines", [1, 3])
@pytest.mark.parametrize("weights", [None, WEIGHTS])
@pytest.mark.parametrize("theta", [2000.0, 200.0, 40.0])
def test_bounds_of_costs_contain_them(theta: float, weights: tuple[float, ...] | None, n_machines: int) -> None:
    machines = gaussian_machines(theta, weights, n_machines)
    coefficients, samples = machines.alphas * machines.problem.labels, machines.problem.X
    scaled = samples * np.sqrt((1.0 if weights is None else np.array(weights)) / theta)
    low, high = bounds_of_costs(scaled, coefficients, machines.gram)
    costs = machines.costs()
    assert (low <= costs).all()
    assert (costs <= high).all()
    # Narrow enough to tell most features apart.
    assert np.median(high - low) < 0.1 * (costs.max() - costs.min())


def test_bounds_of_costs_hold_for_few_and_for_many_samples(rng: np.random.Generator) -> None:
    for n, d in ((1, 2), (2, 3), (400, 5)):
        scaled, coefficients = 0.1 * rng.standard_t(3, size=(n, d)), rng.normal(size=(2, n))
        apart = ((scaled[:, None] - scaled[None]) ** 2).transpose(2, 0, 1)
        gram = np.exp(-apart.sum(axis=0))
        low, high = bounds_of_costs(scaled, coefficients, gram)
        costs = [np.einsum("mi,ik,mk->", coefficients, -gram * np.expm1(of_one), coefficients) for of_one in apart]
        assert (low <= costs).all()
        assert (costs <= high).all()


@pytest.mark.parametrize("size", [30.0, 1e10, 1e200])
def test_features_with_outliers_have_no_bounds(size: float) -> None:
    scaled = 0.05 * X[:, :5]
    scaled[3, 4] = size
    apart = ((scaled[:, None] - scaled[None]) ** 2).sum(axis=2) if size < 1e100 else np.full((30, 30), 1.0)
    low, high = bounds_of_costs(scaled, Y[None], np.exp(-apart))
    assert np.isfinite([low[:4], high[:4]]).all()
    assert [low[4], high[4]] == [-np.inf, np.inf] or high[4] - low[4] > 1e6


def test_samples_far_apart_have_no_bounds() -> None:
    gram = Gaussian(theta=0.1).gram(X, X)
    low, high = bounds_of_costs(X * np.sqrt(10.0), Y[None], gram)
    assert (low == -np.inf).all()
    assert (high == np.inf).all()


@pytest.mark.parametrize("number", [1, 2, 5, 11])
@pytest.mark.parametrize("theta", [2000.0, 40.0, 1.0])
def test_costs_that_are_left_out_are_none_of_the_lowest(theta: float, number: int) -> None:
    machines = gaussian_machines(theta, None, 1)
    whole, some = machines.costs(), machines.costs_of_cheapest(number)
    known = np.isfinite(some)
    np.testing.assert_array_equal(some[known], whole[known])
    assert np.sort(whole)[number - 1] < whole[~known].min(initial=np.inf)
    assert known.sum() >= number


@pytest.mark.parametrize("kernel", [Gaussian(theta=30.0), Laplace(theta=30.0), Polynomial(degree=2)], ids=repr)
def test_memory_for_pairs_is_what_the_check_allows_for(rng: np.random.Generator, kernel: Kernel) -> None:
    n = 800
    samples, y = rng.normal(size=(n, 6)), np.where(rng.random(n) > 0.5, 1.0, -1.0)
    problem = EliminationProblem(kernel, samples, y[None], np.ones(n), 1e-3, "auto")
    tracemalloc.start()
    try:
        machines = KernelMachines(problem)
        for _ in range(2):
            machines.train()
            machines.drop(machines.costs_of_cheapest(1).argmin(keepdims=True))
        peak = tracemalloc.get_traced_memory()[1] / (8 * n * n)
    finally:
        tracemalloc.stop()
    assert PAIR_MATRICES - 3 < peak < PAIR_MATRICES


def test_only_some_costs_are_computed_where_bounds_tell_the_lowest() -> None:
    assert np.isfinite(gaussian_machines(40.0, None, 1).costs_of_cheapest(1)).sum() < 6


@pytest.mark.parametrize("kernel", [Polynomial(degree=2), Gaussian(), Laplace()], ids=repr)
def test_a_feature_that_is_far_larger_than_the_others_leaves_no_rounding_behind(kernel: Kernel) -> None:
    huge = np.column_stack([X[:, :5], 1e8 * Y])
    machines = KernelMachines(EliminationProblem(kernel, huge, Y[None], np.ones(len(Y)), 1e-6, "auto"))
    linear = LinearMachines(EliminationProblem(Linear(), huge, Y[None], np.ones(len(Y)), 1e-6, "auto"))
    for dropped in (machines, linear):
        dropped.train()
        dropped.drop(np.array([5]))
    linear.train()
    np.testing.assert_allclose(machines.statistic, kernel.statistic_matrix(X[:, :5], X[:, :5]), atol=1e-12)
    left = X[linear.chunks[0].rows, :5]
    np.testing.assert_allclose(linear.chunks[0].K, left @ left.T, atol=1e-12)


def test_a_margin_violator_is_a_sample_within_the_margin_outside_the_working_set() -> None:
    columns, y = np.array([[3.0, -3.0, 0.5, -2.0]]), np.array([1.0, -1.0, 1.0, -1.0])
    features, w = np.array([0]), np.array([1.0])
    assert has_margin_violators(np.array([0, 1]), columns, features, w, 0.0, y)
    assert not has_margin_violators(np.array([0, 2]), columns, features, w, 0.0, y)
    assert has_margin_violators(np.array([0, 2]), columns, features, w, 1.5, y)


@pytest.mark.parametrize("C", [0.1, 10.0])
def test_samples_outside_the_working_set_are_outside_the_margin(rng: np.random.Generator, C: float) -> None:
    data = rng.normal(size=(300, 6))
    y = np.where(data @ [3.0, 2.0, 1.0, 0.5, 0.2, 0.1] + 0.1 * rng.normal(size=300) > 0, 1.0, -1.0)
    machines = LinearMachines(EliminationProblem(Linear(), data, y[None], np.full(len(y), C), 1e-8, "auto"))
    sizes = []
    for _ in range(5):
        assert machines.train()
        svm = SVM(Linear(), C, 1e-9).fit(data[:, machines.features], y)
        np.testing.assert_allclose(machines.w, svm.dual_coef_ @ svm.support_vectors_, atol=1e-6)
        sizes.append(len(machines.chunks[0].rows))
        machines.drop(np.array([len(machines.features) - 1]))
    assert min(sizes) < 300


@pytest.mark.parametrize("C", [0.1, 10.0])
def test_after_the_interior_point_method_a_machine_has_the_bias_of_its_coefficients(
    rng: np.random.Generator, C: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = rng.normal(size=(100, 4)) + 3.0
    y = np.where(data[:, 0] + rng.normal(size=100) > 3.0, 1.0, -1.0)
    monkeypatch.setattr(rfe_machines, "train", lambda *_: False)
    machines = LinearMachines(EliminationProblem(Linear(), data, y[None], np.full(len(y), C), 1e-8, "auto"))
    assert machines.train()
    svm = SVM(Linear(), C, 1e-9).fit(data, y)
    np.testing.assert_allclose(machines.w, svm.dual_coef_ @ svm.support_vectors_, atol=1e-5)
    assert compiled_bias(machines.chunks[0].box) == pytest.approx(svm.intercept_[0], abs=1e-5)


def test_what_rounding_alone_keeps_from_its_gap_is_scaled_up_and_not_solved_again(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = rng.normal(size=(61, 2000))
    y = np.where(rng.random(61) < 0.5, 1.0, -1.0)
    trained: list[bool] = []

    def train(chunk: rfe_machines.Chunk, tolerance: float) -> bool:
        trained.append(own(chunk, tolerance))
        return trained[-1]

    def solve(*_: Any, **__: Any) -> NoReturn:
        raise AssertionError

    own = rfe_machines.train
    monkeypatch.setattr(rfe_machines, "train", train)
    monkeypatch.setattr(rfe_machines, "solve", solve)
    machines = LinearMachines(EliminationProblem(Linear(), data, y[None], np.full(61, 100.0), 1e-6, "auto"))
    for _ in range(3):
        assert machines.train()
        svm = SVM(Linear(), 100.0, 1e-9, solver="interior-point").fit(data[:, machines.features], y)
        np.testing.assert_allclose(machines.w, svm.dual_coef_ @ svm.support_vectors_, atol=1e-7)
        assert machines.chunks[0].factor.size[0] == np.count_nonzero(machines.chunks[0].box.c)
        machines.drop(np.array([0]))
    assert not any(trained)
