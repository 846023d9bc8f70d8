"""Averages over the posterior by importance sampling, and the evidence itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import logsumexp

from fsvm_cli.evidence.diagnostics import pareto_k
from fsvm_cli.evidence.gradient import PosteriorAverages, controlled_moments
from fsvm_cli.evidence.hybrid_monte_carlo import SamplingError

if TYPE_CHECKING:
    from fsvm_cli.evidence.posterior import Posterior

MIN_EFFECTIVE_DRAWS = 16.0
"""With fewer effective draws an average is not reliable, and its error is unknown."""


@dataclass(frozen=True)
class ImportanceSettings:
    """How many draws are weighted.

    Attributes
    ----------
    n_batches : int
        Batches, from whose spread the errors follow; at least 2.
    n_pairs : int
        Pairs of opposite draws in each.
    """

    n_batches: int = 16
    n_pairs: int = 64


@dataclass(frozen=True, eq=False)
class WeightedAverages:
    """Averages over the posterior, by weighted draws.

    Attributes
    ----------
    averages : PosteriorAverages
    effective_size : float
        One over the sum of the squared weights: how many draws of equal weight would be as good.
    pareto_k : float
        The shape of the tail of the weights: above 0.7 averages, and their errors, are not to be trusted.
    log_evidence : float
        1/n ln Q(Y | X), Gold et al. (2005), equation (7), of the kernel V V'.
    log_evidence_error : float
        Its standard deviation, from the spread over the batches.
    """

    averages: PosteriorAverages
    effective_size: float
    pareto_k: float
    log_evidence: float
    log_evidence_error: float


def importance_averages(
    posterior: Posterior, settings: ImportanceSettings, rng: np.random.Generator
) -> WeightedAverages:
    """Average over draws from the normal distribution nearest to the posterior, weighted by what it gets wrong.

    In place of the chains of Gold et al. (2005), section 3.1; the averages of (8) and (9) are the same.

    With b = m + R ξ the weights are exp(-U(b) + 1/2 ξ'ξ), where U is the potential; their mean, times det R, is the
    evidence but for κ(C)^n. The posterior is log-concave, so that in the few dimensions of a thin V the weights are
    alike; in many, and where C k0 is large, they are not. They estimate the evidence, which chains do not.

    Parameters
    ----------
    posterior : Posterior
    settings : ImportanceSettings
    rng : numpy.random.Generator

    Returns
    -------
    WeightedAverages
        O(n p) per draw.

    Raises
    ------
    SamplingError
        If a few draws have all the weight.
    """
    n, p = posterior.V.shape
    nearby = posterior.nearby
    log_weights = np.empty((settings.n_batches, 2 * settings.n_pairs))
    loss = np.empty(settings.n_batches)
    moments = np.empty((settings.n_batches, n, p))
    second_moments = np.empty((settings.n_batches, p, p))
    curvature = np.zeros((settings.n_batches, n))
    slopes = np.empty((n, 2 * settings.n_pairs))
    curvatures = np.empty_like(slopes) if posterior.loss.has_curvature else None
    for k in range(settings.n_batches):
        half = rng.standard_normal((p, settings.n_pairs))
        white = np.concatenate([half, -half], axis=1)
        b = nearby.mean[:, None] + nearby.root @ white
        losses = posterior.summed_losses(b, slopes, curvatures)
        log_weights[k] = 0.5 * ((white**2).sum(axis=0) - (b**2).sum(axis=0)) - posterior.C * losses
        possible = np.isfinite(losses)
        weights = np.exp(log_weights[k] - max(log_weights[k].max(), np.finfo(np.float64).min))
        weights /= weights.sum() or 1.0
        loss[k] = weights[possible] @ losses[possible] / n
        weighted = weights[:, None] * b.T
        moments[k] = posterior.y[:, None] * (slopes @ weighted)
        second_moments[k] = b @ weighted
        if curvatures is not None:
            curvature[k] = curvatures @ weights
    total = float(logsumexp(log_weights))
    effective_size = float(np.exp(2.0 * total - logsumexp(2.0 * log_weights))) if np.isfinite(total) else 0.0
    if effective_size < MIN_EFFECTIVE_DRAWS:
        raise SamplingError(
            f"of {log_weights.size} weighted draws {effective_size:.0f} count: no normal distribution is near the "
            "posterior; choose fewer eigenvectors, or, with approximation 'exact' or 'mixed', chains"
        )
    log_volume = float(np.log(np.diag(nearby.root)).sum())
    log_evidence = posterior.loss.log_normaliser(posterior.C) + (total - np.log(log_weights.size) + log_volume) / n
    parts = np.exp(logsumexp(log_weights, axis=1) - total)
    # The evidences of the batches are as their parts, and that of all draws is their mean.
    error = float(np.std(parts * len(parts), ddof=1) / np.sqrt(len(parts)) / n)
    averages = PosteriorAverages(parts, loss, controlled_moments(posterior, moments, second_moments), curvature)
    shape = pareto_k(log_weights.ravel())
    return WeightedAverages(averages, effective_size, shape, float(log_evidence), error)
