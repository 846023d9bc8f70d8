"""The two correlation filters against numpy's correlation matrix."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from fsvm_cli.ranking.pearson import Pearson
from fsvm_cli.ranking.pearson_redundancy import PearsonRedundancy

Y = np.array([0, 1, 1, 0, 1, 1, 1, 0])
values = arrays(float, (8, 3), elements=st.integers(-1000, 1000).map(float), unique=True)


@given(values)
def test_correlation_with_the_class(X: np.ndarray) -> None:
    expected = np.abs(np.corrcoef(X.T, Y)[-1, :-1])
    np.testing.assert_allclose(Pearson().fit(X, Y).scores_, expected, atol=1e-9)


def test_several_classes_are_averaged_one_against_the_rest(rng: np.random.Generator) -> None:
    X, y = rng.normal(size=(30, 4)), np.arange(30) % 3
    expected = np.mean([np.abs(np.corrcoef(X.T, y == code)[-1, :-1]) for code in range(3)], axis=0)
    np.testing.assert_allclose(Pearson().fit(X, y).scores_, expected, rtol=1e-10)


@given(values)
def test_correlation_with_the_other_features(X: np.ndarray) -> None:
    correlation = np.abs(np.corrcoef(X.T))
    expected = 1 - (correlation.sum(axis=0) - 1) / 2
    np.testing.assert_allclose(PearsonRedundancy().fit(X, Y).scores_, expected, atol=1e-9)


def test_copies_are_redundant_and_a_lone_feature_is_not(rng: np.random.Generator) -> None:
    x, y = rng.normal(size=20), np.arange(20) % 2
    copies = np.column_stack([x, 3 * x + 1, -x])
    np.testing.assert_allclose(PearsonRedundancy().fit(copies, y).scores_, 0, atol=1e-12)
    assert PearsonRedundancy().fit(x[:, None], y).scores_.tolist() == [1.0]


def test_the_classes_play_no_part_in_redundancy(rng: np.random.Generator) -> None:
    X = rng.normal(size=(20, 4))
    scores = [PearsonRedundancy().fit(X, np.arange(20) % n_classes).scores_ for n_classes in (2, 3)]
    np.testing.assert_array_equal(*scores)


def test_the_label_itself_correlates_perfectly() -> None:
    assert Pearson().fit(np.column_stack([1e6 - 7.0 * Y]), Y).scores_[0] == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("constant", [0.0, 0.1, 1e8])
def test_a_constant_feature_correlates_with_nothing_and_comes_last(rng: np.random.Generator, constant: float) -> None:
    X, y = rng.normal(size=(30, 2)), np.arange(30) % 2
    X[:, 0] = constant
    assert Pearson().fit(X, y).scores_[0] == 0
    assert PearsonRedundancy().fit(X, y).scores_.tolist() == [0.0, 1.0]
