"""Length scales tuned by bounds: slopes against finite differences, and what they find."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.optimize

from fsvm_cli.bounds.ard import INITIAL_RELATIVE_RIDGE, MAX_LOG_CHANGE, RELATIVE_RIDGE_LIMITS, _place, tune_ard
from fsvm_cli.bounds.bound import hard_margin_machine

every_bound = pytest.mark.parametrize("bound", ["radius-margin", "span"])


def problem(n: int, d: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Two features matter, and the others do not: one class is a disc."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, np.where(X[:, 0] ** 2 + X[:, 1] ** 2 + 0.2 * rng.normal(size=n) > 1.4, 1.0, -1.0)


@every_bound
def test_the_slope_is_the_derivative_by_the_logarithms(bound: str) -> None:
    X, y = problem(40, 3)
    at = np.array([-1.0, 0.3, 0.6, 0.9])
    slope = _place(X, y, bound, at, 1e-10).slope
    step = 1e-5
    for place in range(4):
        ahead, behind = (
            _place(X, y, bound, at + sign * step * (np.arange(4) == place), 1e-10).value for sign in (1, -1)
        )
        assert slope[place] == pytest.approx((ahead - behind) / (2 * step), rel=1e-3, abs=1e-4 * np.abs(slope).max())


@every_bound
def test_the_features_that_matter_get_the_short_length_scales(bound: str) -> None:
    X, y = problem(120, 6)
    found = tune_ard(X, y, bound)
    assert found.bound < 0.8 * found.first_bound
    weights = np.array(found.kernel.weights)
    assert weights[:2].min() > weights[2:].max()
    others, classes = problem(600, 6, seed=1)
    first = tune_ard(X, y, bound, max_iterations=1)
    assert not first.converged  # it ran out of iterations
    errors, before = (np.mean(np.sign(each.decision_function(others)) != classes) for each in (found, first))
    assert errors < before
    assert found.converged


@pytest.mark.parametrize("seed", range(4))
def test_it_comes_as_low_as_scipy(seed: int) -> None:
    """Of radius over margin: the span has many local minima, and two methods end in different ones."""
    X, y = problem(60, 4, seed)
    found = tune_ard(X, y, "radius-margin")

    def value_and_slope(logarithms: np.ndarray) -> tuple[float, np.ndarray]:
        here = _place(X, y, "radius-margin", logarithms, 1e-8)
        return here.value / found.first_bound, here.slope / found.first_bound

    start = np.log([INITIAL_RELATIVE_RIDGE, *[2.0] * 4])
    limits = [tuple(np.log(RELATIVE_RIDGE_LIMITS)), *[(np.log(2.0) - MAX_LOG_CHANGE, np.log(2.0) + MAX_LOG_CHANGE)] * 4]
    oracle = scipy.optimize.minimize(value_and_slope, start, method="L-BFGS-B", jac=True, bounds=limits)
    assert found.bound <= found.first_bound * oracle.fun * (1 + 1e-4)
    assert found.bound < 0.9 * found.first_bound


def test_the_machine_is_that_of_its_kernel_and_ridge() -> None:
    X, y = problem(30, 2)
    found = tune_ard(X, y, "span", max_iterations=2)
    gram = found.kernel.gram(X, X)
    machine = hard_margin_machine(gram + np.eye(30) / found.C, y)
    np.testing.assert_allclose(found.decision_function(X), gram @ (y * machine.alpha) + machine.bias, atol=1e-4)


@pytest.mark.parametrize(("bound", "n", "d"), [("radius-margin", 80, 5), ("span", 60, 20)])
def test_a_last_digit_of_the_samples_leads_to_the_same_place(bound: str, n: int, d: int) -> None:
    X, y = problem(n, d)
    nudged = X * (1.0 + 1e-15 * np.random.default_rng(0).standard_normal(X.shape))
    first, second = (tune_ard(each, y, bound) for each in (X, nudged))
    assert first.n_evaluations == second.n_evaluations
    np.testing.assert_array_equal(first.kernel.weights, second.kernel.weights)


def test_samples_in_one_place_are_refused() -> None:
    with pytest.raises(ValueError, match="all samples are in one place"):
        tune_ard(np.ones((4, 2)), np.array([1.0, 1.0, -1.0, -1.0]), "span")
