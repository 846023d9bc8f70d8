"""The normal distribution that is nearest to the posterior: where sampling starts, and the metric in which it moves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import scipy.linalg

if TYPE_CHECKING:
    from fsvm_cli.evidence.posterior import Posterior
    from fsvm_cli.svm.vectors import Array

MAX_SWEEPS = 100
HALVINGS = 30
CHANGE = 1e-4
"""A sweep that moves the mean, or a spread relative to itself, by less ends the search; the mean in units of the
distribution's own spread."""


@dataclass(frozen=True, eq=False)
class GaussianApproximation:
    """b ~ N(mean, root root').

    Attributes
    ----------
    mean : (p,) array
    root : (p, p) array
        An upper triangular root of the covariance.
    converged : bool
        Whether the search ended by itself. Sampling is exact, if slower, where it did not.
    """

    mean: Array
    root: Array
    converged: bool


def gaussian_approximation(posterior: Posterior) -> GaussianApproximation:
    """Find the mean m and the covariance S that make the Kullback-Leibler divergence KL(N(m, S) | Q) stationary.

    They satisfy m = -C V'Y <l'> and S^(-1) = I + C V' diag(<l''>) V, where the averages are over N(m, S) itself. So
    the hinge loss, whose curvature at the mode is 0 or infinite, has one that tells how wide the posterior is. With
    the trigonometric loss, which cannot be averaged, m is the mode and S^(-1) the curvature there.

    Not in the paper. Newton steps in m, halved where they do not go down, and updates of S take turns.
    O(n p^2 + p^3) each, some twenty times.

    Parameters
    ----------
    posterior : Posterior

    Returns
    -------
    GaussianApproximation

    References
    ----------
    - M. Opper and C. Archambeau, "The Variational Gaussian Approximation Revisited", Neural Computation 21, 2009,
      pages 786-792: the two equations.
    """
    signed, C, loss = posterior.signed, posterior.C, posterior.loss
    p = signed.shape[1]
    mean = np.zeros(p)
    spreads = np.sqrt(np.maximum(np.einsum("ip,ip->i", signed, signed), np.finfo(np.float64).tiny))
    converged = False
    root = np.eye(p)
    for _ in range(MAX_SWEEPS):
        here = loss.smoothed(signed @ mean, spreads)
        precision = np.eye(p) + C * (signed.T @ (here.curvature[:, None] * signed))
        factor = scipy.linalg.cholesky(precision)
        downhill = -mean - C * (signed.T @ here.slope)
        step = scipy.linalg.cho_solve((factor, False), downhill)
        root = scipy.linalg.solve_triangular(factor, np.eye(p))
        narrowed = np.maximum(np.linalg.norm(signed @ root, axis=1), np.finfo(np.float64).tiny ** 0.5)
        moved = _halved_until_lower(posterior, mean, spreads, here.value, step)
        converged = bool(
            np.linalg.norm(factor @ moved) < CHANGE and np.max(np.abs(narrowed - spreads) / spreads) < CHANGE
        )
        # With small spreads the hinge is a kink again, at which Newton steps go astray: they are approached by halves.
        mean, spreads = mean + moved, np.sqrt(spreads * narrowed)
        if converged:
            break
    return GaussianApproximation(mean, root, converged)


def _halved_until_lower(posterior: Posterior, mean: Array, spreads: Array, losses: Array, step: Array) -> Array:
    """Return the step, or the longest of its halves that lowers the potential averaged with these spreads.

    The averaged losses at the mean are at hand.
    """
    start = _averaged_potential(mean, posterior.C, losses)
    for _ in range(HALVINGS):
        there = mean + step
        losses_there = posterior.loss.smoothed(posterior.margins(there), spreads).value
        if _averaged_potential(there, posterior.C, losses_there) <= start:
            return step
        step = 0.5 * step
    return np.zeros_like(step)


def _averaged_potential(b: Array, C: float, losses: Array) -> float:
    return float(0.5 * b @ b + C * losses.sum())
