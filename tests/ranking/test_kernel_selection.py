"""Kernel selection: the scores against a conic solver, and what they say of features that do not matter."""

from __future__ import annotations

import numpy as np
import pytest

from fsvm_cli import KernelSelection
from fsvm_cli.kernel_learning.margin import Margin
from tests.kernel_learning import conic_oracle


def samples() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(4)
    y = np.arange(40) % 2
    X = rng.normal(size=(40, 6)) + 5.0
    X[:, 1] += 2.0 * y
    X[:, 4] -= 1.5 * y
    return X, y


@pytest.mark.parametrize("margin", ["1-norm", "2-norm"])
def test_the_scores_are_the_weights_of_a_conic_solver(margin: str) -> None:
    X, y = samples()
    found = KernelSelection(C=0.5, margin=margin, tolerance=1e-9).fit(X, y)
    centred = X - X.mean(axis=0)
    grams = [np.outer(x, x) / (x @ x) for x in centred.T]
    expected = conic_oracle.qcqp(grams, np.where(y == 1, 1.0, -1.0), Margin(margin, 0.5 * (centred**2).sum() / 6))
    assert found.converged_
    assert found.scores_.sum() == pytest.approx(1.0)
    np.testing.assert_allclose(found.scores_, expected.weights / 6, atol=2e-3)


def test_features_that_do_not_matter_have_no_score() -> None:
    X, y = samples()
    X[:, 2] = 0.1
    found = KernelSelection(C=0.01).fit(X, y)
    assert found.scores_[2] == 0.0
    assert found.ranking_[[1, 4]].tolist() == [1, 2]
    assert np.count_nonzero(found.scores_) < 6


def test_the_unit_and_the_origin_of_a_feature_do_not_matter() -> None:
    X, y = samples()
    scores = KernelSelection(margin="hard", tolerance=1e-9).fit(X, y).scores_
    moved = KernelSelection(margin="hard", tolerance=1e-9).fit(X - 7.0, y).scores_
    np.testing.assert_allclose(moved, scores, atol=1e-5)
    # The trace of all changes with a unit, and a hard margin with it only.
    scaled = KernelSelection(margin="hard", tolerance=1e-9).fit(X * [1, 10, 1, 0.1, 1, 1], y).scores_
    np.testing.assert_allclose(scaled, scores, atol=1e-5)


@pytest.mark.parametrize("kernel", ["gaussian", "polynomial"])
def test_other_kernels_are_refused(kernel: str) -> None:
    with pytest.raises(ValueError, match="kernel-selection is defined for the linear kernel without weights"):
        KernelSelection(kernel=kernel).fit(*samples())
