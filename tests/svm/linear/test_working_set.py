"""Machines of many samples by those near the margin alone: against conditions of the optimum, dense solvers, scipy."""

from __future__ import annotations

import os

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from fsvm_cli.svm import DualProblem, solve
from fsvm_cli.svm.large.linear import locate_by_smoothing, solve_linear
from fsvm_cli.svm.large.linear_interior_point import WarmStart, solve_interior_point
from fsvm_cli.svm.large.linear_newton import Guess, PrimalPoint, SmoothedHinge, evaluated, newton_step, sharpened
from fsvm_cli.svm.large.linear_problem import LinearProblem
from fsvm_cli.svm.large.linear_working_set import Start, optimise_near, working_set_around

EXAMPLES = int(os.environ.get("FSVM_AGREEMENT_EXAMPLES", "100"))


def classes(kind: str, n: int, d: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Draw samples of a kind; the second class is rare where the kind says so."""
    rng = np.random.default_rng(seed)
    X = rng.standard_t(3, size=(n, d)) if kind == "heavy tails" else rng.standard_normal((n, d))
    if kind == "ties":
        X = np.round(X)
    noise = {"nearly separable": 0.01, "noisy": 10.0}.get(kind, 0.5)
    values = X @ rng.standard_normal(d) + noise * np.sqrt(d) * rng.standard_normal(n)
    y = np.where(values > (np.quantile(values, 0.98) if kind == "rare" else 0.0), 1.0, -1.0)
    y[:2] = 1.0, -1.0
    return X, y


def allow_few(patch: pytest.MonkeyPatch) -> None:
    """Let problems of few samples go the way of many."""
    for name in (
        "linear.FIRST_PART_MIN_ROWS",
        "linear.FIRST_PART_ROWS_PER_FEATURE",
        "linear_newton.NARROW_ROWS_PER_FEATURE",
    ):
        patch.setattr(f"fsvm_cli.svm.large.{name}", 5)
    patch.setattr("fsvm_cli.svm.large.linear_working_set.MAX_WORKING_SET_SHARE", 0.95)


@pytest.mark.parametrize("C", [1e-4, 1e-2, 1.0, 1e4])
@pytest.mark.parametrize("kind", ["plain", "ties", "nearly separable", "noisy", "heavy tails", "rare"])
def test_optimality_conditions_hold_for_samples_of_all_kinds(kind: str, C: float) -> None:
    X, y = classes(kind, 9000, 4)
    problem = LinearProblem(X, y, C)
    found = solve_linear(problem)
    assert found.converged
    np.testing.assert_allclose(found.w, X.T @ (found.alpha * y), atol=1e-9 * (1.0 + found.alpha.sum()))
    assert abs(found.alpha @ y) <= 1e-9 * found.alpha.sum()
    slack = 1.0 - y * (X @ found.w + found.bias)
    unit = 1e-7 * max(1.0, np.abs(slack).max())
    assert slack[found.alpha == 0.0].max(initial=-1.0) <= unit
    assert slack[found.alpha == C].min(initial=1.0) >= -unit
    np.testing.assert_allclose(slack[(found.alpha > 0.0) & (found.alpha < C)], 0.0, atol=unit)


@given(st.integers(0, 2**32 - 1), st.floats(-3, 4), st.booleans())
@settings(max_examples=EXAMPLES, deadline=None, derandomize=True)
@example(490, 0.0, False)  # no sample of the part lies near the margin
def test_small_problems_solved_by_bands_have_the_machine_of_the_dense_engine(seed, log_C, equality):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(40, 120)), int(rng.integers(1, 4))
    kinds = ["plain", "ties", "nearly separable", "noisy", "heavy tails", "rare"]
    X, y = classes(kinds[int(rng.integers(6))], n, d, seed)
    copies = rng.integers(0, n, n // 3)
    X[: len(copies)] = X[copies]
    C = 10.0**log_C * (1.0 if rng.random() < 0.7 else rng.uniform(0.5, 2.0, n))
    with pytest.MonkeyPatch.context() as patch:
        allow_few(patch)
        found = solve_linear(LinearProblem(X, y, C, equality), on_failure="flag")
    expected = solve(DualProblem(X @ X.T, y, C, equality), on_failure="flag")
    assert found.converged or not expected.converged
    if found.converged and expected.converged:
        assert found.objective == pytest.approx(expected.objective, rel=2e-6)
        np.testing.assert_allclose(
            X @ found.w, X @ (X.T @ (expected.alpha * y)), atol=2e-3 * (1.0 + np.abs(X @ found.w).max())
        )


def test_small_problems_are_solved_by_bands_where_the_least_sizes_allow(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = classes("plain", 100, 2)
    allow_few(monkeypatch)
    problem = LinearProblem(X, y, 1.0)
    optimum = optimise_near(problem, locate_by_smoothing(problem), 1e-6)
    expected = solve(DualProblem(X @ X.T, y, 1.0))
    np.testing.assert_allclose(optimum.alpha, expected.alpha, atol=1e-6)
    assert optimum.near.b == pytest.approx(expected.bias, abs=1e-6)


@pytest.mark.parametrize("equality", [True, False])
def test_a_part_with_all_others_held_has_their_residuals_and_their_optimum(equality: bool) -> None:
    X, y = classes("plain", 300, 3)
    problem = LinearProblem(X, y, 1.0, equality)
    expected = solve(DualProblem(X @ X.T, y, 1.0, equality)).alpha
    rows = np.flatnonzero((expected > 0.0) & (expected < 1.0) | (np.arange(300) % 3 == 0))
    part = problem.part(rows, expected)
    np.testing.assert_allclose(part.residuals((y * expected)[rows]), problem.residuals(y * expected)[rows], atol=1e-12)
    found = solve_interior_point(part, 1e-9)
    np.testing.assert_allclose(found.w, X.T @ (expected * y), atol=1e-5)
    assert part.outside_sum == pytest.approx(-(y * expected)[rows].sum() if equality else part.outside_sum)


@pytest.mark.parametrize("equality", [True, False])
@pytest.mark.parametrize("loss", [SmoothedHinge(-0.4, 0.8), SmoothedHinge(0.0, 0.5)])
def test_newton_steps_end_at_the_optimum_that_scipy_finds(loss: SmoothedHinge, equality: bool) -> None:
    X, y = classes("plain", 200, 3)
    problem = LinearProblem(X, y, 1.0, equality)

    def objective(machine: np.ndarray) -> float:
        slack = 1.0 - y * (X @ machine[:3] + machine[3] * equality)
        a = np.clip((slack - loss.low) / loss.scale, 0.0, 1.0)
        return 0.5 * machine[:3] @ machine[:3] + (a * (slack - loss.low) - 0.5 * loss.scale * a**2).sum()

    at = PrimalPoint(np.zeros(3), 0.0, np.zeros(200))
    at, _ = newton_step(problem, SmoothedHinge(-0.5, 2.0), at)
    for _ in range(20):
        at, change = newton_step(problem, loss, at)
    expected = minimize(objective, np.append(at.w, at.b), method="BFGS", options={"gtol": 1e-9}).x
    assert change < 1e-9
    np.testing.assert_allclose(at.w, expected[:3], atol=1e-6)
    assert at.b == pytest.approx(expected[3] if equality else 0.0, abs=1e-6)
    np.testing.assert_allclose(at.outputs, X @ at.w, atol=1e-9)


@pytest.mark.parametrize("equality", [True, False])
@pytest.mark.parametrize(("start", "whole_step"), [(0.95, True), (0.1, False)])
def test_a_step_by_the_samples_near_the_corner_is_that_by_all(start: float, whole_step: bool, equality: bool) -> None:
    X, y = classes("plain", 3000, 4)
    C = np.random.default_rng(0).uniform(0.5, 2.0, len(y))
    problem = LinearProblem(X, y, C, equality)
    w, loss = start * solve_linear(problem).w, SmoothedHinge(-0.2, 0.4 / C)
    known, by_losers = newton_step(problem, loss, evaluated(problem, w, 0.0))
    expected, by_all = newton_step(problem, loss, PrimalPoint(w, 0.0, X @ w))
    np.testing.assert_allclose(known.w, expected.w, rtol=1e-9)
    np.testing.assert_allclose(known.outputs + known.b, expected.outputs + expected.b, atol=1e-9)
    assert by_losers == pytest.approx(by_all)
    loses = y * (known.outputs + known.b) < 1.0
    np.testing.assert_allclose(known.violators, X.T @ (C * y * loses), atol=1e-9)
    assert whole_step == np.array_equal(known.outputs, evaluated(problem, known.w, known.b).outputs)


def test_some_of_the_samples_near_the_corner_tell_about_the_same_step() -> None:
    X, y = classes("plain", 9000, 3)
    problem = LinearProblem(X, y, 1.0)
    start = PrimalPoint(0.9 * solve_linear(problem).w, 0.0, 0.9 * X @ solve_linear(problem).w)
    (whole, change), (some, _) = (newton_step(problem, SmoothedHinge(-0.2, 0.4), start, most) for most in (np.inf, 300))
    off = np.sqrt(np.mean((whole.outputs + whole.b - some.outputs - some.b) ** 2))
    assert 0.0 < off < 3.0 * change * np.sqrt(3 / 300)


def test_the_error_that_is_expected_is_about_the_error() -> None:
    X, y = classes("plain", 40_000, 10)
    problem = LinearProblem(X, y, 1.0)
    start, optimum = locate_by_smoothing(problem), solve_linear(problem)
    error = np.sqrt(np.mean((X @ (optimum.w - start.near.w) + optimum.bias - start.near.b) ** 2))
    assert error < start.width < 10.0 * error
    guess = sharpened(problem, Guess(PrimalPoint(start.near.w, start.near.b, start.outputs), 0.2))
    error = np.sqrt(np.mean((X @ (optimum.w - guess.at.w) + optimum.bias - guess.at.b) ** 2))
    assert error < 2.5 * guess.error


def test_a_band_that_is_too_narrow_ends_at_the_optimum_all_the_same() -> None:
    X, y = classes("plain", 9000, 4)
    problem = LinearProblem(X, y, 1.0)
    optimum = solve_linear(problem)
    w, b = 0.9 * optimum.w, optimum.bias + 0.05
    start = Start(WarmStart(w, b, 1.0), X @ w, 0.02)
    found = optimise_near(problem, start, 1e-6)
    np.testing.assert_allclose(found.alpha, optimum.alpha, atol=1e-6)


def test_a_band_makes_up_for_what_is_held_and_holds_nobody_without_a_bound() -> None:
    X, y = classes("plain", 6000, 3)
    C = np.where(np.arange(6000) % 100 == 0, np.inf, 1.0)
    w = solve_linear(LinearProblem(X, y, 1.0)).w
    start = Start(WarmStart(w, 0.3, 1.0), X @ w, 0.01)
    working_set = working_set_around(LinearProblem(X, y, C), start)
    losing = np.flatnonzero(np.isinf(C) & (y * (X @ w + 0.3) < 1.0))
    assert len(losing) > 0
    assert np.isin(losing, working_set.rows).all()
    held = np.setdiff1d(np.arange(6000), working_set.rows)
    assert abs((y * working_set.alpha)[held].sum()) < C[working_set.rows].sum()
    assert working_set.part.outside_sum == pytest.approx((y * working_set.alpha)[held].sum())


@pytest.mark.parametrize("equality", [True, False])
@pytest.mark.parametrize(("C", "ridge"), [(np.inf, 1.0), (np.inf, 1e-4), (np.inf, 1e4), (1.0, 0.5), (100.0, 1e-2)])
def test_losses_without_a_corner_have_their_optimum_however_many_samples_are_free(C, ridge, equality) -> None:
    X, y = classes("plain", 2500, 5)
    problem = LinearProblem(X, y, C, equality, ridge)
    found = solve_linear(problem)
    expected = solve(DualProblem(X @ X.T, y, C, equality, ridge))
    assert found.converged
    np.testing.assert_allclose(found.alpha, expected.alpha, atol=1e-6 * expected.alpha.max())
    assert found.bias == pytest.approx(expected.bias, abs=1e-6)


@pytest.mark.parametrize("kind", ["plain", "ties", "rare"])
@pytest.mark.parametrize("ridge", [1e-6, 1.0])
def test_squared_losses_of_many_samples_reach_their_gap(kind: str, ridge: float) -> None:
    X, y = classes(kind, 20_000, 5)
    found = solve_linear(LinearProblem(X, y, np.inf, ridge=ridge))
    assert found.converged
    assert np.count_nonzero(found.alpha) > 2000 or kind == "rare"
    slack = 1.0 - y * (X @ found.w + found.bias)
    # What summing w rounds moves a slack by, as a product of norms.
    lengths = np.linalg.norm(X, axis=1)
    rounding = np.finfo(float).eps * (found.alpha @ lengths) * lengths.max()
    np.testing.assert_allclose(ridge * found.alpha, np.maximum(slack, 0.0), atol=1e-8 + rounding)
