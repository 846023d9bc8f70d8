"""The evidence as a function of its hyperparameters, of which a sampler tells the gradient."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np

from fsvm_cli.evidence.ard_kernel import ArdKernel
from fsvm_cli.evidence.averages import posterior_averages
from fsvm_cli.evidence.convergence import effective_sample_size, split_r_hat
from fsvm_cli.evidence.gradient import EvidenceGradient, evidence_gradient
from fsvm_cli.evidence.hybrid_monte_carlo import SamplerSettings, sample
from fsvm_cli.evidence.nystroem import nystroem_factor
from fsvm_cli.evidence.posterior import Posterior

if TYPE_CHECKING:
    import numpy.typing as npt

    from fsvm_cli.evidence.gradient import Approximation
    from fsvm_cli.evidence.loss import Loss
    from fsvm_cli.svm.vectors import Array


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
    """How the draws behind a gradient came about.

    Attributes
    ----------
    acceptance : float
        Mean over the chains.
    step : float
        Δτ.
    r_hat : float
        The largest over the coordinates; see `split_r_hat`.
    effective_size : float
        The smallest over the coordinates; see `effective_sample_size`.
    """

    acceptance: float
    step: float
    r_hat: float
    effective_size: float


@dataclass(frozen=True, eq=False)
class SampledEvidence:
    """The evidence of samples, by way of the kernel's Nystroem approximation.

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
    sampler : SamplerSettings
    approximation : {"mixed", "exact"}
        See `evidence_gradient`.
    """

    X: Array
    y: Array
    loss: Loss
    landmarks: npt.NDArray[np.intp]
    rank: int
    sampler: SamplerSettings
    approximation: Approximation

    def gradient_at(
        self, hyperparameters: Hyperparameters, rng: np.random.Generator
    ) -> tuple[EvidenceGradient, SamplerReport]:
        """Estimate the gradient by draws from the posterior.

        Raises
        ------
        SamplingError
            If a chain never moved.
        """
        factor = nystroem_factor(hyperparameters.kernel, self.X, self.landmarks, self.rank)
        posterior = Posterior(factor.V, self.y, hyperparameters.C, self.loss)
        draws = sample(posterior, self.sampler, rng)
        averages = posterior_averages(posterior, draws.points)
        report = SamplerReport(
            float(draws.acceptance.mean()),
            draws.step,
            float(split_r_hat(draws.points).max()),
            float(effective_sample_size(draws.points).min()),
        )
        return evidence_gradient(factor, posterior, averages, self.approximation), report
