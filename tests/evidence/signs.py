"""How often a sign of the gradient that is called resolved is wrong: `python -m tests.evidence.signs PROBLEMS`."""

from __future__ import annotations

import sys

import numpy as np

from fsvm_cli.evidence.gradient import EvidenceGradient, evidence_gradient, posterior_averages
from fsvm_cli.evidence.hybrid_monte_carlo import SamplerSettings, sample
from fsvm_cli.evidence.kernels import ArdKernel
from fsvm_cli.evidence.losses import Hinge
from fsvm_cli.evidence.sampled_evidence import Hyperparameters, SampledEvidence
from fsvm_cli.evidence.tuning import SAMPLERS

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


if __name__ == "__main__":
    resolved, wrong, signs = np.sum([wrong_signs(problem) for problem in range(int(sys.argv[1]))], axis=0)
    print(f"{signs} signs, {resolved} called resolved, of which {wrong} are wrong")  # noqa: T201
