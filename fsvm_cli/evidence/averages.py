"""The averages over the posterior that the gradient of the evidence is made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from fsvm_cli.evidence.posterior import Posterior
    from fsvm_cli.svm.vectors import Array

COLUMNS_IN_BLOCK = 1024
"""How many draws are looked at together."""


@dataclass(frozen=True, eq=False)
class PosteriorAverages:
    """Averages over batches of draws, from whose spread follows how far the whole may be off.

    Attributes
    ----------
    parts : (n_batches,) array
        The part of all draws, or of their weight, that each batch holds; they add up to 1.
    loss : (n_batches,) array
        <1/n sum_i l(y_i θ_i)>, as in (8) of Gold et al. (2005).
    moments : (n_batches, n, p) array
        <Y l'(Yθ) b'>, of which (9) is a contraction for every parameter of the kernel. So all derivatives come from
        one pass over the draws, and none of them is known to it.
    curvature : (n_batches, n) array
        <l''(Yθ)>, of a loss that has one.
    """

    parts: Array
    loss: Array
    moments: Array
    curvature: Array

    def merged(self, n_batches: int) -> PosteriorAverages:
        """Join neighbouring batches until there are no more than `n_batches`."""
        groups = np.array_split(np.arange(len(self.parts)), min(n_batches, len(self.parts)))
        parts = np.array([self.parts[group].sum() for group in groups])
        shares = [self.parts[group] / (whole or 1.0) for group, whole in zip(groups, parts, strict=True)]

        def joined(values: Array) -> Array:
            return np.array([np.tensordot(share, values[g], 1) for g, share in zip(groups, shares, strict=True)])

        return PosteriorAverages(parts, joined(self.loss), joined(self.moments), joined(self.curvature))


def posterior_averages(posterior: Posterior, points: Array, n_batches: int = 16) -> PosteriorAverages:
    """Average over draws from the posterior.

    Parameters
    ----------
    posterior : Posterior
    points : (n_draws, n_chains, p) array
        See `hybrid_monte_carlo.Draws`.
    n_batches : int
        About how many batches to make: groups of chains; where there are fewer chains, stretches of each of them,
        which should be long in comparison with its memory.

    Returns
    -------
    PosteriorAverages
        O(n p n_draws n_chains).
    """
    n_draws, n_chains, p = points.shape
    groups = np.array_split(np.arange(n_chains), min(n_chains, n_batches))
    stretches = np.array_split(np.arange(n_draws), min(n_draws, -(-n_batches // len(groups))))
    batches = [points[np.ix_(when, group)].reshape(-1, p) for group in groups for when in stretches]
    n = len(posterior.y)
    loss = np.zeros(len(batches))
    moments = np.zeros((len(batches), n, p))
    curvature = np.zeros((len(batches), n))
    for k, batch in enumerate(batches):
        for start in range(0, len(batch), COLUMNS_IN_BLOCK):
            b = batch[start : start + COLUMNS_IN_BLOCK]
            at = posterior.loss.expanded(posterior.margins(b.T))
            loss[k] += at.value.sum()
            moments[k] += at.slope @ b
            curvature[k] += at.curvature.sum(axis=1)
        loss[k] /= n * len(batch)
        curvature[k] /= len(batch)
        moments[k] *= posterior.y[:, None] / len(batch)
    parts = np.array([len(batch) for batch in batches]) / (n_draws * n_chains)
    return PosteriorAverages(parts, loss, moments, curvature)
