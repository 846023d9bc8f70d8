"""Rankings by linear machines do not depend on the space that their machines are solved in."""

from __future__ import annotations

import numpy as np
import pytest

from fsvm_cli.ranking.gradient_angle import GradientAngle
from fsvm_cli.ranking.rfe import RecursiveFeatureElimination
from fsvm_cli.ranking.rfe_machines import EliminationProblem, FeatureSpaceMachines, machines_for
from fsvm_cli.svm import Gaussian, Linear


def samples(n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    X = rng.standard_normal((240, 8))
    return X, np.digitize(X[:, 0] - 0.6 * X[:, 3] + 0.3 * rng.standard_normal(240), [-0.5, 0.7][: n_classes - 1])


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("kernel", [Linear(), Linear((1.0, 2.0, 0.5, 1.0, 3.0, 1.0, 1.0, 0.2))])
@pytest.mark.parametrize("fewest_for_a_band", [0, 5000])
def test_scores_are_those_of_the_gram_matrix(n_classes, kernel, fewest_for_a_band, monkeypatch):
    monkeypatch.setattr("fsvm_cli.svm.large.linear_working_set.MIN_ROWS_FOR_WORKING_SET", fewest_for_a_band)
    X, y = samples(n_classes)
    for method in (GradientAngle, RecursiveFeatureElimination):
        dense, linear = (method(kernel, C=2.0, solver=solver).fit(X, y) for solver in ("smo", "feature-space"))
        np.testing.assert_allclose(linear.scores_, dense.scores_, atol=1e-5)
        assert linear.converged_


def test_elimination_of_many_samples_makes_no_gram_matrix():
    X, y = np.zeros((6000, 3)), np.ones((1, 6000))
    C = np.ones(6000)
    assert isinstance(machines_for(EliminationProblem(Linear(), X, y, C, 1e-6, "auto")), FeatureSpaceMachines)
    few = EliminationProblem(Linear(), X[:50], y[:, :50], C[:50], 1e-6, "auto")
    assert not isinstance(machines_for(few), FeatureSpaceMachines)


def test_the_gradient_of_very_many_pairs_is_the_normal_vector(monkeypatch):
    rng = np.random.default_rng(0)
    A, B, c = rng.standard_normal((40, 3)), rng.standard_normal((30, 3)), rng.standard_normal(40)
    for kernel in (Linear(), Linear((1.0, 2.0, 0.0))):
        expected = kernel.input_gradient(A, B, c)
        with monkeypatch.context() as patch:
            patch.setattr("fsvm_cli.svm.kernels.additive.MAX_PAIRS_IN_MEMORY", 100)
            np.testing.assert_allclose(kernel.input_gradient(A, B, c), expected, rtol=1e-12)


def test_other_kernels_refuse_the_feature_space():
    X, y = samples(2)
    with pytest.raises(ValueError, match="for the linear kernel and dense samples"):
        GradientAngle(Gaussian(1.0), solver="feature-space").fit(X, y)
