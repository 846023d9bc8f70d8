"""Ascent on the evidence: where it goes, when it ends, and what it says."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import scipy.optimize
from scipy.special import logsumexp
from scipy.stats import norm

from fsvm_cli.evidence.ascent import (
    BLIND_STRENGTHS,
    BLIND_THETAS,
    BLIND_VARIANCES,
    FIRST_LENGTH_SCALE_INDEX,
    LOG_SPACING,
    MAX_LOG_CHANGE,
    MAX_LOG_STEP,
    MIN_LOG_EVIDENCE_GAIN,
    STEPS_TO_RAISE_EVIDENCE,
    AscentSettings,
    ascend,
    blind_log_evidence,
)
from fsvm_cli.evidence.gradient import EvidenceGradient
from fsvm_cli.evidence.hybrid_monte_carlo import PAPER_SETTINGS, SamplerSettings, SamplingError
from fsvm_cli.evidence.importance import ImportanceSettings
from fsvm_cli.evidence.kernels import ArdKernel
from fsvm_cli.evidence.losses import Hinge, Trigonometric
from fsvm_cli.evidence.parameters import BLIND, SATURATED
from fsvm_cli.evidence.sampled_evidence import Hyperparameters, SampledEvidence, SamplerReport
from fsvm_cli.evidence.tuning import BOUND_SAMPLERS, what_was_chosen
from fsvm_cli.ranking.ard import AutomaticRelevance

if TYPE_CHECKING:
    from fsvm_cli.evidence.losses import Loss
    from fsvm_cli.evidence.parameters import Rule

X, NOISE = np.split(np.random.default_rng(12).standard_normal(450), [360])
X = X.reshape(90, 4)
X[:, 3] = 2.0
Y = np.where(X[:, 0] > 0.2 * NOISE, 1.0, -1.0)
START = Hyperparameters(1.0, ArdKernel(1.0, 1.0, (2.0, 2.0, 2.0, 2.0)))
EVIDENCE = SampledEvidence(X, Y, Hinge(), np.arange(0, 90, 2), 12, (SamplerSettings(32, 10, 20),), "exact")


class Quadratic(SampledEvidence):
    """An evidence whose gradient is known: that of -(ln λ - 1)^2 / 2."""

    def gradient_at(
        self, hyperparameters: Hyperparameters, rng: np.random.Generator
    ) -> tuple[EvidenceGradient, SamplerReport]:
        value = 1.0 - hyperparameters.logarithms
        report = SamplerReport(0.8, 0.4, 1.0, 100.0, -0.5 * float(value @ value), 1e-6)
        return EvidenceGradient(value, 0.1 * np.ones_like(value)), report


def quadratic() -> Quadratic:
    return Quadratic(X, Y, Hinge(), EVIDENCE.landmarks, 12, EVIDENCE.samplers, "exact")


BOUND = replace(EVIDENCE, samplers=BOUND_SAMPLERS, approximation="bound")


def test_where_one_sampler_fails_the_next_is_used_and_the_last_tells() -> None:
    hopeless = replace(EVIDENCE.samplers[0], step=50.0, time=100.0, acceptance=None)
    both = replace(EVIDENCE, samplers=(hopeless, ImportanceSettings()))
    assert np.isfinite(both.gradient_at(START, np.random.default_rng(0))[1].log_evidence)
    with pytest.raises(SamplingError, match="accepted none"):
        replace(EVIDENCE, samplers=(hopeless,)).gradient_at(START, np.random.default_rng(0))


STEEP = Hyperparameters(3.0, ArdKernel(10.0, 1.0, (2.0, 2.0, 2.0, 2.0)))
RARELY_ACCEPTED = replace(PAPER_SETTINGS, n_warm_up=50, n_draws=3200, step=0.1, time=1.0)
"""One chain whose step is too long for a steep posterior: of a hundred trajectories it accepts a few."""
SHORT_STEPS = SamplerSettings(n_chains=32, n_warm_up=10, n_draws=100, step=0.002, time=0.02, acceptance=None)
"""Many chains that stay where they began, so that together they are worth some draws all the same."""


@pytest.mark.parametrize(("settings", "where"), [(RARELY_ACCEPTED, STEEP), (SHORT_STEPS, START)])
def test_chains_that_hardly_move_are_told(settings: SamplerSettings, where: Hyperparameters) -> None:
    hardly = replace(EVIDENCE, samplers=(settings,))
    with pytest.raises(SamplingError, match=r"chains hardly move: they accepted [01]\S* of their trajectories"):
        hardly.gradient_at(where, np.random.default_rng(1))
    assert EVIDENCE.gradient_at(where, np.random.default_rng(1))[1].effective_size > 100


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
    assert path.gradient[0, FIRST_LENGTH_SCALE_INDEX] < -10 * path.error[0, FIRST_LENGTH_SCALE_INDEX]


def test_a_longer_ascent_begins_with_the_gradients_of_a_shorter_one() -> None:
    looked_at: list[Hyperparameters] = []

    class Counted(SampledEvidence):
        def gradient_at(
            self, hyperparameters: Hyperparameters, rng: np.random.Generator
        ) -> tuple[EvidenceGradient, SamplerReport]:
            looked_at.append(hyperparameters)
            return super().gradient_at(hyperparameters, rng)

    counted = Counted(X, Y, Hinge(), EVIDENCE.landmarks, 12, EVIDENCE.samplers, "exact")
    rngs = [np.random.default_rng(7) for _ in range(4)]
    short, long, again = (AscentSettings(max_steps=steps, stop=0.0) for steps in (3, 8, 3))
    paths = [ascend(counted, START, settings, rng) for settings, rng in zip((short, long, again), rngs, strict=False)]
    assert len(looked_at) == 9
    for path in (paths[0], paths[2]):
        np.testing.assert_array_equal(path.logarithms, paths[1].logarithms[:4])
        np.testing.assert_array_equal(path.gradient, paths[1].gradient[:4])
    # What follows has the same random numbers as after an ascent that shared nothing.
    for logarithms in paths[0].logarithms:
        EVIDENCE.gradient_at(Hyperparameters.from_logarithms(logarithms), rngs[3])
    assert rngs[0].bit_generator.state == rngs[2].bit_generator.state == rngs[3].bit_generator.state
    ascend(replace(counted, y=-Y), START, short, np.random.default_rng(7))
    ascend(counted, START, short, np.random.default_rng(8))
    assert len(looked_at) == 17


def test_it_climbs_to_the_top_by_steps_that_shrink() -> None:
    settings = AscentSettings(step=0.2, decay=5.0, stop=0.02, max_steps=400)
    path = ascend(quadratic(), START, settings, np.random.default_rng(0))
    assert path.stopped
    assert path.magnitude[-1] < 0.02 <= path.magnitude[:-1].min()
    np.testing.assert_allclose(path.logarithms[-1], 1.0, atol=0.05)
    lengths = np.abs(np.diff(path.logarithms, axis=0)).max(axis=1)
    np.testing.assert_allclose(lengths, 0.2 / (1.0 + np.arange(len(lengths)) / 5.0), atol=LOG_SPACING)


def test_the_magnitude_is_relative_to_each_feature_s_peak() -> None:
    path = ascend(quadratic(), START, AscentSettings(max_steps=20, stop=0.0), np.random.default_rng(0))
    sizes = np.abs(path.gradient[:, FIRST_LENGTH_SCALE_INDEX:])
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
    assert np.abs(path.logarithms - START.logarithms).max() == pytest.approx(MAX_LOG_CHANGE)
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


def test_by_the_rule_evidence_it_climbs_to_the_top_in_few_steps() -> None:
    path = ascend(quadratic(), START, AscentSettings("evidence"), np.random.default_rng(0))
    assert path.stopped
    np.testing.assert_allclose(path.logarithms[-1], 1.0, atol=1e-3)
    assert len(path.reports) < 12
    assert np.abs(path.logarithms[1] - path.logarithms[0]).max() == pytest.approx(AscentSettings().step)


def test_the_bound_only_rises_and_a_longer_ascent_ends_no_higher() -> None:
    path = ascend(BOUND, START, AscentSettings("evidence"), np.random.default_rng(0))
    values = np.array([report.log_evidence for report in path.reports])
    assert path.stopped
    assert (np.diff(values) > 0.0).all()
    assert 90 * (values[-1] - values[0]) > 5.0
    last = path.reports[-1 - STEPS_TO_RAISE_EVIDENCE :]
    error = np.hypot(last[0].log_evidence_error, last[-1].log_evidence_error)
    assert last[-1].log_evidence - last[0].log_evidence < max(MIN_LOG_EVIDENCE_GAIN / 90, error)


def test_the_bound_ends_as_high_as_scipy_comes() -> None:
    path = ascend(BOUND, START, AscentSettings("evidence"), np.random.default_rng(0))
    seed = int(np.random.default_rng(0).integers(2**63))

    def descended(logarithms: np.ndarray) -> tuple[float, np.ndarray]:
        gradient, report = BOUND.gradient_at(Hyperparameters.from_logarithms(logarithms), np.random.default_rng(seed))
        return -90 * report.log_evidence, -90 * gradient.value

    limits = [(log - MAX_LOG_CHANGE, log + MAX_LOG_CHANGE) for log in START.logarithms]
    oracle = scipy.optimize.minimize(descended, START.logarithms, method="L-BFGS-B", jac=True, bounds=limits)
    assert descended(path.logarithms[-1])[0] <= oracle.fun + MIN_LOG_EVIDENCE_GAIN


def test_the_bound_ends_where_the_evidence_of_the_thin_kernel_goes_on_rising() -> None:
    """With k0 the thin kernel loses variance of which its own evidence knows nothing."""
    larger = [Hyperparameters(1.0, ArdKernel(k0, 1.0, (0.7,) * 4)) for k0 in (1.0, 10.0, 100.0)]
    thin = replace(BOUND, rank=4)
    bound, blind = (
        [each.gradient_at(point, np.random.default_rng(0))[1].log_evidence for point in larger]
        for each in (thin, replace(thin, approximation="exact"))
    )
    assert bound[0] > bound[1] > bound[2]
    assert blind[2] > bound[2] + 1.0


def test_common_length_scales_stay_common() -> None:
    for evidence, rule in ((BOUND, "evidence"), (EVIDENCE, "magnitude")):
        settings = AscentSettings(rule, stop=0.0, max_steps=4, common_length_scale=True)
        scales = ascend(evidence, START, settings, np.random.default_rng(0)).logarithms[:, FIRST_LENGTH_SCALE_INDEX:]
        assert np.ptp(scales, axis=1).max() < 1e-9
        assert np.ptp(scales[:, 0]) > 0.05


def test_what_ran_away_is_told() -> None:
    class Slope(Quadratic):
        def gradient_at(
            self, hyperparameters: Hyperparameters, rng: np.random.Generator
        ) -> tuple[EvidenceGradient, SamplerReport]:
            gradient, report = super().gradient_at(hyperparameters, rng)
            slope = np.array([0.0, 1.0, 0.0, 0.0, 0.0, 0.0, -1.0])
            value = float(slope @ hyperparameters.logarithms)
            return replace(gradient, value=slope), report._replace(log_evidence=value)

    evidence = Slope(X, Y, Hinge(), EVIDENCE.landmarks, 12, EVIDENCE.samplers, "bound")
    for settings in (AscentSettings("evidence"), AscentSettings(step=3.0, max_steps=9, stop=0.0)):
        path = ascend(evidence, START, settings, np.random.default_rng(0))
        np.testing.assert_array_equal(path.at_bound, [False, True, False, False, False, False, True])
        assert what_was_chosen([path], X)["hyperparameters at bounds"] == 2


@pytest.mark.parametrize("way", [{"rule": "magnitude"}, {"rule": "magnitude", "approximation": "exact"}, {}])
def test_features_off_the_scale_of_the_kernel_are_told(way: dict[str, Any]) -> None:
    """All samples are in one place then, or each is far from all others, and the gradient by length scales is noise."""
    ranker = AutomaticRelevance(random_state=0, **way)
    for unit in (1e-70, 1e-6):
        assert ranker.fit(unit * X, Y).chosen_["ascents without a length scale moved"] == 1
    for unit in (1e3, 1e8, 1e20):
        with pytest.raises(ValueError, match="each sample is so far from all others"):
            ranker.fit(unit * X, Y)
    assert "ascents without a length scale moved" not in ranker.fit(X, Y).chosen_


def test_an_ascent_without_steps_has_moved_nothing_and_says_so_otherwise() -> None:
    path = ascend(quadratic(), START, AscentSettings(max_steps=0), np.random.default_rng(0))
    assert not path.stopped
    assert what_was_chosen([path], X) == {"steps": 0, BLIND: 1}


def test_steps_whose_direction_is_noise_are_told() -> None:
    class Noisy(Quadratic):
        def gradient_at(
            self, hyperparameters: Hyperparameters, rng: np.random.Generator
        ) -> tuple[EvidenceGradient, SamplerReport]:
            gradient, report = super().gradient_at(hyperparameters, rng)
            return replace(gradient, error=np.full(7, 0.6)), report

    evidence = Noisy(X, Y, Hinge(), EVIDENCE.landmarks, 12, EVIDENCE.samplers, "exact")
    path = ascend(evidence, START, AscentSettings(step=0.2, stop=0.0, max_steps=9), np.random.default_rng(0))
    sizes = np.sqrt((path.gradient**2).sum(axis=1))
    np.testing.assert_array_equal(path.within_error, sizes < 0.6 * np.sqrt(7))
    assert not path.within_error[0]
    assert path.within_error[-1]
    assert what_was_chosen([path], X) == {"steps": 9, "steps within their error": int(path.within_error.sum())}
    trusted = ascend(quadratic(), START, AscentSettings(max_steps=1), np.random.default_rng(0))
    assert what_was_chosen([trusted], X) == {"steps": 1, BLIND: 1}


def test_a_gradient_that_is_no_number_fails() -> None:
    class Broken(Quadratic):
        def gradient_at(
            self, hyperparameters: Hyperparameters, rng: np.random.Generator
        ) -> tuple[EvidenceGradient, SamplerReport]:
            gradient, report = super().gradient_at(hyperparameters, rng)
            return replace(gradient, value=np.full(7, np.nan)), report

    evidence = Broken(X, Y, Hinge(), EVIDENCE.landmarks, 12, EVIDENCE.samplers, "exact")
    for rule in ("evidence", "magnitude"):
        with pytest.raises(SamplingError, match="no number"):
            ascend(evidence, START, AscentSettings(rule), np.random.default_rng(0))


def test_where_draws_cannot_tell_the_evidence_steps_are_shorter() -> None:
    class Cliff(Quadratic):
        def gradient_at(
            self, hyperparameters: Hyperparameters, rng: np.random.Generator
        ) -> tuple[EvidenceGradient, SamplerReport]:
            if hyperparameters.logarithms[1] > 0.9:
                raise SamplingError("too far")
            return super().gradient_at(hyperparameters, rng)

    evidence = Cliff(X, Y, Hinge(), EVIDENCE.landmarks, 12, EVIDENCE.samplers, "bound")
    path = ascend(evidence, START, AscentSettings("evidence", step=2.0), np.random.default_rng(0))
    assert path.logarithms[-1, 1] <= 0.9
    assert path.reports[-1].log_evidence > path.reports[0].log_evidence + 1.0


def test_the_rule_evidence_does_not_take_chains() -> None:
    chains = replace(BOUND, samplers=EVIDENCE.samplers)
    with pytest.raises(SamplingError, match="chains do not know"):
        ascend(chains, START, AscentSettings("evidence"), np.random.default_rng(0))


@pytest.mark.parametrize("rule", ["magnitude", "evidence"])
def test_a_last_digit_of_the_samples_changes_no_place_of_the_path(rule: Rule) -> None:
    evidence = EVIDENCE if rule == "magnitude" else BOUND
    nudged = replace(evidence, X=X * (1.0 + 1e-14 * np.random.default_rng(3).standard_normal(X.shape)))
    settings = AscentSettings(rule=rule, max_steps=25, stop=0.0)
    first, second = (ascend(each, START, settings, np.random.default_rng(0)) for each in (evidence, nudged))
    np.testing.assert_array_equal(first.logarithms, second.logarithms)
    np.testing.assert_allclose(first.gradient, second.gradient, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("loss", [Hinge(), Trigonometric()], ids=lambda loss: loss.name)
@pytest.mark.parametrize(("n_positive", "n"), [(1, 2), (3, 60), (40, 3000)])
def test_the_best_constant_is_that_of_all_sums(loss: Loss, n_positive: int, n: int) -> None:
    losses = n_positive * loss.value(BLIND_THETAS) + (n - n_positive) * loss.value(-BLIND_THETAS)
    sums = [
        logsumexp(norm.logpdf(BLIND_THETAS, scale=np.sqrt(variance)) - C * losses) / n + loss.log_normaliser(C)
        for C in (BLIND_STRENGTHS if loss.has_strength else [1.0])
        for variance in BLIND_VARIANCES
    ]
    best = max(sums) + np.log(BLIND_THETAS[1] - BLIND_THETAS[0]) / n
    found = blind_log_evidence(np.where(np.arange(n) < n_positive, 1.0, -1.0), loss)
    assert found == pytest.approx(max(best, np.log(0.5)), rel=1e-12)


@pytest.mark.parametrize("share", [0.5, 0.1])
def test_a_machine_that_looks_at_no_feature_has_the_best_evidence_of_a_constant(share: float) -> None:
    y = np.where(np.arange(60) < share * 60, 1.0, -1.0)
    found = blind_log_evidence(y, Hinge())
    # The probabilities of both classes sum to 1 at most, so that no constant tells more than the classes' shares.
    assert np.log(0.5) <= found <= share * np.log(share) + (1 - share) * np.log(1 - share) + 1e-12
    if share < 0.5:
        theta = np.linspace(-6, 6, 20001)
        density = np.exp(-0.5 * theta**2) / np.sqrt(2 * np.pi)
        hinge = share * 60 * np.maximum(1 - theta, 0) + (1 - share) * 60 * np.maximum(1 + theta, 0)
        of_one = np.log(np.trapezoid(density * np.exp(-hinge), theta)) / 60 - np.log(1 + np.exp(-2.0))
        assert found >= of_one - 1e-6


class Plateau(SampledEvidence):
    """A coin's evidence that rises slowly, with a slope, to a hill beyond."""

    def gradient_at(
        self, hyperparameters: Hyperparameters, rng: np.random.Generator
    ) -> tuple[EvidenceGradient, SamplerReport]:
        way = hyperparameters.logarithms[1]
        slope = 0.002 if way < 4.0 else 0.3 * (6.0 - way)
        height = np.log(0.5) - 0.1 + 0.002 * min(way, 4.0) + (0.6 - 0.15 * (6.0 - way) ** 2) * (way >= 4.0)
        value = np.zeros(7)
        value[1] = slope
        return EvidenceGradient(value, np.full(7, 1e-9)), SamplerReport(1.0, 0.4, 1.0, 100.0, float(height), 1e-9)


def test_it_does_not_end_on_a_plateau_while_a_slope_promises_more_and_takes_bounded_steps() -> None:
    plateau = Plateau(X, Y, Hinge(), EVIDENCE.landmarks, 12, EVIDENCE.samplers, "bound")
    path = ascend(plateau, START, AscentSettings("evidence"), np.random.default_rng(0))
    assert path.converged
    assert path.logarithms[-1, 1] == pytest.approx(6.0, abs=0.2)
    assert np.abs(np.diff(path.logarithms, axis=0)).max() <= MAX_LOG_STEP + LOG_SPACING


def test_columns_of_zeros_and_ones_whose_length_scale_does_not_matter_are_told() -> None:
    path = ascend(quadratic(), START, AscentSettings(max_steps=0), np.random.default_rng(0))
    binary = np.column_stack([X[:, 0] > 0, X[:, 1:]]).astype(np.float64)
    assert SATURATED not in what_was_chosen([path], binary)
    assert what_was_chosen([path], binary * [100.0, 1.0, 1.0, 1.0])[SATURATED] == 1
