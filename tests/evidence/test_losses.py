"""Losses and their normalisers, against differences, quadrature and plain maximisation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import minimize_scalar

from fsvm_cli.evidence.losses import Hinge, SquaredHinge, Trigonometric

if TYPE_CHECKING:
    from fsvm_cli.evidence.losses import Loss

LOSSES = (Hinge(), SquaredHinge(), Trigonometric())
every_loss = pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
MARGINS = np.array([-0.95, -0.5, 0.0, 0.3, 0.999, 1.001, 2.0])


def value_at(loss: Loss, margin: float) -> float:
    return float(loss.value(np.array([margin]))[0])


def log_total(loss: Loss, C: float, theta: float) -> float:
    """The logarithm of the two classes' likelihoods, without the normaliser, added up."""
    return float(np.logaddexp(-C * value_at(loss, theta), -C * value_at(loss, -theta)))


def test_values_are_those_of_the_papers() -> None:
    z = np.array([-0.5, 0.25, 1.0, 3.0])
    np.testing.assert_allclose(Hinge().value(z), [1.5, 0.75, 0.0, 0.0])
    np.testing.assert_allclose(SquaredHinge().value(z), [1.125, 0.28125, 0.0, 0.0])
    likelihood = np.cos(np.pi / 4 * (1 - z[:2])) ** 2
    np.testing.assert_allclose(np.exp(-Trigonometric().value(z)), [*likelihood, 1.0, 1.0])
    assert np.isinf(Trigonometric().value(np.array([-1.0, -7.0]))).all()
    assert np.isfinite(Trigonometric().slope(np.array([-1.0, -7.0]))).all()


@every_loss
def test_slopes_are_differences_of_values(loss: Loss) -> None:
    h = 1e-6
    differences = (loss.value(MARGINS + h) - loss.value(MARGINS - h)) / (2 * h)
    np.testing.assert_allclose(loss.slope(MARGINS), differences, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("loss", [Hinge(), SquaredHinge()], ids=lambda loss: loss.name)
@pytest.mark.parametrize("spread", [0.1, 0.8])
def test_smoothed_losses_are_averages_over_normal_distributions(loss: Loss, spread: float) -> None:
    def average(margin: float) -> float:
        def integrand(u: float) -> float:
            return value_at(loss, margin + spread * u) * float(np.exp(-0.5 * u**2)) / np.sqrt(2 * np.pi)

        kink = (1.0 - margin) / spread
        return quad(integrand, -10.0, max(-10.0, min(kink, 10.0)), epsabs=1e-13)[0]  # beyond the kink there is no loss

    h = 1e-4
    found = loss.smoothed(MARGINS, np.full(MARGINS.shape, spread))
    below, here, above = ([average(z + step) for z in MARGINS] for step in (-h, 0.0, h))
    np.testing.assert_allclose(found.value, here, atol=1e-11)
    np.testing.assert_allclose(found.slope, (np.array(above) - below) / (2 * h), atol=1e-6)
    np.testing.assert_allclose(found.curvature, (np.array(above) - 2 * np.array(here) + below) / h**2, atol=1e-4)


def test_the_trigonometric_loss_is_smoothed_at_its_means_alone() -> None:
    loss, inside, h = Trigonometric(), MARGINS[:4], 1e-5
    found = loss.smoothed(inside, np.ones(4))
    np.testing.assert_array_equal(found.value, loss.value(inside))
    np.testing.assert_array_equal(found.slope, loss.slope(inside))
    np.testing.assert_allclose(found.curvature, (loss.slope(inside + h) - loss.slope(inside - h)) / (2 * h), rtol=1e-6)


@every_loss
@pytest.mark.parametrize("C", [0.02, 0.7, 1.0, 1.000001, 1.4, 6.0, 40.0])
def test_the_normaliser_makes_the_largest_total_probability_one(loss: Loss, C: float) -> None:
    grid = np.linspace(0.0, 3.0, 3001)
    start = grid[np.argmax([log_total(loss, C, theta) for theta in grid])]
    bounds = (max(0.0, start - 1e-3), start + 1e-3)
    found = minimize_scalar(lambda theta: -log_total(loss, C, theta), bounds=bounds, options={"xatol": 1e-12})
    largest = max(-found.fun, log_total(loss, C, 1.0), log_total(loss, C, 0.0))
    assert loss.log_normaliser(C) == pytest.approx(-largest, abs=1e-11)


@every_loss
@pytest.mark.parametrize("C", [0.02, 0.7, 1.05, 1.4, 6.0, 40.0])
def test_the_slope_of_the_normaliser_is_a_difference(loss: Loss, C: float) -> None:
    h = 1e-3
    near, far = (loss.log_normaliser(C + s * h) - loss.log_normaliser(C - s * h) for s in (1, 2))
    fourth_order = (8 * near - far) / (12 * h)
    assert loss.log_normaliser_slope(C) == pytest.approx(fourth_order, abs=1e-8)


@pytest.mark.parametrize("C", np.logspace(-16, -1, 16) + 1.0)
def test_the_normaliser_of_the_squared_hinge_branches_smoothly(C: float) -> None:
    slope = SquaredHinge().log_normaliser_slope(C)
    assert 0.5 - 1.5 * (C - 1.0) - 1e-12 <= slope <= 0.5
