"""The evidence by thermodynamic integration: chains at a ladder of strengths."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fsvm_cli.evidence.hybrid_monte_carlo import SamplerSettings, sample
from fsvm_cli.evidence.posterior import Posterior

if TYPE_CHECKING:
    from fsvm_cli.evidence.losses import Loss

RUNGS = 8
SETTINGS = SamplerSettings(n_draws=60)


class Integral(NamedTuple):
    """E = 1/n ln Q(Y | X), and its standard deviation."""

    value: float
    error: float


def integrated_log_evidence(V: np.ndarray, y: np.ndarray, C: float, loss: Loss, seed: int) -> Integral:
    """Integrate ln Q = n ln κ(C) - ∫_0^1 <C Σ l>_t dt, where the average is over the posterior of strength tC.

    Gauss and Legendre's rule in t^(1/4), since the average falls steeply where the prior meets the data.
    """
    nodes, weights = np.polynomial.legendre.leggauss(RUNGS)
    total = variance = 0.0
    for k, (root, weight) in enumerate(zip(0.5 * (nodes + 1.0), 0.5 * weights, strict=True)):
        rung = Posterior(V, y, C * root**4, loss)
        points = sample(rung, SETTINGS, np.random.default_rng([seed, k])).points
        losses = loss.value(rung.margins(points.reshape(-1, V.shape[1]).T)).sum(axis=0)
        of_chains = losses.reshape(points.shape[:2]).mean(axis=0)
        width = 4.0 * root**3 * weight * C
        total -= width * of_chains.mean()
        variance += width**2 * of_chains.var(ddof=1) / len(of_chains)
    return Integral(total / len(y) + loss.log_normaliser(C), np.sqrt(variance) / len(y))
