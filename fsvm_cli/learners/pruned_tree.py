"""A decision tree that is pruned as far as cross-validation finds best."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.tree import DecisionTreeClassifier

from fsvm_cli.evaluation.folds import stratified_folds

if TYPE_CHECKING:
    from numpy.typing import NDArray

LEAF = -1
"""Index of the children of a leaf in scikit-learn's trees."""


class PrunedTree(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A decision tree that splits by entropy, pruned by cost and complexity.

    The tree of all training rows gives a sequence of ever smaller trees, each the best for a range of prices of a leaf.
    For the geometric middle of each range, trees are grown on folds and pruned; the price with the best accuracy on the
    rows left out is taken, of equal ones the highest, and so the smallest tree.

    Parameters
    ----------
    min_samples_leaf : int, default=2
        Fewest training rows of a leaf.
    folds : int, default=10
        Of the cross-validation; fewer where a class has fewer rows, and where it has a single one nothing is pruned.
    random_state : int, default=0
        Draws among splits that are equally good, and the folds.

    Attributes
    ----------
    ccp_alpha_ : float
        The price of a leaf, in units of weighted impurity.
    tree_ : DecisionTreeClassifier
        On all training rows.

    Notes
    -----
    Source: Breiman, Friedman, Olshen and Stone, Classification and regression trees (1984), chapters 3 and 11, without
    their rule of one standard error. C4.5 prunes otherwise, by a pessimistic estimate of the error on training rows.
    """

    cross_validates = True

    def __init__(self, min_samples_leaf: int = 2, folds: int = 10, random_state: int = 0) -> None:
        self.min_samples_leaf = min_samples_leaf
        self.folds = folds
        self.random_state = random_state

    def fit(self, X: NDArray[np.float64], y: NDArray[np.intp], groups: NDArray[np.intp] | None = None) -> Self:
        """Grow, choose the price of a leaf, and prune.

        Parameters
        ----------
        X : ndarray, shape (n_samples, n_features)
        y : ndarray of int, shape (n_samples,)
        groups : ndarray of int, shape (n_samples,), optional
            Samples of one group stay in one fold; there are no more folds than groups with a class.
        """
        self.classes_, n_per_class = np.unique(y, return_counts=True)
        prices = _middles(collapse_prices(self._tree().fit(X, y).tree_))
        folds = min(self.folds, int(n_per_class.min()))
        if groups is not None:
            folds = min(folds, *(len(np.unique(groups[y == code])) for code in self.classes_))
        self.ccp_alpha_ = 0.0
        if folds > 1 and len(prices) > 1:
            n_right = np.zeros(len(prices))
            for train, left_out in stratified_folds(y, folds, self.random_state, groups=groups):
                predicted = predictions_by_price(self._tree().fit(X[train], y[train]), X[left_out], prices)
                n_right += np.count_nonzero(predicted == y[left_out], axis=1)
            self.ccp_alpha_ = float(prices[len(prices) - 1 - np.argmax(n_right[::-1])])
        self.tree_ = self._tree(self.ccp_alpha_).fit(X, y)
        return self

    def predict(self, X: NDArray[np.float64]) -> NDArray[np.intp]:
        """Classify the rows of `X`."""
        predicted: NDArray[np.intp] = self.tree_.predict(X)
        return predicted

    def _tree(self, price: float = 0.0) -> Any:
        return DecisionTreeClassifier(
            criterion="entropy",
            min_samples_leaf=self.min_samples_leaf,
            random_state=self.random_state,
            ccp_alpha=price,
        )


def collapse_prices(grown: Any) -> NDArray[np.float64]:
    """Find from which price of a leaf on each inner node is a leaf, by weakest links.

    Parameters
    ----------
    grown : sklearn.tree._tree.Tree
        With the root first, and each node before its children.

    Returns
    -------
    ndarray, shape (n_nodes,)
        Infinity for leaves, and for nodes below one that becomes a leaf before them.
    """
    left, right = grown.children_left, grown.children_right
    inner = left != LEAF
    parent = np.full(grown.node_count, LEAF)
    parent[left[inner]] = parent[right[inner]] = np.flatnonzero(inner)
    cost = grown.impurity * grown.weighted_n_node_samples / grown.weighted_n_node_samples[0]
    cost_below, n_leaves = np.where(inner, 0.0, cost), np.where(inner, 0, 1)
    for node in range(grown.node_count - 1, 0, -1):
        cost_below[parent[node]] += cost_below[node]
        n_leaves[parent[node]] += n_leaves[node]
    prices = np.full(grown.node_count, np.inf)
    reached = 0.0
    while inner[0]:
        links = np.full(grown.node_count, np.inf)
        links[inner] = (cost[inner] - cost_below[inner]) / (n_leaves[inner] - 1)
        weakest = int(np.argmin(links))
        reached = prices[weakest] = max(reached, links[weakest])
        saved, gone = cost[weakest] - cost_below[weakest], n_leaves[weakest] - 1
        _remove_below(weakest, inner, left, right)
        node = weakest
        while node != LEAF:
            cost_below[node] += saved
            n_leaves[node] -= gone
            node = parent[node]
    return prices


def _remove_below(top: int, inner: NDArray[np.bool_], left: NDArray[np.intp], right: NDArray[np.intp]) -> None:
    """Mark a node and all inner nodes below it as leaves."""
    waiting = [top]
    while waiting:
        node = waiting.pop()
        if inner[node]:
            inner[node] = False
            waiting += [left[node], right[node]]


def predictions_by_price(tree: Any, X: NDArray[np.float64], prices: NDArray[np.float64]) -> NDArray[np.intp]:
    """Predict as the tree would if it were pruned at each price, shape (n_prices, n_samples)."""
    grown = tree.tree_
    collapse = collapse_prices(grown)
    # On the way from the root a sample stops at the first node that is a leaf at the price.
    stops = np.zeros((grown.node_count, len(prices)), dtype=np.intp)
    for node in np.flatnonzero(grown.children_left != LEAF):
        goes_on = (stops[node] == node) & (collapse[node] > prices)
        for child in (grown.children_left[node], grown.children_right[node]):
            stops[child] = np.where(goes_on, child, stops[node])
    of_node = tree.classes_[grown.value[:, 0].argmax(axis=1)]
    predicted: NDArray[np.intp] = of_node[stops[tree.apply(X)]].T
    return predicted


def _middles(prices: NDArray[np.float64]) -> NDArray[np.float64]:
    """Geometric middles of the ranges of prices that lead to the same tree; the last leaves the root alone."""
    ascending = np.unique([0.0, *prices[np.isfinite(prices)]])
    return np.append(np.sqrt(ascending[:-1] * ascending[1:]), ascending[-1])
