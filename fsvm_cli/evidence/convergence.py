"""Whether several chains agree, and how many independent draws theirs are worth."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from fsvm_cli.svm.vectors import Array


def split_r_hat(draws: Array) -> Array:
    """Return the potential scale reduction of each quantity, 1 where all halves of all chains agree.

    Parameters
    ----------
    draws : (n_draws, n_chains, q) array
        At least 4 draws; of an odd number the last is left out.

    Returns
    -------
    (q,) array
        The root of the variance of all draws over the mean variance within half chains; 1 for a constant.

    References
    ----------
    - A. Gelman, J. B. Carlin, H. S. Stern, D. B. Dunson, A. Vehtari and D. B. Rubin, "Bayesian Data Analysis", third
      edition, 2013, section 11.4.
    """
    within, total, _ = _variances(_halves(draws))
    ratio = np.divide(total, within, out=np.ones_like(total), where=within > 0.0)
    ratio[(within == 0.0) & (total > 0.0)] = np.inf
    return np.sqrt(ratio)


def effective_sample_size(draws: Array) -> Array:
    """Return how many independent draws would tell the mean of each quantity as precisely.

    Parameters
    ----------
    draws : (n_draws, n_chains, q) array
        At least 4 draws; of an odd number the last is left out.

    Returns
    -------
    (q,) array
        All draws over 1 + 2 Σ_t ρ_t, with the autocorrelations ρ_t of half chains about the mean of all, summed in
        pairs as long as the pairs are positive, and none larger than the one before (Geyer 1992). At most
        N log10(N) of N draws; N for a constant.

    References
    ----------
    - C. J. Geyer, "Practical Markov Chain Monte Carlo", Statistical Science 7, 1992, pages 473-483.
    - A. Vehtari, A. Gelman, D. Simpson, B. Carpenter and P.-C. Bürkner, "Rank-Normalization, Folding, and
      Localization: An Improved R-hat for Assessing Convergence of MCMC", Bayesian Analysis 16, 2021, pages 667-718,
      equations (10) to (14).
    """
    chains = _halves(draws)
    n_draws, n_chains, _ = chains.shape
    n_all = n_draws * n_chains
    within, total, covariances = _variances(chains)
    safe = np.where(total > 0.0, total, 1.0)
    correlations = 1.0 - (within - covariances * n_draws / (n_draws - 1)) / safe
    correlations[0] = 1.0
    pairs = correlations[: n_draws // 2 * 2].reshape(n_draws // 2, 2, -1).sum(axis=1)
    positive = np.logical_and.accumulate(pairs > 0.0, axis=0)
    monotone = np.minimum.accumulate(pairs, axis=0)
    times = np.maximum(2.0 * np.where(positive, monotone, 0.0).sum(axis=0) - 1.0, 1.0 / np.log10(n_all))
    sizes: Array = np.where(total > 0.0, n_all / times, n_all)
    return sizes


def _halves(draws: Array) -> Array:
    """Return the first and the second half of each chain as chains."""
    half = len(draws) // 2
    if half < 2:
        raise ValueError(f"at least 4 draws are needed, not {len(draws)}")
    return np.concatenate([draws[:half], draws[half : 2 * half]], axis=1)


def _variances(chains: Array) -> tuple[Array, Array, Array]:
    """Return mean variances within chains (q,), variances of all draws (q,), and mean autocovariances (n_draws, q)."""
    n_draws = len(chains)
    means = chains.mean(axis=0)
    spectrum = np.fft.rfft(chains - means, n=2 * n_draws, axis=0)
    covariances = np.fft.irfft((np.abs(spectrum) ** 2).mean(axis=1), axis=0)[:n_draws] / n_draws
    within = ((chains - means) ** 2).sum(axis=0).mean(axis=0) / (n_draws - 1)
    total = within * (n_draws - 1) / n_draws + means.var(axis=0, ddof=1)
    return within, total, covariances
