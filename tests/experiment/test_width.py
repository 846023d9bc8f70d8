"""The width of a kernel in proportion to the distances between training rows: of rankings, machines and searches."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from click.testing import CliRunner
from sklearn.datasets import load_wine

from fsvm_cli import GradientAngle, RecursiveFeatureElimination
from fsvm_cli.cli import cli
from fsvm_cli.experiment.experiment import Experiment, Trial
from fsvm_cli.experiment.trial import DrawnTrial, draw_parts
from fsvm_cli.kernel_learning.estimator import LearnedKernelSVM
from fsvm_cli.learners.machine import Machine
from fsvm_cli.report.folder import read_table
from fsvm_cli.svm import Gaussian, Kernel, Laplace

if TYPE_CHECKING:
    from collections.abc import Callable

    Planned = Callable[..., Experiment]

FIRST = Trial(n_train=12, split=0)
CONFIG = {
    "title": "Wine",
    "dataset": "wine",
    "scaling": "standard",
    "protocol": {"splits": 3, "train": "2/3", "seed": 0},
    "subsets": [13],
}


def test_a_run_whose_kernel_is_changed_by_name_alone_takes_a_width_that_suits_the_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    content = CONFIG | {"classifier": {"kernel": "linear", "C": 10}, "rankings": [{"method": "fisher"}]}
    Path("c.yaml").write_text(json.dumps(content), encoding="utf-8")
    result = CliRunner().invoke(cli, ["run", "c.yaml", "--jobs", "1", "--set", "classifier.kernel=gaussian"])
    assert result.exit_code == 0, result.output
    curves = read_table(next(Path("results").rglob("curves.csv")))
    accuracy = curves.query("metric == 'accuracy' and part == 'test' and n_features == 13")["mean"]
    assert (accuracy > 0.93).all()


def kernel_of(experiment: Experiment) -> tuple[Kernel, np.ndarray]:
    """Return the kernel of the first trial's machine, and the training part."""
    parts = draw_parts(experiment, FIRST)
    machine = DrawnTrial(experiment, FIRST, parts).learner(experiment.config.classifier)
    assert isinstance(machine, Machine)
    return machine.kernel, parts.X_train


@pytest.mark.parametrize("scaling", ["none", "standard", "minmax"])
@pytest.mark.parametrize("stated", [{}, {"theta": "scale"}], ids=["left out", "scale"])
def test_the_width_of_a_config_is_that_of_the_scaled_training_part(
    planned: Planned, scaling: str, stated: dict[str, str]
) -> None:
    kernel, X = kernel_of(planned(classifier={"kernel": "gaussian", "C": 1} | stated, scaling=scaling))
    assert isinstance(kernel, Gaussian)
    assert kernel.theta == pytest.approx(X.var(axis=0).sum())
    kernel, X = kernel_of(planned(classifier={"kernel": "laplace", "C": 1} | stated, scaling=scaling))
    assert isinstance(kernel, Laplace)
    assert kernel.theta == pytest.approx(X.std(axis=0).sum())


def test_kernels_of_single_classes_and_of_learned_sums_have_a_width_in_proportion(planned: Planned) -> None:
    own = {"1": {"kernel": "gaussian"}, "2": {"kernel": "gaussian", "theta": 3}}
    data = {"name": "three-class", "version": "printed", "samples": 60}
    classifier = {"kernel": "polynomial", "C": 1, "class_kernels": own}
    trial = Trial(n_train=30, split=0)
    experiment = planned(dataset=data, classifier=classifier, subsets=[3], rankings=[{"method": "fisher"}])
    parts = draw_parts(experiment, trial)
    machine = DrawnTrial(experiment, trial, parts).learner(experiment.config.classifier)
    assert isinstance(machine, Machine)
    assert machine.svm.class_kernels is not None
    thetas = [machine.svm.class_kernels[code].theta for code in (0, 1)]
    assert thetas == pytest.approx([parts.X_train.var(axis=0).sum(), 3.0])
    X, y = parts.X_train, parts.y_train % 2
    by_name = LearnedKernelSVM(["gaussian"]).fit(X, y)
    by_hand = LearnedKernelSVM([Gaussian(float(X.var(axis=0).sum()))]).fit(X, y)
    np.testing.assert_allclose(by_name.decision_function(X), by_hand.decision_function(X), atol=1e-6)


def test_an_offset_of_a_column_changes_no_ranking_by_a_machine() -> None:
    X, y = load_wine(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    far = X + 1024.0 * (np.arange(13) == 4)
    for method in (GradientAngle, RecursiveFeatureElimination):
        there, here = (method(kernel="gaussian").fit(samples, y).ranking_ for samples in (far, X))
        np.testing.assert_array_equal(there, here)


def test_a_width_in_proportion_is_one_candidate_of_a_search(planned: Planned) -> None:
    alone = {"kernels": [{"kernel": "gaussian"}], "folds": 2}
    kernel, X = kernel_of(planned(classifier={"kernel": "linear", "C": 1, "tune": alone}))
    assert isinstance(kernel, Gaussian)
    assert kernel.theta == pytest.approx(X.var(axis=0).sum())
    grid = {"kernels": [{"kernel": "gaussian", "theta": ["scale", 1e-9]}], "folds": 2}
    kernel, X = kernel_of(planned(classifier={"kernel": "gaussian", "C": 1, "tune": grid}))
    assert kernel in [Gaussian(1e-9), Gaussian(float(X.var(axis=0).sum()))]
