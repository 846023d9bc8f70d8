"""Hyperparameters that are medians over random subsets of the rows: of made machines, whose ascents are known."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from fsvm_cli.evidence.sampled_evidence import Hyperparameters
from fsvm_cli.learners.bayesian import MedianBayesianLearner

FITTED: list[tuple[np.ndarray, np.ndarray]] = []
"""The samples of each fit, in turn."""


class MadeMachine(BaseEstimator):
    """Finds logarithms that follow from the samples it sees, of two machines; not every ascent of it converges."""

    def __init__(self, converges: bool = True) -> None:
        self.converges = converges

    def fit(self, X: np.ndarray, y: np.ndarray) -> MadeMachine:
        FITTED.append((X, y))
        self.hyperparameters_ = tuple(map(Hyperparameters.from_logarithms, logarithms_on(X)))
        self.path_ = [SimpleNamespace(converged=True), SimpleNamespace(converged=self.converges or len(FITTED) != 2)]
        self.relevance_ = X.mean(axis=0)
        return self

    def trained_on(self, X: np.ndarray, y: np.ndarray, features: Any) -> SimpleNamespace:
        return SimpleNamespace(X=X[:, list(features)], y=y, found=[h.logarithms for h in self.hyperparameters_])


def logarithms_on(X: np.ndarray) -> np.ndarray:
    mean = X.mean(axis=0)
    return np.array([[mean[0], mean[1], 0.0, *mean], [1.0, mean[2], mean[0], *-mean]])


@pytest.mark.parametrize(("n_subsets", "share"), [(5, 0.5), (4, 0.75), (1, 0.3)])
def test_each_hyperparameter_is_the_median_over_the_subsets_and_the_machine_sees_all_rows(
    n_subsets: int, share: float
) -> None:
    FITTED.clear()
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), np.repeat([0, 1, 2], 20)
    words: dict[str, Any] = {"n_subsets": n_subsets, "subset_share": share, "random_state": 7}
    found = MedianBayesianLearner(MadeMachine(), **words).tuned_on(X, y, None)  # type: ignore[arg-type]
    subsets = list(FITTED)
    assert len(subsets) == n_subsets == len({part.tobytes() for part, _ in subsets})
    for part, classes in subsets:
        np.testing.assert_array_equal(np.bincount(classes), [20 * share] * 3)
        rows = [int(np.flatnonzero((row == X).all(axis=1))[0]) for row in part]
        assert rows == sorted(set(rows))
    expected = np.median([logarithms_on(part) for part, _ in subsets], axis=0)
    np.testing.assert_allclose(found.machine.found, expected, atol=1e-12)  # type: ignore[attr-defined]
    np.testing.assert_array_equal(found.machine.X, X)  # type: ignore[attr-defined]
    np.testing.assert_allclose(found.relevances, np.mean([part.mean(axis=0) for part, _ in subsets], axis=0))
    assert found.converged
    again = MedianBayesianLearner(MadeMachine(), **words).tuned_on(X, y, None)  # type: ignore[arg-type]
    np.testing.assert_array_equal(again.machine.found, found.machine.found)  # type: ignore[attr-defined]


def test_one_ascent_that_does_not_end_is_told() -> None:
    FITTED.clear()
    X, y = np.random.default_rng(1).normal(size=(40, 3)), np.tile([0, 1], 20)
    learner = MedianBayesianLearner(MadeMachine(converges=False), subset_share=0.5, random_state=0)  # type: ignore[arg-type]
    assert not learner.tuned_on(X, y, None).converged
