"""How often a sign of the gradient that is called resolved is wrong: `python -m tests.evidence.signs PROBLEMS`.

On made posteriors as they come, and where the derivative is 0 and either sign may be that of what is next to it.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import softmax

from fsvm_cli.evidence.gradient import EvidenceGradient, PosteriorAverages, evidence_gradient, posterior_averages
from fsvm_cli.evidence.hybrid_monte_carlo import SamplerSettings, sample
from fsvm_cli.evidence.kernels import ArdKernel
from fsvm_cli.evidence.losses import Hinge
from fsvm_cli.evidence.posterior import gaussian_approximation
from fsvm_cli.evidence.sampled_evidence import Hyperparameters, SampledEvidence
from fsvm_cli.evidence.tuning import SAMPLERS

if TYPE_CHECKING:
    from fsvm_cli.svm.compiled import Array

LONG = SamplerSettings(n_chains=64, n_warm_up=60, n_draws=600)
REPEATS = 8


def wrong_signs(problem: int) -> tuple[int, int, int]:
    """Count signs that are called resolved, those of them that are wrong, and all signs, of one made posterior.

    The truth is the gradient by `LONG` chains; where that does not know a sign it is left out.
    """
    rng = np.random.default_rng(problem)
    n, d = int(rng.integers(30, 90)), int(rng.integers(2, 9))
    X = rng.standard_normal((n, d))
    y = np.where(X[:, 0] + 0.5 * X[:, 1] + rng.uniform(0.1, 1.5) * rng.standard_normal(n) > 0.0, 1.0, -1.0)
    C, k0, *length_scales = np.exp(rng.normal([0.3, 1.0, *[0.5 * np.log(d)] * d], 0.7)).tolist()
    where = Hyperparameters(C, ArdKernel(k0, 1.0, tuple(length_scales)))
    evidence = SampledEvidence(X, y, Hinge(), np.arange(min(n, 60)), 15, SAMPLERS["weighted"], "exact")
    factor, posterior = evidence.posterior_at(where)
    truth: EvidenceGradient = evidence_gradient(
        factor, posterior, posterior_averages(posterior, sample(posterior, LONG, rng).points), "exact"
    )
    known = truth.resolved
    resolved = wrong = 0
    for _ in range(REPEATS):
        found, _ = evidence.gradient_at(where, rng)
        told = found.resolved & known
        resolved += int(told.sum())
        wrong += int((told & (np.sign(found.value) != np.sign(truth.value))).sum())
    return resolved, wrong, REPEATS * int(known.sum())


class Flat(NamedTuple):
    """A made posterior in two dimensions at which one component of the gradient is 0."""

    evidence: SampledEvidence
    where: Hyperparameters
    component: int


def gradient_on_a_grid(evidence: SampledEvidence, where: Hyperparameters) -> Array:
    """Return the gradient by the trapezoidal rule over eight standard deviations of a posterior in two dimensions."""
    factor, posterior = evidence.posterior_at(where)
    nearby, axis = gaussian_approximation(posterior), np.linspace(-8.0, 8.0, 100)
    b = nearby.mean[:, None] + nearby.root @ np.array([grid.ravel() for grid in np.meshgrid(axis, axis)])
    weights = softmax(-posterior.potential(b))
    at = posterior.loss.expanded(posterior.margins(b))
    averages = PosteriorAverages(
        np.ones(1),
        np.array([weights @ at.value.mean(axis=0)]),
        (posterior.y[:, None] * (at.slope @ (weights[:, None] * b.T)))[None],
        (at.curvature @ weights)[None],
    )
    return evidence_gradient(factor, posterior, averages, evidence.approximation).value


def flat(problem: int) -> list[Flat]:
    """Find where components of the gradient of a made posterior change their sign, along their own logarithm."""
    rng = np.random.default_rng(problem)
    n, d = int(rng.integers(15, 40)), int(rng.integers(1, 4))
    X = rng.standard_normal((n, d))
    y = np.where(X[:, 0] + rng.uniform(0.1, 1.5) * rng.standard_normal(n) > 0.0, 1.0, -1.0)
    evidence = SampledEvidence(X, y, Hinge(), np.arange(n), 2, SAMPLERS["weighted"], "exact")
    middle = rng.normal([0.3, 1.0, 0.0, *[0.5 * np.log(d)] * d], 0.5)
    found = []
    for component, direction in enumerate(np.eye(3 + d)):

        def at(change: float) -> Hyperparameters:
            return Hyperparameters.from_logarithms(middle + change * direction)  # noqa: B023 - called at once

        def slope(change: float) -> float:
            return float(gradient_on_a_grid(evidence, at(change))[component])  # noqa: B023 - called at once

        if slope(-2.0) * slope(2.0) < 0.0:
            found.append(Flat(evidence, at(float(brentq(slope, -2.0, 2.0, xtol=1e-4))), component))
    return found


def told_apart(place: Flat, sampler: str, repeats: int, rng: np.random.Generator) -> int:
    """Count how often the sign of what is 0 is called resolved."""
    evidence = replace(place.evidence, samplers=SAMPLERS[sampler])
    gradients = [evidence.gradient_at(place.where, rng)[0] for _ in range(repeats)]
    return sum(bool(gradient.resolved[place.component]) for gradient in gradients)


def _print_signs(n_problems: int) -> None:
    resolved, wrong, signs = np.sum([wrong_signs(problem) for problem in range(n_problems)], axis=0)
    print(f"{signs} signs, {resolved} called resolved, of which {wrong} are wrong")  # noqa: T201
    places = [place for problem in range(n_problems) for place in flat(problem)]
    for sampler, repeats in (("weighted", 40), ("chains", 10)):
        told = sum(told_apart(place, sampler, repeats, np.random.default_rng(k)) for k, place in enumerate(places))
        looked = repeats * len(places)
        print(  # noqa: T201
            f"{sampler}: {len(places)} zeros, looked at {looked} times, {told} called resolved: "
            f"beside 0, {50 * told / looked:.1f} % of signs are wrong"
        )


if __name__ == "__main__":
    _print_signs(int(sys.argv[1]))
