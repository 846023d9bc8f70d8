"""Weighted draws against chains, and against posteriors that they cannot reach."""

from __future__ import annotations

import numpy as np
import pytest

from fsvm_cli.evidence.gradient import evidence_gradient, posterior_averages
from fsvm_cli.evidence.hybrid_monte_carlo import SamplerSettings, SamplingError, sample
from fsvm_cli.evidence.importance import ImportanceSettings, importance_averages
from fsvm_cli.evidence.losses import Hinge, Trigonometric
from fsvm_cli.evidence.posterior import Posterior
from tests.evidence.gibbs import gibbs_draws
from tests.evidence.problems import thin_factor, two_classes

X, Y = two_classes(80)
FACTOR = thin_factor(X, 40, 8)
POSTERIOR = Posterior(FACTOR.V, Y, 2.0, Hinge())


def test_gradients_are_those_of_chains_and_of_exact_gibbs_sampling() -> None:
    weighted = importance_averages(POSTERIOR, ImportanceSettings(), np.random.default_rng(0))
    found = evidence_gradient(FACTOR, POSTERIOR, weighted.averages)
    assert weighted.effective_size > 500
    chains = sample(POSTERIOR, SamplerSettings(), np.random.default_rng(1)).points
    gibbs = gibbs_draws(POSTERIOR, 2000, np.random.default_rng(2))
    for points in (chains, gibbs):
        expected = evidence_gradient(FACTOR, POSTERIOR, posterior_averages(POSTERIOR, points))
        assert (np.abs(found.value - expected.value) < 5 * np.hypot(found.error, expected.error)).all()


def test_errors_are_as_large_as_stated() -> None:
    settings = ImportanceSettings(n_pairs=16)
    runs = [importance_averages(POSTERIOR, settings, np.random.default_rng(seed)).averages for seed in range(24)]
    gradients = [evidence_gradient(FACTOR, POSTERIOR, averages) for averages in runs]
    spread = np.std([gradient.value for gradient in gradients], axis=0, ddof=1)
    stated = np.sqrt(np.mean([gradient.error**2 for gradient in gradients], axis=0))
    np.testing.assert_allclose(stated / spread, 1.0, atol=5 / np.sqrt(2 * 24))


def test_rounding_of_the_posterior_is_not_multiplied() -> None:
    """The hinge's force jumps, and chains that differ in the last digit are soon far apart."""
    rounded = Posterior(POSTERIOR.V * (1 + 1e-15 * np.sign(POSTERIOR.V)), Y, 2.0, Hinge())
    first, second = (
        importance_averages(each, ImportanceSettings(), np.random.default_rng(0)).averages
        for each in (POSTERIOR, rounded)
    )
    np.testing.assert_allclose(second.moments, first.moments, atol=1e-10)
    np.testing.assert_allclose(second.loss, first.loss, rtol=1e-10)


def test_weights_on_few_draws_are_told() -> None:
    full = Posterior(10.0 * thin_factor(X, 80, 80).V, Y, 5.0, Trigonometric())
    with pytest.raises(SamplingError, match=r"of 2048 weighted draws [0-9]+ count: no normal distribution is near"):
        importance_averages(full, ImportanceSettings(), np.random.default_rng(0))
