"""Recursive feature elimination against scikit-learn's, and against plain loops that train afresh."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from sklearn.feature_selection import RFE
from sklearn.svm import SVC

from fsvm_cli.ranking.base import tie_priority
from fsvm_cli.ranking.rfe import RecursiveFeatureElimination
from fsvm_cli.svm import SVM, Gaussian, Kernel, Laplace, Linear, Polynomial

NONLINEAR = [Polynomial(degree=2), Polynomial(degree=3, offset=0.5), Gaussian(theta=6.0), Laplace(theta=4.0)]


def overlapping(n_samples: int, n_features: int, n_classes: int = 2) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(n_features)
    y = np.arange(n_samples) % n_classes
    return rng.normal(size=(n_samples, n_features)) + np.outer(y, 1.5 / np.arange(1, n_features + 1)), y


def cold_order(X: np.ndarray, y: np.ndarray, kernel: Kernel, C: float, tolerance: float = 1e-9) -> list[int]:
    """Features from the first to the last that is dropped, one at a time, each machine trained from nothing."""
    left = list(range(X.shape[1]))
    order = []
    while left:
        svm = SVM(kernel, C, tolerance).fit(X[:, left], y)
        whole = kernel.gram(svm.support_vectors_, svm.support_vectors_)
        costs = []
        for place in range(len(left)):
            fewer = np.delete(svm.support_vectors_, place, axis=1)
            difference = whole - kernel.gram(fewer, fewer)
            costs.append(np.einsum("mi,ik,mk->", svm.dual_coef_, difference, svm.dual_coef_))
        order.append(left.pop(int(np.argmin(costs))))
    return order


def order_of_elimination(ranker: RecursiveFeatureElimination) -> list[int]:
    return np.argsort(ranker.scores_).tolist()


@pytest.mark.parametrize("C", [0.1, 10.0])
@pytest.mark.parametrize(("n_samples", "n_features"), [(80, 20), (40, 60)])
def test_the_ranks_are_those_of_scikit_learn(n_samples: int, n_features: int, C: float) -> None:
    X, y = overlapping(n_samples, n_features)
    peer = RFE(SVC(kernel="linear", C=C, tol=1e-8), n_features_to_select=1, step=1).fit(X, y)
    ranker = RecursiveFeatureElimination(C=C).fit(X, y)
    assert ranker.converged_ is True
    np.testing.assert_array_equal(ranker.ranking_, peer.ranking_)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(("n_samples", "n_features"), [(120, 15), (30, 100)])
def test_cold_and_warm_starts_give_the_same_ranks(n_samples: int, n_features: int, n_classes: int) -> None:
    X, y = overlapping(n_samples, n_features, n_classes)
    for C in (0.3, 30.0):
        ranker = RecursiveFeatureElimination(C=C, tolerance=1e-7).fit(X, y)
        assert order_of_elimination(ranker) == cold_order(X, y, Linear(), C)


@pytest.mark.parametrize("kernel", NONLINEAR, ids=repr)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_other_kernels_drop_what_changes_the_norm_least(kernel: Kernel, n_classes: int) -> None:
    X, y = overlapping(40, 6, n_classes)
    ranker = RecursiveFeatureElimination(kernel, C=1.0, tolerance=1e-7).fit(X, y)
    assert order_of_elimination(ranker) == cold_order(X, y, kernel, 1.0)


def test_weights_of_the_kernel_are_part_of_the_criterion() -> None:
    X, y = overlapping(60, 8)
    weights = np.array([0.01, 1.0, 4.0, 0.5, 2.0, 0.0, 3.0, 1.0])
    ranker = RecursiveFeatureElimination(Linear(weights=tuple(weights)), C=1.0).fit(X, y)
    assert ranker.ranking_[5] == 8
    np.testing.assert_array_equal(
        ranker.ranking_, RecursiveFeatureElimination(C=1.0).fit(X * np.sqrt(weights), y).ranking_
    )


@pytest.mark.parametrize(("step", "sizes"), [(3, [10, 7, 4, 1]), (0.5, [10, 5, 3, 2, 1]), (20, [10, 1])])
def test_a_round_drops_the_cheapest_features_together(step: float, sizes: list[int]) -> None:
    X, y = overlapping(50, 10)
    left, order = np.arange(10), []
    for before, after in itertools.pairwise(sizes):
        svm = SVM("linear", 1.0, 1e-9).fit(X[:, left], y)
        costs = (svm.dual_coef_ @ svm.support_vectors_)[0] ** 2
        cheapest = np.argsort(costs)[: before - after]
        order += left[cheapest].tolist()
        left = np.delete(left, cheapest)
    ranker = RecursiveFeatureElimination(C=1.0, step=step).fit(X, y)
    assert order_of_elimination(ranker) == [*order, *left]


@pytest.mark.parametrize("seed", range(4))
def test_of_features_that_cost_the_same_the_seed_draws_the_first_to_go(seed: int) -> None:
    X, y = overlapping(30, 2)
    ranker = RecursiveFeatureElimination(tie_seed=seed).fit(np.repeat(X, [1, 3], axis=1), y)
    assert np.argsort(ranker.ranking_[1:]).tolist() == np.argsort(tie_priority(seed, 4)[1:]).tolist()


@pytest.mark.parametrize("kernel", [Linear(), *NONLINEAR], ids=repr)
@pytest.mark.parametrize("n_classes", [2, 5])
def test_features_that_tell_no_class_from_the_rest_cost_the_same(kernel: Kernel, n_classes: int) -> None:
    cells = np.repeat(list(itertools.product([0.0, 1.0], repeat=3)), n_classes, axis=0)
    y = np.tile(np.arange(n_classes), 8)
    for seed in range(4):
        order = np.random.default_rng(seed).permutation(len(y))
        ranker = RecursiveFeatureElimination(kernel, C=10.0, tie_seed=seed).fit(cells[order], y[order])
        np.testing.assert_array_equal(ranker.ranking_ - 1, tie_priority(seed, 3))


@pytest.mark.parametrize("seed", range(4))
def test_costs_far_below_the_largest_kernel_value_decide_the_order(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X, y = 15.0 * rng.standard_normal((100, 4)), np.arange(100) % 2
    ranker = RecursiveFeatureElimination(Polynomial(degree=2), C=1.0).fit(X, y)
    assert order_of_elimination(ranker) == cold_order(X, y, Polynomial(degree=2), 1.0, 1e-6)


def test_a_machine_that_misses_its_gap_is_reported() -> None:
    X, y = overlapping(30, 4)
    assert RecursiveFeatureElimination(tolerance=1e-300, solver="smo").fit(X, y).converged_ is False


@pytest.mark.parametrize("step", [0, 0.0, 1.5, -1])
def test_a_step_that_cannot_be_is_refused(step: float) -> None:
    X, y = overlapping(20, 3)
    with pytest.raises(ValueError, match="rfe: step is"):
        RecursiveFeatureElimination(step=step).fit(X, y)
