"""Nogueira's index against its definition, its limits, and the coverage of its interval."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from fsvm_cli.evaluation.stability import selection_stability

selections = arrays(bool, st.tuples(st.integers(2, 8), st.integers(2, 8)))


def test_equal_selections_are_perfectly_stable() -> None:
    found = selection_stability(np.tile([True, False, True, False], (5, 1)))
    assert (found.index, found.low, found.high) == pytest.approx((1.0, 1.0, 1.0))


def test_all_or_nothing_has_no_stability() -> None:
    for value in (True, False):
        assert np.isnan(selection_stability(np.full((5, 4), value)).index)


@given(selections)
def test_the_index_follows_its_definition(selected: np.ndarray) -> None:
    fraction = selected.sum() / selected.size
    if 0 < fraction < 1:
        expected = 1 - selected.var(axis=0, ddof=1).mean() / (fraction * (1 - fraction))
        assert selection_stability(selected).index == pytest.approx(expected)


@given(selections)
def test_the_order_of_trials_and_features_does_not_matter(selected: np.ndarray) -> None:
    one, other = selection_stability(selected), selection_stability(selected[::-1, ::-1])
    np.testing.assert_allclose([one.index, one.low, one.high], [other.index, other.low, other.high], atol=1e-12)


def random_subsets(rng: np.random.Generator, n_trials: int) -> np.ndarray:
    """Draw 5 of 20 features one after the other, the first five with six times the weight of the others."""
    weights = np.where(np.arange(20) < 5, 6.0, 1.0)
    # The order of independent exponential times of these rates is that of such draws.
    times = rng.exponential(1 / weights, size=(n_trials, 20))
    return times <= np.partition(times, 4, axis=1)[:, 4:5]


def test_random_selections_are_unstable() -> None:
    rng = np.random.default_rng(0)
    selected = np.array([rng.permutation(20) < 5 for _ in range(2000)])
    assert selection_stability(selected).index == pytest.approx(0.0, abs=0.01)


def test_the_interval_covers_the_population_index_about_as_often_as_it_says() -> None:
    rng = np.random.default_rng(1)
    population = selection_stability(random_subsets(rng, 40_000)).index
    found = [selection_stability(random_subsets(rng, 60)) for _ in range(400)]
    coverage = np.mean([each.low <= population <= each.high for each in found])
    # 95 % in the limit of many trials; the standard error over 400 repetitions is 1.1 %.
    assert 0.90 <= coverage <= 0.98
