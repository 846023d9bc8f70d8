"""Diagnostics of draws as ArviZ defines them (R-hat, effective sizes, energy, Pareto k-hat), and traces of chains.

References
----------
- A. Vehtari, A. Gelman, D. Simpson, B. Carpenter and P.-C. Bürkner, "Rank-Normalization, Folding, and Localization: An
  Improved R-hat for Assessing Convergence of MCMC", Bayesian Analysis 16, 2021, pages 667-718.
- A. Vehtari, D. Simpson, A. Gelman, Y. Yao and J. Gabry, "Pareto Smoothed Importance Sampling", Journal of Machine
  Learning Research 25, 2024, pages 1-58.
- C. J. Geyer, "Practical Markov Chain Monte Carlo", Statistical Science 7, 1992, pages 473-483.
- M. Betancourt, "A Conceptual Introduction to Hamiltonian Monte Carlo", arXiv:1701.02434, 2017, section 6.1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import scipy.stats
from scipy.special import logsumexp, ndtri

from fsvm_cli.evidence.hybrid_monte_carlo import SamplerSettings, sample

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

    from fsvm_cli.evidence.posterior import Posterior
    from fsvm_cli.svm.compiled import Array

TAIL_QUANTILES = (0.05, 0.95)
"""The quantiles whose effective sizes are those of the tails."""
K_HAT_PRIOR_SIZE, K_HAT_PRIOR_SHAPE = 10, 0.5
"""Weakly informative prior of k-hat: it is averaged with this number of observations of this shape."""
NEGLIGIBLE_WEIGHT = 10 * np.finfo(np.float64).eps
"""Weight of a value of the Pareto distribution's parameter that is left out, as ArviZ does."""


class Convergence(NamedTuple):
    """How well chains agree, and how many independent draws theirs are worth.

    Attributes
    ----------
    r_hat : (q,) array
        The rank-normalised split R-hat of each quantity: the larger of two, of normal scores of the draws, and of those
        of their distances from the median (Vehtari et al. 2021, section 4.1). Each is the root of the variance of all
        draws over the mean variance within half chains; 1 for a constant.
    bulk_size : (q,) array
        The effective size of the normal scores of the draws; see `effective_sample_size`.
    tail_size : (q,) array
        The smaller of the effective sizes for the two `TAIL_QUANTILES`.
    """

    r_hat: Array
    bulk_size: Array
    tail_size: Array


def convergence(draws: Array) -> Convergence:
    """Return the diagnostics of chains that come from the ranks of their draws.

    Parameters
    ----------
    draws : (n_draws, n_chains, q) array
        At least 4 draws; of an odd number the middle one is left out.

    Returns
    -------
    Convergence

    Raises
    ------
    ValueError
        If there are fewer than 4 draws.
    """
    halves = _halves(draws)
    scores = _normal_scores(halves)
    folded = np.abs(halves - np.median(halves, axis=(1, 2), keepdims=True))
    r_hat = np.maximum(_potential_reduction(scores), _potential_reduction(_normal_scores(folded)))
    limits = np.quantile(draws.reshape(-1, draws.shape[2]), TAIL_QUANTILES, axis=0)
    tail_sizes = [_effective_size((halves <= limit[:, None, None]).astype(np.float64)) for limit in limits]
    return Convergence(r_hat, _effective_size(scores), np.minimum(*tail_sizes))


def effective_sample_size(draws: Array) -> Array:
    """Return the number of independent draws that would estimate the mean of each quantity as precisely.

    Parameters
    ----------
    draws : (n_draws, n_chains, q) array
        At least 4 draws; of an odd number the middle one is left out.

    Returns
    -------
    (q,) array
        All draws over 1 + 2 Σ_t ρ_t, with the autocorrelations ρ_t of half chains about the mean of all, summed in
        pairs as long as the pairs are positive, and none larger than the one before (Geyer 1992). At most
        N log10(N) of N draws; N for a constant.
    """
    return _effective_size(_halves(draws))


def energy_fraction(energies: Array) -> Array:
    """Return each chain's Bayesian fraction of missing information; below 0.3 momenta change the energy too little.

    Parameters
    ----------
    energies : (n_draws, n_chains) array
        Potential and kinetic energy at each draw.

    Returns
    -------
    (n_chains,) array
        The mean square change of the energy over its variance; NaN where it never changes.
    """
    spread = energies.var(axis=0, ddof=1)
    changes = (np.diff(energies, axis=0) ** 2).mean(axis=0)
    fraction: Array = np.divide(changes, spread, out=np.full_like(spread, np.nan), where=spread > 0.0)
    return fraction


def pareto_k(log_weights: Array) -> float:
    """Return the shape of the generalised Pareto distribution that fits the largest weights.

    Averages over weighted draws have a finite variance below 0.5, and are of use below 0.7 (Vehtari et al. 2024).

    Parameters
    ----------
    log_weights : (n_draws,) array
        At least 25; minus infinity where a draw is impossible.

    Returns
    -------
    float
        Minus infinity where the largest weights are equal; infinity where so few draws are possible that they are
        all among the largest.
    """
    n_draws = len(log_weights)
    n_tail = int(3.0 * np.sqrt(n_draws)) if n_draws > 225 else n_draws // 5
    largest = np.sort(log_weights)[-n_tail - 1 :]
    weights = np.exp(largest - largest[-1])
    tail = weights[1:] - weights[0]
    quartile = tail[int(n_tail / 4 + 0.5) - 1]
    if tail[0] == tail[-1]:
        return -np.inf
    if quartile <= 0.0:
        return np.inf
    n_values = 30 + int(np.sqrt(n_tail))
    values = (1.0 - np.sqrt(n_values / (np.arange(n_values) + 0.5))) / (3.0 * quartile) + 1.0 / tail[-1]
    shapes = np.log1p(-values[:, None] * tail).mean(axis=1)
    log_likelihoods = n_tail * (np.log(-values / shapes) - shapes - 1.0)
    parts = np.exp(log_likelihoods - logsumexp(log_likelihoods))
    parts[parts < NEGLIGIBLE_WEIGHT] = 0.0
    shape = float(np.log1p(-(parts @ values) / parts.sum() * tail).mean())
    return (n_tail * shape + K_HAT_PRIOR_SIZE * K_HAT_PRIOR_SHAPE) / (n_tail + K_HAT_PRIOR_SIZE)


def _halves(draws: Array) -> Array:
    """Return the first and the second half of each chain as chains, (q, 2 n_chains, n_draws / 2)."""
    half = len(draws) // 2
    if half < 2:
        raise ValueError(f"at least 4 draws are needed, not {len(draws)}")
    return np.ascontiguousarray(np.concatenate([draws[:half], draws[-half:]], axis=1).T)


def _normal_scores(chains: Array) -> Array:
    """Return the normal quantiles of the ranks of each quantity among all draws; equal ones share their mean rank."""
    flat = chains.reshape(len(chains), -1)
    n_all = flat.shape[1]
    order = np.argsort(flat, axis=1)
    ordered = np.take_along_axis(flat, order, axis=1)
    begins = np.ones(flat.shape, dtype=bool)
    begins[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    first = np.flatnonzero(begins)
    behind = np.append(first[1:], flat.size)
    ranks = np.repeat(0.5 * (first % n_all + (behind - 1) % n_all) + 1.0, behind - first).reshape(flat.shape)
    scores = np.empty(flat.shape)
    np.put_along_axis(scores, order, ndtri((ranks - 0.375) / (n_all + 0.25)), axis=1)
    return scores.reshape(chains.shape)


def _potential_reduction(chains: Array) -> Array:
    within, total = _variances(chains)
    ratio = np.divide(total, within, out=np.ones_like(total), where=within > 0.0)
    ratio[(within == 0.0) & (total > 0.0)] = np.inf
    reduction: Array = np.sqrt(ratio)
    return reduction


def _effective_size(chains: Array) -> Array:
    q, n_chains, n_draws = chains.shape
    n_all = n_draws * n_chains
    within, total = _variances(chains)
    centred = chains - chains.mean(axis=2, keepdims=True)
    spectrum = np.fft.rfft(centred, n=2 * n_draws)
    powers = (spectrum.real**2 + spectrum.imag**2).mean(axis=1)
    covariances = np.fft.irfft(powers)[:, :n_draws] / n_draws
    correlations = 1.0 - (within[:, None] - covariances) / np.where(total > 0.0, total, 1.0)[:, None]
    correlations[:, 0] = 1.0
    # One pair more than are summed: of the first that is not positive its even part counts once.
    n_pairs = 1 + max(0, (n_draws - 3) // 2)
    pairs = correlations[:, : 2 * n_pairs].reshape(q, n_pairs, 2).sum(axis=2)
    counted = np.logical_and.accumulate(pairs[:, :-1] > 0.0, axis=1)
    summed = np.where(counted, np.minimum.accumulate(pairs[:, :-1], axis=1), 0.0).sum(axis=1)
    last, quantities = counted.sum(axis=1), np.arange(q)
    beyond = correlations[quantities, 2 * last]
    beyond = np.where((beyond > 0.0) | (pairs[quantities, last] >= 0.0), beyond, 0.0)
    times = np.maximum(2.0 * summed - 1.0 + beyond, 1.0 / np.log10(n_all))
    sizes: Array = np.where(np.ptp(chains, axis=(1, 2)) > 0.0, n_all / times, n_all)
    return sizes


def _variances(chains: Array) -> tuple[Array, Array]:
    """Return mean variances within chains, and variances of all draws, (q,)."""
    within = chains.var(axis=2, ddof=1).mean(axis=1)
    means = chains.mean(axis=2)
    between = means.var(axis=1, ddof=1)
    # Rounding of the mean of what never moves is no spread.
    between[np.ptp(means, axis=1) <= np.finfo(np.float64).eps * np.abs(means).max(axis=1)] = 0.0
    return within, within * (1.0 - 1.0 / chains.shape[2]) + between


CHAINS_SHOWN = 4
"""Of the chains."""


def chain_traces(posterior: Posterior, rng: np.random.Generator) -> dict[str, NDArray[Any]]:
    """Follow the first chains of Hybrid Monte Carlo, Gold et al. (2005), section 3.1, on a posterior.

    Parameters
    ----------
    posterior : Posterior
    rng : numpy.random.Generator

    Returns
    -------
    dict of str to (CHAINS_SHOWN * n_draws,) ndarray
        Columns `chain` and `draw` (from 0, after the warm-up); `potential`, minus the log posterior per sample, but for
        a constant; `coordinate`, the one of b whose draws of all chains are worth the fewest independent ones;
        `rank`, from 0 to 1, its rank among those of all chains;
        `acceptance` of the chain; and of all chains the largest `r_hat` and the smallest `effective_size`.

    Raises
    ------
    SamplingError
        If a chain never moved.
    """
    draws = sample(posterior, SamplerSettings(), rng)
    n_draws = len(draws.points)
    found = convergence(draws.points)
    sizes = found.bulk_size
    slowest = draws.points[:, :, np.argmin(sizes)]
    ranks = (scipy.stats.rankdata(slowest).reshape(slowest.shape) - 0.5) / slowest.size
    points = draws.points[:, :CHAINS_SHOWN].transpose(1, 0, 2).reshape(CHAINS_SHOWN * n_draws, -1)
    return {
        "chain": np.repeat(np.arange(CHAINS_SHOWN), n_draws),
        "draw": np.tile(np.arange(n_draws), CHAINS_SHOWN),
        "potential": posterior.potential(points.T) / len(posterior.y),
        "coordinate": slowest[:, :CHAINS_SHOWN].T.ravel(),
        "rank": ranks[:, :CHAINS_SHOWN].T.ravel(),
        "acceptance": np.repeat(draws.acceptance[:CHAINS_SHOWN], n_draws),
        "r_hat": np.full(len(points), found.r_hat.max()),
        "effective_size": np.full(len(points), sizes.min()),
    }
