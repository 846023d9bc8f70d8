"""Machines with the weights that a descent learned are those of `SVM` with the kernel at these weights."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

from fsvm_cli.errors import UsageError
from fsvm_cli.evaluation.metrics import confusion_matrix
from fsvm_cli.experiment.experiment import Experiment, Trial
from fsvm_cli.experiment.running import run_trial
from fsvm_cli.experiment.trial import draw_parts
from fsvm_cli.ranking.kernel_descent import DescentPath, weights_of_subset
from fsvm_cli.ranking.kpd import KernelParameterDescent
from fsvm_cli.svm import SVM, Gaussian, Kernel, Polynomial

if TYPE_CHECKING:
    from collections.abc import Callable

    Planned = Callable[..., Experiment]

FIRST = Trial(n_train=60, split=0)
KPD = {"method": "kpd", "strength": 3.0}
KERNELS = {
    "polynomial": ({"kernel": "polynomial", "degree": 3, "scale": 0.2, "C": 1}, Polynomial(degree=3, scale=0.2), 1),
    "gaussian": ({"kernel": "gaussian", "theta": 10, "C": 1}, Gaussian(theta=10.0), 2),
}
"""A classifier, its kernel, and the power of the weights of kpd2018 that weighs a feature in it."""


def on_noise(planned: Planned, **changes: Any) -> Experiment:
    return planned(
        dataset={"name": "noise20", "samples": 200},
        protocol={"splits": 1, "train": 60, "test": 140, "seed": 1},
        subsets="all",
        control="permute-labels",  # so that machines make errors, others with other weights
        **changes,
    )


@pytest.mark.parametrize("name", KERNELS)
def test_the_machine_on_the_path_is_that_of_the_kernel_at_its_weights(planned: Planned, name: str) -> None:
    classifier, kernel, power = KERNELS[name]
    rankings = [KPD | {"label": "fresh"}, KPD | {"label": "learned", "machine": "learned"}]
    experiment = on_noise(planned, classifier=classifier, rankings=rankings)
    found = run_trial(experiment, FIRST, dict.fromkeys(experiment.numbers(), experiment.sizes))
    assert not found.errors
    fresh, learned = found.outcomes[0], found.outcomes[1]
    assert learned.scores == fresh.scores
    parts, tolerance = draw_parts(experiment, FIRST), experiment.config.classifier.tolerance
    ranker = KernelParameterDescent(kernel, C=1.0, tolerance=tolerance, strength=3.0).fit(parts.X_train, parts.y_train)
    path = pd.DataFrame(ranker.diagnostics_["path"])
    v = path.filter(like="weight of").to_numpy()
    passed = sorted(set(path["n_active"]) & set(experiment.sizes))
    assert len(passed) > 5
    differing = 0
    for size in passed:
        at = v[path.index[path["n_active"] == size][-1]]
        active = np.flatnonzero(at)
        weighted = replace(kernel, weights=tuple(_own_units(kernel, at**power)[active]))
        machine = SVM(weighted, 1.0, tolerance).fit(parts.X_train[:, active], parts.y_train)
        expected = confusion_matrix(parts.y_test, machine.predict(parts.X_test[:, active]), 2)
        np.testing.assert_array_equal(learned.confusions("test", [size])[0], expected)
        differing += not np.array_equal(fresh.confusions("test", [size])[0], expected)
    assert differing, "a machine with other weights predicts otherwise somewhere"


def _own_units(kernel: Kernel, weights: np.ndarray) -> np.ndarray:
    """Divide the weights of the paper by what the kernel multiplies its own by: a, or 1 / (2 sigma^2) over one half."""
    return weights / (kernel.scale if isinstance(kernel, Polynomial) else 2 / kernel.theta)


def made_path() -> tuple[DescentPath, np.ndarray]:
    weights = np.array([[1, 1, 1, 1, 1], [0.5, 2, 1, 1, 0.5], [0, 2, 1.5, 1.5, 0], [0, 2, 1, 2, 0.0]])
    return DescentPath(weights, np.zeros(4), np.count_nonzero(weights, axis=1), converged=True), np.array(
        [1, 3, 2, 0, 4]
    )


def test_a_number_that_the_descent_passed_has_the_last_weights_with_as_many_features() -> None:
    path, order = made_path()
    kernel = Polynomial(scale=1.0)
    np.testing.assert_array_equal(weights_of_subset(path, kernel, order, 5), path.weights[1])
    np.testing.assert_array_equal(weights_of_subset(path, kernel, order, 3), path.weights[3])


def test_other_numbers_have_those_of_the_next_larger_without_the_features_that_rank_last() -> None:
    path, order = made_path()
    np.testing.assert_array_equal(weights_of_subset(path, Gaussian(), order, 4), [0.5, 2, 1, 1, 0])
    np.testing.assert_array_equal(weights_of_subset(path, Gaussian(), order, 2), [0, 2, 0, 2, 0])
    # A polynomial kernel keeps the sum of the weights that its descent holds.
    np.testing.assert_allclose(weights_of_subset(path, Polynomial(), order, 1), [0, 5, 0, 0, 0])


def test_a_learnt_machine_is_another_outcome_and_a_fresh_one_the_same_as_without_the_word(planned: Planned) -> None:
    classifier = KERNELS["polynomial"][0]
    rankings = [KPD, KPD | {"label": "b", "machine": "fresh"}, KPD | {"label": "c", "machine": "learned"}]
    experiment = on_noise(planned, classifier=classifier, rankings=rankings)
    keys = [experiment.key(number, FIRST) for number in experiment.numbers()]
    assert keys[0] == keys[1] != keys[2]


@pytest.mark.parametrize(
    ("ranking", "more", "message"),
    [
        ({"method": "rfe", "machine": "learned"}, {}, "machine"),
        (KPD | {"machine": "learned", "order": "worst-first"}, {}, "without 'order'"),
        (KPD | {"machine": "learned"}, {"record": ["roc"], "subsets": [5]}, "a roc is that of fresh machines"),
    ],
)
def test_what_has_no_learnt_machine_is_refused(
    planned: Planned, ranking: dict[str, Any], more: dict[str, Any], message: str
) -> None:
    content = {"classifier": KERNELS["polynomial"][0], "rankings": [ranking], "expected": []} | more
    with pytest.raises(UsageError, match=message):
        planned(**content)


def test_several_classes_have_several_descents_and_no_machine_of_one(planned: Planned) -> None:
    rankings = [KPD | {"machine": "learned"}]
    experiment = planned(dataset="wine", classifier=KERNELS["polynomial"][0], rankings=rankings, expected=[])
    trial = next(iter(experiment.trials()))
    found = run_trial(experiment, trial, {0: experiment.sizes})
    assert "learned weights are for two classes" in found.errors[0]
