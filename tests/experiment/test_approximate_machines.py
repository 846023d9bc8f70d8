"""Machines on Gram matrices of low rank in an experiment: from which size on, what they predict, and what is said."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from fsvm_cli.errors import UsageError
from fsvm_cli.evaluation.metrics import confusion_matrix
from fsvm_cli.evaluation.seeds import random_stream
from fsvm_cli.experiment.experiment import Experiment, Trial
from fsvm_cli.experiment.running import run_trial
from fsvm_cli.experiment.trial import draw_parts
from fsvm_cli.learners.machine import (
    NYSTROEM_DISTANCE,
    NYSTROEM_DISTANCE_ERROR,
    NYSTROEM_LANDMARKS,
    Approximation,
    Machine,
    NystroemMachine,
)
from fsvm_cli.report.curve_table import read_measures
from fsvm_cli.report.folder import read_table
from fsvm_cli.svm import SVM, Gaussian
from fsvm_cli.svm.nystroem import NystroemSVM
from tests.helpers.calling import AS_SVG, fsvm_here, write_config

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Planned = Callable[..., Experiment]

GAUSSIAN = {"kernel": "gaussian", "theta": 2.0, "C": 1}
FIRST = Trial(n_train=12, split=0)


def test_above_its_size_it_is_the_approximate_machine_and_below_the_exact_one(planned: Planned) -> None:
    exact = planned(classifier=GAUSSIAN)
    below = planned(classifier=GAUSSIAN | {"nystroem": {"above": 12, "landmarks": 4}})
    above = planned(classifier=GAUSSIAN | {"nystroem": {"above": 11, "landmarks": 4}})
    outcomes = [run_trial(each, FIRST, {0: (20,)}).outcomes[0] for each in (exact, below, above)]
    np.testing.assert_array_equal(outcomes[0].test, outcomes[1].test)
    assert outcomes[1].measures == ()
    parts = draw_parts(above, FIRST)
    seed = int(random_stream(above.config.protocol.seed, "classifier", 0).integers(2**31))
    oracle = NystroemSVM(Gaussian(theta=2.0), n_landmarks=4, random_state=seed)
    order = np.argsort(-np.array(outcomes[2].scores), kind="stable")
    oracle.fit(parts.X_train[:, order], parts.y_train)
    expected = confusion_matrix(parts.y_test, oracle.predict(parts.X_test[:, order]), 2)
    np.testing.assert_array_equal(outcomes[2].test[0], expected)
    (measured,) = outcomes[2].measures
    assert measured == pytest.approx(
        {NYSTROEM_LANDMARKS: 4.0, NYSTROEM_DISTANCE: oracle.distance_[0].share, NYSTROEM_DISTANCE_ERROR: 0.0}, rel=1e-9
    )


def test_tables_and_the_summary_say_that_machines_are_approximate(tmp_path: Path) -> None:
    classifier = "{kernel: gaussian, theta: 2, C: 1, nystroem: {above: 10, landmarks: 8}}"
    rankings = "[{method: average-separation}, {method: gradient-angle}]"
    path = write_config(tmp_path, "mine", classifier=classifier, rankings=rankings)
    answer = fsvm_here("run", path, "--jobs", "1", *AS_SVG, "--out", tmp_path)
    assert answer.code == 0, answer.err
    assert f"{NYSTROEM_LANDMARKS} 8, {NYSTROEM_DISTANCE} " in " ".join(answer.out.split())
    measures = read_measures(tmp_path / "mine").set_index(["ranking", "measure"])
    assert set(measures.loc[("gradient-angle", NYSTROEM_LANDMARKS), "mean"]) == {8.0}
    assert (measures.loc[("average-separation", NYSTROEM_DISTANCE), "mean"] > 0).all()
    for name in ("curves.csv", "areas.csv", "pairs.csv"):
        assert set(read_table(tmp_path / "mine" / name)["machines"]) == {"Nyström, 8 landmarks"}, name
    assert "machines" not in read_table(tmp_path / "mine" / "scores.csv")
    printed = fsvm_here("table", tmp_path / "mine").out
    assert "machines are approximate (Nyström, 8 landmarks)" in printed


def test_exact_machines_beside_approximate_ones_are_called_exact(tmp_path: Path) -> None:
    classifier = "{kernel: gaussian, theta: 2, C: 1}"
    other = "{kernel: gaussian, theta: 2, C: 1, nystroem: {above: 10, landmarks: 8}}"
    path = write_config(
        tmp_path,
        "both",
        classifier=classifier,
        rankings="[]",
        subsets="all",
        alternatives=f"[{{label: fast, classifier: {other}}}]",
    )
    assert fsvm_here("run", path, "--jobs", "1", "--out", tmp_path).code == 0
    curves = read_table(tmp_path / "both" / "curves.csv")
    machines = dict(curves.groupby("ranking")["machines"].unique().map(list))
    assert machines.pop("fast") == ["Nyström, 8 landmarks"]
    assert machines
    assert all(said == ["exact"] for said in machines.values())


def test_weights_of_classes_are_named_by_labels_where_the_machine_is_exported() -> None:
    exact = Machine(SVM(Gaussian(theta=2.0), 1.0, 1e-6, class_weight={0: 1.0, 1: 3.0}))
    learner = NystroemMachine(exact, Approximation(10, 4, 0)).for_labels({0: "no", 1: "yes"})
    assert learner.estimator().class_weight == {"no": 1.0, "yes": 3.0}


@pytest.mark.parametrize(
    ("classifier", "message"),
    [
        ({"nystroem": {"landmarks": 0}}, "landmarks is 0"),
        ({"nystroem": {}, "output_scaling": "times-margin"}, "'nystroem' is for machines with one kernel"),
        ({"nystroem": {}, "tune": [{"C": [1, 2], "folds": 3}]}, "'nystroem' is for machines with one kernel"),
    ],
)
def test_what_cannot_be_approximated_is_refused(planned: Planned, classifier: dict, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        planned(classifier=GAUSSIAN | classifier)


def test_an_indefinite_kernel_is_refused(planned: Planned) -> None:
    with pytest.raises(UsageError, match="needs a positive semidefinite kernel, which tanh is not"):
        planned(classifier={"kernel": "tanh", "scale": 0.1, "C": 1, "nystroem": {}})
