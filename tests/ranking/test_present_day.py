"""References of today: forests, shadows, the 1-norm and mRMR, against other computations of the same."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import minimize
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import mutual_info_score

from fsvm_cli.ranking.base import order_by_content
from fsvm_cli.ranking.boruta import Boruta
from fsvm_cli.ranking.forest import Forest
from fsvm_cli.ranking.l1_svm import L1Svm, _weights
from fsvm_cli.ranking.mrmr import Mrmr

small_tables = arrays(np.int64, st.tuples(st.integers(4, 15), st.integers(1, 5)), elements=st.integers(0, 2))


def problem(n: int = 150, d: int = 6) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(4)
    X = rng.normal(size=(n, d))
    return X, (X[:, 0] + 0.6 * X[:, 1] + 0.3 * rng.normal(size=n) > 0).astype(int)


@given(small_tables, st.integers(0, 5))
@settings(deadline=None)
def test_every_choice_of_mrmr_is_the_best_by_its_formula(table: np.ndarray, seed: int) -> None:
    y = np.random.default_rng(seed).integers(0, 3, size=len(table))
    y[:2] = [0, 1]
    ranker = Mrmr().fit(table.astype(float), y)
    chosen: list[int] = []
    remaining = set(range(table.shape[1]))
    for feature in np.argsort(ranker.ranking_):
        criterion = {
            j: mutual_info_score(table[:, j], y)
            - (np.mean([mutual_info_score(table[:, j], table[:, s]) for s in chosen]) if chosen else 0.0)
            for j in remaining
        }
        assert criterion[feature] >= max(criterion.values()) - 1e-9
        assert ranker.scores_[feature] == len(remaining)
        remaining.remove(feature)
        chosen.append(feature)


def test_a_forest_is_scikit_learns_whatever_the_units_and_the_order_of_the_columns() -> None:
    X, y = problem()
    order = order_by_content(X)
    oracle = RandomForestClassifier(200, random_state=np.random.RandomState(1)).fit(X[:, order], y)
    expected = np.empty(6)
    expected[order] = oracle.feature_importances_
    np.testing.assert_allclose(Forest(random_state=1).fit(X, y).scores_, expected, rtol=0.05)
    scores = Forest(random_state=1).fit(X * 2.0**200, y).scores_
    np.testing.assert_array_equal(scores, Forest(random_state=1).fit(X, y).scores_)


def test_relevant_features_hit_in_every_round_and_noise_hardly_ever() -> None:
    X, y = problem(300)
    X = np.column_stack([X, X[:, 0]])  # a copy is as relevant
    scores = Boruta(random_state=0).fit(X, y).scores_
    assert (scores[[0, 1, 6]] > 1.0).all()
    assert (scores[2:6] < 0.5).all()


@pytest.mark.parametrize("C", [0.05, 1.0])
def test_the_machine_of_the_1_norm_is_at_its_optimum(C: float) -> None:
    X, y = problem(60, 3)
    labels = np.where(y == 1, 1.0, -1.0)

    def objective(split: np.ndarray) -> float:  # w and the bias as differences of numbers that are not negative
        w = split[:4] - split[4:]
        slack = np.maximum(0.0, 1.0 - labels * (X @ w[:3] + w[3]))
        return float(split.sum() + C * slack @ slack)

    best = minimize(objective, np.full(8, 0.1), bounds=[(0.0, None)] * 8, method="L-BFGS-B", options={"ftol": 1e-14})
    weights, converged = _weights(X, labels.astype(np.intp), C)
    assert converged
    np.testing.assert_allclose(weights, np.abs(best.x[:3] - best.x[4:7]), atol=2e-3)


def test_features_enter_by_what_they_say_and_copies_do_not() -> None:
    X, y = problem(300)
    ranker = L1Svm().fit(X, y)
    assert ranker.ranking_[:2].tolist() == [1, 2]
    assert ranker.converged_


def test_a_machine_that_misses_its_tolerance_is_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fsvm_cli.ranking.l1_svm.MAX_ITERATIONS", 1)
    assert not L1Svm().fit(*problem()).converged_


@given(arrays(np.float64, (4, 6), elements=st.integers(0, 2)))
def test_columns_are_ordered_by_what_they_hold(X: np.ndarray) -> None:
    permutation = np.random.default_rng(0).permutation(6)
    moved = X[:, permutation]
    np.testing.assert_array_equal(X[:, order_by_content(X)], moved[:, order_by_content(moved)])
