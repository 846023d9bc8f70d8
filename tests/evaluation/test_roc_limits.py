"""The variance and the limits of an area under a ROC curve, on values whose distribution is known."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.metrics import roc_auc_score

from fsvm_cli.evaluation.roc import area_under_roc, limits_of_area, variance_of_area
from fsvm_cli.evaluation.score_metrics import limits_for_other_samples
from fsvm_cli.evaluation.statistics import exact_limits


def test_the_variance_is_that_of_the_jackknife(rng: np.random.Generator) -> None:
    # Of a U-statistic of two samples, the samples of each class left out one by one say what DeLong's placements do.
    values, is_positive = rng.integers(0, 9, size=40).astype(float), np.arange(40) < 13
    expected = 0.0
    for own in (is_positive, ~is_positive):
        n = np.count_nonzero(own)
        left_out = [np.delete(np.arange(40), row) for row in np.flatnonzero(own)]
        areas = np.array([roc_auc_score(is_positive[rows], values[rows]) for rows in left_out])
        expected += (n - 1) / n * np.square(areas - areas.mean()).sum()
    assert variance_of_area(values, is_positive) == pytest.approx(expected)
    assert math.isnan(variance_of_area(values, np.arange(40) == 3))


def test_the_variance_is_that_of_the_area_over_tables(rng: np.random.Generator) -> None:
    is_positive = np.arange(70) < 25
    tables = rng.normal(size=(1500, 70)) * np.where(is_positive, 2.0, 1.0) + 1.2 * is_positive
    areas = [area_under_roc(values, is_positive).area for values in tables]
    variances = [variance_of_area(values, is_positive) for values in tables]
    assert np.mean(variances) == pytest.approx(np.var(areas), rel=0.12)  # three standard errors


def hanley_and_mcneil(area: float, n: int) -> float:
    """Return the variance of an area of exponential values, n of each class (Radiology 143, 1982, equation 2)."""
    q1, q2 = area / (2 - area), 2 * area**2 / (1 + area)
    return (area * (1 - area) + (n - 1) * (q1 - area**2) + (n - 1) * (q2 - area**2)) / n**2


@pytest.mark.parametrize("area", [0.0, 0.3, 0.5, 0.94, 1.0])
def test_without_samples_limits_are_where_the_variance_of_exponential_values_leads(area: float) -> None:
    for limit in limits_of_area(area, math.nan, 15, 15):
        if limit not in {0.0, 1.0}:
            assert abs(area - limit) == pytest.approx(norm.ppf(0.975) * math.sqrt(hanley_and_mcneil(limit, 15)))
    low, high = limits_of_area(area, math.nan, 15, 15)
    assert 0 <= low <= area <= high <= 1
    assert low < high
    mirrored = limits_of_area(1 - area, math.nan, 15, 15)
    assert mirrored == pytest.approx((1 - high, 1 - low))


def test_with_samples_no_limit_is_nearer() -> None:
    for variance in (1e-5, 1e-3, 1e-2):
        low, high = limits_of_area(0.9, variance, 12, 50)
        without = limits_of_area(0.9, math.nan, 12, 50)
        reach = norm.ppf(0.975) * math.sqrt(variance) / 0.09
        logits = np.log(0.9 / 0.1) + reach * np.array([-1, 1])
        own = 1 / (1 + np.exp(-logits))
        assert low == pytest.approx(min(without[0], own[0]))
        assert high == pytest.approx(max(without[1], own[1]))
    assert limits_of_area(1.0, 0.0, 12, 50)[0] <= exact_limits(np.array(1.0), np.array(12.0))[0]


@pytest.mark.parametrize(
    ("n_positive", "n_negative", "spread", "truth", "least"),
    [
        (10, 40, 1.0, 0.85, 0.93),
        (12, 12, 1.0, 0.97, 0.93),
        (40, 40, 1.0, 0.7, 0.93),
        (10, 300, 1.0, 0.95, 0.93),
        (10, 40, 3.0, 0.85, 0.90),
        (40, 40, 4.0, 0.97, 0.93),
    ],
)
def test_limits_hold_the_area_of_other_samples(
    rng: np.random.Generator, n_positive: int, n_negative: int, spread: float, truth: float, least: float
) -> None:
    is_positive = np.arange(n_positive + n_negative) < n_positive
    shift = norm.ppf(truth) * math.sqrt(1 + spread**2)
    n_tables, held, naive = 400, 0, 0
    for _ in range(n_tables):
        values = rng.normal(size=len(is_positive)) * np.where(is_positive, spread, 1.0) + shift * is_positive
        found, variance = area_under_roc(values, is_positive), variance_of_area(values, is_positive)
        low, high = limits_of_area(found.area, variance, n_positive, n_negative)
        held += low <= truth <= high
        naive += found.low <= truth <= found.high
    assert held / n_tables > least
    assert held > naive


def test_an_area_with_many_rows_is_known_better_than_by_the_rarer_class_alone() -> None:
    counts = np.array([300.0, 10.0])
    low, high = limits_for_other_samples("auc", 0.95, counts, math.sqrt(310 * 9e-4))
    widest = exact_limits(np.array(0.95), np.array(10.0))
    assert widest[0] + 0.1 < low < 0.9
    assert 0.97 < high < 1.0
