"""Each compiled kernel of the solver against its plain numpy twin."""

from __future__ import annotations

import numpy as np
import pytest

from fsvm_cli.svm import DualProblem, bias_of, duality_gap
from fsvm_cli.svm.solvers import cholesky as f
from fsvm_cli.svm.solvers.active_set import (
    CONVERGED,
    FIRST_PAIR_STEPS,
    INFEASIBLE,
    OUT_OF_BUDGET,
    begin,
    count_changes,
    make_scratch,
    maximise,
    newton_steps,
    pair_steps_before_newton,
    synchronise,
)
from fsvm_cli.svm.solvers.optimality import compiled_bias, compiled_gaps, refresh, refresh_bounded, subtract_rows_at
from fsvm_cli.svm.solvers.smo import (
    BLOCK_SAMPLES,
    first_equal,
    first_in_up,
    move,
    pair_gains,
    pair_step,
    set_coefficient,
    violating_extremes,
)


def task(n: int, seed: int, C: float = 2.0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    K = np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2))
    y = np.where(np.arange(n) % 3 == 0, 1.0, -1.0)
    box, factor = make_scratch(n)
    box.r[:] = y
    box.lower[:], box.upper[:] = np.where(y > 0, 0.0, -C), np.where(y > 0, C, 0.0)
    return K, y, box, factor, rng


def some_point(K, y, box, factor, rng):
    """Half of the samples free, the others on either bound."""
    box.c[:] = box.lower + rng.choice([0.0, 0.3, 0.7, 1.0], len(y)) * (box.upper - box.lower)
    refresh_bounded(K, y, box)
    begin(K, box, factor)


def test_refresh_and_begin_compute_residuals_and_open_sides():
    K, y, box, factor, rng = task(30, 0)
    some_point(K, y, box, factor, rng)
    np.testing.assert_allclose(box.r, y - K @ box.c, atol=1e-13)
    assert ((box.up == 0.0) == (box.c < box.upper)).all()
    assert ((box.low == 0.0) == (box.c > box.lower)).all()
    assert (np.isneginf(box.up) | (box.up == 0.0)).all()
    highest, lowest = violating_extremes(box.r, box.up, box.low)
    assert highest == box.r[box.c < box.upper].max()
    assert lowest == box.r[box.c > box.lower].min()


@pytest.mark.parametrize("n", [1, BLOCK_SAMPLES - 1, BLOCK_SAMPLES, BLOCK_SAMPLES + 1, 3 * BLOCK_SAMPLES + 5])
def test_the_first_of_equals_is_found_in_whatever_block_it_is(n):
    for target in range(n):
        values = np.zeros(n)
        values[target:] = 2.0
        up = np.zeros(n)
        assert first_equal(values, 2.0) == target
        assert first_in_up(values, up, 2.0) == target
        up[target] = -np.inf
        assert first_in_up(values, up, 2.0) == min(target + 1, n - 1)
    assert first_equal(np.full(n, np.nan), np.nan) == n - 1
    assert first_in_up(np.full(n, np.nan), np.zeros(n), np.nan) == n - 1


@pytest.mark.parametrize("size", [0, 1, 3, 4, 9])
def test_members_rows_are_subtracted(size):
    K, y, _, _, rng = task(30, 4)
    indices, factors, r = rng.permutation(30), rng.standard_normal(30), y.copy()
    subtract_rows_at(r, K, factors, indices, size)
    np.testing.assert_allclose(r, y - factors[:size] @ K[indices[:size]], atol=1e-13)


@pytest.mark.parametrize("n_support", [0, 1, 2, 7, 30])
def test_plain_and_bounded_residuals_are_those_of_numpy(n_support):
    K, y, box, _, rng = task(30, 13)
    box.c[rng.permutation(30)[:n_support]] = rng.standard_normal(n_support)
    refresh(K, y, box)
    np.testing.assert_allclose(box.r, y - K @ box.c, atol=1e-13)
    refresh_bounded(K, y, box)
    np.testing.assert_allclose(box.r, y - K @ box.c, atol=1e-13)
    terms = np.abs(y) + np.abs(K) @ np.abs(box.c)
    np.testing.assert_allclose(box.error, (n_support + 2) * np.finfo(float).eps * terms, rtol=1e-12)


def test_a_residual_that_is_not_a_number_leaves_no_gap():
    K, y, box, factor, rng = task(30, 14)
    some_point(K, y, box, factor, rng)
    for value in (np.nan, np.inf):
        box.r[3], box.c[3] = value, 0.5 * (box.lower[3] + box.upper[3])
        assert not compiled_gaps(y, box, 0.1)[1] < np.inf


def test_pair_gains_are_those_of_the_quadratic():
    K, y, box, factor, rng = task(30, 1)
    some_point(K, y, box, factor, rng)
    i = int(np.argmax(np.where(box.c < box.upper, box.r, -np.inf)))
    best = pair_gains(box, K[i], i, 1e-12)
    difference = box.r[i] - box.r
    gains = difference**2 / np.maximum(K[i, i] + np.diag(K) - 2 * K[i], 1e-12)
    expected = np.where((difference > 0) & (box.c > box.lower), gains, -1.0)
    np.testing.assert_allclose(box.gains, expected, rtol=1e-12)
    assert best == expected.max()


def test_a_pair_step_ascends_keeps_the_constraints_and_the_residuals():
    K, y, box, factor, _ = task(30, 2)
    begin(K, box, factor)
    highest, lowest = violating_extremes(box.r, box.up, box.low)
    objective = 0.0
    for _ in range(60):
        highest, lowest = pair_step(K, box, highest, 1e-12)
        following = box.c @ y - 0.5 * box.c @ K @ box.c
        assert following > objective
        objective = following
        assert abs(box.c.sum()) < 1e-13
        assert ((box.lower <= box.c) & (box.c <= box.upper)).all()
        np.testing.assert_allclose(box.r, y - K @ box.c, atol=1e-12)
        assert (highest, lowest) == violating_extremes(box.r, box.up, box.low)


def test_move_takes_a_distance_of_rounding_for_none():
    K, y, box, factor, _ = task(5, 3, C=0.3)
    refresh(K, y, box)
    begin(K, box, factor)
    move(box, 0, 0.1)
    move(box, 0, 0.2)
    assert box.c[0] == 0.3
    move(box, 0, -0.2)
    move(box, 0, -0.1)
    assert box.c[0] == 0.0
    assert np.isposinf(box.low[0])


def assert_factor_is_right(factor, K):
    m = factor.size[0]
    indices = factor.indices[:m]
    expected = K[np.ix_(indices, indices)] + factor.tau[0] + np.diag(factor.shift[:m])
    U = np.triu(factor.U[:m, :m])
    np.testing.assert_allclose(U.T @ U, expected, atol=1e-12 * np.abs(expected).max())


def test_the_factor_follows_samples_that_enter_and_leave():
    K, _, _, factor, rng = task(40, 4)
    factor.tau[0] = 1.0
    for i in rng.permutation(40)[:25]:
        f.append(factor, K, int(i))
    assert_factor_is_right(factor, K)
    for p in (24, 0, 7, 7, 13):
        f.remove(factor, p)
        assert_factor_is_right(factor, K)
    assert sorted(np.flatnonzero(factor.inside)) == sorted(factor.indices[: factor.size[0]])


@pytest.mark.parametrize("m", [1, 47, 48, 49, 130])
def test_a_new_factorisation_is_right_by_rows_and_by_lapack(m):
    K, _, _, factor, rng = task(130, 5)
    factor.tau[0], factor.size[0] = 1.0, m
    factor.indices[:m] = rng.permutation(130)[:m]
    f.rebuild(factor, K)
    assert_factor_is_right(factor, K)


def test_the_factor_shifts_dependent_and_indefinite_blocks_as_little_as_it_can():
    K, _, _, factor, _ = task(6, 6)
    factor.tau[0] = 1.0
    twins = np.block([[K, K], [K, K]])
    for i in (0, 1, 6, 7):
        f.append(factor, twins, i)
    assert (factor.shift[:4] < 1e-10).all()
    assert_factor_is_right(factor, twins)
    factor.size[0] = 0
    indefinite = np.array([[1.0, 3.0], [3.0, 1.0]])
    f.append(factor, indefinite, 0)
    f.append(factor, indefinite, 1)
    assert_factor_is_right(factor, indefinite)
    assert factor.shift[1] > 1.0


def test_a_large_indefinite_block_is_shifted():
    K, _, _, factor, rng = task(130, 9)
    K = K - 5.0 * np.outer(*[rng.standard_normal(130)] * 2)
    factor.tau[0], factor.size[0] = 1.0, 130
    factor.indices[:] = np.arange(130)
    assert np.linalg.eigvalsh(K + 1.0).min() < 0.0
    f.rebuild(factor, K)
    assert factor.shift.max() > 1.0
    assert_factor_is_right(factor, K)


def test_solve_two_solves_both():
    K, _, _, factor, rng = task(20, 7)
    factor.tau[0] = 1.0
    for i in range(12):
        f.append(factor, K, i)
    x, z = rng.standard_normal(20), rng.standard_normal(20)
    M = K[:12, :12] + 1.0 + np.diag(factor.shift[:12])
    expected = np.linalg.solve(M, np.stack([x[:12], z[:12]], axis=1))
    f.solve_two(factor, x, z)
    np.testing.assert_allclose(np.stack([x[:12], z[:12]], axis=1), expected, rtol=1e-8)


def test_newton_steps_end_at_the_optimum_of_what_stays_free():
    K, y, box, factor, rng = task(40, 8)
    some_point(K, y, box, factor, rng)
    start, bound = box.c.copy(), (box.c == box.lower) | (box.c == box.upper)
    newton_steps(K, box, factor)
    free = (box.c > box.lower) & (box.c < box.upper)
    assert free.any()
    np.testing.assert_allclose(box.r, y - K @ box.c, atol=1e-10)
    np.testing.assert_allclose(box.r[free], box.r[free].mean(), atol=1e-9)
    np.testing.assert_array_equal(box.c[bound], start[bound])


def test_the_cost_of_a_newton_step_grows_with_the_free_samples_and_with_what_changed_among_them():
    K, y, box, factor, rng = task(400, 6)
    begin(K, box, factor)
    set_coefficient(box, 0, 0.5 * box.upper[0])
    assert pair_steps_before_newton(factor, box) == FIRST_PAIR_STEPS
    some_point(K, y, box, factor, rng)
    free = np.flatnonzero((box.lower < box.c) & (box.c < box.upper))
    assert count_changes(factor, box) == (len(free), 0, len(free))
    anew = pair_steps_before_newton(factor, box)
    synchronise(factor, K, box)
    assert list(factor.indices[: factor.size[0]]) == list(free)
    unchanged = pair_steps_before_newton(factor, box)
    set_coefficient(box, free[0], box.upper[free[0]])
    assert count_changes(factor, box) == (len(free) - 1, 1, 0)
    assert unchanged < pair_steps_before_newton(factor, box) < anew


def test_newton_steps_restore_the_equality_constraint():
    K, y, box, factor, _ = task(12, 9)
    for i in range(12):
        set_coefficient(box, i, 0.5 * (box.lower[i] + box.upper[i]))
    refresh(K, y, box)
    begin(K, box, factor)
    assert abs(box.c.sum()) > 1.0
    newton_steps(K, box, factor)
    free = (box.c > box.lower) & (box.c < box.upper)
    assert (~free).any() or abs(box.c.sum()) < 1e-12


def test_maximise_reaches_the_violation_and_says_so():
    K, y, box, factor, _ = task(60, 10)
    status, steps = maximise(K, y, box, factor, 1e-10, 10_000)
    assert (status, steps > 0) == (CONVERGED, True)
    highest, lowest = violating_extremes(box.r, box.up, box.low)
    assert highest - lowest <= 1e-10
    np.testing.assert_allclose(box.r, y - K @ box.c, atol=1e-13)


def test_maximise_stops_at_its_budget():
    K, y, box, factor, _ = task(60, 11)
    status, steps = maximise(K, y, box, factor, 1e-10, 7)
    assert (status, steps) == (OUT_OF_BUDGET, 7)


def test_maximise_notices_that_no_hard_margin_exists():
    y = np.array([1.0, -1.0, 1.0])
    K = np.ones((3, 3))
    box, factor = make_scratch(3)
    box.r[:] = y
    box.lower[:], box.upper[:] = np.where(y > 0, 0.0, -np.inf), np.where(y > 0, np.inf, 0.0)
    assert maximise(K, y, box, factor, 1e-9, 1000)[0] == INFEASIBLE


@pytest.mark.parametrize("C", [0.05, 2.0, np.inf])
@pytest.mark.parametrize("steps", [3, 10_000])
def test_compiled_bias_and_gap_are_those_of_the_certificate(C, steps):
    K, y, box, factor, _ = task(40, 12, C=C)
    maximise(K, y, box, factor, 1e-9, steps)
    problem = DualProblem(K, y, C)
    bias = compiled_bias(box)
    assert bias == pytest.approx(bias_of(problem, np.abs(box.c)), abs=1e-12)
    expected = duality_gap(problem, np.abs(box.c), bias)
    assert compiled_gaps(y, box, bias)[1] == pytest.approx(expected, rel=1e-9, abs=1e-13)
