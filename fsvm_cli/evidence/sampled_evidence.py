"""The evidence, or a lower bound on it, as a function of the hyperparameters; a sampler estimates its gradient."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, NamedTuple, Self

import numpy as np

from fsvm_cli.evidence.diagnostics import convergence, energy_fraction
from fsvm_cli.evidence.gradient import EvidenceGradient, evidence_gradient, posterior_averages
from fsvm_cli.evidence.hybrid_monte_carlo import SamplerSettings, SamplingError, sample
from fsvm_cli.evidence.importance import MIN_EFFECTIVE_DRAWS, ImportanceSettings, importance_averages
from fsvm_cli.evidence.kernels import ArdKernel, NystroemFactor, nystroem_factor
from fsvm_cli.evidence.losses import Loss, Smoothed
from fsvm_cli.evidence.posterior import Posterior

if TYPE_CHECKING:
    import numpy.typing as npt

    from fsvm_cli.evidence.gradient import PosteriorAverages
    from fsvm_cli.evidence.parameters import Approximation
    from fsvm_cli.svm.compiled import Array


@dataclass(frozen=True, eq=False)
class BlurredLoss(Loss):
    """The average of another loss over θ_i ~ N((V b)_i, spread_i^2), one spread for each sample.

    Not in gold2005, whose θ = V b, equation (18), leaves out what V loses.

    Where b is known, θ of the whole kernel is that, with spread_i^2 = K_ii - (V V')_ii. By Jensen's inequality the
    average of exp(-C Σ l(y_i θ_i)) is at least exp of the average, so that the evidence with this loss and the kernel
    V V' is a lower bound on that with the whole kernel. The evidence of V V' alone is no bound: it disregards the
    variance that V V' has lost, and rises with k0.

    Attributes
    ----------
    loss : Loss
        One that normal distributions have an average of.
    spreads : (n,) array
        > 0.

    References
    ----------
    - J. Hensman, A. Matthews and Z. Ghahramani, "Scalable Variational Gaussian Process Classification", AISTATS 2015:
      the bound, there with a normal distribution for b.
    """

    name: ClassVar[str] = "blurred"
    has_curvature: ClassVar[bool] = True

    loss: Loss
    spreads: Array

    def value(self, margins: Array) -> Array:  # noqa: D102 - as in Loss
        return self.expanded(margins).value

    def slope(self, margins: Array) -> Array:  # noqa: D102 - as in Loss
        return self.expanded(margins).slope

    def expanded(self, margins: Array) -> Smoothed:  # noqa: D102 - as in Loss
        return self.loss.smoothed(margins, self._beside(margins))

    def of_rows(self, rows: slice) -> BlurredLoss:  # noqa: D102 - as in Loss
        return BlurredLoss(self.loss.of_rows(rows), self.spreads[rows])

    def smoothed(self, margins: Array, spreads: Array) -> Smoothed:  # noqa: D102 - as in Loss
        return self.loss.smoothed(margins, np.hypot(spreads, self._beside(margins)))

    def log_normaliser(self, C: float) -> float:  # noqa: D102 - as in Loss
        return self.loss.log_normaliser(C)

    def log_normaliser_slope(self, C: float) -> float:  # noqa: D102 - as in Loss
        return self.loss.log_normaliser_slope(C)

    def _beside(self, margins: Array) -> Array:
        """Return the spreads in the shape in which they go with margins (n,) or (n, k)."""
        return self.spreads.reshape(-1, *[1] * (margins.ndim - 1))


MAX_R_HAT, MAX_K_HAT = 1.05, 0.7
"""Limits beyond which draws are rough: the usual one by A. Vehtari et al., and the one that they recommend; see
`diagnostics`. (For summaries of a posterior they recommend an R-hat of 1.01.)"""
MAX_RELATIVE_GRADIENT_ERROR = 0.1
"""Its direction is then known to some 6 degrees. More draws are taken where the error is larger. A step needs no
smaller error, since the next step corrects it."""
MAX_R_HAT_OF_LAST_SAMPLER = 5.0
"""Beyond it chains have not left their starts, whatever their effective size. Between `MAX_R_HAT` and this the last of
the samplers is used, and its draws count as rough: an ascent needs a direction that leads up. All of 508 gradients by
short chains, at 16 points along ascents on Ionosphere and splice, were within 45 degrees of those by chains with 19,200
draws. Up to an R-hat of 1.05 their relative error was .02 in the median and .08 in 19 of 20 cases, from there to 2 it
was .04 and .12, from 3 to 5 .08 and .17. Beyond 5 no chain had moved by the width of the posterior: they reproduce the
normal distribution that they began with."""


@dataclass(frozen=True)
class Hyperparameters:
    """C and the parameters of the kernel.

    Attributes
    ----------
    C : float
        > 0.
    kernel : ArdKernel
    """

    C: float
    kernel: ArdKernel

    @property
    def logarithms(self) -> Array:
        """The logarithms of C, k0, k_off and the length scales, shape (3 + d,); those of a gradient's components."""
        return np.log([self.C, self.kernel.k0, self.kernel.k_off, *self.kernel.length_scales])

    @classmethod
    def from_logarithms(cls, logarithms: Array) -> Self:
        """Return what has these `logarithms`."""
        C, k0, k_off, *length_scales = np.exp(logarithms).tolist()
        return cls(C, ArdKernel(k0, k_off, tuple(length_scales)))


class SamplerReport(NamedTuple):
    """Diagnostics of the draws from which a gradient was estimated; NaN where the sampler has no such diagnostic.

    Attributes
    ----------
    acceptance : float
        Mean over the chains.
    leapfrog_step : float
        Δτ of the chains.
    r_hat : float
        The largest over the coordinates; see `diagnostics.Convergence`.
    effective_size : float
        Of weighted draws; of chains the smallest over the coordinates, see `diagnostics.Convergence`.
    log_evidence, log_evidence_error : float
        1/n ln Q(Y | X) and its standard deviation, which only weighted draws tell.
    tail_size : float
        Of chains, the smallest over the coordinates; see `diagnostics.Convergence`.
    energy_fraction : float
        The smallest over the chains; see `diagnostics.energy_fraction`.
    pareto_k : float
        Of weighted draws; see `diagnostics.pareto_k`.
    """

    acceptance: float
    leapfrog_step: float
    r_hat: float
    effective_size: float
    log_evidence: float
    log_evidence_error: float
    tail_size: float = np.nan
    energy_fraction: float = np.nan
    pareto_k: float = np.nan

    @property
    def is_rough(self) -> bool:
        """Whether by R-hat or k-hat averages over the draws are less precise than their errors state."""
        return self.r_hat > MAX_R_HAT or self.pareto_k > MAX_K_HAT


@dataclass(frozen=True, eq=False)
class SampledEvidence:
    """The evidence of samples, or a lower bound on it, by way of the kernel's Nystroem approximation.

    1/n ln Q(Y | X) of Gold et al. (2005), equation (7), with (18), and its gradients (8) and (9).

    Attributes
    ----------
    X : (n, d) array
        Samples.
    y : (n,) array
        Labels, -1 or +1.
    loss : Loss
    landmarks : (m,) array of int
        Rows of X.
    rank : int
        Eigenvectors to keep, at most.
    samplers : tuple of SamplerSettings or ImportanceSettings
        Chains or weighted draws, at least one, in the order in which they are tried, at each point anew.
    approximation : {"mixed", "exact", "bound"}
        See `evidence_gradient`. With the first two the evidence is that of V V', with the last it is the lower bound
        on that of the whole kernel, see `BlurredLoss`.

    Notes
    -----
    Kernel values count as exact; Monte Carlo errors do not hold their rounding. With every value moved by the most that
    rounding may do (5e-14 to 6e-12 of itself), 1/n ln Q(Y | X) moved by 7e-16 to 2e-11, where its Monte Carlo error was
    1e-5 to 3e-4: by six to ten orders less. The gradient moved by at most a millionth of its errors, of 4e-5 to 8e-4.
    """

    X: Array
    y: Array
    loss: Loss
    landmarks: npt.NDArray[np.intp]
    rank: int
    samplers: tuple[SamplerSettings | ImportanceSettings, ...]
    approximation: Approximation

    def posterior_at(self, hyperparameters: Hyperparameters) -> tuple[NystroemFactor, Posterior]:
        """Return the posterior, and the approximate Gram matrix that it comes from."""
        factor = nystroem_factor(hyperparameters.kernel, self.X, self.landmarks, self.rank)
        is_bound = self.approximation == "bound"
        loss = BlurredLoss(self.loss, np.sqrt(factor.lost_variance)) if is_bound else self.loss
        return factor, Posterior(factor.V, self.y, hyperparameters.C, loss)

    def gradient_at(
        self, hyperparameters: Hyperparameters, rng: np.random.Generator
    ) -> tuple[EvidenceGradient, SamplerReport]:
        """Estimate the gradient by draws from the posterior.

        By the first of the samplers whose draws are not rough and whose relative error is at most
        `MAX_RELATIVE_GRADIENT_ERROR`; if there is none, by the last one that does not fail.

        Raises
        ------
        SamplingError
            If with each of the samplers a chain never moved, or hardly, or a few draws have all the weight.
        """
        factor, posterior = self.posterior_at(hyperparameters)
        found, failure = None, None
        for settings in self.samplers:
            try:
                averages, report = _averages(posterior, settings, rng)
            except SamplingError as error:
                failure = error
                continue
            # A pass over the kernel's derivatives takes as long as draws: what is not used is not made.
            found = averages, report
            if report.is_rough and settings is not self.samplers[-1]:
                continue
            gradient = evidence_gradient(factor, posterior, averages, self.approximation)
            if settings is self.samplers[-1] or gradient.relative_error <= MAX_RELATIVE_GRADIENT_ERROR:
                return gradient, report
        if found is None:
            raise failure or SamplingError("there is no sampler")
        averages, report = found
        return evidence_gradient(factor, posterior, averages, self.approximation), report


def _averages(
    posterior: Posterior, settings: SamplerSettings | ImportanceSettings, rng: np.random.Generator
) -> tuple[PosteriorAverages, SamplerReport]:
    if isinstance(settings, ImportanceSettings):
        weighted = importance_averages(posterior, settings, rng)
        of_chains = (np.nan, np.nan, np.nan)
        evidence = (weighted.log_evidence, weighted.log_evidence_error)
        return weighted.averages, SamplerReport(
            *of_chains, weighted.effective_size, *evidence, pareto_k=weighted.pareto_k
        )
    draws = sample(posterior, settings, rng)
    found = convergence(draws.points)
    r_hat, effective_size = float(found.r_hat.max()), float(found.bulk_size.min())
    acceptance = float(draws.acceptance.mean())
    if effective_size < MIN_EFFECTIVE_DRAWS or r_hat > MAX_R_HAT_OF_LAST_SAMPLER:
        raise SamplingError(
            f"chains hardly move: they accepted {acceptance:.2g} of their trajectories, in steps of {draws.step:.2g}, "
            f"and their draws are worth {effective_size:.0f} independent ones (R-hat {r_hat:.3g}); choose weighted "
            "draws, or chains whose step is adapted"
        )
    report = SamplerReport(
        acceptance,
        draws.step,
        r_hat,
        effective_size,
        np.nan,
        np.nan,
        tail_size=float(found.tail_size.min()),
        energy_fraction=float(np.min(energy_fraction(draws.energies))),
    )
    return posterior_averages(posterior, draws.points), report
