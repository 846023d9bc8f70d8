"""The posterior of the latent function in coordinates with a white prior, its mode and its normal approximation.

The mode is the support vector machine without a bias. The approximation is where sampling starts, and the metric in
which it moves.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import scipy.linalg

from fsvm_cli.evidence.losses import Hinge, SquaredHinge
from fsvm_cli.svm.solvers.dual import DualProblem
from fsvm_cli.svm.solvers.solve import solve

if TYPE_CHECKING:
    from collections.abc import Callable

    from fsvm_cli.evidence.losses import Loss, Smoothed
    from fsvm_cli.svm.compiled import Array

SAMPLES_PER_BLOCK = 256
"""Samples whose losses are computed together: with some hundred points they stay in the processor's cache."""


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
        """Return 1/2 b'b + C sum_i l(y_i θ_i), shape (k,), of points b (p, k): minus ln Q(b | D) up to a constant."""
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
        for start in range(0, len(self.y), SAMPLES_PER_BLOCK):
            rows = slice(start, start + SAMPLES_PER_BLOCK)
            found = self.loss.of_rows(rows).expanded(self.signed[rows] @ b)
            found.value[0] += total  # sums are then those of all rows at once, whatever the blocks
            total = found.value.sum(axis=0)
            slopes[rows] = found.slope
            if curvatures is not None:
                curvatures[rows] = found.curvature
        return total

    def force(self, b: Array) -> Array:
        """Return minus the gradient of the potential, shape (p, k): equation (21) with the signs corrected.

        In print, dp/dτ = -b + C V'Y l'(YVb) would pull each sample to the wrong side.
        """
        slopes = self.loss.slope(self.margins(b))
        return -b - self.C * (self.signed.T @ slopes)

    @functools.cached_property
    def signed(self) -> Array:
        """Y V, (n, p), with rows that are one piece of memory."""
        return np.ascontiguousarray(self.y[:, None] * self.V)

    @functools.cached_property
    def nearby(self) -> GaussianApproximation:
        """The normal distribution nearest to it; see `gaussian_approximation`."""
        return gaussian_approximation(self)


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
        return posterior.nearby.mean
    gram = V @ V.T
    if isinstance(loss, Hinge):
        problem = DualProblem(gram, y, C, equality=False)
    else:
        problem = DualProblem(gram, y, np.inf, equality=False, ridge=1.0 / C)
    mode: Array = V.T @ (y * solve(problem, tolerance=tolerance).alpha)
    return mode


MAX_SWEEPS = 100
MAX_HALVINGS = 30
MAX_LAST_CHANGE = 1e-4
"""A sweep of whole steps that moves the mean and each spread, relative to itself, by less ends the search; the mean in
units of the distribution's own spread."""
NEGLIGIBLE_RELATIVE_RISE = 1e-10
"""Of the divergence, relative: no reason to halve a step. Rises by rounding are of 1e-13, and differ by processor."""


@dataclass(frozen=True, eq=False)
class GaussianApproximation:
    """b ~ N(mean, root root').

    Attributes
    ----------
    mean : (p,) array
    root : (p, p) array
        An upper triangular root of the covariance.
    curvature : (n,) array
        <l''(y_i θ_i)> over this distribution.
    converged : bool
        Whether the search ended by itself. Sampling is exact, if slower, where it did not.
    """

    mean: Array
    root: Array
    curvature: Array
    converged: bool


def gaussian_approximation(posterior: Posterior) -> GaussianApproximation:
    """Find the mean m and the covariance S with the least Kullback-Leibler divergence KL(N(m, S) | Q).

    They satisfy m = -C V'Y <l'> and S^(-1) = I + C V' diag(<l''>) V, where the averages are over N(m, S) itself. So
    the hinge loss, whose curvature at the mode is 0 or infinite, has one that reflects the width of the posterior. With
    the trigonometric loss, which cannot be averaged, m is the mode and S^(-1) the curvature there.

    Not in the paper. Newton steps in m and natural-gradient steps in S, which lead S^(-1) towards the right side of its
    equation, take turns. Each is halved until the divergence, which is convex in m and a root of S, is no larger.
    O(n p^2 + p^3) each, some ten to forty times.

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
    - E. Challis and D. Barber, "Gaussian Kullback-Leibler Approximate Inference", Journal of Machine Learning Research
      14, 2013, pages 2239-2286: the divergence is convex.
    - M. E. Khan and W. Lin, "Conjugate-Computation Variational Inference", AISTATS 2017: the steps in S.
    """
    signed, C = posterior.signed, posterior.C
    unit = np.eye(signed.shape[1])
    here = _Normal.of(posterior, np.zeros(len(unit)), unit)
    converged = False
    for _ in range(MAX_SWEEPS):
        start = here
        downhill = -here.mean - C * (signed.T @ here.losses.slope)
        curved = unit + C * (signed.T @ (here.losses.curvature[:, None] * signed))
        step = scipy.linalg.cho_solve(scipy.linalg.cho_factor(curved), downhill)
        here, part_of_step = _first_not_higher(here, functools.partial(_moved, posterior, here, step))
        wanted = unit + C * (signed.T @ (here.losses.curvature[:, None] * signed))
        here, part_of_way = _first_not_higher(here, functools.partial(_narrowed, posterior, here, wanted))
        moved = np.linalg.norm(scipy.linalg.solve_triangular(start.root, here.mean - start.mean))
        narrowed = np.max(np.abs(here.spreads - start.spreads) / start.spreads)
        # A step that had to be halved is short whether or not it ends at the minimum.
        converged = bool(part_of_step == part_of_way == 1.0 and moved < MAX_LAST_CHANGE and narrowed < MAX_LAST_CHANGE)
        if converged or part_of_step == part_of_way == 0.0:
            break
    return GaussianApproximation(here.mean, here.root, here.losses.curvature, converged)


class _Normal(NamedTuple):
    """A normal distribution of b, and KL(N(mean, root root') | Q) up to a constant."""

    mean: Array
    precision: Array
    root: Array
    spreads: Array
    losses: Smoothed
    divergence: float

    @classmethod
    def of(cls, posterior: Posterior, mean: Array, precision: Array) -> _Normal:
        root = scipy.linalg.solve_triangular(scipy.linalg.cholesky(precision), np.eye(len(mean)))
        spreads = np.maximum(np.linalg.norm(posterior.signed @ root, axis=1), np.finfo(np.float64).tiny ** 0.5)
        return cls(mean, precision, root, spreads, *_averaged(posterior, mean, root, spreads))


def _moved(posterior: Posterior, here: _Normal, step: Array, part: float) -> _Normal:
    """Take a part of a step in the mean."""
    mean = here.mean + part * step
    losses, divergence = _averaged(posterior, mean, here.root, here.spreads)
    return here._replace(mean=mean, losses=losses, divergence=divergence)


def _narrowed(posterior: Posterior, here: _Normal, wanted: Array, part: float) -> _Normal:
    """Take a part of the step to a precision."""
    return _Normal.of(posterior, here.mean, here.precision + part * (wanted - here.precision))


def _averaged(posterior: Posterior, mean: Array, root: Array, spreads: Array) -> tuple[Smoothed, float]:
    losses = posterior.loss.smoothed(posterior.margins(mean), spreads)
    potential = 0.5 * mean @ mean + posterior.C * losses.value.sum()
    # Without an average of the loss there is no divergence: the potential at the mean stands for it.
    of_width = 0.5 * (root**2).sum() - np.log(np.diag(root)).sum() if posterior.loss.has_average else 0.0
    return losses, float(potential + of_width)


def _first_not_higher(here: _Normal, candidate: Callable[[float], _Normal]) -> tuple[_Normal, float]:
    """Return the candidate of the longest part of a step, 1, 1/2, 1/4 and so on, whose divergence is no larger.

    And that part, which is 0 where there is none.
    """
    ceiling = here.divergence + NEGLIGIBLE_RELATIVE_RISE * abs(here.divergence)
    for part in 0.5 ** np.arange(MAX_HALVINGS):
        found = candidate(float(part))
        if found.divergence <= ceiling:
            return found, float(part)
    return here, 0.0
