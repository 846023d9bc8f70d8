"""Choosing a method for data that it has not been tried on, against a loop written out."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose

from fsvm_cli.evaluation.many_data_sets import N_NEIGHBOURS, guidance

SHAPES = st.tuples(st.integers(N_NEIGHBOURS + 1, 8), st.integers(2, 5))
VALUES = SHAPES.flatmap(lambda shape: arrays(float, shape, elements=st.integers(0, 9).map(float)))


def mean_rank_of(values: np.ndarray, method: int) -> float:
    """A method's rank is 1, and 1 for each better method, and a half for each that ties with it."""
    ranks = [1 + sum(row > row[method]) + 0.5 * (sum(row == row[method]) - 1) for row in values]
    return float(np.mean(ranks))


@given(VALUES)
def test_losses_are_those_of_choices_that_have_not_seen_the_data(values: np.ndarray) -> None:
    n_data_sets, n_methods = values.shape
    places = 2.0 ** np.arange(n_data_sets)[:, None]  # whose nearest are those before it, but for the first
    found = guidance(values, places)
    for left_out in range(n_data_sets):
        others = [each for each in range(n_data_sets) if each != left_out]
        nearest = sorted(others, key=lambda each: abs(places[each, 0] - places[left_out, 0]))[:N_NEIGHBOURS]
        for losses, seen in ((found.overall_losses, others), (found.alike_losses, nearest)):
            ranks = [mean_rank_of(values[seen], method) for method in range(n_methods)]
            chosen = np.isclose(ranks, min(ranks))
            assert_allclose(losses[left_out], values[left_out].max() - values[left_out, chosen].mean(), atol=1e-12)
    assert_allclose(found.random_losses, values.max(axis=1) - values.mean(axis=1))


@given(VALUES, st.floats(0.1, 1e6))
@settings(max_examples=15)  # each computes two guidances, with their exact tests
def test_units_of_what_describes_data_do_not_matter(values: np.ndarray, factor: float) -> None:
    described = np.random.default_rng(0).normal(size=(len(values), 2))
    found, again = (guidance(values, described * [1.0, unit]) for unit in (1.0, factor))
    assert_allclose(found.alike_losses, again.alike_losses)


def test_data_that_are_alike_tell_what_the_mean_rank_cannot() -> None:
    linear = np.repeat([0.0, 1.0], 4)
    values = np.where(linear[:, None] == [0.0, 1.0], 0.9, 0.5)
    found = guidance(values, linear[:, None])
    assert not found.alike_losses.any()
    assert_allclose(found.overall_losses, 0.4)
    assert found.p < 0.05


def test_too_few_data_sets_are_refused() -> None:
    with pytest.raises(ValueError, match="3 data sets"):
        guidance(np.ones((3, 2)), np.ones((3, 1)))
