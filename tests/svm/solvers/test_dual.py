"""The dual problem, the bias rule and the certificate."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fsvm_cli.svm import DualProblem, bias_of, duality_gap
from fsvm_cli.svm.kernels.base import Rounding

K2 = np.array([[1.0, 0.2], [0.2, 1.0]])


def random_problem(seed: int, C: float, ridge: float, equality: bool = True) -> tuple[DualProblem, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((12, 3))
    y = np.where(rng.random(12) < 0.4, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    alpha = rng.random(12) * min(C, 3.0)
    alpha[y > 0] *= alpha[y < 0].sum() / alpha[y > 0].sum()  # y' alpha = 0
    alpha *= min(1.0, C / alpha.max())
    return DualProblem(X @ X.T, y, C, equality=equality, ridge=ridge), alpha


@given(st.integers(0, 10_000), st.sampled_from([0.5, 20.0, np.inf]), st.floats(-2, 2), st.sampled_from([0.0, 0.3]))
@settings(max_examples=150, deadline=None, derandomize=True)
def test_gap_is_primal_minus_dual(seed, C, bias, ridge):
    problem, alpha = random_problem(seed, C, ridge)
    c = alpha * problem.y
    f = problem.gram @ c + bias
    slack = np.maximum(1.0 - problem.y * f, 0.0)
    if ridge == 0.0 and np.isinf(C):
        smallest = (problem.y * f).min()
        scale = max(1.0, 1.0 / smallest) if smallest > 0 else np.inf
        primal = 0.5 * scale**2 * (c @ problem.gram @ c)
    elif ridge == 0.0:
        primal = 0.5 * c @ problem.gram @ c + C * slack.sum()
    else:
        a = np.minimum(slack / ridge, C)
        primal = 0.5 * c @ problem.gram @ c + (a * slack - 0.5 * ridge * a**2).sum()
    dual = problem.objective(alpha)
    gap = duality_gap(problem, alpha, bias)
    if np.isinf(primal):
        assert np.isposinf(gap)
    else:
        assert gap == pytest.approx((primal - dual) / max(abs(primal), abs(dual)), rel=1e-9, abs=1e-12)
        assert gap >= -1e-12


def test_squared_loss_is_the_limit_of_the_joined_loss():
    problem, alpha = random_problem(3, np.inf, 0.5)
    capped = DualProblem(problem.gram, problem.y, 1e9, ridge=0.5)
    assert duality_gap(problem, alpha, 0.1) == pytest.approx(duality_gap(capped, alpha, 0.1), rel=1e-12)


def test_bias_is_the_mean_over_margin_vectors():
    problem, alpha = random_problem(5, 100.0, 0.0)
    f = problem.gram @ (alpha * problem.y)
    assert bias_of(problem, alpha) == pytest.approx((problem.y - f).mean(), rel=1e-12)


def test_bias_without_margin_vectors_is_the_midpoint_of_the_interval_that_kkt_leaves():
    problem = DualProblem(K2, [1.0, -1.0], 0.1)
    alpha = np.array([0.1, 0.1])
    f = K2 @ (alpha * problem.y)
    bias = bias_of(problem, alpha)
    ends = np.array([1.0 - f[0], -1.0 - f[1]])  # each sample at its upper bound must be within its margin
    assert bias == pytest.approx(ends.mean(), rel=1e-12)
    gaps = [duality_gap(problem, alpha, b) for b in np.linspace(*ends, 5)]
    np.testing.assert_allclose(gaps, 0.0, atol=1e-14)  # but for the bound on its rounding
    assert duality_gap(problem, alpha, ends.max() + 0.1) > 0.01


def test_a_machine_without_bias_has_bias_zero():
    problem, alpha = random_problem(7, 1.0, 0.0, equality=False)
    assert bias_of(problem, alpha) == 0.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"gram": np.eye(3)}, "shape"),
        ({"gram": np.full((2, 2), np.nan)}, "not finite"),
        ({"y": [1.0, 2.0]}, "-1 and \\+1 only"),
        ({"y": [1.0, 1.0]}, "one class only"),
        ({"C": 0.0}, "C must be > 0"),
        ({"C": [1.0, 1.0, 1.0]}, "one for each of 2"),
        ({"C": float("nan")}, "C must be > 0"),
        ({"ridge": -1.0}, "ridge must be"),
        ({"ridge": float("inf")}, "ridge must be"),
    ],
)
def test_mistakes_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        DualProblem(**{"gram": K2, "y": [1.0, -1.0], "C": 1.0, **arguments})


def test_one_class_is_fine_without_bias():
    assert not DualProblem(K2, [1.0, 1.0], 1.0, equality=False).equality


def test_bounds_on_the_rounding_are_added_to_a_problem_that_is_checked_already():
    problem, alpha = random_problem(4, C=20.0, ridge=0.0)
    rounding = Rounding(np.full(12, 1e-9), np.full(12, 1e-9), np.sqrt(problem.diagonal()))
    added = problem.with_rounding(rounding)
    anew = DualProblem(problem.gram, problem.y, problem.C, rounding=rounding)
    assert duality_gap(added, alpha, 0.1) == duality_gap(anew, alpha, 0.1) > duality_gap(problem, alpha, 0.1)
    assert problem.rounding is None
