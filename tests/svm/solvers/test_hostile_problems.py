"""Certificates where doubles are at their limits, against gaps in rational arithmetic.

The campaign of record runs with FSVM_HOSTILE_EXAMPLES=10000 in the environment.
"""

from __future__ import annotations

import os

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from fsvm_cli.svm import (
    Anova,
    ConvergenceError,
    DualProblem,
    DualSolution,
    Gaussian,
    Laplace,
    Linear,
    Polynomial,
    duality_gap,
    solve,
)
from fsvm_cli.svm.solvers.active_set import make_scratch
from fsvm_cli.svm.solvers.block_pivoting import pivot_certified
from fsvm_cli.svm.solvers.optimality import refresh
from tests.helpers.exact_gap import exact_gap

EXAMPLES = int(os.environ.get("FSVM_HOSTILE_EXAMPLES", "100"))
TOLERANCE = 1e-6
LARGEST = 1e50


def samples(rng: np.random.Generator, n: int) -> np.ndarray:
    d = int(rng.integers(1, 5))
    X = [
        lambda: rng.standard_normal((n, d)),
        lambda: rng.integers(-3, 4, (n, d)).astype(float),
        lambda: rng.standard_t(1.5, (n, d)),
        lambda: rng.standard_normal((n, d)) * 10.0 ** rng.uniform(-3, 3, d),
    ][rng.integers(4)]()
    if rng.random() < 0.3:
        X[rng.integers(0, n, n // 2)] = X[rng.integers(0, n, n // 2)]
    return X


def hostile_problem(seed: int) -> DualProblem | None:
    """C to 1e12, degrees to 20, kernel values to 1e50, duplicates, lattices; None where values are not finite."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 15))
    X = samples(rng, n)
    theta = 10.0 ** rng.uniform(-3, 4)
    polynomial = Polynomial(int(rng.integers(2, 21)), offset=rng.choice([0.0, 1.0]), scale=rng.choice([1.0, 0.1]))
    kernel = [polynomial, polynomial, Linear(), Gaussian(theta), Laplace(theta), Anova(1 / theta, 2)][rng.integers(6)]
    with np.errstate(over="ignore"):
        gram = kernel.gram(X, X)
    if not np.isfinite(gram).all():
        return None
    if rng.random() < 0.1 or np.abs(gram).max() > LARGEST:
        gram *= 10.0 ** rng.uniform(-10, 50) / max(np.abs(gram).max(), 1e-300)
    y = np.where(rng.random(n) < rng.choice([0.1, 0.5]), 1.0, -1.0)
    y[:2] = 1.0, -1.0
    C = 10.0 ** (rng.uniform(-6, 12, n) if rng.random() < 0.1 else rng.uniform(-4, 12))
    ridge = rng.choice([0.0, 0.0, 0.0, 1e-3])
    hard = rng.random() < 0.05
    return DualProblem(gram, y, np.inf if hard else C, equality=rng.random() < 0.8, ridge=ridge)


def assert_vouched_for(problem: DualProblem, found: DualSolution) -> None:
    true = exact_gap(problem, found.alpha, found.bias)
    assert true <= TOLERANCE or not found.converged
    assert true <= found.duality_gap * (1 + 1e-12)


def pivot_from(problem: DualProblem, alpha: np.ndarray) -> DualSolution | None:
    """Return what block pivoting makes of a point; None where it leaves the problem to others."""
    y = problem.y
    box, factor = make_scratch(len(y))
    box.lower[:], box.upper[:] = np.minimum(0.0, problem.C * y), np.maximum(0.0, problem.C * y)
    box.c[:] = alpha * y
    refresh(problem.gram, y, box)
    rounds, bias, gap = pivot_certified(problem.gram, y, box, factor, TOLERANCE)
    return DualSolution(box.c * y, bias, 0.0, gap, rounds, "pivots", True) if rounds else None


@given(st.integers(0, 2**32 - 1), st.sampled_from(["smo", "interior-point", "auto"]))
@settings(max_examples=EXAMPLES, deadline=None, derandomize=True)
def test_no_fit_says_converged_that_is_not(seed, solver):
    problem = hostile_problem(seed)
    assume(problem is not None)
    with np.errstate(all="ignore"):
        found = solve(problem, solver=solver, tolerance=TOLERANCE, on_failure="flag")
    assert_vouched_for(problem, found)
    if problem.equality and problem.ridge == 0.0 and np.isfinite(problem.C).all():
        pivoted = pivot_from(problem, found.alpha)
        if pivoted is not None:
            assert_vouched_for(problem, pivoted)


@given(st.integers(0, 2**32 - 1), st.floats(-3, 3))
@settings(max_examples=EXAMPLES, deadline=None, derandomize=True)
def test_a_gap_is_never_above_what_is_stated_whatever_the_point(seed, log_bias):
    problem = hostile_problem(seed)
    assume(problem is not None and np.isfinite(problem.C).all())
    alpha = np.random.default_rng(seed).choice([0.0, 1e-9, 0.5, 1.0], len(problem.y)) * problem.C
    bias = 10.0**log_bias
    assert exact_gap(problem, alpha, bias) <= duality_gap(problem, alpha, bias) * (1 + 1e-12)


def test_tiny_coefficients_below_a_large_bound_are_vouched_for():
    """C times the rounding of a residual is more than the tolerance allows: a hard margin has no C."""
    y = np.where(np.arange(10) % 2 == 0, 1.0, -1.0)
    X = 20.0 * np.random.default_rng(0).standard_normal((10, 52))
    problem = DualProblem(Polynomial(3, offset=1.0).gram(X, X), y, 1.0)
    found = solve(problem, tolerance=TOLERANCE)
    assert found.duality_gap == duality_gap(problem, found.alpha, found.bias)
    assert found.duality_gap < 1e-9
    assert_vouched_for(problem, found)


@pytest.mark.parametrize(
    ("size", "C", "tolerance", "cause"),
    [
        (1e6, 1.0, 1e-6, r"kernel values up to 7\.0e\+12 are too large for double precision; scale the features"),
        (1.0, 1e12, 1e-6, r"C = 1e\+12 is too large for double precision with kernel values up to 7\.0e\+00"),
        (1.0, 1.0, 1e-15, "so small a gap is beyond double precision"),
    ],
)
def test_a_fit_that_doubles_do_not_allow_names_the_number_that_is_too_large(size, C, tolerance, cause):
    rng = np.random.default_rng(0)
    X = size * rng.standard_normal((40, 3))
    y = np.where(rng.random(40) < 0.5, 1.0, -1.0)
    with pytest.raises(ConvergenceError, match=f": {cause}$"):
        solve(DualProblem(X @ X.T, y, C), tolerance=tolerance)


def test_a_fit_that_lacks_steps_only_blames_no_number(monkeypatch):
    monkeypatch.setattr("fsvm_cli.svm.solvers.solve.STEPS_PER_SAMPLE", 0)
    problem = DualProblem(np.eye(4), [1.0, -1.0, 1.0, -1.0], 1.0)
    with pytest.raises(ConvergenceError, match=r"above the tolerance of 1\.0e-06$"):
        solve(problem, solver="smo")


@pytest.mark.parametrize("seed", range(12))
def test_degree_fourteen_at_a_large_C_is_vouched_for_or_names_the_cause(seed):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(8) % 2 == 0, 1.0, -1.0)
    problem = DualProblem(Polynomial(14).gram(*[rng.standard_normal((8, 2))] * 2), y, 3e9)
    found = solve(problem, on_failure="flag")
    assert_vouched_for(problem, found)
    if not found.converged:
        with pytest.raises(ConvergenceError, match="too large for double precision"):
            solve(problem)
