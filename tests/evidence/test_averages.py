"""Averages over draws, and the batches that tell their errors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy.special import softmax

from fsvm_cli.evidence.gradient import controlled_moments, posterior_averages
from fsvm_cli.evidence.losses import SquaredHinge
from fsvm_cli.evidence.posterior import Posterior
from tests.evidence.problems import thin_factor, two_classes
from tests.evidence.test_losses import every_loss

if TYPE_CHECKING:
    from fsvm_cli.evidence.losses import Loss

X, Y = two_classes(12)
POSTERIOR = Posterior(thin_factor(X, 12, 4).V, Y, 1.0, SquaredHinge())


@pytest.mark.parametrize(("n_draws", "n_chains", "n_batches"), [(50, 64, 16), (1000, 1, 16), (30, 7, 21), (5, 3, 15)])
def test_batches_add_up_to_the_average_of_all_draws(n_draws: int, n_chains: int, n_batches: int) -> None:
    points = np.random.default_rng(4).standard_normal((n_draws, n_chains, 4))
    found = posterior_averages(POSTERIOR, points)
    assert found.moments.shape == (n_batches, 12, 4)
    assert found.parts.sum() == pytest.approx(1.0)
    theta = points.reshape(-1, 4) @ POSTERIOR.V.T
    slack = np.maximum(0.0, 1.0 - Y * theta)
    assert found.parts @ found.loss == pytest.approx((slack**2 / 2).mean())
    moments = -(Y * slack).T @ points.reshape(-1, 4) / (n_draws * n_chains)
    second_moments = points.reshape(-1, 4).T @ points.reshape(-1, 4) / (n_draws * n_chains)
    expected = controlled_moments(POSTERIOR, moments[None], second_moments[None])[0]
    np.testing.assert_allclose(np.tensordot(found.parts, found.moments, 1), expected, atol=1e-12)


@every_loss
def test_control_variates_leave_the_mean_and_take_most_of_the_noise(loss: Loss) -> None:
    """In two dimensions, where the posterior is averaged over a grid."""
    X, y = two_classes(30)
    posterior = Posterior(3.0 * thin_factor(X, 20, 2).V, y, 1.5, loss)
    nearby, axis = posterior.nearby, np.linspace(-9.0, 9.0, 1601)
    b = nearby.mean[:, None] + nearby.root @ np.array([grid.ravel() for grid in np.meshgrid(axis, axis)])
    weights = softmax(-posterior.potential(b))

    def moments(b: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        weighted = weights[:, None] * b.T
        return y[:, None] * (posterior.loss.slope(posterior.margins(b)) @ weighted), b @ weighted

    plain, second = moments(b, weights)
    np.testing.assert_allclose(controlled_moments(posterior, plain[None], second[None])[0], plain, atol=2e-3)
    drawn = np.random.default_rng(0).choice(len(weights), (64, 100), p=weights)
    batches = [moments(b[:, draws], np.full(100, 0.01)) for draws in drawn]
    found = np.array([each for each, _ in batches])
    controlled = controlled_moments(posterior, found, np.array([each for _, each in batches]))
    # Slopes of samples that are alike move together, as a gradient sums them.
    noise, less = (((posterior.V.T @ (each - plain)) ** 2).mean() for each in (found, controlled))
    assert less < noise / 4
    assert np.abs(controlled.mean(axis=0) - plain).max() < 5 * controlled.std(axis=0).max() / 8
