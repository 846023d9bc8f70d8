"""The machine tuned by a bound as an estimator, and as a classifier of a config."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from fsvm_cli.bounds.ard import BoundTunedSVM, tune_ard
from fsvm_cli.experiment.experiment import Trial
from fsvm_cli.experiment.running import run_trial
from fsvm_cli.experiment.trial import draw_parts
from tests.bounds.test_ard import problem

if TYPE_CHECKING:
    from collections.abc import Callable

    from fsvm_cli.experiment.experiment import Experiment


@parametrize_with_checks([BoundTunedSVM(max_iterations=2)])
def test_it_keeps_scikit_learns_contract(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize("bound", ["radius-margin", "span"])
def test_each_class_has_the_machine_that_the_bound_tunes(bound: Any) -> None:
    X, _ = problem(60, 3)
    y = np.digitize(X[:, 0], [-0.5, 0.5])
    machine = BoundTunedSVM(bound=bound, max_iterations=5).fit(X, y)
    alone = tune_ard(X, np.where(y == 1, 1.0, -1.0), bound, max_iterations=5)
    np.testing.assert_allclose(machine.decision_function(X)[:, 1], alone.decision_function(X))
    assert np.mean(machine.predict(X) == y) > 0.9


def test_a_single_class_is_refused() -> None:
    with pytest.raises(ValueError, match="y holds 1 class only"):
        BoundTunedSVM().fit(np.eye(3), [1, 1, 1])


@pytest.mark.parametrize("bound", ["radius-margin", "span"])
@pytest.mark.parametrize("case", ["constant", "feature twice", "collinear", "samples twice", "few samples"])
def test_data_of_less_rank_than_features_are_no_hindrance(bound: Any, case: str) -> None:
    X, y = problem(60, 3)
    samples = {
        "constant": np.column_stack([X, np.full(60, 3.0)]),
        "feature twice": np.column_stack([X, X[:, 0]]),
        "collinear": np.column_stack([X, X @ [1.0, 2.0, -1.0]]),
        "samples twice": np.repeat(X[:30], 2, axis=0),
        "few samples": np.random.default_rng(2).normal(size=(60, 90)) + y[:, None],
    }[case]
    labels = np.repeat(y[:30], 2) if case == "samples twice" else y
    machine = BoundTunedSVM(bound=bound, max_iterations=20).fit(samples, labels)
    assert np.isfinite(machine.decision_function(samples)).all()
    assert machine.score(samples, labels) > 0.8


def test_a_config_may_name_it(planned: Callable[..., Experiment]) -> None:
    beside = [{"label": "bound", "classifier": {"type": "bound-tuned", "bound": "span", "max_iterations": 3}}]
    experiment = planned(
        dataset={"name": "plane", "samples": 80},
        scaling="standard",
        protocol={"splits": 2, "train": 30, "test": 20, "seed": 0},
        record=None,
        rankings=None,
        subsets=None,
        alternatives=beside,
    )
    first = Trial(n_train=30, split=0)
    outcome = run_trial(experiment, first, dict.fromkeys(experiment.numbers(), experiment.sizes)).outcomes[1]
    parts = draw_parts(experiment, first)
    oracle = BoundTunedSVM(bound="span", max_iterations=3).fit(parts.X_train, parts.y_train)
    assert np.trace(outcome.test[0]) == np.count_nonzero(oracle.predict(parts.X_test) == parts.y_test)
