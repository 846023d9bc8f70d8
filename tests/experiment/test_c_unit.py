"""A config whose C is in units of one over the mean of K(x, x): machines, rankings and searches, and who cannot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from fsvm_cli.errors import UsageError
from fsvm_cli.evaluation.metrics import confusion_matrix
from fsvm_cli.experiment.columns import columns_of
from fsvm_cli.experiment.experiment import Experiment, Trial
from fsvm_cli.experiment.records.decision_field import DecisionField
from fsvm_cli.experiment.running import run_trial
from fsvm_cli.experiment.trial import DrawnTrial, draw_parts
from fsvm_cli.own_data.request import ranking_request
from fsvm_cli.ranking.base import order_of
from fsvm_cli.ranking.infoprop import Infoprop
from fsvm_cli.svm import SVM, Anova, Polynomial

if TYPE_CHECKING:
    from collections.abc import Callable

    Planned = Callable[..., Experiment]

FIRST = Trial(n_train=30, split=0)
UNIT = {"C_unit": "mean-diagonal"}
PLAIN = {"kernel": "polynomial", "C": 2}
MIXED = PLAIN | {"class_kernels": {"2": {"kernel": "anova", "gamma": 0.5, "degree": 1}}}
DIVIDED = MIXED | {"output_scaling": "divided-by-margin"}


def three_classes(planned: Planned, **changes: Any) -> Experiment:
    data = {"name": "three-class", "version": "printed", "samples": 60}
    rankings = [{"method": "infoprop", "credit_on": "test"}]
    return planned(**({"dataset": data, "scaling": "none", "subsets": [3], "rankings": rankings} | changes))


@pytest.mark.parametrize("classifier", [PLAIN, MIXED, DIVIDED], ids=["plain", "mixed", "divided"])
def test_c_is_set_anew_for_each_subset_and_each_machine(planned: Planned, classifier: dict[str, Any]) -> None:
    experiment = three_classes(planned, classifier=classifier | UNIT)
    found = run_trial(experiment, FIRST, {0: experiment.sizes}).outcomes[0]
    parts = draw_parts(experiment, FIRST)
    own = {1: Anova(0.5, 1)} if "class_kernels" in classifier else {}
    options = {"class_kernels": own, "output_scaling": classifier.get("output_scaling", "none")} | UNIT
    ranker = Infoprop(Polynomial(2), C=2, credit_on="test", **options)
    ranker.fit(parts.X_train, parts.y_train, X_test=parts.X_test, y_test=parts.y_test)
    np.testing.assert_allclose(np.array(found.scores)[columns_of(experiment, 0)], ranker.scores_, rtol=1e-9)
    for size, on_test in zip(found.sizes, found.test, strict=True):
        kept = np.sort(order_of(ranker.scores_)[:size])
        X = parts.X_train[:, kept]
        expected = np.full(3, 2.0 / np.mean((1.0 + np.einsum("ij,ij->i", X, X)) ** 2))
        expected[[*own]] = 2.0 / size
        machine = SVM(Polynomial(2), C=2, **options).fit(X, parts.y_train)
        np.testing.assert_allclose(machine.machine_C_, expected, rtol=1e-12)
        predicted = machine.predict(parts.X_test[:, kept])
        np.testing.assert_array_equal(on_test, confusion_matrix(parts.y_test, predicted, 3))


def test_the_scale_of_the_kernel_does_not_matter(planned: Planned) -> None:
    linear = {"kernel": "polynomial", "degree": 1, "offset": 0, "C": 50}
    outcomes = [
        run_trial(three_classes(planned, classifier=each), FIRST, {0: (3, 9)}).outcomes[0]
        for each in (linear | UNIT, linear | UNIT | {"scale": 1e-6}, linear | {"scale": 1e-6})
    ]
    np.testing.assert_allclose(outcomes[0].scores, outcomes[1].scores, rtol=1e-3)
    np.testing.assert_array_equal(outcomes[0].test, outcomes[1].test)
    assert (outcomes[0].test != outcomes[2].test).any()


def test_a_search_chooses_among_values_in_the_same_unit(planned: Planned) -> None:
    tune = {"tune": {"C": [0.01, 0.1, 1, 10], "folds": 2, "ties": "smoothest"}}
    classifiers = [PLAIN | UNIT | tune | {"offset": 0, "scale": scale} for scale in (1.0, 1e-3)]
    experiments = [three_classes(planned, classifier=each, rankings=[{"method": "random"}]) for each in classifiers]
    results = [run_trial(each, FIRST, {0: (3, 9)}) for each in experiments]
    assert [each.errors for each in results] == [{}, {}]
    chosen = [each.outcomes[0] for each in results]
    assert chosen[0].chosen == chosen[1].chosen
    np.testing.assert_array_equal(chosen[0].test, chosen[1].test)


def test_a_unit_that_is_not_said_leaves_the_key_as_it_was(planned: Planned) -> None:
    assert "C_unit" not in three_classes(planned, classifier=MIXED | {"C_unit": "none"}).key_parts(0)["classifier"]
    keys = [three_classes(planned, classifier=each).key(0, FIRST) for each in (MIXED, MIXED | UNIT)]
    assert keys[0] != keys[1]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"classifier": PLAIN | {"C_unit": "mean"}},
            r"10:11: .mean. is no C_unit; allowed: mean-diagonal",
        ),
        (
            {"classifier": PLAIN | UNIT | {"kernel": "tanh"}},
            "'C_unit' needs positive semidefinite kernels: .* of tanh may",
        ),
        ({"classifier": PLAIN | UNIT | {"nystroem": {}}}, "'nystroem' is for machines with one kernel and one C"),
        ({"classifier": {"type": "adaboost"} | UNIT}, "unknown key 'C_unit'"),
        (
            {"classifier": PLAIN | UNIT, "rankings": [{"method": "random"}, {"method": "kpd"}]},
            r"small.yaml:\d+:\d+: .*kpd trains machines with one C, whatever their kernel and features are, and the "
            r"classifier has 'C_unit'; leave it out, or .*: gradient-angle, infoprop$",
        ),
        ({"classifier": PLAIN | UNIT, "rankings": [{"method": "rfe"}]}, "rfe trains machines with one C"),
    ],
)
def test_what_cannot_take_it_says_so_before_anything_runs(
    planned: Planned, changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        three_classes(planned, **changes)


@pytest.mark.parametrize("said", [UNIT, {"class_weight": "balanced"}, {"output_scaling": "times-margin"}])
def test_a_ranking_alone_refuses_what_its_machine_would_ignore(said: dict[str, str]) -> None:
    assert ranking_request("infoprop", "none", parameters=said).classifier is not None
    assert ranking_request("wrapper", "none", parameters=said).classifier is not None
    with pytest.raises(UsageError, match=f"neither kpd nor its machine has a '{next(iter(said))}'; allowed: .*C, "):
        ranking_request("kpd", "none", parameters=said)


@pytest.mark.parametrize("said", [UNIT, {"class_weight": {"-1": 0.01}}])
def test_the_machine_in_the_plane_is_the_one_that_the_config_describes(planned: Planned, said: dict[str, Any]) -> None:
    experiment = planned(
        dataset={"name": "plane", "samples": 60},
        classifier=PLAIN | said,
        rankings=[{"method": "gradient-angle"}],
        subsets="all",
        record=["decision-field"],
    )
    trial = next(experiment.trials())
    parts = draw_parts(experiment, trial)
    points = DecisionField().compute(DrawnTrial(experiment, trial, parts))["points"]
    weights = {0: 0.01} if "class_weight" in said else None
    machine = SVM(Polynomial(2), C=2, tolerance=1e-6, class_weight=weights, C_unit=said.get("C_unit", "none"))
    machine.fit(parts.X_train, parts.y_train)
    np.testing.assert_allclose(points["decision_value"], machine.decision_function(parts.X_train), atol=1e-4)
