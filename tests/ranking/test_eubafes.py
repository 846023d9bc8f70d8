"""EUBAFES: its gradient, the conditions of its optimum, and what it finds."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import check_grad
from scipy.stats import chisquare

from fsvm_cli.ranking.eubafes import (
    DRAWN_PAIR_COST,
    Eubafes,
    ascended,
    draw_pairs,
    drawn_contrast,
    pair_coefficients,
    similarity_contrast,
)

X = np.random.default_rng(13).normal(size=(40, 5))
EXCLUSIVE_OR = (X[:, 1] * X[:, 3] > 0).astype(int)
THREE = np.digitize(X[:, 0] + 0.3 * X[:, 2], [-0.4, 0.4])
every_labelling = pytest.mark.parametrize("y", [EXCLUSIVE_OR, THREE], ids=["exclusive or", "three classes"])


def standardised(data: np.ndarray) -> np.ndarray:
    return (data - data.mean(axis=0)) / data.std(axis=0)


@every_labelling
def test_the_criterion_is_the_difference_of_two_means(rng: np.random.Generator, y: np.ndarray) -> None:
    weights = rng.uniform(0.1, 1, size=5)
    within, between = [], []
    for i in range(len(X)):
        for k in range(i):
            similarity = np.exp(-np.sum(weights * (X[i] - X[k]) ** 2))
            (within if y[i] == y[k] else between).append(similarity)
    value, _ = similarity_contrast(X, pair_coefficients(y), weights)
    assert value == pytest.approx(np.mean(within) - np.mean(between), rel=1e-12)


@every_labelling
def test_the_gradient_agrees_with_finite_differences(rng: np.random.Generator, y: np.ndarray) -> None:
    coefficients = pair_coefficients(y)
    error = check_grad(
        lambda weights: similarity_contrast(X, coefficients, weights)[0],
        lambda weights: similarity_contrast(X, coefficients, weights)[1],
        rng.uniform(0.1, 1, size=5),
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


@every_labelling
def test_every_pair_once_gives_the_criterion_and_its_gradient(rng: np.random.Generator, y: np.ndarray) -> None:
    pairs = np.array(np.triu_indices(len(y), k=1))
    same = y[pairs[0]] == y[pairs[1]]
    weights = rng.uniform(0.1, 1, size=5)
    value, gradient = drawn_contrast(X, pairs[:, same], pairs[:, ~same], weights)
    expected_value, expected_gradient = similarity_contrast(X, pair_coefficients(y), weights)
    assert value == pytest.approx(expected_value, rel=1e-12)
    np.testing.assert_allclose(gradient, expected_gradient, rtol=1e-10)


@pytest.mark.parametrize("sizes", [(2, 2), (1, 2, 5), (4, 1, 1)])
def test_every_pair_of_a_kind_is_as_likely_as_any_other(rng: np.random.Generator, sizes: tuple[int, ...]) -> None:
    y = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    drawn = draw_pairs(y, 20_000, np.random.RandomState(1))
    for pairs, wanted in zip(drawn, (y[:, None] == y[None, :], y[:, None] != y[None, :]), strict=True):
        counts = np.zeros(wanted.shape, dtype=int)
        np.add.at(counts, tuple(pairs), 1)
        possible = wanted & ~np.eye(len(y), dtype=bool)
        assert counts.sum() == 20_000
        assert counts[~possible].sum() == 0
        assert chisquare(counts[possible]).pvalue > 1e-3


def test_classes_of_one_sample_each_have_no_pairs_within() -> None:
    within, between = draw_pairs(np.arange(5), 100, np.random.RandomState(0))
    assert within.shape == (2, 0)
    assert (between[0] != between[1]).all()
    assert np.isfinite(Eubafes(max_pairs=6).fit(X[:5], np.arange(5)).scores_).all()


def test_pairs_are_drawn_where_there_are_more_than_asked_for() -> None:
    n_pairs = len(X) * (len(X) - 1) // 2 // DRAWN_PAIR_COST
    all_pairs = Eubafes().fit(X, THREE).scores_
    assert Eubafes(max_pairs=n_pairs, random_state=1).fit(X, THREE).scores_.tolist() == all_pairs.tolist()
    drawn = Eubafes(max_pairs=n_pairs - 1, random_state=1).fit(X, THREE).scores_
    assert drawn.tolist() != all_pairs.tolist()
    assert drawn.tolist() == Eubafes(max_pairs=n_pairs - 1, random_state=1).fit(X, THREE).scores_.tolist()


@every_labelling
def test_drawn_pairs_come_near_to_all_of_them(y: np.ndarray) -> None:
    drawn = Eubafes(max_pairs=100_000, random_state=1)
    data, labels = np.tile(X, (25, 1)), np.tile(y, 25)
    # Twenty-five copies of each sample: nearly the criterion of one, and more pairs than are drawn.
    weights = drawn.fit(data, labels).scores_
    expected = Eubafes().fit(data, labels).scores_
    np.testing.assert_allclose(weights, expected, atol=0.05 * expected.max())


def test_features_that_are_set_aside_come_back_where_they_would_rise(monkeypatch: pytest.MonkeyPatch) -> None:
    # The second feature falls at first; what the first says makes it rise later.
    monkeypatch.setattr("fsvm_cli.ranking.eubafes.STEPS_BEFORE_FIRST_REDUCTION", 1)
    coupling, target = np.array([[1.0, -0.9], [-0.9, 1.0]]), np.array([4.0, -3.2])
    seen: list[list[int]] = []

    def concave(columns: np.ndarray, weights: np.ndarray) -> tuple[float, np.ndarray]:
        seen.append(columns[0].astype(int).tolist())
        every = np.zeros(2)
        every[seen[-1]] = weights
        return target @ every - every @ coupling @ every / 2, (target - coupling @ every)[seen[-1]]

    weights, converged = ascended(concave, np.arange(2.0)[None, :])
    assert [0] in seen
    assert converged
    np.testing.assert_allclose(weights, np.linalg.solve(coupling, target), atol=1e-6)


def test_the_maximum_over_few_features_is_one_over_all(rng: np.random.Generator) -> None:
    # Seven of forty features matter; most are at 0 after some steps, and are not looked at again until the end.
    data, sizes = rng.normal(size=(150, 40)), []
    y = (data[:, :7] @ np.arange(1, 8) + rng.normal(size=150) > 0).astype(int)
    coefficients = pair_coefficients(y)

    def counted(columns: np.ndarray, weights: np.ndarray) -> tuple[float, np.ndarray]:
        sizes.append(len(weights))
        return similarity_contrast(columns, coefficients, weights)

    weights, converged = ascended(counted, standardised(data))
    _, gradient = similarity_contrast(standardised(data), coefficients, weights)
    assert converged
    assert np.median(sizes) < 20
    np.testing.assert_allclose(gradient[weights > 0], 0, atol=1e-6)
    assert gradient[weights == 0].max() <= 1e-6


@pytest.mark.parametrize(("error", "is_told"), [(5e-7, True), (1e-4, False)])
def test_an_ascent_ends_where_no_step_raises_the_criterion(error: float, is_told: bool) -> None:
    def contrast(columns: np.ndarray, weights: np.ndarray) -> tuple[float, np.ndarray]:
        away = weights - 1 / X.shape[1]
        return -float(away @ away), error - 2.0 * away

    weights, converged = ascended(contrast, X)
    np.testing.assert_array_equal(weights, 1 / X.shape[1])
    assert converged is is_told
