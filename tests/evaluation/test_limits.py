"""Limits from rows, and the test against random orders, on numbers whose distribution is known."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest

from fsvm_cli.evaluation.statistics import difference_interval, exact_limits, excess_over_random, limits_of_mean


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
    null = [excess_over_random(*_draws(rng, 0.0))[1] for _ in range(1000)]
    assert np.mean(np.array(null) <= 0.05) < 0.09
    found, would_be_found = [], []
    for _ in range(200):
        curve, orders, ratio = _draws(rng, 0.06)
        found.append(excess_over_random(curve, orders, ratio)[1] <= 0.05)
        would_be_found.append(difference_interval(curve - orders[:, 0], ratio).low > 0)
    assert np.mean(found) > 0.6 > np.mean(would_be_found) + 0.3


def test_equal_curves_are_not_tested_and_constant_excess_is_certain() -> None:
    orders = np.full((4, 3), 0.5)
    assert np.isnan(excess_over_random(np.full(4, 0.5), orders, 0.5)[1])
    assert excess_over_random(np.full(4, 0.6), orders, 0.5)[1] == 0.0
    assert excess_over_random(np.full(4, 0.4), orders, 0.5)[1] == 1.0
