"""The Fisher score against its definition, and what its misprint does."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.preprocessing import StandardScaler

from fsvm_cli.ranking.fisher import Fisher


def by_definition(X: np.ndarray, inside: np.ndarray, sign: int = -1) -> np.ndarray:
    a, b = X[inside], X[~inside]
    return np.abs(a.mean(axis=0) + sign * b.mean(axis=0)) / (a.var(axis=0) + b.var(axis=0))


@given(arrays(float, (9, 3), elements=st.floats(-1e3, 1e3), unique=True))
def test_two_classes(X: np.ndarray) -> None:
    y = np.array([0, 0, 0, 0, 1, 1, 1, 1, 1])
    X = np.round(X, 6)
    if (X[y == 0].std(axis=0) + X[y == 1].std(axis=0) > 1e-3).all():
        np.testing.assert_allclose(Fisher().fit(X, y).scores_, by_definition(X, y == 1), rtol=1e-6, atol=1e-12)


def test_several_classes_are_averaged_one_against_the_rest(rng: np.random.Generator) -> None:
    X, y = rng.normal(size=(30, 4)), np.arange(30) % 3
    expected = np.mean([by_definition(X, y == code) for code in range(3)], axis=0)
    np.testing.assert_allclose(Fisher().fit(X, y).scores_, expected, rtol=1e-12)


def test_the_misprint_adds_the_means(rng: np.random.Generator) -> None:
    X, y = rng.normal([0, 5, -5, 50], size=(30, 4)), np.arange(30) % 2
    printed = Fisher("as-printed").fit(X, y)
    np.testing.assert_allclose(printed.scores_, by_definition(X, y == 1, sign=1), rtol=1e-9)
    assert printed.ranking_[3] == 1
    several = np.arange(30) % 3
    expected = np.mean([by_definition(X, several == code, sign=1) for code in range(3)], axis=0)
    np.testing.assert_allclose(Fisher("as-printed").fit(X, several).scores_, expected, rtol=1e-9)


def test_on_standardised_features_the_misprint_keeps_the_order(rng: np.random.Generator) -> None:
    y = np.arange(31) % 2
    X = StandardScaler().fit_transform(rng.normal(size=(31, 5)) + np.outer(y, np.arange(5)))
    corrected, printed = Fisher().fit(X, y), Fisher("as-printed").fit(X, y)
    np.testing.assert_array_equal(printed.ranking_, corrected.ranking_)
    np.testing.assert_allclose(printed.scores_, corrected.scores_ / 31, rtol=1e-9)


def test_the_score_has_the_unit_of_one_over_the_feature(rng: np.random.Generator) -> None:
    X, y = rng.normal(size=(20, 3)), np.arange(20) % 2
    units = np.array([1e-6, 1.0, 1e6])
    np.testing.assert_allclose(Fisher().fit(X * units, y).scores_, Fisher().fit(X, y).scores_ / units, rtol=1e-9)


@pytest.mark.parametrize("variant", ["corrected", "as-printed"])
@pytest.mark.parametrize("constant", [0.0, 0.1, 1e8])
def test_a_constant_feature_scores_zero(rng: np.random.Generator, variant: str, constant: float) -> None:
    X, y = rng.normal(size=(30, 2)), np.arange(30) % 3
    X[:, 0] = constant
    assert Fisher(variant).fit(X, y).scores_[0] == 0


@pytest.mark.parametrize("level", [0.1, 1e8])
def test_a_feature_that_is_constant_in_each_class_comes_first(rng: np.random.Generator, level: float) -> None:
    y = np.arange(30) % 2
    X = rng.normal(size=(30, 2)) + 5 * y[:, None]
    X[:, 1] = level + 0.3 * y
    scores = Fisher().fit(X, y).scores_
    assert np.isfinite(scores).all()
    assert scores[1] > 1e10 * scores[0]
