"""EUBAFES: its gradient, the conditions of its optimum, and what it finds."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import check_grad

from fsvm_cli.ranking.eubafes import Eubafes, pair_coefficients, similarity_contrast

RNG = np.random.default_rng(13)
X = RNG.normal(size=(40, 5))
EXCLUSIVE_OR = (X[:, 1] * X[:, 3] > 0).astype(int)
THREE = np.digitize(X[:, 0] + 0.3 * X[:, 2], [-0.4, 0.4])
every_labelling = pytest.mark.parametrize("y", [EXCLUSIVE_OR, THREE], ids=["exclusive or", "three classes"])


def standardised(data: np.ndarray) -> np.ndarray:
    return (data - data.mean(axis=0)) / data.std(axis=0)


@every_labelling
def test_the_criterion_is_the_difference_of_two_means(y: np.ndarray) -> None:
    weights = RNG.uniform(0.1, 1, size=5)
    within, between = [], []
    for i in range(len(X)):
        for k in range(i):
            similarity = np.exp(-np.sum(weights * (X[i] - X[k]) ** 2))
            (within if y[i] == y[k] else between).append(similarity)
    value, _ = similarity_contrast(X, pair_coefficients(y), weights)
    assert value == pytest.approx(np.mean(within) - np.mean(between), rel=1e-12)


@every_labelling
def test_the_gradient_agrees_with_finite_differences(y: np.ndarray) -> None:
    coefficients = pair_coefficients(y)
    error = check_grad(
        lambda weights: similarity_contrast(X, coefficients, weights)[0],
        lambda weights: similarity_contrast(X, coefficients, weights)[1],
        RNG.uniform(0.1, 1, size=5),
    )
    assert error < 1e-6


@every_labelling
def test_the_weights_are_a_local_maximum(y: np.ndarray) -> None:
    ranker = Eubafes().fit(X, y)
    _, gradient = similarity_contrast(standardised(X), pair_coefficients(y), ranker.scores_)
    assert ranker.converged_ is True
    np.testing.assert_allclose(gradient[ranker.scores_ > 0], 0, atol=1e-6)
    assert (gradient[ranker.scores_ == 0] <= 1e-6).all()


def test_features_that_act_together_are_found() -> None:
    assert set(np.argsort(Eubafes().fit(X, EXCLUSIVE_OR).ranking_)[:2]) == {1, 3}


def test_units_do_not_matter_and_a_constant_feature_scores_zero() -> None:
    changed = np.column_stack([X * [1e3, 1e-3, 1, 1, 1] + 7, np.full(len(X), 0.1)])
    scores = Eubafes().fit(changed, THREE).scores_
    assert scores[-1] == 0
    np.testing.assert_allclose(scores[:-1], Eubafes().fit(X, THREE).scores_, atol=1e-6)


def test_constant_features_only() -> None:
    assert Eubafes().fit(np.ones((6, 2)), np.arange(6) % 2).scores_.tolist() == [0.0, 0.0]
