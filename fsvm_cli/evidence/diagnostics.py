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

from typing import TYPE_CHECKING

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


def split_r_hat(draws: Array) -> Array:
    """Return the rank-normalised split R-hat of each quantity, 1 where all halves of all chains agree.

    Parameters
    ----------
    draws : (n_draws, n_chains, q) array
        At least 4 draws; of an odd number the middle one is left out.

    Returns
    -------
    (q,) array
        The larger of two: of normal scores of the draws, and of those of their distances from the median (Vehtari et
        al. 2021, section 4.1). Each is the root of the variance of all draws over the mean variance within half
        chains; 1 for a constant.
    """
    halves = _halves(draws)
    folded = np.abs(halves - np.median(halves, axis=(0, 1)))
    return np.maximum(_potential_reduction(_normal_scores(halves)), _potential_reduction(_normal_scores(folded)))


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


def bulk_size(draws: Array) -> Array:
    """Return the effective size of the normal scores of the draws, (q,); see `effective_sample_size`."""
    return _effective_size(_normal_scores(_halves(draws)))


def tail_size(draws: Array) -> Array:
    """Return the smaller of the effective sizes for the two `TAIL_QUANTILES`, (q,); see `effective_sample_size`."""
    sizes = [
        _effective_size(_halves((draws <= np.quantile(draws, part, axis=(0, 1))).astype(np.float64)))
        for part in TAIL_QUANTILES
    ]
    smaller: Array = np.minimum(*sizes)
    return smaller


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
    """Return the first and the second half of each chain as chains."""
    half = len(draws) // 2
    if half < 2:
        raise ValueError(f"at least 4 draws are needed, not {len(draws)}")
    return np.concatenate([draws[:half], draws[-half:]], axis=1)


def _normal_scores(chains: Array) -> Array:
    """Return the normal quantiles of the ranks of each quantity among all draws."""
    flat = chains.reshape(-1, chains.shape[2])
    ranks = scipy.stats.rankdata(flat, axis=0)
    scores: Array = ndtri((ranks - 0.375) / (len(flat) + 0.25)).reshape(chains.shape)
    return scores


def _potential_reduction(chains: Array) -> Array:
    within, total = _variances(chains)
    ratio = np.divide(total, within, out=np.ones_like(total), where=within > 0.0)
    ratio[(within == 0.0) & (total > 0.0)] = np.inf
    reduction: Array = np.sqrt(ratio)
    return reduction


def _effective_size(chains: Array) -> Array:
    n_draws, n_chains, q = chains.shape
    n_all = n_draws * n_chains
    within, total = _variances(chains)
    spectrum = np.fft.rfft(chains - chains.mean(axis=0), n=2 * n_draws, axis=0)
    covariances = np.fft.irfft((np.abs(spectrum) ** 2).mean(axis=1), axis=0)[:n_draws] / n_draws
    correlations = 1.0 - (within - covariances) / np.where(total > 0.0, total, 1.0)
    correlations[0] = 1.0
    # One pair more than are summed: of the first that is not positive its even part counts once.
    n_pairs = 1 + max(0, (n_draws - 3) // 2)
    pairs = correlations[: 2 * n_pairs].reshape(n_pairs, 2, q).sum(axis=1)
    counted = np.logical_and.accumulate(pairs[:-1] > 0.0, axis=0)
    summed = np.where(counted, np.minimum.accumulate(pairs[:-1], axis=0), 0.0).sum(axis=0)
    last, quantities = counted.sum(axis=0), np.arange(q)
    beyond = correlations[2 * last, quantities]
    beyond = np.where((beyond > 0.0) | (pairs[last, quantities] >= 0.0), beyond, 0.0)
    times = np.maximum(2.0 * summed - 1.0 + beyond, 1.0 / np.log10(n_all))
    sizes: Array = np.where(np.ptp(chains, axis=(0, 1)) > 0.0, n_all / times, n_all)
    return sizes


def _variances(chains: Array) -> tuple[Array, Array]:
    """Return mean variances within chains, and variances of all draws, (q,)."""
    within = chains.var(axis=0, ddof=1).mean(axis=0)
    means = chains.mean(axis=0)
    between = means.var(axis=0, ddof=1)
    # Rounding of the mean of what never moves is no spread.
    between[np.ptp(means, axis=0) <= np.finfo(np.float64).eps * np.abs(means).max(axis=0)] = 0.0
    return within, within * (1.0 - 1.0 / len(chains)) + between


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
    sizes = bulk_size(draws.points)
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
        "r_hat": np.full(len(points), split_r_hat(draws.points).max()),
        "effective_size": np.full(len(points), sizes.min()),
    }
