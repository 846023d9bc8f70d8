"""The posterior of the latent function in coordinates with a white prior, its mode and its normal approximation.

The mode is the support vector machine without a bias. The approximation is where sampling starts, and the metric in
which it moves.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import scipy.linalg

from fsvm_cli.evidence.losses import Hinge, SquaredHinge
from fsvm_cli.svm.solvers.dual import DualProblem
from fsvm_cli.svm.solvers.solve import solve

if TYPE_CHECKING:
    from fsvm_cli.evidence.losses import Loss
    from fsvm_cli.svm.compiled import Array

ROWS_IN_BLOCK = 256
"""How many samples' losses are looked at together: with some hundred points they stay in the processor's cache."""


@dataclass(frozen=True, eq=False)
class Posterior:
    """Q(b | D) ∝ exp(-1/2 b'b - C sum_i l(y_i θ_i)) with θ = V b, Gold et al. (2005), equations (7), (18) and (19).

    The prior of b is that of independent standard normal numbers, so that of θ has the covariance V V'. The full
    kernel is the case of a square V: the dynamics of (12) and (13) with the mass matrix M = K are, with θ = K a,
    b = V'a and V' times the momentum for the momentum, those of (20) and (21).

    Many points are taken at once, as columns, so that the work is in products of matrices.

    Attributes
    ----------
    V : (n, p) array
    y : (n,) array
        Labels, -1 or +1.
    C : float
        > 0.
    loss : Loss
    """

    V: Array
    y: Array
    C: float
    loss: Loss

    def margins(self, b: Array) -> Array:
        """Return z_i = y_i θ_i, (n,) of a point b (p,), or (n, k) of points (p, k)."""
        margins: Array = self.signed @ b
        return margins

    def potential(self, b: Array) -> Array:
        """Return 1/2 b'b + C sum_i l(y_i θ_i), shape (k,), of points b (p, k): minus ln Q(b | D) but for a constant."""
        prior: Array = 0.5 * np.einsum("pk,pk->k", b, b)
        prior += self.C * self.loss.value(self.margins(b)).sum(axis=0)
        return prior

    def summed_losses(self, b: Array, slopes: Array, curvatures: Array | None = None) -> Array:
        """Return sum_i l(y_i θ_i), (k,), of points b (p, k), and write down what else there is of each l(y_i θ_i).

        Some samples at a time, so that what is written stays in the processor's cache. Where this is done again and
        again, fresh memory would take longer than the losses.

        Parameters
        ----------
        b : (p, k) array
        slopes : (n, k) array
            Where the l' are written.
        curvatures : (n, k) array, optional
            Where the l'' are written, which only losses that have a curvature need.
        """
        total = np.zeros(b.shape[1])
        for start in range(0, len(self.y), ROWS_IN_BLOCK):
            rows = slice(start, start + ROWS_IN_BLOCK)
            found = self.loss.of_rows(rows).expanded(self.signed[rows] @ b)
            found.value[0] += total  # sums are then those of all rows at once, whatever the blocks
            total = found.value.sum(axis=0)
            slopes[rows] = found.slope
            if curvatures is not None:
                curvatures[rows] = found.curvature
        return total

    def force(self, b: Array) -> Array:
        """Return minus the gradient of the potential, shape (p, k): equation (21) with the signs mended.

        In print, dp/dτ = -b + C V'Y l'(YVb) would pull each sample to the wrong side.
        """
        slopes = self.loss.slope(self.margins(b))
        return -b - self.C * (self.signed.T @ slopes)

    @functools.cached_property
    def signed(self) -> Array:
        """Y V, (n, p), with rows that are one piece of memory."""
        return np.ascontiguousarray(self.y[:, None] * self.V)


def posterior_mode(posterior: Posterior, tolerance: float = 1e-6) -> Array:
    """Return the most probable b, shape (p,).

    With the hinge loss it is V'(y∘α), where α solves the dual problem (2) of Gold et al. (2005) with the Gram matrix
    V V', to which y'α = 0 does not belong: the bias is in k_off. With the squared one, K + I/C stands for K and α is
    not bounded. The trigonometric loss is smooth, and takes Newton steps. The paper's chain begins at
    (V'V)^(-1) V'θ*, with the θ* of the whole Gram matrix; here it begins where its own posterior is largest.

    Parameters
    ----------
    posterior : Posterior
    tolerance : float
        The relative duality gap to reach, > 0.

    Raises
    ------
    fsvm_cli.svm.ConvergenceError
        If the gap was not reached.
    """
    loss, V, y, C = posterior.loss, posterior.V, posterior.y, posterior.C
    if not isinstance(loss, Hinge | SquaredHinge):
        return gaussian_approximation(posterior).mean
    gram = V @ V.T
    if isinstance(loss, Hinge):
        problem = DualProblem(gram, y, C, equality=False)
    else:
        problem = DualProblem(gram, y, np.inf, equality=False, ridge=1.0 / C)
    mode: Array = V.T @ (y * solve(problem, tolerance=tolerance).alpha)
    return mode


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
