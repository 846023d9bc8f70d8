"""Averages over draws, and the batches that tell their errors."""

from __future__ import annotations

import numpy as np
import pytest

from fsvm_cli.evidence.gradient import posterior_averages
from fsvm_cli.evidence.losses import SquaredHinge
from fsvm_cli.evidence.posterior import Posterior
from tests.evidence.problems import thin_factor, two_classes

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
    expected = -(Y * slack).T @ points.reshape(-1, 4) / (n_draws * n_chains)
    np.testing.assert_allclose(np.tensordot(found.parts, found.moments, 1), expected, atol=1e-12)
