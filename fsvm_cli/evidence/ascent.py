"""Gradient ascent on the evidence, along the logarithms of the hyperparameters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fsvm_cli.evidence.sampled_evidence import Hyperparameters, SampledEvidence, SamplerReport

if TYPE_CHECKING:
    from fsvm_cli.svm.vectors import Array

LARGEST_CHANGE = 10.0
"""No logarithm leaves its start by more: the hyperparameter stays within factors of some twenty thousand."""
FIRST_LENGTH_SCALE = 3
"""Where length scales begin among the logarithms."""


@dataclass(frozen=True)
class AscentSettings:
    """How the ascent steps and when it ends.

    Attributes
    ----------
    step : float
        The change of the logarithm with the largest derivative in the first step, > 0.
    decay : float
        After how many steps the step is half of that, > 0: η_t = step / (1 + t / decay).
    stop : float
        The ascent ends when `AscentPath.magnitude` falls below it; 0.3 for most data of Gold et al. (2005), 0.15 for
        their splice.
    max_steps : int
        >= 0.
    """

    step: float = 0.3
    decay: float = 40.0
    stop: float = 0.3
    max_steps: int = 100


@dataclass(frozen=True, eq=False)
class AscentPath:
    """Where an ascent went; the last row is its end.

    Attributes
    ----------
    logarithms : (n_rows, 3 + d) array
        See `Hyperparameters.logarithms`.
    gradient, error : (n_rows, 3 + d) arrays
        See `EvidenceGradient`.
    magnitude : (n_rows,) array
        The mean over the length scales of |∂E/∂ln l_a|, each relative to the largest that it has been: 1 at the start.
    reports : tuple of SamplerReport
        One per row.
    stopped : bool
        Whether the stopping rule held at the end.
    """

    logarithms: Array
    gradient: Array
    error: Array
    magnitude: Array
    reports: tuple[SamplerReport, ...]
    stopped: bool

    @property
    def end(self) -> Hyperparameters:
        """The hyperparameters that were found."""
        return Hyperparameters.from_logarithms(self.logarithms[-1])


def ascend(
    evidence: SampledEvidence, start: Hyperparameters, settings: AscentSettings, rng: np.random.Generator
) -> AscentPath:
    """Follow the gradient of the evidence until it has fallen to a part of what it was.

    Steps do not look at values of the evidence, which chains do not know. They are ln λ ← ln λ + η_t g / max_λ |g|,
    where λ is C, for losses that have one, and every parameter of the kernel.
    Gold et al. (2005) do not say theirs; their stopping rule is the magnitude of the length scales' gradients,
    each relative to its peak.

    Parameters
    ----------
    evidence : SampledEvidence
    start : Hyperparameters
    settings : AscentSettings
    rng : numpy.random.Generator
        Of the sampler.

    Returns
    -------
    AscentPath

    Raises
    ------
    SamplingError
        If a chain never moved, or a few draws have all the weight.
    """
    first = here = start.logarithms
    free = np.ones(len(first))
    free[0] = evidence.loss.has_strength
    rows: list[tuple[Array, Array, Array, float]] = []
    reports: list[SamplerReport] = []
    peaks = np.zeros(len(first) - FIRST_LENGTH_SCALE)
    while True:
        gradient, report = evidence.gradient_at(Hyperparameters.from_logarithms(here), rng)
        sizes = np.abs(gradient.value[FIRST_LENGTH_SCALE:])
        peaks = np.maximum(peaks, sizes)
        # A feature that is constant has no gradient, ever.
        magnitude = float(np.mean(sizes[peaks > 0.0] / peaks[peaks > 0.0])) if peaks.any() else 0.0
        rows.append((here, gradient.value, gradient.error, magnitude))
        reports.append(report)
        stopped = magnitude < settings.stop
        if stopped or len(rows) > settings.max_steps:
            break
        length = settings.step / (1.0 + (len(rows) - 1) / settings.decay)
        slope = free * gradient.value
        moved = here + length * slope / np.abs(slope).max()
        here = np.clip(moved, first - LARGEST_CHANGE, first + LARGEST_CHANGE)
    logarithms, gradients, errors, magnitudes = (np.array(column) for column in zip(*rows, strict=True))
    return AscentPath(logarithms, gradients, errors, magnitudes, tuple(reports), stopped)
