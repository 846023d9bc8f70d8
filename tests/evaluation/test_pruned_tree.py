"""The tree that is pruned by cost and complexity, against scikit-learn's own pruning."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from sklearn.datasets import load_wine, make_classification
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.tree import DecisionTreeClassifier

from fsvm_cli.learners.pruned_tree import PrunedTree, collapse_prices, predictions_by_price


@pytest.fixture(scope="module")
def noisy() -> tuple[np.ndarray, np.ndarray]:
    X, y = make_classification(240, 8, n_informative=4, n_classes=3, flip_y=0.15, random_state=1)
    return X.round(1), y


def grown(X: np.ndarray, y: np.ndarray, price: float = 0.0) -> DecisionTreeClassifier:
    return DecisionTreeClassifier(criterion="entropy", min_samples_leaf=2, random_state=0, ccp_alpha=price).fit(X, y)


def test_nodes_become_leaves_at_the_prices_of_scikit_learn(noisy: tuple[np.ndarray, np.ndarray]) -> None:
    path = grown(*noisy).cost_complexity_pruning_path(*noisy).ccp_alphas
    prices = collapse_prices(grown(*noisy).tree_)
    found = np.unique(prices[np.isfinite(prices)].round(12))
    np.testing.assert_allclose(found, np.unique(path[path > 0].round(12)), atol=1e-12)


def test_predictions_at_each_price_are_those_of_a_tree_that_is_pruned_there(
    noisy: tuple[np.ndarray, np.ndarray],
) -> None:
    X, y = noisy
    path = np.unique(grown(X, y).cost_complexity_pruning_path(X, y).ccp_alphas.clip(0))
    prices = np.append((path[:-1] + path[1:]) / 2, path[-1] + 0.1)
    for price, predicted in zip(prices, predictions_by_price(grown(X, y), X, prices), strict=True):
        np.testing.assert_array_equal(predicted, grown(X, y, price).predict(X))


def test_the_price_is_the_best_in_cross_validation_and_the_highest_of_equals(
    noisy: tuple[np.ndarray, np.ndarray],
) -> None:
    X, y = noisy
    pruned = PrunedTree(folds=5).fit(X, y)
    splitter = StratifiedKFold(5, shuffle=True, random_state=0)

    def n_right(price: float) -> float:
        tree = DecisionTreeClassifier(criterion="entropy", min_samples_leaf=2, random_state=0, ccp_alpha=price)
        return float(cross_val_score(tree, X, y, cv=splitter).sum())

    chosen = n_right(pruned.ccp_alpha_)
    path = grown(X, y).cost_complexity_pruning_path(X, y).ccp_alphas.clip(1e-9)
    for low, high in itertools.pairwise(path):
        price = float(np.sqrt(low * high))
        assert n_right(price) < chosen + (1e-9 if price <= pruned.ccp_alpha_ + 1e-9 else -1e-9)
    assert 1 < pruned.tree_.get_n_leaves() < grown(X, y).get_n_leaves()
    np.testing.assert_array_equal(pruned.predict(X), grown(X, y, pruned.ccp_alpha_).predict(X))


def test_a_class_with_one_row_leaves_nothing_to_prune_by() -> None:
    X, y = load_wine(return_X_y=True)
    y = np.where(np.arange(len(y)) == 0, 3, y)
    pruned = PrunedTree().fit(X, y)
    assert pruned.ccp_alpha_ == 0
    np.testing.assert_array_equal(pruned.predict(X), grown(X, y).predict(X))
