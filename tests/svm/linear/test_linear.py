"""Machines in the feature space against the dense solvers, an independent QP solver, and rational arithmetic."""

from __future__ import annotations

import os
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from fsvm_cli.svm import SVM, ConvergenceError, DualProblem, Gaussian, InfeasibleError, Linear, duality_gap, solve
from fsvm_cli.svm.large.linear import LinearSolution, machine_of_part, solve_linear
from fsvm_cli.svm.large.linear_interior_point import NormalMatrix, _LinearBarrier, solve_interior_point
from fsvm_cli.svm.large.linear_problem import LinearProblem
from fsvm_cli.svm.large.linear_working_set import start_at, working_set_around
from fsvm_cli.svm.solvers.working_set import optimise_by_working_sets
from fsvm_cli.svm.training_set import FeatureSpaceTrainingSet, GramTrainingSet, training_set
from tests.helpers.qp_oracle import solve_with_piqp

EXAMPLES = int(os.environ.get("FSVM_AGREEMENT_EXAMPLES", "150"))
AGREEMENT = settings(max_examples=EXAMPLES, deadline=None, derandomize=True)


def two_classes(n: int, d: int, seed: int = 0, noise: float = 0.5) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    y = np.where(X @ rng.standard_normal(d) + noise * np.sqrt(d) * rng.standard_normal(n) > 0, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    return X, y


@st.composite
def samples(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray]:
    """Draw small problems with what real data have: duplicates, constants, imbalance, features of unlike units."""
    n, d = draw(st.integers(2, 60)), draw(st.integers(1, 6))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = rng.standard_normal((n, d)) * 10.0 ** rng.uniform(-1, 0.5, d)
    if draw(st.booleans()):
        X[rng.integers(0, n, n // 2)] = X[rng.integers(0, n, n // 2)]
    if draw(st.booleans()):
        X[:, 0] = 3.0
    y = np.where(rng.random(n) < draw(st.sampled_from([0.0, 0.1, 0.5])), 1.0, -1.0)
    y[:2] = 1.0, -1.0
    return X, y


bounds = st.floats(-3, 5).map(lambda exponent: 10.0**exponent)
ridges = st.sampled_from([0.0, 0.0, 0.01, 1.0])


@given(samples(), bounds, ridges, st.booleans())
@AGREEMENT
def test_optimum_is_that_of_the_dense_solvers(drawn, C, ridge, equality):
    X, y = drawn
    dense, linear = DualProblem(X @ X.T, y, C, equality, ridge), LinearProblem(X, y, C, equality, ridge)
    expected, found = solve(dense, on_failure="flag"), solve_linear(linear, on_failure="flag")
    assume(expected.converged)
    assert found.converged
    assert found.objective == pytest.approx(expected.objective, rel=2e-6)
    assert ((found.alpha >= 0) & (found.alpha <= C)).all()
    if equality:
        assert abs(found.alpha @ y) <= 1e-9 * found.alpha.sum()
    np.testing.assert_allclose(
        X.T @ (found.alpha * y), X.T @ (expected.alpha * y), atol=2e-3 * np.sqrt(expected.objective)
    )


@given(samples(), bounds, st.booleans())
@AGREEMENT
def test_optimum_is_that_of_an_independent_solver(drawn, C, equality):
    X, y = drawn
    dense = DualProblem(X @ X.T, y, C, equality)
    expected = solve_with_piqp(dense)
    assume(expected is not None)
    found = solve_linear(LinearProblem(X, y, C, equality), on_failure="flag")
    target = dense.objective(expected)
    assert found.converged
    assert found.objective >= target - 1e-6 * abs(target)


@given(st.integers(0, 10_000), st.floats(-2, 3))
@AGREEMENT
@example(7606, 0.0)  # a constant machine: 9 samples are margin vectors at one optimum, 24 at another
def test_alpha_bias_and_margin_vectors_are_those_of_the_dense_engine(seed, log_C):
    X, y = two_classes(60, 4, seed)
    C = 10.0**log_C
    expected, found = solve(DualProblem(X @ X.T, y, C)), solve_linear(LinearProblem(X, y, C))
    np.testing.assert_allclose(found.w, X.T @ (expected.alpha * y), atol=1e-6)
    assert found.bias == pytest.approx(expected.bias, abs=1e-6)
    if np.count_nonzero((expected.alpha > 0) & (expected.alpha < C)) > 5:
        return  # more than w and the bias need: alpha may move without them
    np.testing.assert_allclose(found.alpha, expected.alpha, atol=1e-6 * C)
    assert np.array_equal((found.alpha > 0) & (found.alpha < C), (expected.alpha > 0) & (expected.alpha < C))


def exact_gap(problem: LinearProblem, alpha: np.ndarray, bias: float) -> float:
    """Return (primal - dual) over the larger in rational arithmetic, the primal at the normal vector as computed."""
    w = [Fraction(value) for value in problem.normal_vector(alpha * problem.y)]
    rows = [[Fraction(value) for value in row] for row in problem.X.tolist()]
    labels, a, b = [int(label) for label in problem.y], [Fraction(value) for value in alpha.tolist()], Fraction(bias)
    exact = [sum((a[i] * labels[i] * rows[i][j] for i in range(len(a))), Fraction(0)) for j in range(len(w))]
    primal = sum((value**2 for value in w), Fraction(0)) / 2
    for i, row in enumerate(rows):
        margin = labels[i] * (sum((x * v for x, v in zip(row, w, strict=True)), Fraction(0)) + b)
        primal += Fraction(problem.C[i]) * max(Fraction(0), 1 - margin)
    dual = sum(a, Fraction(0)) - sum((value**2 for value in exact), Fraction(0)) / 2
    size = max(abs(primal), abs(dual))
    return float((primal - dual) / size) if size else 0.0


@given(st.integers(0, 2**32 - 1))
@AGREEMENT
def test_a_gap_is_never_above_what_is_stated(seed):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(2, 14)), int(rng.integers(1, 5))
    X = rng.standard_normal((n, d)) * 10.0 ** rng.uniform(-6, 6, d)
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    problem = LinearProblem(X, y, 10.0 ** rng.uniform(-6, 12))
    alpha = rng.choice([0.0, 1e-9, 0.5, 1.0], n) * problem.C
    balance = np.sum(alpha * y)
    alpha[0 if balance < 0 else 1] += abs(balance)  # the constraint holds, but for rounding
    inside = LinearProblem(X, y, max(problem.C[0], alpha.max()))
    bias = float(rng.standard_normal())
    assert exact_gap(inside, alpha, bias) <= duality_gap(inside, alpha, bias) * (1 + 1e-12)
    with np.errstate(all="ignore"):
        found = solve_linear(problem, on_failure="flag")
    assert exact_gap(problem, found.alpha, found.bias) <= found.duality_gap * (1 + 1e-12)


def test_residuals_lie_within_their_bounds():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((40, 5)) * 10.0 ** np.array([-4, 0, 4, 2, -2]), np.where(rng.random(40) < 0.5, 1.0, -1.0)
    problem, alpha = LinearProblem(X, y, 1.0), rng.random(40)
    w = [Fraction(value) for value in problem.normal_vector(alpha * y)]
    exact = [
        1 * int(y[i]) - sum((Fraction(x) * v for x, v in zip(row, w, strict=True)), Fraction(0))
        for i, row in enumerate(X.tolist())
    ]
    loose, sharp = problem.bounded_residuals(alpha), problem.bounded_residuals(alpha, sharp=True)
    for found in (loose, sharp):
        away = [abs(float(Fraction(value) - each)) for value, each in zip(found.values.tolist(), exact, strict=True)]
        assert (np.array(away) <= found.error).all()
    assert (sharp.error <= loose.error * (1 + 1e-12)).all()
    v = [sum((Fraction(alpha[i]) * int(y[i]) * Fraction(X[i, j]) for i in range(40)), Fraction(0)) for j in range(5)]
    assert np.sqrt(sum(float(a - b) ** 2 for a, b in zip(v, w, strict=True))) <= loose.distance


@pytest.mark.parametrize("C", [1e-6, 1e-2, 1.0, 1e4])
def test_many_samples_begin_at_the_machine_of_a_part_and_end_at_the_same_optimum(C):
    X, y = two_classes(9000, 3)
    linear = LinearProblem(X, y, C)
    found = solve_linear(linear)
    free = (found.alpha > 0) & (found.alpha < C)
    assert np.count_nonzero(free) <= 4
    residuals = linear.bounded_residuals(found.alpha).values - found.bias
    np.testing.assert_allclose(residuals[free], 0.0, atol=1e-8)
    assert (y * residuals)[found.alpha == 0].max() <= 1e-8
    assert (y * residuals)[found.alpha == C].min() >= -1e-8


def test_a_rare_class_is_in_the_part_that_is_solved_first():
    X, y = two_classes(9000, 3)
    y[:] = -1.0
    y[::3000] = 1.0
    X[::3000] += 4.0
    assert solve_linear(LinearProblem(X, y, 10.0)).converged


def test_working_sets_reach_the_optimum_from_far_away():
    X, y = two_classes(400, 5)
    problem = LinearProblem(X, y, 1.0)
    found = optimise_by_working_sets(problem, np.zeros(400), 1e-6)
    assert found.optimal
    assert problem.objective(found.alpha) == pytest.approx(solve(DualProblem(X @ X.T, y, 1.0)).objective, rel=1e-9)


def test_the_interior_point_alone_comes_near_the_optimum():
    X, y = two_classes(500, 4)
    problem = LinearProblem(X, y, 1.0)
    found = solve_interior_point(problem, 1e-8)
    expected = solve(DualProblem(X @ X.T, y, 1.0))
    np.testing.assert_allclose(found.w, X.T @ (expected.alpha * y), atol=1e-5)
    assert found.b == pytest.approx(expected.bias, abs=1e-5)


def test_a_start_near_the_optimum_needs_no_interior_point(monkeypatch):
    X, y = two_classes(400, 6)
    before = solve_linear(LinearProblem(X, y, 1.0)).alpha
    monkeypatch.setattr("fsvm_cli.svm.large.linear.solve_interior_point", None)
    found = solve_linear(LinearProblem(X[:, 1:], y, 1.0), alpha0=before)
    assert found.objective == pytest.approx(solve(DualProblem(X[:, 1:] @ X[:, 1:].T, y, 1.0)).objective, rel=1e-9)


@pytest.mark.parametrize("equality", [True, False])
@pytest.mark.parametrize("C", [1e-3, 1.0, "by sample"])
def test_a_start_near_the_optimum_moves_the_samples_near_the_margin_alone(C, equality, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((6000, 5))
    y = np.where(X @ [0.05, 1.0, -1.0, 0.5, 0.7] + 0.3 + rng.standard_normal(6000) > 0.0, 1.0, -1.0)
    C = np.random.default_rng(1).uniform(0.1, 5.0, 6000) if C == "by sample" else C
    before = solve_linear(LinearProblem(X, y, C, equality)).alpha
    problem = LinearProblem(X[:, 1:], y, C, equality)
    expected = solve_linear(problem)
    working_set = working_set_around(problem, start_at(problem, before))
    assert 0 < len(working_set.rows) < 3000
    held = np.setdiff1d(np.arange(6000), working_set.rows)
    assert np.array_equal(working_set.alpha[held], before[held])
    monkeypatch.setattr("fsvm_cli.svm.large.linear.solve_interior_point", None)
    found = solve_linear(problem, alpha0=before)
    assert found.converged
    np.testing.assert_allclose(found.alpha, expected.alpha, atol=1e-6)
    assert found.bias == pytest.approx(expected.bias, abs=1e-6)


def test_a_start_far_from_the_optimum_is_left_to_others():
    X, y = two_classes(6000, 5)
    for problem, start in (
        (LinearProblem(X, y, 1.0), np.zeros(6000)),
        (LinearProblem(X, y, 1.0), np.full(6000, 0.5)),
        (LinearProblem(X, y, np.inf, ridge=1.0), np.full(6000, 0.5)),
    ):
        begin = start_at(problem, start)
        assert begin is None or working_set_around(problem, begin) is None


def test_bounds_of_each_sample_are_kept():
    X, y = two_classes(300, 4)
    C = np.random.default_rng(1).uniform(0.1, 5.0, 300)
    expected, found = solve(DualProblem(X @ X.T, y, C)), solve_linear(LinearProblem(X, y, C))
    np.testing.assert_allclose(found.alpha, expected.alpha, atol=1e-6)


def test_hard_margins_are_found_or_said_not_to_exist():
    X, _ = two_classes(200, 3)
    y = np.where(X[:, 0] > 0.1, 1.0, -1.0)
    expected, found = solve(DualProblem(X @ X.T, y, np.inf)), solve_linear(LinearProblem(X, y, np.inf))
    assert found.objective == pytest.approx(expected.objective, rel=2e-6)
    X, y = two_classes(200, 3, noise=1.0)
    with pytest.raises(InfeasibleError, match="not separable"):
        solve_linear(LinearProblem(X, y, np.inf))


@pytest.mark.parametrize(
    ("X", "y"),
    [
        (np.zeros((6, 2)), [1, -1, 1, -1, 1, 1]),
        (np.ones((6, 2)), [1, -1, 1, -1, 1, -1]),
        (np.column_stack([np.arange(8.0)] * 3), [1, -1] * 4),
    ],
)
def test_equal_points_and_equal_columns_have_their_optimum(X, y):
    labels = np.array(y, dtype=float)
    expected, found = solve(DualProblem(X @ X.T, labels, 1.0)), solve_linear(LinearProblem(X, labels, 1.0))
    assert found.objective == pytest.approx(expected.objective, rel=2e-6)


def test_a_gap_that_doubles_do_not_allow_is_flagged_and_named():
    X, y = two_classes(60, 3)
    with pytest.raises(ConvergenceError, match=r"feature-space stopped .* too large for double precision"):
        solve_linear(LinearProblem(1e8 * X, y, 1e6), tolerance=1e-14)


@pytest.mark.parametrize(
    ("X", "C", "message"),
    [
        (np.zeros(4), 1.0, r"shape \(4,\); there are 4 labels"),
        (np.zeros((3, 2)), 1.0, "there are 4 labels"),
        (np.full((4, 2), np.nan), 1.0, "not finite"),
        (np.zeros((4, 2)), 0.0, "C must be > 0"),
    ],
)
def test_problems_that_are_none_are_refused(X, C, message):
    with pytest.raises(ValueError, match=message):
        LinearProblem(X, [1, -1, 1, -1], C)


@pytest.mark.parametrize("weights", [None, (2.0, 0.0, 1.0, 0.5)])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_an_estimator_decides_the_same_in_either_space(weights, n_classes):
    X, _ = two_classes(150, 4)
    y = np.digitize(X[:, 0] + X[:, 2], [-0.5, 0.5][: n_classes - 1])
    for shape in ("ovr", "ovo"):
        dense, linear = (
            SVM(Linear(weights), solver=solver, decision_function_shape=shape).fit(X, y)
            for solver in ("smo", "feature-space")
        )
        np.testing.assert_allclose(linear.decision_function(X), dense.decision_function(X), atol=1e-5)
        assert set(linear.solver_) == {"feature-space"}


def test_auto_takes_the_feature_space_where_samples_are_many():
    X = np.zeros((1001, 251))
    assert isinstance(training_set(Linear(), X[:, :250], "auto").form, FeatureSpaceTrainingSet)
    assert isinstance(training_set(Linear(), X, "auto").form, GramTrainingSet)
    assert isinstance(training_set(Linear(), X[:1000, :3], "auto").form, GramTrainingSet)


def test_a_machine_that_misses_its_gap_among_the_features_is_tried_on_a_gram_matrix(monkeypatch):
    X, y = two_classes(2001, 3)
    expected = SVM(solver="smo").fit(X, y)

    def half_way(problem: LinearProblem, **options: Any) -> LinearSolution:
        found = solve_linear(problem, **options)
        return replace(found, alpha=0.5 * found.alpha)

    monkeypatch.setattr("fsvm_cli.svm.large.linear.solve_linear", half_way)
    machine = SVM().fit(X, y)
    assert machine.solver_ == ("smo",)
    np.testing.assert_allclose(machine.decision_function(X), expected.decision_function(X), atol=1e-9)


def test_other_kernels_have_no_feature_space_here():
    X, y = two_classes(20, 2)
    with pytest.raises(ValueError, match="for the linear kernel and dense samples"):
        SVM(Gaussian(1.0), solver="feature-space").fit(X, y)
    with pytest.raises(ValueError, match="takes samples, not their Gram matrix"):
        solve(DualProblem(X @ X.T, y, 1.0), solver="feature-space")


@pytest.mark.parametrize("equality", [True, False])
def test_normal_equations_are_solved_in_blocks_as_by_plain_numpy(equality: bool) -> None:
    X, _ = two_classes(2500, 3)
    X += 100.0
    T = np.random.default_rng(1).uniform(0.1, 2.0, len(X))
    right, balance = np.array([1.0, -2.0, 0.5]), 0.7 if equality else 0.0
    w, b = NormalMatrix(X, T, equality).solve(right, balance)
    bordered = np.column_stack([X, np.ones(len(X))])[:, : 4 if equality else 3]
    identity = np.diag([1.0, 1.0, 1.0, 0.0])[: bordered.shape[1], : bordered.shape[1]]
    known = np.append(right, balance)[: bordered.shape[1]]
    expected = np.linalg.solve(identity + (bordered.T * T) @ bordered, known)
    np.testing.assert_allclose(np.append(w, b)[: len(expected)], expected, rtol=1e-7)
    assert equality or b == 0.0


@pytest.mark.parametrize("C", [0.01, 1.0, np.inf])
def test_the_first_point_about_gives_the_machine_that_it_is_put_around(C: float) -> None:
    X, y = two_classes(4000, 10)
    barrier = _LinearBarrier(LinearProblem(X, y, C))
    w, b, largest = solve_interior_point(LinearProblem(X[:500], y[:500], 1.0), 1e-2).w, 0.1, 1.0
    reach = np.full(len(y), min(C, 2.0 * largest))
    slack = 1.0 - y * (X @ w + b)
    put = reach / (1.0 + np.exp(-3.0 * slack))
    moved = barrier._giving(w, put, reach)
    assert ((moved > 0.0) & (moved < reach)).all()
    misses = [np.append((y * alpha) @ X - w, y @ alpha) for alpha in (put, moved)]
    assert np.linalg.norm(misses[1]) < 0.5 * np.linalg.norm(misses[0])


def test_a_first_point_that_gives_its_machine_saves_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = two_classes(9000, 30)
    problem = LinearProblem(X, y, 0.01)
    near = machine_of_part(problem)
    found = solve_interior_point(problem, 1e-3, near).steps
    monkeypatch.setattr(_LinearBarrier, "_giving", lambda _self, _w, alpha, _reach: alpha)
    assert found < solve_interior_point(problem, 1e-3, near).steps
