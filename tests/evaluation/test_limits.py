"""Limits from rows, and the test against random orders, on numbers whose distribution is known."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest

from fsvm_cli.evaluation.statistics import (
    difference_interval,
    exact_limits,
    excess_over_random,
    limits_of_mean,
    mean_interval,
    p_value,
)


@pytest.mark.parametrize(("found", "n"), [(0, 8), (3, 8), (8, 8), (40, 50)])
def test_limits_of_whole_counts_are_those_of_clopper_and_pearson(found: int, n: int) -> None:
    low, high = exact_limits(np.array(found / n), np.array(n, dtype=float))
    expected = binomtest(found, n).proportion_ci(0.95, "exact")
    assert [low, high] == pytest.approx([expected.low, expected.high])


def test_limits_of_a_mean_of_recalls_hold_it_however_few_rows_there_are(rng: np.random.Generator) -> None:
    n_held, n_draws = 0, 2000
    for _ in range(n_draws):
        recalls, n = rng.uniform(0.5, 1.0, 2), np.array([rng.integers(5, 31), 100.0])
        found = rng.binomial(n.astype(int), recalls) / n
        low, high = limits_of_mean(found, n)
        n_held += low <= recalls.mean() <= high
    assert n_held / n_draws > 0.94


def _draws(rng: np.random.Generator, excess: float) -> tuple[np.ndarray, np.ndarray, float]:
    """30 splits whose differences share their deviation from the truth, with the noise of each order on top."""
    n_splits, ratio = 30, 0.5
    own = rng.normal(0, 0.02, n_splits)
    shared = rng.normal(0, 0.02 * np.sqrt(ratio))
    orders = rng.normal(0, 0.08, (n_splits, 3))
    return own + shared + excess, orders, ratio


def test_the_variance_of_the_orders_does_not_hide_an_excess(rng: np.random.Generator) -> None:
    null = [excess_over_random(*_draws(rng, 0.0), 0.01)[1] for _ in range(1000)]
    assert np.mean(np.array(null) <= 0.05) < 0.09
    found, would_be_found = [], []
    for _ in range(200):
        curve, orders, ratio = _draws(rng, 0.06)
        found.append(excess_over_random(curve, orders, ratio, 0.01)[1] <= 0.05)
        would_be_found.append(difference_interval(curve - orders[:, 0], ratio).low > 0)
    assert np.mean(found) > 0.6 > np.mean(would_be_found) + 0.3


def test_an_excess_that_never_varies_is_as_sure_as_one_row_lets_it_be() -> None:
    orders = np.full((4, 3), 0.5)
    interval, p = excess_over_random(np.full(4, 0.51), orders, 0.5, row=0.01)
    assert interval.low < 0 < interval.high
    assert 0.05 < p < 0.5
    assert excess_over_random(np.full(4, 0.5), orders, 0.5, row=0.01)[1] == 0.5
    assert excess_over_random(np.full(4, 0.6), orders, 0.5, row=0.01)[1] < 0.05


@pytest.mark.parametrize("n", [2, 3, 4, 50])
def test_splits_that_all_differ_by_a_row_leave_an_interval_of_a_row(n: int) -> None:
    row = 1 / 72
    for found in (mean_interval(np.full(n, row), row), difference_interval(np.full(n, row), 0.0, row)):
        assert found.std == pytest.approx(0.0)
        assert found.high - found.low >= row * (1 - 1e-9)
        assert found.high == pytest.approx(2 * row - found.low)
    # What varies, and what does not come from rows, is as before.
    values = np.arange(n) * 1e-3
    assert mean_interval(values, row) == mean_interval(values)
    assert mean_interval(np.full(n, 3.0)).low == 3.0


def test_two_splits_of_the_same_rows_decide_nothing() -> None:
    values = np.array([0.3, 0.301])
    found = difference_interval(values, 0.5, 1 / 72)
    assert np.isnan([found.low, found.high, p_value(found)]).all()
    assert found.mean == pytest.approx(0.3005)
    assert np.isnan(excess_over_random(values, np.zeros((2, 3)), 0.5, 1 / 72)[1])
    assert difference_interval(values, 0.0, 1 / 72).low > 0  # of fresh draws
    assert difference_interval(np.array([0.3, 0.301, 0.299]), 0.5, 1 / 72).low > 0
