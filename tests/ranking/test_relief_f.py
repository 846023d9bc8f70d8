"""RELIEF-F against a plain reference."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from fsvm_cli.ranking.relief_f import ReliefF


def reference(X: np.ndarray, y: np.ndarray, n_neighbors: int) -> np.ndarray:
    spread = np.ptp(X, axis=0)
    X = (X - X.min(axis=0)) / np.where(spread > 0, spread, 1)
    classes, counts = np.unique(y, return_counts=True)
    prior = dict(zip(classes, counts / len(y), strict=True))
    scores = np.zeros(X.shape[1])
    for i, (x, own) in enumerate(zip(X, y, strict=True)):
        difference = np.abs(X - x)
        distance = difference.sum(axis=1)
        for code in classes:
            rows = np.flatnonzero((y == code) & (np.arange(len(y)) != i))
            if len(rows):
                number = min(n_neighbors, len(rows))
                away = np.sort(distance[rows])[number - 1]
                nearer, tied = distance[rows] < away, distance[rows] == away
                counts = nearer + tied * (number - nearer.sum()) / tied.sum()
                weight = -1 if code == own else prior[code] / (1 - prior[own])
                scores += weight * counts @ difference[rows] / number
    return scores / len(y)


@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("n_features", [1, 4, 7, 8])
def test_it_is_kononenkos_sum(n_classes: int, n_features: int) -> None:
    rng = np.random.default_rng(n_features)
    X, y = rng.normal(size=(80, n_features)), rng.integers(n_classes, size=80)
    scores = ReliefF(n_neighbors=6).fit(X, y).scores_
    np.testing.assert_allclose(scores, reference(X, y, 6), rtol=0, atol=1e-13)


# Eighths of a range that is a power of two add up exactly, so that ties are ties in either order of summation.
@given(arrays(float, (12, 3), elements=st.integers(0, 8).map(float)), st.integers(1, 20), st.data())
def test_samples_at_the_last_distance_count_alike(X: np.ndarray, n_neighbors: int, data: st.DataObject) -> None:
    X[:2] = [[0], [8]]
    y = np.array([0, 1, *data.draw(st.lists(st.integers(0, 2), min_size=10, max_size=10))])
    scores = ReliefF(n_neighbors=n_neighbors).fit(X, y).scores_
    np.testing.assert_allclose(scores, reference(X, y, n_neighbors), rtol=0, atol=1e-13)


def test_it_finds_an_exclusive_or() -> None:
    rng = np.random.default_rng(6)
    X = rng.uniform(-1, 1, size=(200, 5))
    y = (X[:, 1] * X[:, 3] > 0).astype(int)
    assert set(np.flatnonzero(ReliefF(n_features_to_select=2).fit(X, y).support_)) == {1, 3}


def test_units_do_not_matter_and_a_constant_feature_comes_last() -> None:
    rng = np.random.default_rng(7)
    X, y = rng.normal(size=(40, 4)), np.arange(40) % 3
    X[:, 2] = 0.1
    scores = ReliefF().fit(X, y).scores_
    assert np.argmin(scores) == 2
    np.testing.assert_allclose(ReliefF().fit(X * [1e6, 1e-6, 1, 1] + 3, y).scores_, scores, atol=1e-9)


def test_codes_of_a_nominal_feature_are_numbers_unless_it_is_turned_into_zeros_and_ones() -> None:
    # Kononenko's difference of nominal values is 0 or 1: twice that of the zeros and ones of their indicators, halved.
    rng = np.random.default_rng(8)
    nominal, y = rng.integers(0, 4, 60), rng.integers(0, 2, 60)
    indicators = np.eye(4)[nominal]
    scores = ReliefF(n_neighbors=100).fit(indicators, y).scores_
    differs = (nominal[:, None] != nominal[None, :]).astype(float)
    same = y[:, None] == y[None, :]
    others = same & ~np.eye(60, dtype=bool)
    expected = np.mean((differs * ~same).sum(1) / (~same).sum(1) - (differs * others).sum(1) / others.sum(1))
    assert scores.sum() / 2 == pytest.approx(expected, abs=1e-12)
