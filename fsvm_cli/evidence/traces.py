"""Traces of chains: where they went, draw by draw, and whether they agree."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import rankdata

from fsvm_cli.evidence.convergence import bulk_size, split_r_hat
from fsvm_cli.evidence.hybrid_monte_carlo import SamplerSettings, sample

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

    from fsvm_cli.evidence.posterior import Posterior

N_SHOWN = 4
"""Of the chains."""


def chain_traces(posterior: Posterior, rng: np.random.Generator) -> dict[str, NDArray[Any]]:
    """Follow the first chains of Hybrid Monte Carlo, Gold et al. (2005), section 3.1, on a posterior.

    Parameters
    ----------
    posterior : Posterior
    rng : numpy.random.Generator

    Returns
    -------
    dict of str to (N_SHOWN * n_draws,) ndarray
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
    ranks = (rankdata(slowest).reshape(slowest.shape) - 0.5) / slowest.size
    points = draws.points[:, :N_SHOWN].transpose(1, 0, 2).reshape(N_SHOWN * n_draws, -1)
    return {
        "chain": np.repeat(np.arange(N_SHOWN), n_draws),
        "draw": np.tile(np.arange(n_draws), N_SHOWN),
        "potential": posterior.potential(points.T) / len(posterior.y),
        "coordinate": slowest[:, :N_SHOWN].T.ravel(),
        "rank": ranks[:, :N_SHOWN].T.ravel(),
        "acceptance": np.repeat(draws.acceptance[:N_SHOWN], n_draws),
        "r_hat": np.full(len(points), split_r_hat(draws.points).max()),
        "effective_size": np.full(len(points), sizes.min()),
    }
