"""The descent on a grid: scipy's L-BFGS-B as an oracle, and last digits that do not grow."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
import scipy.optimize

from fsvm_cli.grid import on_grid
from fsvm_cli.quasi_newton import minimise_on_grid

if TYPE_CHECKING:
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


def minimum(function: Function, x: NDArray[np.float64], max_iterations: int = 500) -> Minimum:
    return minimise_on_grid(
        function,
        x,
        lower=LOWER,
        upper=UPPER,
        spacing=SPACING,
        max_iterations=max_iterations,
        smallest_fall=1e-14,
        smallest_slope=1e-9,
    )


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("drawn", [quadratic, valley])
def test_it_comes_as_low_as_scipy(drawn: type, seed: int) -> None:
    rng = np.random.default_rng(seed)
    function, x = drawn(rng), rng.uniform(LOWER, UPPER, N)
    found = minimum(function, x)
    limits = [(LOWER, UPPER)] * N
    options = {"maxiter": 500, "ftol": 1e-14, "gtol": 1e-9}
    oracle = scipy.optimize.minimize(function, x, method="L-BFGS-B", jac=True, bounds=limits, options=options)
    # A place between two of the grid costs at most half of the largest curvature times the square of half the spacing.
    assert found.value <= oracle.fun + 1e-9
    assert found.x.min() >= LOWER
    assert found.x.max() <= UPPER
    np.testing.assert_array_equal(found.x, np.clip(on_grid(found.x, SPACING), LOWER, UPPER))
    value, slope = function(found.x)
    assert (found.value, found.slope.tolist()) == (value, slope.tolist())


def test_it_ends_where_every_variable_is_held(rng: np.random.Generator) -> None:
    slope = rng.choice([-1.0, 1.0], N)
    found = minimum(lambda x: (float(slope @ x), slope), np.full(N, 0.5))
    np.testing.assert_array_equal(found.x, np.where(slope > 0, LOWER, UPPER))


def test_it_takes_no_more_iterations_than_it_is_allowed(rng: np.random.Generator) -> None:
    x = rng.uniform(LOWER, UPPER, N)
    short, shorter = (minimum(valley(rng), x, max_iterations) for max_iterations in (3, 0))
    assert short.value < shorter.value
    assert shorter.n_evaluations == 1


def test_where_the_slope_points_the_wrong_way_it_stays(rng: np.random.Generator) -> None:
    x = on_grid(rng.uniform(0.2, 0.8, N), SPACING)
    found = minimum(lambda x: (float(x.sum()), -np.ones(N)), x)
    np.testing.assert_array_equal(found.x, x)


@pytest.mark.parametrize("drawn", [quadratic, valley])
def test_last_digits_do_not_grow(drawn: type) -> None:
    rng = np.random.default_rng(3)
    function, x = drawn(rng), rng.uniform(LOWER, UPPER, N)

    def with_other_digits(x: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        value, slope = function(x)
        value, slope = value * (1.0 + 4e-16 * rng.standard_normal()), slope * (1.0 + 4e-16 * rng.standard_normal(N))
        return float(on_grid(value, 2.0**-32)), on_grid(slope, SPACING)

    one, other = (minimum(with_other_digits, x) for _ in range(2))
    assert one.n_evaluations > 20
    np.testing.assert_array_equal(one.x, other.x)
