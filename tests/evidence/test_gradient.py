"""Evidence gradients against differences of evidences by quadrature."""

from __future__ import annotations

import functools
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, get_args

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import logsumexp, softmax

from fsvm_cli.evidence.gradient import (
    MAX_WRONG_SIGN_PROBABILITY,
    EvidenceGradient,
    PosteriorAverages,
    evidence_gradient,
    posterior_averages,
)
from fsvm_cli.evidence.hybrid_monte_carlo import SamplerSettings, sample
from fsvm_cli.evidence.importance import ImportanceSettings, importance_averages
from fsvm_cli.evidence.kernels import ArdKernel, NystroemFactor, nystroem_factor
from fsvm_cli.evidence.losses import Hinge, SquaredHinge
from fsvm_cli.evidence.parameters import Approximation
from fsvm_cli.evidence.posterior import Posterior
from fsvm_cli.evidence.sampled_evidence import BlurredLoss
from tests.evidence.quadrature import evidence_nodes, log_evidence
from tests.evidence.signs import flat, gradient_on_a_grid, told_apart, wrong_signs
from tests.evidence.test_losses import every_loss

if TYPE_CHECKING:
    from collections.abc import Callable

    from fsvm_cli.evidence.losses import Loss

X, NOISE = np.split(np.random.default_rng(2005).standard_normal(120), [80])
X = X.reshape(40, 2)
Y = np.where(X[:, 0] + 0.3 * NOISE > 0, 1.0, -1.0)
Y[:3] = 1.0, -1.0, 1.0
C = 1.3
KERNEL = ArdKernel(1.4, 0.6, (0.8, 1.7))
APPROXIMATIONS: tuple[Approximation, ...] = get_args(Approximation)


def full_factor(kernel: ArdKernel, samples: np.ndarray) -> NystroemFactor:
    return nystroem_factor(kernel, samples, np.arange(len(samples)), len(samples))


def differences(evidence: Callable[[float, ArdKernel], float], h: float = 1e-4) -> np.ndarray:
    """Return central differences of E(C, kernel) by the logarithms of C, k0, k_off and the length scales."""
    logs = np.log([C, KERNEL.k0, KERNEL.k_off, *KERNEL.length_scales])

    def at(shifted: np.ndarray) -> float:
        first, k0, k_off, *lengths = np.exp(shifted).tolist()
        return evidence(first, ArdKernel(k0, k_off, tuple(lengths)))

    steps = h * np.eye(len(logs))
    return np.array([(at(logs + step) - at(logs - step)) / (2 * h) for step in steps])


@functools.cache
def gradient_by_quadrature(loss: Loss, n: int) -> np.ndarray:
    return differences(lambda c, kernel: log_evidence(kernel.kernel.gram(X[:n], X[:n]), Y[:n], c, loss), 1e-3)


@pytest.mark.parametrize("n", [2, 3])
@every_loss
def test_with_averages_by_quadrature_they_are_differences_of_the_evidence(loss: Loss, n: int) -> None:
    factor = full_factor(KERNEL, X[:n])
    posterior = Posterior(factor.V, Y[:n], C, loss)
    nodes = evidence_nodes(factor.cross, Y[:n], C, loss)
    keep = np.isfinite(nodes.log_weights)
    b, weights = np.linalg.solve(factor.V, nodes.theta[:, keep]), softmax(nodes.log_weights[keep])
    margins = posterior.margins(b)
    mean_loss = weights @ loss.value(margins).mean(axis=0)
    moments = (Y[:n, None] * loss.slope(margins) * weights) @ b.T
    averages = PosteriorAverages(np.ones(1), np.array([mean_loss]), moments[None], np.zeros((1, len(moments))))
    expected = gradient_by_quadrature(loss, n)
    assert np.abs(expected).min() > 1e-4
    for approximation in APPROXIMATIONS:
        found = evidence_gradient(factor, posterior, averages, approximation)
        np.testing.assert_allclose(found.value, expected, atol=1e-6)
        assert np.isnan(found.error).all()


def test_a_component_is_resolved_where_its_sign_is_known_and_it_is_larger_than_rounding() -> None:
    found = EvidenceGradient(np.array([0.2, -0.1, 0.1, 3e-17]), np.array([0.05, 0.025, 0.2, 1e-18]))
    np.testing.assert_array_equal(found.resolved, [True, True, False, False])


@pytest.mark.parametrize("n", [2, 3])
@every_loss
def test_sampled_gradients_are_within_their_stated_errors(loss: Loss, n: int) -> None:
    factor = full_factor(KERNEL, X[:n])
    posterior = Posterior(factor.V, Y[:n], C, loss)
    draws = sample(posterior, SamplerSettings(n_draws=300), np.random.default_rng(n))
    found = evidence_gradient(factor, posterior, posterior_averages(posterior, draws.points))
    assert (np.abs(found.value - gradient_by_quadrature(loss, n)) < 5 * found.error).all()
    assert (found.error < 0.01).all()
    assert found.resolved[0]


@pytest.mark.parametrize("n", [2, 3])
@every_loss
def test_weighted_draws_tell_the_evidence_and_its_gradient(loss: Loss, n: int) -> None:
    factor = full_factor(KERNEL, X[:n])
    posterior = Posterior(factor.V, Y[:n], C, loss)
    settings = ImportanceSettings(n_pairs=500)
    runs = [importance_averages(posterior, settings, np.random.default_rng(seed)) for seed in range(6)]
    evidences = np.array([run.log_evidence for run in runs])
    error = evidences.std(ddof=1) / np.sqrt(6)
    assert np.abs(evidences.mean() - log_evidence(factor.cross, Y[:n], C, loss)) < 7 * error < 0.05
    assert all(run.effective_size > 500 for run in runs)
    found = evidence_gradient(factor, posterior, runs[0].averages)
    assert (np.abs(found.value - gradient_by_quadrature(loss, n)) < 5 * found.error).all()
    assert (found.error < 0.01).all()


@pytest.mark.parametrize("loss", [Hinge(), SquaredHinge()], ids=lambda loss: loss.name)
def test_the_exact_gradient_is_that_of_the_thin_kernel_of_rank_one(loss: Loss) -> None:
    samples, y, landmarks = X[:4], Y[:4], np.array([0, 2, 3])

    def log_density(b: float, V: np.ndarray, c: float) -> float:
        return -0.5 * b**2 - c * loss.value(y * V[:, 0] * b).sum()

    def integral(V: np.ndarray, c: float, of: Callable[[float], float]) -> float:
        edges = np.unique([-9.0, *np.sort(1.0 / (y * V[:, 0])).clip(-9.0, 9.0), 9.0])
        parts = [
            quad(lambda b: of(b) * np.exp(log_density(b, V, c)), low, high, epsabs=1e-13)[0]
            for low, high in pairwise(edges)
        ]
        return float(np.sum(parts))

    def evidence(c: float, kernel: ArdKernel) -> float:
        V = nystroem_factor(kernel, samples, landmarks, 1).V
        return np.log(integral(V, c, lambda _: 1.0)) / 4 + loss.log_normaliser(c)

    factor = nystroem_factor(KERNEL, samples, landmarks, 1)
    total = integral(factor.V, C, lambda _: 1.0)

    def mean(of: Callable[[float], float]) -> float:
        return integral(factor.V, C, of) / total

    def slope(b: float, i: int) -> float:
        return float(loss.slope(np.array([y[i] * factor.V[i, 0] * b]))[0])

    moments = np.array([[y[i] * mean(lambda b, i=i: b * slope(b, i))] for i in range(4)])
    mean_loss = mean(lambda b: loss.value(y * factor.V[:, 0] * b).mean())
    averages = PosteriorAverages(np.ones(1), np.array([mean_loss]), moments[None], np.zeros((1, len(moments))))
    posterior = Posterior(factor.V, y, C, loss)
    exact = evidence_gradient(factor, posterior, averages, "exact")
    np.testing.assert_allclose(exact.value, differences(evidence), atol=1e-8)
    mixed = evidence_gradient(factor, posterior, averages, "mixed")
    assert np.abs(mixed.value - exact.value).max() > 1e-3


def test_the_exact_gradient_is_that_of_the_thin_kernel_of_rank_two() -> None:
    """On a grid in the plane; the squared hinge is smooth enough for it."""
    loss, landmarks, axis = SquaredHinge(), np.arange(0, 12, 2), np.arange(-7.0, 7.0, 0.05)
    samples, y = X[:12], Y[:12]
    b = np.array([grid.ravel() for grid in np.meshgrid(axis, axis)])

    def evidence(c: float, kernel: ArdKernel) -> float:
        posterior = Posterior(nystroem_factor(kernel, samples, landmarks, 2).V, y, c, loss)
        return float(logsumexp(-posterior.potential(b))) / 12 + loss.log_normaliser(c)

    factor = nystroem_factor(KERNEL, samples, landmarks, 2)
    posterior = Posterior(factor.V, y, C, loss)
    weights = softmax(-posterior.potential(b))
    margins = posterior.margins(b)
    moments = (y[:, None] * loss.slope(margins) * weights) @ b.T
    averages = PosteriorAverages(
        np.ones(1), np.array([weights @ loss.value(margins).mean(axis=0)]), moments[None], np.zeros((1, 12))
    )
    found = evidence_gradient(factor, posterior, averages, "exact")
    np.testing.assert_allclose(found.value, differences(evidence), atol=1e-6)


@pytest.mark.parametrize("loss", [Hinge(), SquaredHinge()], ids=lambda loss: loss.name)
def test_the_gradient_of_the_bound_is_that_of_its_value_which_is_below_the_evidence(loss: Loss) -> None:
    """On a line, where the value is an integral; the evidence of the whole kernel by quadrature in three dimensions."""
    samples, y, landmarks, axis = X[:3], Y[:3], np.array([0, 2]), np.arange(-9.0, 9.0, 0.002)

    def blurred(factor: NystroemFactor, c: float) -> Posterior:
        return Posterior(factor.V, y, c, BlurredLoss(loss, np.sqrt(factor.lost_variance)))

    def bound(c: float, kernel: ArdKernel) -> float:
        potential = blurred(nystroem_factor(kernel, samples, landmarks, 1), c).potential(axis[None])
        total = logsumexp(-potential) + np.log(0.002 / np.sqrt(2 * np.pi))
        return float(total) / 3 + loss.log_normaliser(c)

    factor = nystroem_factor(KERNEL, samples, landmarks, 1)
    posterior = blurred(factor, C)
    weights = softmax(-posterior.potential(axis[None]))
    at = posterior.loss.expanded(posterior.margins(axis[None]))
    averages = PosteriorAverages(
        np.ones(1),
        np.array([weights @ at.value.mean(axis=0)]),
        ((y[:, None] * at.slope * weights) @ axis[:, None])[None],
        (at.curvature @ weights)[None],
    )
    found = evidence_gradient(factor, posterior, averages, "bound")
    np.testing.assert_allclose(found.value, differences(bound), atol=1e-7)
    whole = log_evidence(KERNEL.kernel.gram(samples, samples), y, C, loss)
    assert whole - 0.5 < bound(C, KERNEL) < whole


def test_both_gradients_agree_draw_by_draw_where_the_kernel_is_full() -> None:
    kernel = replace(KERNEL, length_scales=(0.2, 0.3))  # well conditioned
    factor = full_factor(kernel, X)
    posterior = Posterior(factor.V, Y, C, Hinge())
    averages = posterior_averages(posterior, np.random.default_rng(1).standard_normal((5, 4, 40)))
    mixed, exact, _ = (evidence_gradient(factor, posterior, averages, each) for each in APPROXIMATIONS)
    np.testing.assert_allclose(mixed.value, exact.value, rtol=1e-7, atol=1e-10)
    np.testing.assert_allclose(mixed.error, exact.error, rtol=1e-6)


def test_of_signs_that_are_called_resolved_one_in_forty_is_wrong_at_most() -> None:
    resolved, wrong, _ = np.sum([wrong_signs(problem) for problem in range(2)], axis=0)
    assert resolved > 50
    assert wrong <= 0.025 * resolved


def test_beside_a_zero_of_the_gradient_few_signs_are_called_resolved() -> None:
    places = flat(0)
    for place in places:
        at_zero = abs(gradient_on_a_grid(place.evidence, place.where)[place.component])
        assert (
            at_zero < 0.1 * place.evidence.gradient_at(place.where, np.random.default_rng(0))[0].error[place.component]
        )
    told = sum(told_apart(place, "weighted", 20, np.random.default_rng(k)) for k, place in enumerate(places))
    # Twice as many as signs that are wrong: there either may be the true one.
    assert len(places) > 1
    assert told <= 4 * MAX_WRONG_SIGN_PROBABILITY * 20 * len(places)
