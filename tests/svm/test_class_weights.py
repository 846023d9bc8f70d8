"""Weights of classes along nested subsets, in tuning and in rankings, against scikit-learn's machines."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from sklearn.feature_selection import RFE
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.svm import SVC

from fsvm_cli.ranking.gradient_angle import GradientAngle
from fsvm_cli.ranking.infoprop import Infoprop
from fsvm_cli.ranking.rfe import RecursiveFeatureElimination
from fsvm_cli.svm import SVM, Gaussian, Linear, WeightedSum, nested_curves
from fsvm_cli.svm.costs import weighted_bounds
from fsvm_cli.svm.tuning import grid_search

if TYPE_CHECKING:
    from fsvm_cli.ranking.machine_ranker import WeightedMachineRanker

RARE = 20
Y = np.repeat([0, 1], [100 - RARE, RARE])
X = np.random.default_rng(3).normal(size=(100, 5)) + Y[:, None] * [1.2, 0.8, 0.4, 0.0, 0.0]
BALANCED = {0: 100 / (2 * (100 - RARE)), 1: 100 / (2 * RARE)}
KERNELS = [
    (Linear(), {"kernel": "linear"}),
    (Gaussian(8.0), {"kernel": "rbf", "gamma": 1 / 8}),
    (WeightedSum((Gaussian(8.0),), (1.0,)), {"kernel": "rbf", "gamma": 1 / 8}),  # fitted anew on each subset
]


@pytest.mark.parametrize(("kernel", "theirs"), KERNELS, ids=lambda each: getattr(each, "name", ""))
@pytest.mark.parametrize("class_weight", ["balanced", {1: 3.0}])
def test_nested_machines_are_those_of_scikit_learn(kernel, theirs, class_weight) -> None:
    order, sizes = np.array([3, 0, 2, 1, 4]), (1, 3, 5)
    bounds = weighted_bounds(2.0, Y, class_weight)
    found = nested_curves(kernel, bounds, X, Y, X, [order], sizes, n_classes=2, tolerance=1e-9)
    for place, size in enumerate(sizes):
        machine = SVC(C=2.0, class_weight=class_weight, tol=1e-6, **theirs).fit(X[:, order[:size]], Y)
        expected = machine.decision_function(X[:, order[:size]])
        np.testing.assert_allclose(found.test_decision[0, place, 0], expected, atol=5e-5)


def test_a_class_that_is_named_and_absent_has_no_bound() -> None:
    np.testing.assert_array_equal(weighted_bounds(2.0, np.array([0, 2]), {1: 9.0, 2: 0.5}), [2.0, 1.0])


@pytest.mark.parametrize(("kernel", "options"), KERNELS[:2], ids=["linear", "gaussian"])
def test_tuning_weighs_as_the_machines_do(kernel, options) -> None:
    folds = list(StratifiedKFold(5, shuffle=True, random_state=0).split(X, Y))
    Cs = [0.01, 0.1, 1.0]
    found = grid_search([kernel], Cs, X, Y, folds, n_classes=2, tolerance=1e-9, class_weight="balanced")
    # The folds have the classes in the shares of all samples, so that weights are those of all samples in each.
    machines = [SVM(kernel, C, 1e-9, class_weight="balanced") for C in Cs]
    np.testing.assert_allclose(found.accuracy[0], [balanced(machine, folds) for machine in machines], atol=1e-12)
    # With the smallest C every alpha is at its bound, and any bias of an interval is that of a solution.
    theirs = [SVC(C=C, class_weight="balanced", tol=1e-6, **options) for C in Cs[1:]]
    np.testing.assert_allclose(found.accuracy[0, 1:], [balanced(machine, folds) for machine in theirs], atol=1e-12)
    assert found.converged.all()


def balanced(machine: SVM | SVC, folds: list[tuple[np.ndarray, np.ndarray]]) -> float:
    return cross_val_score(machine, X, Y, cv=folds, scoring="balanced_accuracy").mean()


def test_rankings_rank_by_the_weighted_machine() -> None:
    machine = SVC(kernel="linear", C=2.0, class_weight=BALANCED, tol=1e-6).fit(X, Y)
    w = np.abs(machine.coef_[0])
    angles = GradientAngle(C=2.0, tolerance=1e-9, class_weight="balanced").fit(X, Y)
    np.testing.assert_allclose(angles.scores_, 2 / np.pi * np.arcsin(w / np.linalg.norm(w)), atol=1e-4)
    eliminated = RecursiveFeatureElimination(C=2.0, tolerance=1e-9, class_weight="balanced").fit(X, Y)
    theirs = RFE(SVC(kernel="linear", C=2.0, class_weight=BALANCED, tol=1e-6), n_features_to_select=1).fit(X, Y)
    np.testing.assert_array_equal(eliminated.ranking_, theirs.ranking_)


def scores(ranker: type[WeightedMachineRanker], weights: dict[str, float] | None, names: np.ndarray) -> np.ndarray:
    seed = {"random_state": 0} if ranker is Infoprop else {}
    return ranker(class_weight=weights, **seed).fit(X, names).scores_


def test_labels_name_the_classes_of_a_ranking() -> None:
    names = np.array(["ill", "well"])[Y]
    for ranker in (GradientAngle, RecursiveFeatureElimination, Infoprop):
        plain, alike, other = (scores(ranker, weights, names) for weights in (None, {"ill": 1.0}, {"well": 20.0}))
        np.testing.assert_array_equal(plain, alike)
        if ranker is not RecursiveFeatureElimination:  # whose scores are places
            assert (plain != other).any()
