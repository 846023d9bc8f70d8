"""The density of the posterior, its mode, and the normal distribution nearest to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from sklearn.svm import LinearSVC

from fsvm_cli.evidence.losses import Hinge, Smoothed, SquaredHinge, Trigonometric
from fsvm_cli.evidence.posterior import Posterior, gaussian_approximation, posterior_mode
from fsvm_cli.evidence.sampled_evidence import BlurredLoss
from fsvm_cli.svm import ConvergenceError
from tests.evidence.problems import thin_factor, two_classes
from tests.evidence.test_losses import every_loss

if TYPE_CHECKING:
    from fsvm_cli.evidence.losses import Loss

X, Y = two_classes(80)
C = 2.0


def posterior_with(loss: Loss, n_landmarks: int = 40, rank: int = 8) -> Posterior:
    return Posterior(thin_factor(X, n_landmarks, rank).V, Y, C, loss)


@every_loss
@pytest.mark.parametrize("size", [(80, 40), (40, 8)], ids=["full", "thin"])
def test_the_force_is_the_slope_of_the_potential(loss: Loss, size: tuple[int, int]) -> None:
    posterior = posterior_with(loss, *size)
    p = posterior.V.shape[1]
    b, h = 0.1 * np.random.default_rng(0).standard_normal((p, 3)), 1e-6
    steps = h * np.eye(p)[:, :, None]
    differences = [posterior.potential(b - step) - posterior.potential(b + step) for step in steps]
    np.testing.assert_allclose(posterior.force(b), np.array(differences) / (2 * h), atol=1e-5)


@pytest.mark.parametrize("loss", [Hinge(), BlurredLoss(SquaredHinge(), np.linspace(0.1, 1.0, 80))], ids=["", "blurred"])
def test_losses_are_the_same_whatever_the_blocks(loss: Loss, monkeypatch: pytest.MonkeyPatch) -> None:
    posterior = posterior_with(loss)
    b = np.random.default_rng(0).standard_normal((8, 3))
    at = loss.expanded(posterior.margins(b))
    slopes, curvatures = np.empty((2, 80, 3))
    monkeypatch.setattr("fsvm_cli.evidence.posterior.SAMPLES_PER_BLOCK", 32)
    np.testing.assert_allclose(posterior.summed_losses(b, slopes, curvatures), at.value.sum(axis=0), rtol=1e-12)
    np.testing.assert_allclose(slopes, at.slope, rtol=1e-12)
    np.testing.assert_allclose(curvatures, at.curvature, rtol=1e-12)


def test_the_potential_is_the_log_posterior_of_theta() -> None:
    factor = thin_factor(X[:10], 10, 10)
    posterior = Posterior(factor.V, Y[:10], C, SquaredHinge())
    b = np.random.default_rng(0).standard_normal((10, 4))
    theta = factor.V @ b
    quadratic = 0.5 * np.einsum("nk,nk->k", theta, np.linalg.solve(factor.cross, theta))
    losses = np.maximum(0.0, 1.0 - Y[:10, None] * theta) ** 2 / 2
    np.testing.assert_allclose(posterior.potential(b), quadratic + C * losses.sum(axis=0))


@pytest.mark.parametrize(("loss", "name", "factor"), [(Hinge(), "hinge", 1.0), (SquaredHinge(), "squared_hinge", 0.5)])
def test_the_mode_is_the_machine_without_bias(loss: Loss, name: str, factor: float) -> None:
    posterior = posterior_with(loss)
    oracle = LinearSVC(loss=name, C=factor * C, fit_intercept=False, tol=1e-9, max_iter=1_000_000, random_state=0)
    expected = oracle.fit(posterior.V, Y).coef_[0]
    np.testing.assert_allclose(posterior_mode(posterior, 1e-10), expected, atol=1e-4)


def test_the_trigonometric_mode_has_no_force() -> None:
    posterior = posterior_with(Trigonometric())
    np.testing.assert_allclose(posterior.force(posterior_mode(posterior)[:, None]), 0.0, atol=1e-5)


def test_a_mode_out_of_reach_is_said() -> None:
    with pytest.raises(ConvergenceError, match="relative duality gap"):
        posterior_mode(posterior_with(Hinge()), 1e-30)


@every_loss
@pytest.mark.parametrize("C", [0.1, 2.0, 300.0])
def test_the_normal_approximation_satisfies_its_equations(loss: Loss, C: float) -> None:
    posterior = Posterior(thin_factor(X, 40, 8).V, Y, C, loss)
    found = gaussian_approximation(posterior)
    assert found.converged
    signed = Y[:, None] * posterior.V
    here = loss.smoothed(signed @ found.mean, np.linalg.norm(signed @ found.root, axis=1))
    off = found.mean + C * signed.T @ here.slope
    assert np.linalg.norm(found.root.T @ off) < 1e-3  # in units of the posterior's own spread
    expected = np.eye(8) + C * (signed.T * here.curvature) @ signed
    np.testing.assert_allclose(found.root.T @ expected @ found.root, np.eye(8), atol=1e-3)


@pytest.mark.parametrize("loss", [Hinge(), SquaredHinge()], ids=["hinge", "squared hinge"])
def test_the_normal_approximation_is_found_where_the_prior_is_wide(loss: Loss) -> None:
    """As late in an ascent, where k0 is 1,400: few samples are near the kink, and spreads differ by powers of ten."""
    samples, labels = two_classes(234, 33)
    V = np.sqrt(1400.0) * thin_factor(samples, 200, 20).V
    posterior = Posterior(V, labels, 4.0, loss)
    found = gaussian_approximation(posterior)
    assert found.converged
    signed = labels[:, None] * V
    here = loss.smoothed(signed @ found.mean, np.linalg.norm(signed @ found.root, axis=1))
    np.testing.assert_allclose(found.curvature, here.curvature, rtol=1e-6)
    assert np.linalg.norm(found.root.T @ (found.mean + 4.0 * signed.T @ here.slope)) < 1e-3
    expected = np.eye(20) + 4.0 * (signed.T * here.curvature) @ signed
    np.testing.assert_allclose(found.root.T @ expected @ found.root, np.eye(20), atol=2e-3)


class Overflowing(Hinge):
    """A loss whose average is no number, so that no step lowers the divergence."""

    def smoothed(self, margins: np.ndarray, spreads: np.ndarray) -> Smoothed:
        right = super().smoothed(margins, spreads)
        return right._replace(value=right.value * np.nan)


def test_a_search_that_finds_no_step_is_not_called_converged() -> None:
    assert not gaussian_approximation(posterior_with(Overflowing())).converged


def test_a_function_that_is_zero_everywhere_is_no_trouble() -> None:
    posterior = Posterior(np.zeros((5, 1)), np.ones(5), C, Hinge())
    found = gaussian_approximation(posterior)
    assert (found.mean, found.root) == (np.zeros(1), np.eye(1))
