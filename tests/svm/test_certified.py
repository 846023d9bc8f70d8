"""Bounds on the distance of a linear machine from the optimum, against machines in rational arithmetic."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from fsvm_cli.svm.certified import (
    Points,
    bias_interval,
    computed_machine,
    lengths_of,
    locate,
    normal_vector_of,
)
from tests.svm.exact_machines import ROUNDING, kept, located


@pytest.mark.parametrize("repairs", [0, 1])
@pytest.mark.parametrize("tolerance", [1e-2, 1e-6])
def test_no_exact_machine_is_outside_its_bounds(tolerance: float, repairs: int) -> None:
    known = 0
    for seed in range(12):
        outcome = located(seed, tolerance, repairs=repairs)
        if outcome is None:
            continue
        known += 1
        assert outcome.error <= outcome.radius
        assert all(error <= bound for error, bound in outcome.single)
    assert known > 8


@pytest.mark.parametrize("tolerance", [1e-2, 1e-6])
def test_no_exact_machine_is_outside_the_bounds_by_a_factor_of_more_features(tolerance: float) -> None:
    found = [kept(seed, tolerance) for seed in range(6)]
    assert all(error <= radius for each in found for error, radius in each)
    assert sum(len(each) > 1 for each in found) > 3
    assert np.median([radius / error for each in found for error, radius in each if error > ROUNDING]) < 10.0


def test_a_normal_vector_in_twice_the_precision_is_within_its_bound_of_the_exact_one() -> None:
    rng = np.random.default_rng(0)
    for size in (1, 10, 2_000):
        columns, c = rng.standard_normal((3, size)), rng.standard_normal(size) * 10.0 ** rng.uniform(-8, 8, size)
        c[-1] -= c.sum()
        w, bound, outputs, lengths = computed_machine(np.ascontiguousarray(columns.T), np.arange(size), c)
        exact = [
            sum(Fraction(a) * Fraction(b) for a, b in zip(row, c.tolist(), strict=True)) for row in columns.tolist()
        ]
        errors = [abs(float(Fraction(a) - b)) for a, b in zip(w.tolist(), exact, strict=True)]
        assert np.linalg.norm(errors) <= bound
        np.testing.assert_allclose(outputs, columns.T @ w, rtol=1e-12)
        squares = [sum(Fraction(a) ** 2 for a in row) for row in columns.T.tolist()]
        assert all(Fraction(above) ** 2 >= square for above, square in zip(lengths.tolist(), squares, strict=True))
        np.testing.assert_allclose(lengths**2, np.array(squares, dtype=float), rtol=1e-8)
        assert all(error <= 2.0**-52 * abs(value) for error, value in zip(errors, w.tolist(), strict=True))


def points_on_a_line(C: float) -> Points:
    columns = np.array([[-1.0, 1.0, 3.0]])
    return Points(
        columns, columns, np.arange(1), lengths_of(columns, np.arange(1)), np.array([-1.0, 1.0, 1.0]), np.full(3, C)
    )


@pytest.mark.parametrize("error", [1e-3, 1e-6])
def test_the_bound_is_linear_in_the_residuals_and_a_repair_leaves_rounding(error: float) -> None:
    points, c = points_on_a_line(10.0), np.array([-0.5 - error, 0.5 + error, 0.0])
    w = normal_vector_of(points.columns, points.features, c)
    found = locate(points, c, w, 0.0)  # the optimum is w = 1
    assert abs(w[0] - 1.0) <= found.radius <= 1.01 * abs(w[0] - 1.0)
    np.testing.assert_allclose(found.c, [-0.5, 0.5, 0.0], atol=1e-14)
    assert locate(points, found.c, normal_vector_of(points.columns, points.features, found.c), 0.0).radius < 1e-13


def test_without_a_free_sample_the_machine_of_the_bounds_is_exact() -> None:
    points, c = points_on_a_line(0.1), np.array([-0.1, 0.1, 0.0])
    # At C = 0.1 the outputs at the bias 0.5 are 0.3, 0.7 and 1.1: two within the margin, one beyond.
    assert locate(points, c, normal_vector_of(points.columns, points.features, c), 0.5).radius < 1e-13


def test_the_interval_of_the_bias_is_that_of_the_least_loss() -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        y, C, s = np.repeat([-1.0, 1.0], 4), rng.choice([0.5, 1.0, 2.0], 8), rng.integers(-6, 7, 8) / 4.0
        kinks = y - s
        losses = np.array([C @ np.maximum(0.0, 1.0 - y * (s + b)) for b in kinks])
        best = kinks[losses <= losses.min() + 1e-12]
        np.testing.assert_allclose(bias_interval(y, C, s, s), (best.min(), best.max()), atol=1e-14)
        low, high = bias_interval(y, C, s - 0.1, s + 0.1)
        assert low < best.min() <= best.max() < high


def test_the_interval_of_the_bias_of_many_samples_is_that_of_all_of_them_sorted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(1)
    for share, tied in ((0.5, False), (0.03, False), (0.5, True), (0.999, False)):
        y = np.where(rng.random(20_000) < share, 1.0, -1.0)
        C, s = rng.uniform(0.0, 1.0, 20_000) ** 8, rng.standard_normal(20_000)
        s = np.round(s, 1) if tied else s
        found = bias_interval(y, C, s - 0.01, s + 0.01)
        with monkeypatch.context() as patch:
            patch.setattr("fsvm_cli.svm.certified.POINTS_OF_QUANTILE", 20_000)
            patch.setattr("fsvm_cli.svm.certified.SHARE_AROUND_QUANTILE", 1.0)
            assert found == bias_interval(y, C, s - 0.01, s + 0.01)


def test_samples_of_a_hard_margin_bound_the_bias() -> None:
    points = points_on_a_line(np.inf)
    outputs = points.columns[0]
    np.testing.assert_allclose(bias_interval(points.y, points.C, outputs, outputs), (0.0, 0.0), atol=1e-14)
    np.testing.assert_allclose(bias_interval(points.y, points.C, outputs - 0.1, outputs + 0.1), (-0.1, 0.1), atol=1e-14)


def test_a_hard_margin_that_is_not_kept_has_no_bound() -> None:
    points, c = points_on_a_line(np.inf), np.zeros(3)
    assert np.isinf(locate(points, c, np.zeros(1), 0.0).radius)
