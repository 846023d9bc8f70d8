"""The descent on a grid: scipy's L-BFGS-B as an oracle, and last digits that do not grow."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
import scipy.optimize

from fsvm_cli.numerics import quantised
from fsvm_cli.quasi_newton import minimise_quantised

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from fsvm_cli.quasi_newton import Function, Minimum

SPACING = 2.0**-20
LOWER, UPPER = 2.0**-10, 1.0
N = 12


def quadratic(rng: np.random.Generator) -> Function:
    """Draw a convex function whose minimum lies beyond the limits in some variables."""
    root = rng.standard_normal((N, N))
    curvature, centre = root @ root.T / N + 0.1 * np.eye(N), rng.uniform(-0.5, 1.5, N)
    return lambda x: (float(0.5 * (x - centre) @ curvature @ (x - centre)), curvature @ (x - centre))


def valley(rng: np.random.Generator) -> Function:
    """Return Rosenbrock's curved valley."""
    return lambda x: (float(scipy.optimize.rosen(x)), scipy.optimize.rosen_der(x))


def minimum(
    function: Function,
    x: NDArray[np.float64],
    max_iterations: int = 500,
    *,
    lower: float | NDArray[np.float64] = LOWER,
    upper: float | NDArray[np.float64] = UPPER,
    first_step: float = 1.0,
    is_enough: Callable[[Minimum], bool] | None = None,
) -> Minimum:
    return minimise_quantised(
        function,
        x,
        lower=lower,
        upper=upper,
        spacing=SPACING,
        max_iterations=max_iterations,
        smallest_fall=1e-14,
        smallest_slope=1e-9,
        first_step=first_step,
        is_enough=is_enough,
    )


def least_of_scipy(function: Function, x: NDArray[np.float64], limits: list[tuple[float, float]]) -> float:
    options = {"maxiter": 500, "ftol": 1e-14, "gtol": 1e-9}
    return float(scipy.optimize.minimize(function, x, method="L-BFGS-B", jac=True, bounds=limits, options=options).fun)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("drawn", [quadratic, valley])
def test_it_comes_as_low_as_scipy(drawn: type, seed: int) -> None:
    rng = np.random.default_rng(seed)
    function, x = drawn(rng), rng.uniform(LOWER, UPPER, N)
    found = minimum(function, x)
    # A place between two of the grid costs at most half of the largest curvature times the square of half the spacing.
    assert found.value <= least_of_scipy(function, x, [(LOWER, UPPER)] * N) + 1e-9
    assert found.x.min() >= LOWER
    assert found.x.max() <= UPPER
    np.testing.assert_array_equal(found.x, np.clip(quantised(found.x, SPACING), LOWER, UPPER))
    value, slope = function(found.x)
    assert (found.value, found.slope.tolist()) == (value, slope.tolist())


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("drawn", [quadratic, valley])
def test_it_comes_as_low_as_scipy_where_each_variable_has_limits_of_its_own(drawn: type, seed: int) -> None:
    rng = np.random.default_rng(seed)
    function = drawn(rng)
    lower, upper = (quantised(rng.uniform(*between, N), SPACING) for between in ((-1.0, 0.4), (0.6, 1.5)))
    x = rng.uniform(lower, upper)
    found = minimum(function, x, lower=lower, upper=upper)
    assert found.value <= least_of_scipy(function, x, list(zip(lower, upper, strict=True))) + 1e-9
    assert (found.x >= lower).all()
    assert (found.x <= upper).all()
    assert ((found.x == lower) | (found.x == upper)).any()


def test_it_ends_where_every_variable_is_held(rng: np.random.Generator) -> None:
    slope = rng.choice([-1.0, 1.0], N)
    found = minimum(lambda x: (float(slope @ x), slope), np.full(N, 0.5))
    np.testing.assert_array_equal(found.x, np.where(slope > 0, LOWER, UPPER))


def test_it_takes_no_more_iterations_than_it_is_allowed(rng: np.random.Generator) -> None:
    x = rng.uniform(LOWER, UPPER, N)
    short, shorter = (minimum(valley(rng), x, max_iterations) for max_iterations in (3, 0))
    assert short.value < shorter.value
    assert shorter.n_evaluations == 1
    assert [each.ended for each in (short, shorter, minimum(valley(rng), x))] == [False, False, True]


def test_it_ends_where_it_is_told_that_this_is_enough(rng: np.random.Generator) -> None:
    shown: list[Minimum] = []

    def third(here: Minimum) -> bool:
        shown.append(here)
        return len(shown) == 3

    x = rng.uniform(LOWER, UPPER, N)
    found = minimum(valley(rng), x, is_enough=third)
    assert found is shown[-1]
    assert found.ended
    assert found.x.tolist() == minimum(valley(rng), x, 3).x.tolist()
    assert len({here.value for here in shown}) == 3


def test_the_first_step_is_the_slope_but_no_longer_than_asked(rng: np.random.Generator) -> None:
    slope = quantised(rng.uniform(-1.0, 1.0, N), SPACING)
    half = quantised(np.full(N, 0.5), SPACING)

    def first(first_step: float) -> NDArray[np.float64]:
        # The function is a plane, so that the whole step is taken.
        found = minimum(lambda x: (float(slope @ x), slope), half, 1, lower=-9.0, upper=9.0, first_step=first_step)
        return found.x - half

    np.testing.assert_array_equal(first(np.inf), -slope)
    np.testing.assert_allclose(first(0.25), -0.25 * slope / np.sqrt(slope @ slope), atol=SPACING)


def test_where_the_function_has_no_value_steps_are_shorter(rng: np.random.Generator) -> None:
    function = quadratic(rng)

    def with_a_cliff(x: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        return (np.inf, np.zeros(N)) if x[0] > 0.5 else function(x)

    x = rng.uniform(LOWER, 0.4, N)
    found = minimum(with_a_cliff, x)
    assert found.x[0] <= 0.5
    assert found.value < function(x)[0]


def test_where_the_slope_points_the_wrong_way_it_stays(rng: np.random.Generator) -> None:
    x = quantised(rng.uniform(0.2, 0.8, N), SPACING)
    found = minimum(lambda x: (float(x.sum()), -np.ones(N)), x)
    np.testing.assert_array_equal(found.x, x)


@pytest.mark.parametrize("drawn", [quadratic, valley])
def test_last_digits_do_not_grow(drawn: type) -> None:
    rng = np.random.default_rng(3)
    function, x = drawn(rng), rng.uniform(LOWER, UPPER, N)

    def with_other_digits(x: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        value, slope = function(x)
        value, slope = value * (1.0 + 4e-16 * rng.standard_normal()), slope * (1.0 + 4e-16 * rng.standard_normal(N))
        return float(quantised(value, 2.0**-32)), quantised(slope, SPACING)

    one, other = (minimum(with_other_digits, x) for _ in range(2))
    assert one.n_evaluations > 20
    np.testing.assert_array_equal(one.x, other.x)
