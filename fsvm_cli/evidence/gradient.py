"""The gradient of the log evidence by the logarithms of all hyperparameters, from averages over the posterior."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import scipy.linalg
from scipy.special import stdtrit

if TYPE_CHECKING:
    import numpy.typing as npt

    from fsvm_cli.evidence.kernels import NystroemFactor
    from fsvm_cli.evidence.parameters import Approximation
    from fsvm_cli.evidence.posterior import Posterior
    from fsvm_cli.svm.compiled import Array

DRAWS_PER_BLOCK = 1024
"""Draws that are processed together."""


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
        one pass over the draws, and none of them is known to it. See `controlled_moments`.
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


def controlled_moments(posterior: Posterior, moments: Array, second_moments: Array) -> Array:
    """Make averages of Y l'(Yθ) b' less noisy, by what the same draws have for an average that is known.

    Integration by parts gives <F b'> = -I for the force F = -b - C V'Y l'(Yθ) of Gold et al. (2005), equation (21).
    By the same rule the best linear prediction of Y l' from F has the coefficients -D V <F F'>^(-1), D = diag <l''>. So

        <Y l' b'> + D V S (<F b'> + I)

    has the right mean, whatever D and S, and the less noise the nearer S is to <F F'>^(-1). D and S are those of the
    `GaussianApproximation`. Along ascents this divides errors of the gradient "mixed" by two to seven, and those of the
    others by 1.3 to 3.

    Parameters
    ----------
    posterior : Posterior
    moments : (n_batches, n, p) array
        <Y l'(Yθ) b'>.
    second_moments : (n_batches, p, p) array
        <b b'>.

    Returns
    -------
    (n_batches, n, p) array
        O(n p^2) per batch.

    References
    ----------
    - A. Mira, R. Solgi and D. Imparato, "Zero Variance Markov Chain Monte Carlo for Bayesian Estimators", Statistics
      and Computing 23, 2013, pages 653-662: such control variates.
    """
    nearby = posterior.nearby
    if not nearby.converged:
        return moments
    unit = np.eye(posterior.V.shape[1])
    excess = unit - second_moments - posterior.C * (posterior.V.T @ moments)
    coefficients = (nearby.curvature[:, None] * posterior.V) @ (nearby.root @ nearby.root.T)
    controlled: Array = moments + coefficients @ excess
    return controlled


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
    second_moments = np.zeros((len(batches), p, p))
    curvature = np.zeros((len(batches), n))
    for k, batch in enumerate(batches):
        for start in range(0, len(batch), DRAWS_PER_BLOCK):
            b = batch[start : start + DRAWS_PER_BLOCK]
            at = posterior.loss.expanded(posterior.margins(b.T))
            loss[k] += at.value.sum()
            moments[k] += at.slope @ b
            curvature[k] += at.curvature.sum(axis=1)
        loss[k] /= n * len(batch)
        curvature[k] /= len(batch)
        moments[k] *= posterior.y[:, None] / len(batch)
        second_moments[k] = batch.T @ batch / len(batch)
    parts = np.array([len(batch) for batch in batches]) / (n_draws * n_chains)
    return PosteriorAverages(parts, loss, controlled_moments(posterior, moments, second_moments), curvature)


N_BATCHES = 4
"""From whose spread the errors follow: each takes another pass over the kernel's derivatives."""
MAX_WRONG_SIGN_PROBABILITY = 0.025
"""How often a sign would be called resolved and be wrong where the derivative is all but 0, by Student's distribution
of a mean over its error, if the means of batches were normal. Measured at 140 zeros of gradients by weighted draws,
in 5,600 trials: 4.2 %; by chains, in 1,400 trials: 3.1 %. On 60 made posteriors none of 3,858 was wrong
(`tests.evidence.signs`)."""
RELATIVE_ROUNDING = 1e-9
"""Of the largest component. What is smaller may be nothing but rounding, and so may its error: as by the length scale
of a feature with two values, once they are so far from each other that nothing changes any more."""


@dataclass(frozen=True, eq=False)
class EvidenceGradient:
    """The gradient of E = 1/n ln Q(Y | X) by ln C, ln k0, ln k_off, and each ln l_a, in this order.

    Attributes
    ----------
    value : (3 + d,) array
    error : (3 + d,) array
        Standard deviations of `value`, from the spread over the batches of draws; NaN where there was one batch.
    """

    value: Array
    error: Array

    @property
    def resolved(self) -> npt.NDArray[np.bool_]:
        """Whether each component is so far from 0 that its sign counts as known, and larger than rounding.

        Near a zero of the derivative about 4 % of signs are resolved and wrong; see `MAX_WRONG_SIGN_PROBABILITY`.
        """
        sizes = np.abs(self.value)
        far = stdtrit(N_BATCHES - 1, 1.0 - MAX_WRONG_SIGN_PROBABILITY) * self.error
        larger: npt.NDArray[np.bool_] = sizes > np.maximum(far, RELATIVE_ROUNDING * sizes.max())
        return larger

    @property
    def relative_error(self) -> float:
        """The length of the vector of the errors over that of the gradient, >= 0; NaN where there was one batch."""
        return float(np.linalg.norm(self.error) / (np.linalg.norm(self.value) or 1.0))


def evidence_gradient(
    factor: NystroemFactor, posterior: Posterior, averages: PosteriorAverages, approximation: Approximation = "exact"
) -> EvidenceGradient:
    """Make the gradient of the evidence from averages over the posterior.

    By C, Gold et al. (2005), equation (8): ∂E/∂C = ∂ln κ/∂C - <1/n sum_i l(y_i θ_i)>. By a parameter λ of the kernel,

        mixed:  ∂E/∂λ = -C/(2n) <l'(Yθ)'Y (∂K/∂λ) V (V'V)^(-1) b>,
        exact:  ∂E/∂λ = -C/n <l'(Yθ)'Y (∂V/∂λ) b>.

    The first is (9), whose print lacks the prime of l', with K^(-1) θ = V (V'V)^(-1) b as in section 3.1. It is right
    for the full Gram matrix; with a thin V the paper takes the derivative of the full K with the inverse of the
    approximate one. The second is the gradient of the evidence of the approximate kernel V V'. Both agree where V V' is
    the full Gram matrix. With a `BlurredLoss`, whose spreads σ_i^2 = K_ii - (V V')_ii depend on λ, too,

        bound:  ∂E/∂λ = -C/n <l'(Yθ)'Y (∂V/∂λ) b + 1/2 sum_i l''(y_i θ_i) ∂σ_i^2/∂λ>

    is the gradient of the bound.

    Parameters
    ----------
    factor : NystroemFactor
    posterior : Posterior
        With the factor's V.
    averages : PosteriorAverages
    approximation : {"mixed", "exact", "bound"}

    Returns
    -------
    EvidenceGradient
        Per batch O(n^2 (p + d)) for the mixed gradient and O(n m (p + d)) for the others.
    """
    kernel, X, C, n = factor.kernel, factor.X, posterior.C, len(posterior.y)
    averages = averages.merged(N_BATCHES)
    by_C = C * (posterior.loss.log_normaliser_slope(C) - averages.loss)
    if approximation == "mixed":
        pseudo_inverse = scipy.linalg.pinv(factor.V).T
        by_kernel = -C / (2 * n) * kernel.log_gradient(X, X, averages.moments, pseudo_inverse)
    elif approximation == "exact":
        by_kernel = -C / n * _by_thin_factor(factor, averages.moments)
    else:
        # ∂σ_i^2 = ∂K_ii - 2 V_i·∂V_i
        by_kernel = -C / n * _by_thin_factor(factor, averages.moments - averages.curvature[:, :, None] * factor.V)
        total = averages.curvature.sum(axis=1)
        by_kernel[:, 0] -= C / (2 * n) * total * kernel.k0
        by_kernel[:, 1] -= C / (2 * n) * total * kernel.k_off
    batches = np.column_stack([by_C, by_kernel])
    value = averages.parts @ batches
    if len(batches) == 1:
        return EvidenceGradient(value, np.full_like(value, np.nan))
    deviations = averages.parts[:, None] * (batches - value)
    return EvidenceGradient(value, np.sqrt((deviations**2).sum(axis=0) * len(batches) / (len(batches) - 1)))


def _by_thin_factor(factor: NystroemFactor, moments: Array) -> Array:
    """Return tr(M' ∂V/∂λ) for several M, shape (n_repeats, 2 + d)."""
    kernel, chosen = factor.kernel, factor.X[factor.landmarks]
    by_cross = kernel.log_gradient(factor.X, chosen, moments, factor.inverse_roots)
    leading = factor.eigenvectors[:, : factor.rank]
    gradient: Array = by_cross + kernel.log_gradient(chosen, chosen, factor.landmark_coefficients(moments), leading)
    return gradient
