"""The control with permuted labels: an honest method stays at chance, a leak does not."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from fsvm_cli.experiment.experiment import Experiment, Trial
from fsvm_cli.experiment.running import run_trial
from fsvm_cli.experiment.trial import draw_parts

if TYPE_CHECKING:
    from collections.abc import Callable

    from fsvm_cli.evaluation.splits import Parts

    Planned = Callable[..., Experiment]

CONTROL = {"control": "permute-labels"}


def mean_accuracies(experiment: Experiment) -> np.ndarray:
    """Mean test accuracy of each ranking at each size."""
    accuracies = []
    for trial in experiment.trials():
        outcomes = run_trial(experiment, trial, dict.fromkeys(experiment.numbers(), experiment.sizes)).outcomes
        confusions = np.array(
            [outcomes[number].confusions("test", experiment.sizes) for number in experiment.numbers()]
        )
        accuracies.append(np.trace(confusions, axis1=2, axis2=3) / confusions.sum(axis=(2, 3)))
    return np.mean(accuracies, axis=0)


def test_only_the_labels_are_shuffled(planned: Planned) -> None:
    trial = Trial(n_train=12, split=1)
    plain, control = draw_parts(planned(), trial), draw_parts(planned(**CONTROL), trial)
    np.testing.assert_array_equal(control.X_train, plain.X_train)
    np.testing.assert_array_equal(control.X_test, plain.X_test)
    labels = [np.concatenate([parts.y_train, parts.y_test]) for parts in (plain, control)]
    np.testing.assert_array_equal(*map(np.bincount, labels))
    assert (labels[0] != labels[1]).any()


def test_on_permuted_labels_methods_are_at_chance(planned: Planned) -> None:
    methods = ("gradient-angle", "average-separation", "fisher", "kpd")
    changes: dict[str, Any] = {
        "dataset": {"name": "noise20", "samples": 200},
        "protocol": {"splits": 20, "train": "1/2", "seed": 7},
        "rankings": [{"method": method} for method in methods],
        "classifier": {"kernel": "polynomial", "C": 1, "scale": 0.05},
    }
    # 2,000 predictions: the standard error of an accuracy is .011.
    assert mean_accuracies(planned(**changes, **CONTROL)) == pytest.approx(0.5, abs=0.045)
    changes["protocol"] |= {"splits": 5}
    assert mean_accuracies(planned(**changes)).min() > 0.6


def test_on_permuted_labels_a_leak_is_above_chance(planned: Planned, monkeypatch: pytest.MonkeyPatch) -> None:
    def leaking(experiment: Experiment, trial: Trial) -> Parts:
        parts = draw_parts(experiment, trial)
        return replace(
            parts,
            X_train=np.concatenate([parts.X_train, parts.X_test]),
            y_train=np.concatenate([parts.y_train, parts.y_test]),
        )

    monkeypatch.setattr("fsvm_cli.experiment.running.draw_parts", leaking)
    assert mean_accuracies(planned(protocol={"splits": 10, "train": "1/2", "seed": 7}, **CONTROL)).max() > 0.65
