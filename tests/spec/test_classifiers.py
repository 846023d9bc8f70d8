"""Classifiers that are no machines: their curves, their place in a config, and what they cannot be asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import sklearn.metrics
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.tree import DecisionTreeClassifier

from fsvm_cli.errors import UsageError
from fsvm_cli.evaluation.seeds import random_stream
from fsvm_cli.experiment.experiment import Experiment, Trial
from fsvm_cli.experiment.running import run_trial
from fsvm_cli.experiment.trial import draw_parts
from fsvm_cli.learners.base import nested_predictions
from fsvm_cli.learners.pruned_tree import PrunedTree
from fsvm_cli.ranking.average_separation import AverageSeparation
from fsvm_cli.ranking.base import order_of
from fsvm_cli.spec.schema import Config
from fsvm_cli.svm import SVM, Anova, Polynomial

if TYPE_CHECKING:
    from collections.abc import Callable

    Planned = Callable[..., Experiment]

FIRST, FIRST_OF_30 = Trial(n_train=12, split=0), Trial(n_train=30, split=0)
GAUSSIAN = {"type": "naive-bayes", "likelihood": "gaussian"}
TREE = {"type": "decision-tree"}
UNPRUNED = TREE | {"pruning": "none"}


@pytest.mark.parametrize(("likelihood", "oracle"), [("gaussian", GaussianNB()), ("bernoulli", BernoulliNB())])
def test_naive_bayes_is_scikit_learns_on_the_best_features(planned: Planned, likelihood: str, oracle: Any) -> None:
    experiment = planned(classifier={"type": "naive-bayes", "likelihood": likelihood})
    outcome = run_trial(experiment, FIRST, {0: experiment.sizes}).outcomes[0]
    parts = draw_parts(experiment, FIRST)
    order = order_of(AverageSeparation().fit(parts.X_train, parts.y_train).scores_)
    for size, train, test in zip(outcome.sizes, outcome.train, outcome.test, strict=True):
        fitted = oracle.fit(parts.X_train[:, order[:size]], parts.y_train)
        for X, y, matrix in ((parts.X_train, parts.y_train, train), (parts.X_test, parts.y_test, test)):
            expected = sklearn.metrics.confusion_matrix(y, fitted.predict(X[:, order[:size]]), labels=[0, 1])
            np.testing.assert_array_equal(matrix, expected)


def test_a_tree_knows_its_training_rows_down_to_its_smallest_leaf(planned: Planned) -> None:
    fine = planned(classifier=UNPRUNED | {"min_samples_leaf": 1})
    coarse = planned(classifier=UNPRUNED | {"min_samples_leaf": 6})
    by_leaf = [run_trial(each, FIRST, {0: (20,)}).outcomes[0].train.tolist() for each in (fine, coarse)]
    assert np.trace(by_leaf[0][0]) == 12
    assert np.trace(by_leaf[1][0]) < 12


@pytest.mark.parametrize("classifier", [TREE, UNPRUNED])
def test_a_tree_is_pruned_unless_the_config_says_no(planned: Planned, classifier: dict[str, str]) -> None:
    experiment = planned(classifier=classifier)
    outcome = run_trial(experiment, FIRST, {0: (20,)}).outcomes[0]
    parts = draw_parts(experiment, FIRST)
    learner = experiment.config.classifier.learner((), random_state=0)
    own = PrunedTree() if classifier == TREE else DecisionTreeClassifier(criterion="entropy", min_samples_leaf=2)
    assert type(learner.estimator) is type(own)
    random_state = int(random_stream(experiment.config.protocol.seed, "classifier", 0).integers(2**31))
    fitted = own.set_params(random_state=random_state).fit(parts.X_train, parts.y_train)
    expected = sklearn.metrics.confusion_matrix(parts.y_test, fitted.predict(parts.X_test), labels=[0, 1])
    np.testing.assert_array_equal(outcome.test[0], expected)
    # A wrapper grows thousands of them.
    assert type(learner.ranking_arguments()["estimator"]) is DecisionTreeClassifier


def test_a_trial_grows_the_same_tree_each_time(planned: Planned) -> None:
    experiment = planned(classifier=TREE, rankings=[{"method": "random"}])
    wanted = dict.fromkeys(experiment.numbers(), experiment.sizes)
    first, again = (run_trial(experiment, FIRST, wanted).entries for _ in range(2))
    assert first == again


def test_all_features_are_one_problem_whatever_their_order() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 4)), np.arange(30) % 3
    estimator = DecisionTreeClassifier(criterion="entropy", min_samples_leaf=2, random_state=3)
    for order in ([0, 1, 2, 3], [3, 1, 0, 2]):
        (found,) = nested_predictions(estimator, X, y, X, np.array(order), [4])
        np.testing.assert_array_equal(found.test, estimator.fit(X, y).predict(X))


def test_a_classifier_is_part_of_the_key(planned: Planned) -> None:
    keys = {
        planned(classifier=each).key(0, FIRST)
        for each in (GAUSSIAN, GAUSSIAN | {"likelihood": "bernoulli"}, TREE, TREE | {"min_samples_leaf": 3})
    }
    assert len(keys) == 4


@pytest.mark.parametrize("classifier", [GAUSSIAN, TREE, {"kernel": "polynomial", "degree": 3, "C": 2}])
def test_a_classifier_travels_as_json(planned: Planned, classifier: dict[str, Any]) -> None:
    config = planned(classifier=classifier).config
    assert Config.model_validate_json(config.model_dump_json()) == config


def test_a_method_that_needs_a_machine_is_refused_without_one(planned: Planned) -> None:
    with pytest.raises(UsageError, match="infoprop ranks with the experiment's support vector machine"):
        planned(classifier=TREE, rankings=[{"method": "infoprop"}])


def three_classes(planned: Planned, **changes: Any) -> Experiment:
    data = {"name": "three-class", "version": "printed", "samples": 60}
    return planned(dataset=data, scaling="none", subsets=[3], rankings=[{"method": "infoprop"}], **changes)


MIXED = {"kernel": "polynomial", "C": 2, "class_kernels": {"2": {"kernel": "anova", "gamma": 0.5, "degree": 1}}}


def test_machines_of_several_kernels_are_those_of_the_estimator(planned: Planned) -> None:
    experiment = three_classes(planned, classifier=MIXED | {"output_scaling": "divided-by-margin"})
    trial = FIRST_OF_30
    found = run_trial(experiment, trial, {0: (9,)}).outcomes[0]
    parts = draw_parts(experiment, trial)
    machine = SVM(
        Polynomial(degree=2), C=2, class_kernels={1: Anova(gamma=0.5, degree=1)}, output_scaling="divided-by-margin"
    ).fit(parts.X_train, parts.y_train)
    expected = sklearn.metrics.confusion_matrix(parts.y_test, machine.predict(parts.X_test), labels=range(3))
    np.testing.assert_array_equal(found.test[0], expected)
    assert found.n_unconverged.tolist() == [0]
    assert found.duality_gap[0] == pytest.approx(machine.duality_gap_.max(), rel=1e-9, abs=0.0)
    assert found.duality_gap[0] > 0


def test_machines_that_are_alike_keep_the_key_that_they_had(planned: Planned) -> None:
    assert set(planned().key_parts(0)["classifier"]) == {"kernel", "C", "tolerance", "solver"}
    plain, scaled = (
        three_classes(planned, classifier=MIXED | {"output_scaling": scaling}).key(0, FIRST_OF_30)
        for scaling in ("none", "times-margin")
    )
    assert plain != scaled


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"class_kernels": {"9": {"kernel": "linear"}}}, r"small.yaml:11:5: three-class .* has no class '9'"),
        ({"class_kernels": {"2": {"kernel": "anova", "gama": 1}}}, "unknown key 'gama'"),
        ({"output_scaling": "margin"}, "output_scaling"),
    ],
)
def test_mistakes_in_kernels_of_classes_are_named(planned: Planned, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        three_classes(planned, classifier=MIXED | changes)


def test_kernels_of_classes_need_machines_and_methods_that_have_them(planned: Planned) -> None:
    with pytest.raises(UsageError, match="the two classes of noise20 share one machine"):
        planned(classifier=MIXED | {"class_kernels": {"+1": {"kernel": "linear"}}})
    with pytest.raises(UsageError, match="gradient-angle trains machines with one kernel for all classes"):
        planned(classifier=MIXED, rankings=[{"method": "gradient-angle"}])


def weighted(weights: Any) -> dict[str, Any]:
    return {"kernel": "linear", "C": 2, "class_weight": weights}


@pytest.mark.parametrize("weights", ["balanced", {"2": 3.0}, {2: 3}])
def test_machines_weigh_classes_as_the_estimator_does(planned: Planned, weights: Any) -> None:
    experiment = three_classes(planned, classifier=weighted(weights))
    found = run_trial(experiment, FIRST_OF_30, {0: (9,)}).outcomes[0]
    parts = draw_parts(experiment, FIRST_OF_30)
    by_code = "balanced" if weights == "balanced" else {1: 3.0}
    machine = SVM(C=2, class_weight=by_code).fit(parts.X_train, parts.y_train)
    expected = sklearn.metrics.confusion_matrix(parts.y_test, machine.predict(parts.X_test), labels=range(3))
    np.testing.assert_array_equal(found.test[0], expected)


def test_weights_of_classes_are_part_of_the_key(planned: Planned) -> None:
    keys = {
        three_classes(planned, classifier=classifier).key(0, FIRST_OF_30)
        for classifier in ({"kernel": "linear", "C": 2}, weighted("balanced"), weighted({"2": 3.0}))
    }
    assert len(keys) == 3


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ({"9": 2.0}, r"three-class .* has no class '9'"),
        ({"2": 0.0}, "class_weight"),
        ("balance", "class_weight.*balanced"),
    ],
)
def test_mistakes_in_weights_of_classes_are_named(planned: Planned, weights: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        three_classes(planned, classifier=weighted(weights))


def test_weights_of_classes_need_methods_that_have_them(planned: Planned) -> None:
    with pytest.raises(UsageError, match="kpd trains machines that weigh all classes alike"):
        planned(classifier=weighted("balanced"), rankings=[{"method": "kpd"}])


@pytest.mark.parametrize(
    ("classifier", "message"),
    [
        (
            {"type": "naive-bays"},
            "'naive-bays' is no type; allowed: adaboost, bayesian, .*; did you mean 'naive-bayes'",
        ),
        ({"type": "naive-bayes"}, "the key 'likelihood' is missing"),
        ({"type": "decision-tree", "C": 1}, "unknown key 'C'"),
        ({"kernel": "linar", "C": 1}, "'linar' is no kernel; allowed: .*; did you mean 'linear'"),
        ({"C": 1}, "the key 'kernel' is missing"),
    ],
)
def test_mistakes_are_named(planned: Planned, classifier: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        planned(classifier=classifier)
