"""Ascent on the evidence: where it goes, when it ends, and what it says."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fsvm_cli.evidence.ard_kernel import ArdKernel
from fsvm_cli.evidence.ascent import FIRST_LENGTH_SCALE, LARGEST_CHANGE, AscentSettings, ascend
from fsvm_cli.evidence.gradient import EvidenceGradient
from fsvm_cli.evidence.hinge import Hinge
from fsvm_cli.evidence.hybrid_monte_carlo import SamplerSettings, SamplingError
from fsvm_cli.evidence.importance import ImportanceSettings
from fsvm_cli.evidence.sampled_evidence import Hyperparameters, SampledEvidence, SamplerReport
from fsvm_cli.evidence.trigonometric import Trigonometric

RNG = np.random.default_rng(12)
X = RNG.standard_normal((90, 4))
X[:, 3] = 2.0
Y = np.where(X[:, 0] > 0.2 * RNG.standard_normal(90), 1.0, -1.0)
START = Hyperparameters(1.0, ArdKernel(1.0, 1.0, (2.0, 2.0, 2.0, 2.0)))
EVIDENCE = SampledEvidence(X, Y, Hinge(), np.arange(0, 90, 2), 12, (SamplerSettings(32, 10, 20),), "exact")


class Quadratic(SampledEvidence):
    """An evidence whose gradient is known: that of -(ln λ - 1)^2 / 2."""

    def gradient_at(
        self, hyperparameters: Hyperparameters, rng: np.random.Generator
    ) -> tuple[EvidenceGradient, SamplerReport]:
        value = 1.0 - hyperparameters.logarithms
        return EvidenceGradient(value, 0.1 * np.ones_like(value)), SamplerReport(0.8, 0.4, 1.0, 100.0, 0.0)


def quadratic() -> Quadratic:
    return Quadratic(X, Y, Hinge(), EVIDENCE.landmarks, 12, EVIDENCE.samplers, "exact")


def test_where_one_sampler_fails_the_next_is_used_and_the_last_tells() -> None:
    hopeless = replace(EVIDENCE.samplers[0], step=50.0, time=100.0, acceptance=None)
    both = replace(EVIDENCE, samplers=(hopeless, ImportanceSettings()))
    assert np.isfinite(both.gradient_at(START, np.random.default_rng(0))[1].log_evidence)
    with pytest.raises(SamplingError, match="accepted none"):
        replace(EVIDENCE, samplers=(hopeless,)).gradient_at(START, np.random.default_rng(0))


def test_hyperparameters_are_their_logarithms() -> None:
    there_and_back = Hyperparameters.from_logarithms(START.logarithms)
    assert there_and_back.C == START.C
    np.testing.assert_allclose(there_and_back.kernel.length_scales, START.kernel.length_scales)


def test_the_relevant_feature_keeps_the_shortest_length_scale() -> None:
    path = ascend(EVIDENCE, START, AscentSettings(max_steps=8, stop=0.0), np.random.default_rng(0))
    relevant, *noise, constant = path.end.kernel.length_scales
    assert relevant < 2.0 < min(noise)
    assert constant == 2.0
    assert not path.stopped
    assert path.logarithms.shape == path.gradient.shape == path.error.shape == (9, 7)
    assert len(path.reports) == len(path.magnitude) == 9
    assert all(report.acceptance > 0.5 and report.r_hat < 1.5 for report in path.reports)
    assert path.gradient[0, FIRST_LENGTH_SCALE] < -10 * path.error[0, FIRST_LENGTH_SCALE]


def test_it_climbs_to_the_top_by_steps_that_shrink() -> None:
    settings = AscentSettings(step=0.2, decay=5.0, stop=0.02, max_steps=400)
    path = ascend(quadratic(), START, settings, np.random.default_rng(0))
    assert path.stopped
    assert path.magnitude[-1] < 0.02 <= path.magnitude[:-1].min()
    np.testing.assert_allclose(path.logarithms[-1], 1.0, atol=0.05)
    lengths = np.abs(np.diff(path.logarithms, axis=0)).max(axis=1)
    np.testing.assert_allclose(lengths, 0.2 / (1.0 + np.arange(len(lengths)) / 5.0))


def test_the_magnitude_is_relative_to_each_feature_s_peak() -> None:
    path = ascend(quadratic(), START, AscentSettings(max_steps=20, stop=0.0), np.random.default_rng(0))
    sizes = np.abs(path.gradient[:, FIRST_LENGTH_SCALE:])
    expected = (sizes / np.maximum.accumulate(sizes, axis=0)).mean(axis=1)
    np.testing.assert_allclose(path.magnitude, expected)
    assert path.magnitude[0] == 1.0


def test_no_hyperparameter_runs_away() -> None:
    class Slope(Quadratic):
        def gradient_at(
            self, hyperparameters: Hyperparameters, rng: np.random.Generator
        ) -> tuple[EvidenceGradient, SamplerReport]:
            gradient, report = super().gradient_at(hyperparameters, rng)
            return replace(gradient, value=np.linspace(-1.0, 1.0, 7)), report

    evidence = Slope(X, Y, Hinge(), EVIDENCE.landmarks, 12, EVIDENCE.samplers, "exact")
    path = ascend(evidence, START, AscentSettings(step=3.0, max_steps=9), np.random.default_rng(0))
    assert np.abs(path.logarithms - START.logarithms).max() == pytest.approx(LARGEST_CHANGE)
    assert np.isfinite(path.logarithms).all()


def test_the_trigonometric_likelihood_keeps_its_strength() -> None:
    evidence = replace(EVIDENCE, loss=Trigonometric())
    path = ascend(evidence, START, AscentSettings(max_steps=3, stop=0.0), np.random.default_rng(0))
    np.testing.assert_array_equal(path.logarithms[:, 0], 0.0)
    assert (path.logarithms[1:, 1:-1] != 0.0).all()


def test_samples_that_are_all_alike_end_it_at_once() -> None:
    alike = replace(EVIDENCE, X=np.ones((90, 4)), approximation="mixed")
    path = ascend(alike, START, AscentSettings(), np.random.default_rng(0))
    assert path.stopped
    np.testing.assert_array_equal(path.magnitude, [0.0])
