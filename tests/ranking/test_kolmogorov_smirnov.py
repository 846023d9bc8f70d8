"""The Kolmogorov-Smirnov score against scipy's statistics."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from fsvm_cli.ranking.kolmogorov_smirnov import KolmogorovSmirnov

Y = np.array([0, 1, 1, 0, 1, 1, 2, 0, 2, 2])
# Few distinct values, so that most features have ties.
values = arrays(float, (10, 3), elements=st.integers(-3, 3).map(float))


def scipy_score(X: np.ndarray, inside: np.ndarray, alternative: str) -> np.ndarray:
    # P(x <= q) - P(x <= q | 1) = P(0) (P(x <= q | 0) - P(x <= q | 1))
    two_sample = [stats.ks_2samp(x[~inside], x[inside], alternative, method="asymp").statistic for x in X.T]
    return np.sqrt(len(X)) * np.mean(~inside) * np.array(two_sample)


@pytest.mark.parametrize(("variant", "alternative"), [("two-sided", "two-sided"), ("as-printed", "greater")])
@given(X=values)
def test_two_classes(variant: str, alternative: str, X: np.ndarray) -> None:
    inside = Y >= 1
    scores = KolmogorovSmirnov(variant).fit(X, inside.astype(int)).scores_
    np.testing.assert_allclose(scores, scipy_score(X, inside, alternative), atol=1e-12)


@given(values)
def test_several_classes_are_averaged_one_against_the_rest(X: np.ndarray) -> None:
    expected = np.mean([scipy_score(X, code == Y, "two-sided") for code in range(3)], axis=0)
    np.testing.assert_allclose(KolmogorovSmirnov().fit(X, Y).scores_, expected, atol=1e-12)


def test_as_printed_a_feature_that_is_lower_in_class_one_scores_zero() -> None:
    y = np.arange(20) % 2
    X = np.column_stack([y, -y]) + np.linspace(0, 0.1, 20)[:, None]
    assert KolmogorovSmirnov("as-printed").fit(X, y).scores_[1] == 0
    np.testing.assert_allclose(KolmogorovSmirnov().fit(X, y).scores_, np.sqrt(20) / 2)


def test_a_monotone_transformation_changes_nothing() -> None:
    X = np.random.default_rng(0).normal(size=(10, 3))
    scores = [KolmogorovSmirnov().fit(data, Y).scores_ for data in (X, np.exp(3 * X))]
    np.testing.assert_array_equal(*scores)
