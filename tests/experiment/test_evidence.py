"""Experiments of gold2005: Bayesian machines beside others, subsets by relevance, records of ascents."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import pytest

from fsvm_cli.config_io import model_from_json
from fsvm_cli.errors import UsageError
from fsvm_cli.evidence.estimator import BayesianSVM
from fsvm_cli.evidence.hybrid_monte_carlo import SamplerSettings, SamplingError, sample
from fsvm_cli.evidence.kernels import ArdKernel, nystroem_factor
from fsvm_cli.evidence.losses import Hinge
from fsvm_cli.evidence.posterior import Posterior
from fsvm_cli.evidence.sampled_evidence import BlurredLoss
from fsvm_cli.experiment.columns import columns_of
from fsvm_cli.experiment.experiment import Experiment, Trial
from fsvm_cli.experiment.running import record_key, run_trial
from fsvm_cli.experiment.trial import DrawnTrial, draw_parts
from fsvm_cli.ranking.ard import AutomaticRelevance
from fsvm_cli.ranking.ranks import least_relevant, most_relevant
from fsvm_cli.report.diagnostics import RecordToDraw, draw_record
from fsvm_cli.spec.schema import Config
from fsvm_cli.svm import SVM, Gaussian
from tests.helpers.plain_words import REMEDY
from tests.helpers.small import recorded

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from fsvm_cli.spec.config import LoadedConfig

    Planned = Callable[..., Experiment]

FIRST = Trial(n_train=30, split=0)
PROTOCOL = {"splits": 2, "train": 30, "test": 20, "seed": 0}
PLANE = {"dataset": {"name": "plane", "samples": 80}, "scaling": "standard", "protocol": PROTOCOL, "record": None}
BAYESIAN = {"type": "bayesian", "max_steps": 3, "n_eigenvectors": 5}
TUNED = {
    "kernel": "gaussian",
    "C": 1,
    "tune": {"kernels": [{"kernel": "gaussian", "theta": [1, 4]}], "C": [1, 10], "folds": 3},
}
BESIDE = [{"label": "Bayesian", "classifier": BAYESIAN}, {"label": "stumps", "classifier": {"type": "adaboost"}}]


def compared(planned: Planned, **changes: Any) -> Experiment:
    return planned(**PLANE | {"rankings": None, "subsets": None, "alternatives": BESIDE} | changes)


def selected(planned: Planned, **changes: Any) -> Experiment:
    subsets = {"relevance": [0.9, 0.3], "complements": [0.5]}
    ranking = {"method": "ard", "max_steps": 3, "n_eigenvectors": 5}
    noise = {"dataset": {"name": "noise20", "samples": 80}, "classifier": TUNED, "rankings": [ranking]}
    return planned(**PLANE | noise | {"subsets": subsets} | changes)


def test_classifiers_are_compared_on_all_features(planned: Planned) -> None:
    experiment = compared(planned, classifier=TUNED)
    assert [each.label for each in experiment.compared_methods] == ["all features", "Bayesian", "stumps"]
    outcomes = run_trial(experiment, FIRST, dict.fromkeys(experiment.numbers(), experiment.sizes)).outcomes
    parts = draw_parts(experiment, FIRST)
    seed = int(DrawnTrial(experiment, FIRST, parts).stream("classifier").integers(2**31))
    oracle = BayesianSVM(max_steps=3, n_eigenvectors=5, random_state=seed).fit(parts.X_train, parts.y_train)
    assert np.trace(outcomes[1].test[0]) == np.count_nonzero(oracle.predict(parts.X_test) == parts.y_test)
    np.testing.assert_allclose(np.array(outcomes[1].scores)[columns_of(experiment, 0)], oracle.relevance_)
    assert outcomes[1].chosen == {"steps": 3}
    assert (outcomes[0].scores, outcomes[2].scores) == ((), ())
    assert not outcomes[1].ranking_converged


def test_the_classifier_of_an_experiment_may_be_bayesian(planned: Planned) -> None:
    rankings = [{"method": "random"}]
    experiment = planned(**PLANE | {"classifier": BAYESIAN, "rankings": rankings, "subsets": [1, 2]})
    outcome = run_trial(experiment, FIRST, {0: (1, 2)}).outcomes[0]
    assert outcome.test.sum(axis=(1, 2)).tolist() == [20, 20]


def test_what_is_selected_makes_up_the_relevance_and_is_tuned_on_alone(planned: Planned) -> None:
    experiment = selected(planned)
    labels = ["ard", "ard, most relevant 0.9", "ard, most relevant 0.3", "ard, least relevant 0.5"]
    assert [each.label for each in experiment.compared_methods] == labels
    outcomes = run_trial(experiment, FIRST, dict.fromkeys(experiment.numbers(), experiment.sizes)).outcomes
    parts = draw_parts(experiment, FIRST)
    scores = np.array(outcomes[0].scores)[columns_of(experiment, 0)]
    kept = [most_relevant(scores, 0.9), most_relevant(scores, 0.3), least_relevant(scores, 0.5)]
    for number, features in enumerate(kept, start=1):
        outcome, columns = outcomes[number], np.sort(features)
        assert outcome.chosen["features"] == len(features)
        machine = SVM(Gaussian(outcome.chosen["theta"]), C=outcome.chosen["C"])
        machine.fit(parts.X_train[:, columns], parts.y_train)
        assert np.trace(outcome.test[0]) == np.count_nonzero(machine.predict(parts.X_test[:, columns]) == parts.y_test)
    seed = int(DrawnTrial(experiment, FIRST, parts).stream("ranking", "ard").integers(2**31))
    oracle = AutomaticRelevance(max_steps=3, n_eigenvectors=5, random_state=seed)
    np.testing.assert_allclose(scores, oracle.fit(parts.X_train, parts.y_train).scores_)


def test_keys_tell_selections_and_classifiers_apart(planned: Planned) -> None:
    for experiment in (selected(planned), compared(planned)):
        keys = [experiment.key(number, FIRST) for number in experiment.numbers()]
        assert len(set(keys)) == len(keys)


@pytest.mark.parametrize("build", [selected, compared])
def test_it_travels_as_json(build: Callable[..., Experiment], planned: Planned) -> None:
    config = build(planned).config
    assert model_from_json(Config, config.model_dump_json()) == config


@pytest.mark.parametrize("build", [selected, compared])
def test_ascents_and_their_ends_are_recorded(build: Callable[..., Experiment], planned: Planned) -> None:
    experiment = build(planned, record=["ascent", "length-scales"])
    label = "ard" if build is selected else "Bayesian"
    names = experiment.source.feature_names
    ascent = recorded(experiment, "ascent")["ascent"]
    assert ascent["step"].tolist() == [0, 1, 2, 3]
    assert set(ascent["ranking"]) == {label}
    assert ascent["log_evidence"].is_monotonic_increasing
    ends = recorded(experiment, "length-scales")["length-scales"]
    assert ends["feature"].tolist() == list(names)
    np.testing.assert_allclose(ends["length_scale"], ascent[[f"length scale of {name}" for name in names]].iloc[-1])
    assert ends["relevance"].sum() == pytest.approx(1.0)
    keys = {record_key(experiment, name) for name in ("ascent", "length-scales", "sampler-traces")}
    assert len(keys) == 3


@pytest.mark.parametrize("build", [selected, compared])
def test_chains_are_traced_on_the_posterior_at_the_end_of_the_ascent(
    build: Callable[..., Experiment], planned: Planned
) -> None:
    experiment = build(planned, record=["ascent", "sampler-traces"])
    traces = recorded(experiment, "sampler-traces")["sampler-traces"]
    assert traces.groupby(["chain"])["draw"].agg(list).tolist() == [list(range(60))] * 4
    assert set(traces["ranking"]) == {"ard" if build is selected else "Bayesian"}
    # The mean of the potential is that of other chains on a posterior made here from what the ascent wrote.
    end = recorded(experiment, "ascent")["ascent"].iloc[-1]
    names = [experiment.source.feature_names[feature] for feature in columns_of(experiment, 0)]
    lengths = [end[f"length scale of {name}"] for name in names]
    parts = draw_parts(experiment, FIRST)
    kernel = ArdKernel(end["k0"], end["k_off"], tuple(lengths))
    factor = nystroem_factor(kernel, parts.X_train, np.arange(30), 5)
    loss = BlurredLoss(Hinge(), np.sqrt(factor.lost_variance))
    posterior = Posterior(factor.V, np.where(parts.y_train == 1, 1.0, -1.0), end["C"], loss)
    points = sample(posterior, SamplerSettings(), np.random.default_rng(0)).points
    potential = posterior.potential(points.reshape(-1, 5).T).reshape(60, 64) / 30
    spread = potential.mean(axis=0).std() * np.hypot(1 / np.sqrt(4), 1 / np.sqrt(64))
    assert abs(traces["potential"].mean() - potential.mean()) < 5 * spread
    assert (traces["r_hat"] < 1.1).all()


def test_chains_that_never_move_are_told_and_drawn(
    planned: Planned, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def stuck(*_: object) -> NoReturn:
        raise SamplingError("stuck")

    monkeypatch.setattr("fsvm_cli.evidence.diagnostics.sample", stuck)
    experiment = compared(planned, record=["sampler-traces"])
    tables = recorded(experiment, "sampler-traces")
    assert tables["sampler-traces"]["acceptance"].tolist() == [0.0]
    given = RecordToDraw(tables, experiment.config, {}, {}, tmp_path, ("svg",))
    (drawn,) = draw_record("sampler-traces", given)
    assert "acceptance 0.00" in drawn.read_text()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"alternatives": [*BESIDE, BESIDE[0]]}, "two classifiers are called 'Bayesian'"),
        (
            {"alternatives": [{"label": "all features", "classifier": BAYESIAN}]},
            "are called 'all features'",
        ),
        ({"rankings": [{"method": "random"}]}, "alternatives are compared on all features"),
        ({"subsets": {"relevance": [0.5]}}, "these subsets are of features that are ranked; list rankings"),
        ({"alternatives": None, "rankings": [{"method": "fisher"}], "subsets": {"relevance": [0.5]}}, "are no shares"),
        (
            {"alternatives": None, "rankings": [{"method": "rfe"}], "classifier": BAYESIAN},
            "rfe ranks with",
        ),
        ({"subsets": {"relevance": [1.5]}}, "relevance"),
        ({"classifier": {"type": "bayesian", "stop": 2}}, "stop is 2"),
        ({"alternatives": [BESIDE[1]], "record": ["ascent"]}, "the ascent is that of an ard ranking or a bayesian"),
    ],
)
def test_what_does_not_go_together_is_told(
    load: Callable[..., LoadedConfig], planned: Planned, changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        compared(planned, **changes)
    assert all(REMEDY.search(line) for line in str(caught.value).splitlines()), caught.value


def test_bad_settings_fail_a_trial_in_one_line(planned: Planned) -> None:
    experiment = compared(planned, classifier=BAYESIAN | {"sampler": "chains"})
    result = run_trial(experiment, FIRST, {0: experiment.sizes})
    assert "needs approximation 'bound'" in result.errors[0]


def test_an_ascent_whose_sampler_fails_fails_its_competitor_alone(
    planned: Planned, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stuck(*arguments: object) -> NoReturn:
        raise SamplingError("16 of 16 chains accepted none of 100 trajectories")

    monkeypatch.setattr("fsvm_cli.evidence.tuning.ascend", stuck)
    experiment = compared(planned)
    found = run_trial(experiment, FIRST, dict.fromkeys((0, 1), experiment.sizes))
    assert list(found.outcomes) == [0]
    assert list(found.errors) == [1]
    assert "chains accepted none" in found.errors[1]


def test_a_training_part_of_one_class_fails_and_says_so(planned: Planned, monkeypatch: pytest.MonkeyPatch) -> None:
    def of_one_class(experiment: Experiment, trial: Trial) -> Any:
        parts = draw_parts(experiment, trial)
        return replace(parts, y_train=np.zeros_like(parts.y_train))

    monkeypatch.setattr("fsvm_cli.experiment.running.draw_parts", of_one_class)
    experiment = compared(planned)
    found = run_trial(experiment, FIRST, {1: experiment.sizes})
    assert not found.outcomes
    assert "class" in found.errors[1]


def test_subsets_may_have_sizes_and_are_tuned_each(planned: Planned) -> None:
    subsets = {"best": [3], "worst": [2]}
    experiment = selected(planned, rankings=[{"method": "fisher"}], subsets=subsets)
    labels = [each.label for each in experiment.compared_methods]
    assert labels == ["fisher", "fisher, best 3", "fisher, worst 2"]
    trial = DrawnTrial(experiment, FIRST, draw_parts(experiment, FIRST))
    whole, best, worst = (each.order(trial) for each in experiment.compared_methods)
    np.testing.assert_array_equal(best.parts.X_train, trial.parts.X_train[:, np.sort(whole.columns[:3])])
    np.testing.assert_array_equal(worst.parts.X_train, trial.parts.X_train[:, np.sort(whole.columns[-2:])])
    tuned = [each.learner(trial, best) for each in experiment.compared_methods[:2]]
    assert tuned[0] is not tuned[1]


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"subsets": {"complements": [0.5]}}, "subsets"),
        ({"subsets": {"best": [21]}}, "subsets"),
        ({"rankings": [{"method": "ard", "mean_rank_of": 2}]}, "mean ranks"),
        ({"rankings": [{"method": "ard", "mean_rank_of": 0}]}, "mean_rank_of"),
    ],
)
def test_subsets_that_cannot_be_chosen_are_refused(planned: Planned, changes: dict[str, Any], named: str) -> None:
    with pytest.raises(UsageError, match=named):
        selected(planned, **changes)
