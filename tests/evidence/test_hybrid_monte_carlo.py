"""Samplers of the posterior, against exact Gibbs sampling and against the printed equations."""

from __future__ import annotations

import importlib.util
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from fsvm_cli.evidence import hybrid_monte_carlo
from fsvm_cli.evidence.diagnostics import convergence, effective_sample_size
from fsvm_cli.evidence.hybrid_monte_carlo import (
    MAX_LEAPFROG_STEPS,
    PAPER_SETTINGS,
    SamplerSettings,
    SamplingError,
    sample,
)
from fsvm_cli.evidence.losses import Hinge, SquaredHinge
from fsvm_cli.evidence.posterior import Posterior, posterior_mode
from tests.evidence.blackjax_draws import blackjax_draws
from tests.evidence.gibbs import gibbs_draws
from tests.evidence.problems import thin_factor, two_classes

if TYPE_CHECKING:
    from pathlib import Path

    from fsvm_cli.svm.compiled import Array

X, Y = two_classes(300)
SPLICE_LIKE = Posterior(thin_factor(X, 100, 20).V, Y, 2.0, Hinge())
SMALL = Posterior(thin_factor(X[:30], 15, 5).V, Y[:30], 1.5, Hinge())
SHORT = replace(PAPER_SETTINGS, n_warm_up=500, n_draws=2000)


class AsPrinted(Posterior):
    """The posterior with the force of the printed equation (21)."""

    def force(self, b: Array) -> Array:
        slopes = self.loss.slope(self.margins(b))
        return -b + self.C * (self.V.T @ (self.y[:, None] * slopes))


def moments(points: np.ndarray, centre: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return first and second moments about a centre, and their errors."""
    series = np.concatenate([points, (points - centre) ** 2], axis=2)
    return series.mean(axis=(0, 1)), np.sqrt(series.var(axis=(0, 1)) / effective_sample_size(series))


@pytest.fixture(scope="module")
def exact() -> np.ndarray:
    return gibbs_draws(SMALL, 8000, np.random.default_rng(1))


@pytest.mark.parametrize(
    "settings",
    [SamplerSettings(), replace(SHORT, n_draws=8000), replace(SHORT, n_draws=8000, step=0.15, refreshed="all")],
    ids=["default", "paper", "paper, all momenta"],
)
def test_moments_are_those_of_exact_gibbs_sampling(settings: SamplerSettings, exact: np.ndarray) -> None:
    centre = exact.mean(axis=(0, 1))
    expected, expected_error = moments(exact, centre)
    draws = sample(SMALL, settings, np.random.default_rng(2))
    found, found_error = moments(draws.points, centre)
    assert (np.abs(found - expected) < 5 * np.hypot(found_error, expected_error)).all()
    assert (convergence(draws.points).r_hat < 1.1).all()


@pytest.mark.slow
@pytest.mark.skipif(not importlib.util.find_spec("blackjax"), reason="JAX is installed on Linux only")
def test_moments_are_those_of_blackjax(exact: np.ndarray, tmp_path: Path) -> None:
    centre = exact.mean(axis=(0, 1))
    points = blackjax_draws(SMALL, tmp_path)
    expected, expected_error = moments(points, centre)
    for draws in (sample(SMALL, SamplerSettings(), np.random.default_rng(3)).points, exact):
        found, found_error = moments(draws, centre)
        assert (np.abs(found - expected) < 5 * np.hypot(found_error, expected_error)).all()
    # The test can tell: a standard deviation of the posterior is many of these errors.
    deviations = np.sqrt(expected[len(centre.ravel()) :])
    assert (expected_error[: len(deviations)] < 0.1 * deviations).all()


def test_the_setting_of_the_paper_accepts_and_its_printed_force_does_not() -> None:
    """Equation (21) is printed without the minus before the loss and with a prime astray.

    At C = 1, where the ascent begins; the acceptance falls as C and k0 grow.
    """
    samples, labels = two_classes(300, 10)
    V = thin_factor(samples, 100, 20).V
    settings = replace(PAPER_SETTINGS, n_chains=16, n_warm_up=100, n_draws=100)
    assert sample(Posterior(V, labels, 1.0, Hinge()), settings, np.random.default_rng(0)).acceptance.mean() > 0.8
    with pytest.raises(SamplingError, match="16 of 16 chains accepted none of 100 trajectories of 10 steps"):
        sample(AsPrinted(V, labels, 1.0, Hinge()), settings, np.random.default_rng(0))


def test_a_step_that_is_too_long_is_told() -> None:
    settings = replace(SHORT, step=1.0, time=10.0, n_draws=50)
    with pytest.raises(SamplingError, match="1 of 1 chains accepted none of 50 trajectories of 10 steps of 1"):
        sample(SPLICE_LIKE, settings, np.random.default_rng(0))


class Walled(Posterior):
    """A standard normal distribution up to a wall at 5, in which leapfrog steps longer than 0.2 are of no use."""

    def potential(self, b: Array) -> Array:
        return (0.5 * b**2 + 50.0 * np.maximum(b - 5.0, 0.0) ** 2).sum(axis=0)

    def force(self, b: Array) -> Array:
        return -b - 100.0 * np.maximum(b - 5.0, 0.0)


@pytest.mark.parametrize("acceptance", [0.75, None])
def test_chains_that_began_in_a_wall_are_freed_where_steps_are_adapted(
    monkeypatch: pytest.MonkeyPatch, acceptance: float | None
) -> None:
    monkeypatch.setattr(hybrid_monte_carlo, "posterior_mode", lambda posterior: np.array([9.0]))
    monkeypatch.setattr(hybrid_monte_carlo, "_warm_up", lambda rng, state, *_: (state, 0.45))
    settings = SamplerSettings(preconditioned=False, acceptance=acceptance)
    walled = Walled(np.ones((1, 1)), np.ones(1), 1.0, Hinge())
    if acceptance is None:
        with pytest.raises(SamplingError, match="64 of 64 chains accepted none of 60 trajectories"):
            sample(walled, settings, np.random.default_rng(0))
    else:
        points = sample(walled, settings, np.random.default_rng(0)).points
        error = 5 / np.sqrt(effective_sample_size(points).min())
        assert abs(points.mean()) < error
        assert abs(points.std() - 1) < error


def test_a_trajectory_is_as_long_as_asked_and_never_endless() -> None:
    assert (PAPER_SETTINGS.n_steps(0.05), SamplerSettings().n_steps(0.45)) == (10, 4)
    assert (SamplerSettings().n_steps(5.0), SamplerSettings().n_steps(1e-9)) == (1, MAX_LEAPFROG_STEPS)


@pytest.mark.parametrize("step", [0.02, 3.0])
def test_the_step_is_adapted_in_the_warm_up_and_kept_after_it(step: float) -> None:
    settings = SamplerSettings(step=step, n_warm_up=80, n_draws=100)
    draws = sample(SPLICE_LIKE, settings, np.random.default_rng(0))
    assert draws.acceptance.mean() == pytest.approx(0.75, abs=0.07)
    fixed = replace(settings, acceptance=None)
    assert sample(SPLICE_LIKE, replace(fixed, step=0.3), np.random.default_rng(0)).step == 0.3


def test_preconditioned_chains_are_worth_half_as_many_independent_draws() -> None:
    draws = sample(SPLICE_LIKE, SamplerSettings(), np.random.default_rng(0))
    assert effective_sample_size(draws.points).min() > 0.5 * draws.points.shape[0] * draws.points.shape[1]
    assert (convergence(draws.points).r_hat < 1.05).all()


def test_a_last_digit_of_the_posterior_changes_no_more_than_that_of_the_draws() -> None:
    nudged = Posterior(SPLICE_LIKE.V * (1.0 + 1e-13), Y, 2.0, Hinge())
    first, second = (sample(each, SamplerSettings(), np.random.default_rng(0)) for each in (SPLICE_LIKE, nudged))
    assert first.step == second.step
    np.testing.assert_allclose(first.points, second.points, atol=1e-9)


def test_a_stream_gives_the_same_draws_again() -> None:
    first, again, other = (sample(SMALL, SamplerSettings(), np.random.default_rng(seed)) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.points, again.points)
    assert (first.points != other.points).all()


def test_full_kernel_dynamics_are_those_of_equations_12_and_13_with_the_mass_matrix_k() -> None:
    """In θ = K a the printed equations are da/dτ = p, dp/dτ = -a - C Y l'(Yθ), free of the inverse of K."""
    n, step = 25, 0.05
    factor = thin_factor(X[:n], n, n)
    K, V, y, C = factor.V @ factor.V.T, factor.V, Y[:n], 1.5
    posterior = Posterior(V, y, C, SquaredHinge())  # at the mode, margins of the other are on its kink
    settings = replace(PAPER_SETTINGS, n_warm_up=0, n_draws=1, refreshed="all")
    start, momenta = posterior_mode(posterior), np.random.default_rng(8)
    momenta.standard_normal((V.shape[1], 1))  # those of the state before the first refreshment
    q = momenta.standard_normal((V.shape[1], 1))[:, 0]
    a, p = np.linalg.lstsq(V.T, start, rcond=None)[0], np.linalg.lstsq(V.T, q, rcond=None)[0]

    def force(a: np.ndarray) -> np.ndarray:
        return -a + C * y * np.maximum(0.0, 1.0 - y * (K @ a))

    p = p + 0.5 * step * force(a)
    for left in range(9, -1, -1):
        a = a + step * p
        p = p + (step if left else 0.5 * step) * force(a)
    draws = sample(posterior, settings, np.random.default_rng(8))
    np.testing.assert_allclose(V @ draws.points[0, 0], K @ a, atol=1e-8)
