"""How fits end: the same bias on every path, whatever a last digit is."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fsvm_cli.svm import DualProblem, Gaussian, Linear, bias_of, duality_gap, nested_curves, solve
from fsvm_cli.svm.compiled import EPSILON
from fsvm_cli.svm.paths.folds import FoldMachines
from fsvm_cli.svm.paths.gram_downdate import reoptimise
from fsvm_cli.svm.solvers.active_set import begin, make_scratch, maximise_certified
from fsvm_cli.svm.solvers.block_pivoting import pivot_certified
from fsvm_cli.svm.solvers.optimality import (
    BOUND_TOLERANCE,
    accurate_sum,
    compiled_bias,
    compiled_gaps,
    finish_fit,
    refresh_bounded,
    residuals_of,
    sharpen,
)

if TYPE_CHECKING:
    from fsvm_cli.svm.solvers.smo import Box

QUICK = settings(max_examples=60, deadline=None, derandomize=True)
CS = st.sampled_from([0.01, 0.3, 1.0, 30.0])
SEEDS = st.integers(0, 10_000)


def some_problem(seed: int, C: float) -> DualProblem:
    """Few samples, of which at small C none is a margin vector."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 16))
    X = rng.standard_normal((n, 2))
    y = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    gram = Gaussian(2.0).gram(X + np.outer(y, [0.5, 0.0]), X + np.outer(y, [0.5, 0.0]))
    return DualProblem(gram, y, C)


def nudged(alpha: np.ndarray, seed: int) -> np.ndarray:
    """Each coefficient up to four last digits away: of its own, or of the largest."""
    rng = np.random.default_rng(seed)
    steps = rng.integers(-4, 5, len(alpha))
    digit = np.spacing(np.where(rng.random(len(alpha)) < 0.5, alpha, alpha.max()))
    return alpha + steps * digit


def box_at(problem: DualProblem, alpha: np.ndarray, out: np.ndarray | None = None) -> Box:
    box, factor = make_scratch(len(problem.y))
    box.lower[:] = np.minimum(0.0, problem.C * problem.y)
    box.upper[:] = np.maximum(0.0, problem.C * problem.y)
    box.c[:] = alpha * problem.y
    if out is not None:
        box.lower[out] = box.upper[out] = 0.0
    refresh_bounded(problem.gram, problem.y, box)
    begin(problem.gram, box, factor)
    return box


@given(SEEDS, CS)
@QUICK
def test_four_last_digits_of_every_coefficient_leave_bias_and_bounds(seed, C):
    problem = some_problem(seed, C)
    found = solve(problem)
    alpha = nudged(found.alpha, seed)
    box = box_at(problem, alpha)
    bias, gap = finish_fit(problem.gram, problem.y, box, 1e-6)
    assert bias == pytest.approx(found.bias, abs=1e-11)
    assert bias_of(problem, alpha) == pytest.approx(found.bias, abs=1e-11)
    assert gap == pytest.approx(found.duality_gap, abs=1e-9)
    np.testing.assert_array_equal(box.c == box.lower, box_at(problem, found.alpha).c == box.lower)
    np.testing.assert_array_equal(box.c == box.upper, box_at(problem, found.alpha).c == box.upper)


@given(SEEDS, CS)
@QUICK
def test_every_path_ends_at_the_same_bias_from_a_start_that_is_off_by_last_digits(seed, C):
    problem = some_problem(seed, C)
    K, y = problem.gram, problem.y
    expected = solve(problem)
    start = np.clip(nudged(expected.alpha, seed), 0.0, C)
    biases = {name: solve(problem, solver=name).bias for name in ("smo", "interior-point")}
    biases["libsvm"] = solve(problem, solver="libsvm", tolerance=1e-9, on_failure="flag").bias
    biases["warm start"] = solve(problem, alpha0=start).bias
    box, factor = box_at(problem, start), make_scratch(len(y))[1]
    biases["ascent"] = maximise_certified(K, y, box, factor, 1e-6, 1000)[2]
    box = box_at(problem, start)
    rounds, bias, _ = pivot_certified(K, y, box, factor, 1e-6)
    if rounds:
        biases["pivots"] = bias
    box, factor = box_at(problem, start), make_scratch(len(y))[1]
    assert reoptimise(K, y, box, factor, 1e-6)
    biases["downdates"] = compiled_bias(box)
    for name, bias in biases.items():
        assert bias == pytest.approx(expected.bias, abs=1e-5), name


@given(SEEDS, CS)
@QUICK
def test_samples_that_are_left_out_do_not_bound_the_bias(seed, C):
    problem = some_problem(seed, C)
    out = np.arange(0, len(problem.y), 3)
    kept = np.setdiff1d(np.arange(len(problem.y)), out)
    part = DualProblem(problem.gram[np.ix_(kept, kept)], problem.y[kept], C)
    found = solve(part)
    alpha = np.zeros(len(problem.y))
    alpha[kept] = nudged(found.alpha, seed)
    box = box_at(problem, alpha, out)
    bias, gap = finish_fit(problem.gram, problem.y, box, 1e-6)
    assert bias == pytest.approx(found.bias, abs=1e-11)
    assert gap == pytest.approx(found.duality_gap, abs=1e-9)


@given(SEEDS, CS)
@QUICK
def test_a_fold_has_the_bias_of_the_machine_on_its_training_rows(seed, C):
    problem = some_problem(seed, C)
    n = len(problem.y)
    machines = FoldMachines(problem.gram, problem.y, np.array([C, 2.0 * C]), 1e-6)
    for out in (np.arange(2), np.arange(0, n, 3), np.array([n - 1])):
        train = np.setdiff1d(np.arange(n), out)
        found = [solve(DualProblem(problem.gram[np.ix_(train, train)], problem.y[train], c)) for c in machines.Cs]
        expected = [problem.gram[np.ix_(out, train)] @ (f.alpha * problem.y[train]) + f.bias for f in found]
        scores, converged, certified = machines.score((train, out))
        assert converged.all()
        assert certified.all()
        np.testing.assert_allclose(scores, expected, atol=1e-5)


@pytest.mark.parametrize("C", [0.01, 1.0])
def test_nested_subsets_have_the_bias_of_machines_on_their_own(C):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((24, 4))
    codes = np.arange(24) % 2
    found = nested_curves(Linear(), C, X, codes, X, [np.arange(4)], (1, 2, 3, 4), n_classes=2)
    for s in range(4):
        part = X[:, : s + 1]
        alone = solve(DualProblem(part @ part.T, np.where(codes == 1, 1.0, -1.0), C))
        scores = part @ part.T @ (alone.alpha * np.where(codes == 1, 1.0, -1.0)) + alone.bias
        np.testing.assert_allclose(found.train_decision[0, s, 0], scores, atol=1e-5)


def test_an_outlier_keeps_a_coefficient_that_is_small_because_its_kernel_values_are_large():
    problem = DualProblem([[1e17, 0.0], [0.0, 1.0]], [1.0, -1.0], 1.0, equality=False)
    found = solve(problem)
    np.testing.assert_allclose(found.alpha, [1e-17, 1.0], rtol=1e-6)


def test_the_slack_is_far_above_last_digits_and_far_below_what_a_curve_shows():
    problem = some_problem(1, 1.0)
    alpha = np.full(len(problem.y), 0.5)
    for distance, on_bound in ((0.9 * BOUND_TOLERANCE, True), (1e4 * BOUND_TOLERANCE, False)):
        alpha[0] = 1.0 - distance
        box = box_at(problem, alpha)
        finish_fit(problem.gram, problem.y, box, 1e-6)
        assert (box.c[0] == 1.0) == on_bound


@given(SEEDS, st.floats(0, 8))
@QUICK
def test_residuals_lie_within_their_bounds_and_sharp_ones_have_nearly_every_digit(seed, log_size):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 9))
    K = rng.standard_normal((n, n)) * 10.0 ** rng.uniform(-log_size, log_size, (n, n))
    K = np.triu(K) + np.triu(K, 1).T
    c, y = rng.standard_normal(n) * 10.0 ** rng.uniform(-8, 8, n), np.ones(n)
    exact = [1 - sum(Fraction(k) * Fraction(v) for k, v in zip(row, c.tolist(), strict=True)) for row in K.tolist()]
    r, error = np.empty(n), np.empty(n)
    residuals_of(K, y, c, r, error)
    assert all(abs(Fraction(r[i]) - exact[i]) <= Fraction(error[i]) for i in range(n))
    wide = error.copy()
    sharpen(K, y, c, r, error, np.empty(n))
    assert all(abs(Fraction(r[i]) - exact[i]) <= Fraction(error[i]) for i in range(n))
    assert (error <= 1e-15 * np.abs(r) + 1e-14 * wide).all()


@given(SEEDS, CS)
@QUICK
def test_compiled_and_numpy_gaps_are_one_rule(seed, C):
    problem = some_problem(seed, C)
    rng = np.random.default_rng(seed)
    alpha = rng.choice([0.0, 0.4, 1.0], len(problem.y)) * C
    box = box_at(problem, alpha)
    assert compiled_bias(box) == pytest.approx(bias_of(problem, alpha), abs=1e-12)
    for bias in (0.3, -2.0):
        expected = duality_gap(problem, alpha, bias)
        assert compiled_gaps(problem.y, box, bias)[1] == pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_a_sum_that_cancels_is_off_by_no_more_than_certificates_allow_for(rng: np.random.Generator) -> None:
    for n in (1, 2, 1000):
        values = rng.standard_normal(n) * 10.0 ** rng.uniform(-8, 8, n)
        values = np.concatenate([values, -rng.permutation(values), [1e-9]])
        exact = sum(Fraction(value) for value in values.tolist())
        off = abs(float(Fraction(float(accurate_sum(values))) - exact))
        assert off <= EPSILON * abs(exact) + (EPSILON * len(values)) ** 2 * np.abs(values).sum()
