"""Trials, and what the key of an outcome depends on."""

from __future__ import annotations

import dataclasses
import functools
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import scipy.sparse as sp

from fsvm_cli.data.dataset import Dataset
from fsvm_cli.data.messages import numbered
from fsvm_cli.data.source import fixed_source
from fsvm_cli.evaluation.seeds import random_stream
from fsvm_cli.evaluation.splits import random_split
from fsvm_cli.experiment import plan as planning
from fsvm_cli.experiment import running as recording
from fsvm_cli.experiment.experiment import Experiment, Trial
from fsvm_cli.experiment.running import run_trial
from fsvm_cli.experiment.trial import draw_parts
from fsvm_cli.ranking.registry import ranking_methods

if TYPE_CHECKING:
    from collections.abc import Callable

    Planned = Callable[..., Experiment]

FIRST = Trial(n_train=12, split=0)
ANGLE = {"method": "gradient-angle", "epsilon": 0.1}
PROTOCOL = {"splits": 3, "train": "1/2", "seed": 7}


def keys_of(experiment: Experiment, place: int = 0) -> set[str]:
    return {experiment.key(place, trial) for trial in experiment.trials()}


def test_every_trial_of_every_ranking_has_its_own_key(planned: Planned) -> None:
    experiment = planned(protocol=PROTOCOL | {"train": [6, 12]})
    keys = [experiment.key(place, trial) for place in experiment.numbers() for trial in experiment.trials()]
    assert len(keys) == 2 * 2 * 3
    assert len(set(keys)) == len(keys)
    assert experiment.n_trials() == len(list(experiment.trials())) == 6


@pytest.mark.parametrize(
    "changes",
    [
        {"title": "Another title"},
        {"protocol": PROTOCOL | {"splits": 9}},
        {"protocol": PROTOCOL | {"train": [5, 12]}},
        {"protocol": PROTOCOL | {"train": 12, "test": 12}},
        {"subsets": [2]},
        {"subsets": "all"},
        {"metrics": ["balanced-accuracy"]},
        {"parts": ["train"]},
        {"deviations": ["none"]},
        {"rankings": [{"method": "average-separation", "label": "another name"}]},
        {"rankings": [{"method": "average-separation"}, ANGLE]},
    ],
)
def test_a_key_does_not_depend_on(planned: Planned, changes: dict[str, Any]) -> None:
    assert planned(**changes).key(0, FIRST) == planned().key(0, FIRST)


@pytest.mark.parametrize(
    "changes",
    [
        {"dataset": {"name": "noise20", "samples": 25}},
        {"dataset": "wine"},
        {"scaling": "none"},
        {"classifier": {"kernel": "linear", "C": 2, "tolerance": 0.01}},
        {"classifier": {"kernel": "linear", "C": 1, "tolerance": 0.001}},
        {"classifier": {"kernel": "linear", "C": 1, "tolerance": 0.01, "solver": "libsvm"}},
        {"classifier": {"kernel": "polynomial", "degree": 2, "C": 1, "tolerance": 0.01}},
        {"protocol": PROTOCOL | {"seed": 8}},
        {"protocol": PROTOCOL | {"train": 12, "test": 11}},
        {"rankings": [{"method": "average-separation", "order": "worst-first"}]},
        {"rankings": [ANGLE]},
        {"rankings": None},
    ],
)
def test_a_key_depends_on(planned: Planned, changes: dict[str, Any]) -> None:
    experiment = planned(**changes)
    trial = next(experiment.trials())
    experiment = dataclasses.replace(experiment, n_test={FIRST.n_train: experiment.n_test[trial.n_train]})
    assert experiment.key(0, FIRST) != planned().key(0, FIRST)


def test_a_key_depends_on_the_parameters_of_its_own_method(planned: Planned) -> None:
    keys = {planned(rankings=[ANGLE | {"epsilon": epsilon}]).key(0, FIRST) for epsilon in (0.1, 0.2)}
    assert len(keys) == 2


@pytest.mark.parametrize(
    ("edited", "changed"),
    [
        ("ranking.random_order.RandomOrder", {1}),
        ("svm.solvers.solve.solve", {0, 1}),
        ("evaluation.splits.random_split", {0, 1}),
        ("experiment.trial.draw_parts", {0, 1}),
        ("experiment.compared_methods.Ranked", {0, 1}),
        ("experiment.outcome.Outcome", {0, 1}),
        ("spec.rankings.Ranking", {0, 1}),
        ("data.synthetic.draw_noise20", {0, 1}),
        ("experiment.compared_methods.AllFeatures", set()),
        ("spec.schema.Config", set()),
        ("spec.claims.rules", set()),
        ("store.store.Store", set()),
        ("data.synthetic.draw_plane", set()),
        ("ranking.fisher.Fisher", set()),
        ("console.MAX_NAME_LENGTH", set()),
        ("validation.validated", set()),
    ],
)
def test_a_key_depends_on_the_code_that_leads_to_the_outcome(
    planned: Planned, edit_code: Callable[[str], None], edited: str, changed: set[int]
) -> None:
    before, after = planned(), planned()
    old = [keys_of(before, place) for place in before.numbers()]
    edit_code(f"fsvm_cli.{edited}")
    assert {place for place in after.numbers() if keys_of(after, place) != old[place]} == changed
    assert all(not keys_of(after, place) & old[place] for place in changed)


def test_the_code_of_extractors_counts_and_that_of_a_generator_only_where_it_draws(planned: Planned) -> None:
    assert any("extraction.pca" in name for name in planned(extractors=[{"method": "pca"}]).code(2).parts)
    assert not any("synthetic" in name for name in planned(dataset="wine").code(0).parts)


def test_a_version_that_a_method_declares_counts(planned: Planned, monkeypatch: pytest.MonkeyPatch) -> None:
    before = planned().key(0, FIRST), planned().key(1, FIRST)
    monkeypatch.setattr(ranking_methods()["random"], "version", 2, raising=False)
    assert planned().key(0, FIRST) == before[0]
    assert planned().key(1, FIRST) != before[1]


LINEAR = {"kernel": "linear", "C": 1}
COMBINED = {"kernels": [{"kernel": "linear"}], "C": 1}
BAYESIAN = {"type": "bayesian"}
TREE = {"type": "decision-tree"}
OF_FEW = {"fsvm_cli.evidence", "fsvm_cli.kernel_learning", "fsvm_cli.learners.pruned_tree"}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"classifier": LINEAR}, [set(), set()]),
        ({"classifier": LINEAR, "extractors": [{"method": "pca"}]}, [set()] * 3),
        ({"classifier": LINEAR, "rankings": [{"method": "rfe"}, {"method": "ard"}]}, [set(), {"fsvm_cli.evidence"}]),
        ({"classifier": LINEAR | {"tune": [{"C": [1, 2], "folds": 3}]}, "rankings": None}, [set()]),
        ({"classifier": {"type": "naive-bayes", "likelihood": "gaussian"}, "rankings": None}, [set()]),
        ({"classifier": {"type": "adaboost"}, "rankings": None}, [set()]),
        ({"classifier": TREE, "rankings": None}, [{"fsvm_cli.learners.pruned_tree"}]),
        ({"classifier": BAYESIAN, "rankings": None}, [{"fsvm_cli.evidence"}]),
        ({"classifier": COMBINED, "rankings": None}, [{"fsvm_cli.kernel_learning"}]),
        (
            {
                "classifier": LINEAR,
                "rankings": None,
                "alternatives": [{"label": "a", "classifier": COMBINED}, {"label": "b", "classifier": BAYESIAN}],
            },
            [set(), {"fsvm_cli.kernel_learning"}, {"fsvm_cli.evidence"}],
        ),
    ],
)
def test_code_of_a_classifier_counts_only_where_an_outcome_comes_from_it(
    planned: Planned, changes: dict[str, Any], expected: list[set[str]]
) -> None:
    experiment = planned(**changes)
    codes = [experiment.code(number).parts for number in experiment.numbers()]
    assert [{part for part in OF_FEW if any(name.startswith(part) for name in each)} for each in codes] == expected


@pytest.mark.parametrize("classifier", [LINEAR, COMBINED, BAYESIAN, TREE])
def test_the_code_of_what_a_classifier_trains_counts(planned: Planned, classifier: dict[str, Any]) -> None:
    experiment = planned(classifier=classifier, rankings=None)
    learner = experiment.config.classifier.learner(("a", "b"), 0)
    trained = {
        f"{type(each).__module__}.{type(each).__name__}" for each in (learner, learner.ranking_arguments()["estimator"])
    }
    assert {name for name in trained if name.startswith("fsvm_cli.")} <= set(experiment.code(0).parts)


def test_a_record_belongs_to_the_code_that_makes_it(planned: Planned, edit_code: Callable[[str], None]) -> None:
    experiment = planned(dataset={"name": "plane", "samples": 24}, rankings=[ANGLE], subsets="all")
    before = recording.record_key(experiment, "decision-field")
    edit_code("fsvm_cli.experiment.records.decision_field.DecisionField")
    assert recording.record_key(experiment, "decision-field") != before


def test_the_machine_on_all_features_is_always_among_the_sizes(planned: Planned) -> None:
    assert planned().sizes == (1, 5, 20)
    assert planned(rankings=None).sizes == (20,)


def test_splits_do_not_depend_on_the_methods_or_on_how_many_there_are(planned: Planned) -> None:
    several = planned(protocol=PROTOCOL | {"splits": 50}, rankings=[ANGLE, {"method": "random"}])
    alone = planned(rankings=None)
    for trial in alone.trials():
        for mine, other in zip(
            dataclasses.astuple(draw_parts(several, trial)), dataclasses.astuple(draw_parts(alone, trial)), strict=True
        ):
            np.testing.assert_array_equal(mine, other)


def test_an_outcome_does_not_depend_on_the_other_rankings(planned: Planned) -> None:
    both = planned(rankings=[{"method": "random"}, ANGLE])
    alone = planned(rankings=[ANGLE])
    wanted = dict.fromkeys(both.numbers(), both.sizes)
    assert run_trial(both, FIRST, wanted).outcomes[1] == run_trial(alone, FIRST, {0: alone.sizes}).outcomes[0]


def test_the_parts_are_scaled_by_the_training_rows_alone(planned: Planned) -> None:
    parts = draw_parts(planned(), FIRST)
    np.testing.assert_allclose(parts.X_train.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(parts.X_train.std(axis=0), 1, atol=1e-12)
    assert np.abs(parts.X_test.mean(axis=0)).max() > 0.01


def test_words_are_counted_in_the_training_rows_alone(planned: Planned, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    counts = sp.csr_array(rng.poisson(0.15, (24, 20)).astype(float))
    counted = Dataset(
        name="counts",
        X=counts,
        y=np.arange(24) % 2,
        feature_names=numbered(20),
        class_names=("no", "yes"),
        sha256="0" * 64,
        least_occurrences=3,
    )
    monkeypatch.setattr(planning, "open_source", lambda *_, **__: fixed_source(counted))
    experiment = planned(scaling="none", rankings=[{"method": "mutual-information"}])
    parts = draw_parts(experiment, FIRST)
    split = random_split(24, 12, 12, random_stream(7, "split", 0))
    known = counts[split.train].sum(axis=0) >= 3
    assert 0 < np.count_nonzero(known) < 20
    np.testing.assert_array_equal(parts.X_train.toarray(), (counts[split.train].toarray() > 0) & known)
    np.testing.assert_array_equal(parts.X_test.toarray(), (counts[split.test].toarray() > 0) & known)


def test_a_ranking_that_raises_leaves_the_others_their_outcomes(
    planned: Planned, monkeypatch: pytest.MonkeyPatch
) -> None:
    experiment = planned()
    monkeypatch.setattr(ranking_methods()["random"], "_scores", _raise)
    result = run_trial(experiment, FIRST, dict.fromkeys(experiment.numbers(), experiment.sizes))
    assert list(result.outcomes) == [0]
    assert list(result.errors) == [1]
    reason, *below = result.errors[1].splitlines()
    assert reason == "ZeroDivisionError: by design"
    assert below[0] == "Traceback (most recent call last):"
    assert below[-2:] == ["ZeroDivisionError: by design", "and a second line"]


def _raise(*args: object) -> None:
    raise ZeroDivisionError("by design\nand a second line")


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_scores_that_are_not_finite_fail_the_ranking(
    planned: Planned, monkeypatch: pytest.MonkeyPatch, bad: float
) -> None:
    experiment = planned()
    monkeypatch.setattr(ranking_methods()["random"], "_scores", functools.partial(_constant, bad))
    result = run_trial(experiment, FIRST, dict.fromkeys(experiment.numbers(), experiment.sizes))
    assert list(result.outcomes) == [0]
    assert f"the score of feature 1 is {bad}" in result.errors[1]


def _constant(value: float, X: np.ndarray, *args: object) -> np.ndarray:
    return np.full(X.shape[1], value)


def first_of_one_class(experiment: Experiment) -> Trial:
    return next(trial for trial in experiment.trials() if len(set(draw_parts(experiment, trial).y_train)) == 1)


@pytest.mark.parametrize("rankings", [[{"method": "average-separation"}, {"method": "random"}], None])
def test_a_training_part_of_one_class_fails_the_trial(planned: Planned, rankings: Any) -> None:
    experiment = planned(protocol=PROTOCOL | {"train": 2, "splits": 30}, rankings=rankings)
    wanted = dict.fromkeys(experiment.numbers(), experiment.sizes)
    result = run_trial(experiment, first_of_one_class(experiment), wanted)
    assert not result.entries
    assert set(result.errors) == set(experiment.numbers())
    assert all("class" in error for error in result.errors.values())
