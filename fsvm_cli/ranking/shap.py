"""How much a feature moves the votes of a random forest: SHAP values of trees."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from annotated_types import Ge
from numba import njit
from sklearn.utils import check_random_state

from fsvm_cli.numerics import row_blocks
from fsvm_cli.ranking.base import Ranker
from fsvm_cli.ranking.forest import grown

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from sklearn.tree import DecisionTreeClassifier

    Array = NDArray[np.float64]
    Indices = NDArray[np.intp]


class Shap(Ranker):
    """How much a feature moves the votes of a random forest, by Shapley's division among the features.

    For one sample and one class, a set S of features has a value: the share of votes expected where only the features
    of S are known, so that a split by another sends the sample both ways, by the shares of the training samples. The
    SHAP value of a feature is what it adds to that of the features before it, in the mean over all orders of the
    features; they add up to the vote less the expected one. The score is its mean size over samples and classes.
    O(n m²) for each leaf, below m features, compiled.

    Use it to ask what a forest goes by on these samples, in units of its votes; not to compare features of few values
    with features of many, which find a split more easily, nor where copies of a feature shall all score high.

    Parameters
    ----------
    n_trees : int, default=200
        At least 1. Scores of fewer trees hang more on what is drawn.
    random_state : int, RandomState or None, default=0
        Of the samples of each tree, and the features of each split.
    n_features_to_select : int or None, default=None
        Size of the selected subset; half of the features where None.
    tie_seed : int, default=0
        Breaks ties among features at random.

    Notes
    -----
    Source: Lundberg et al. (2020), the values that depend on the paths of a tree, on its training samples. The product
    over the splits on the way to a leaf gives the sum over all sets in closed form: with o_j whether the sample follows
    the splits by feature j, and z_j the share of the training samples that do, feature f of a leaf of votes v has

        v (o_f - z_f) ∫_0^1 Π_{j ≠ f} (t o_j + (1 - t) z_j) dt,

    a polynomial, which Gauss's rule integrates without error. The package shap gives the same values. A present-day
    reference: no document of this project uses it. The forest is grown on the places of the values in their columns, so
    that units and offsets change nothing and a sparse matrix has the trees of the full one.

    See Also
    --------
    Forest : What the splits do for the purity of the nodes.
    PermutationImportance : What a classifier loses without a feature, on samples it has not seen.

    References
    ----------
    - S. M. Lundberg, G. Erion, H. Chen, A. DeGrave, J. M. Prutkin, B. Nair, R. Katz, J. Himmelfarb, N. Bansal and
      S.-I. Lee, "From Local Explanations to Global Understanding with Explainable AI for Trees", Nature Machine
      Intelligence 2, 2020, pages 56-67.

    Examples
    --------
    >>> from fsvm_cli import Shap
    >>> X, y = [[0, 3], [1, 1], [0, 2], [5, 3], [6, 1], [5, 2]], list("aaabbb")
    >>> Shap(random_state=0).fit(X, y).ranking_.tolist()
    [1, 2]
    """

    method = "shap"
    accepts_sparse = True
    passed_down = frozenset({"random_state"})
    goes_by_content = True

    n_trees: Annotated[int, Ge(1)] = 200
    random_state: int | np.random.RandomState | None = 0

    def _scores(self, X: Any, y: Indices, n_classes: int) -> Array:
        forest, features = grown(X, y, self.n_trees, check_random_state(self.random_state))
        n_samples, n_features = X.shape
        features = features.tocsr() if sp.issparse(features) else features
        total = np.zeros(n_features)
        for own in row_blocks(n_samples, n_features * n_classes):
            part = features[own].toarray() if sp.issparse(features) else features[own]
            values = np.zeros((*part.shape, n_classes))
            for tree in forest.estimators_:
                add_values(tree, np.ascontiguousarray(part, dtype=np.float32), values)
            total += np.abs(values).sum(axis=(0, 2))
        return np.asarray(total / (n_samples * n_classes) / self.n_trees)


class Splits(NamedTuple):
    """The nodes of a tree as arrays, shape (n_nodes,); of votes (n_nodes, n_classes)."""

    parent: Indices
    is_left: NDArray[np.bool_]
    feature: Indices
    threshold: Array
    weight: Array
    votes: Array


def add_values(tree: DecisionTreeClassifier, X: NDArray[np.float32], values: Array) -> None:
    """Add the SHAP values of a tree's votes to `values`, shape (n_samples, n_features, n_classes)."""
    nodes = tree.tree_
    inner = np.flatnonzero(nodes.children_left >= 0)
    parent, is_left = np.full(nodes.node_count, -1), np.zeros(nodes.node_count, dtype=bool)
    parent[nodes.children_left[inner]] = parent[nodes.children_right[inner]] = inner
    is_left[nodes.children_left[inner]] = True
    votes = nodes.value[:, 0, :] / nodes.value[:, 0, :].sum(axis=1, keepdims=True)
    splits = Splits(
        parent, is_left, nodes.feature.astype(np.intp), nodes.threshold, nodes.weighted_n_node_samples, votes
    )
    leaves = np.flatnonzero(nodes.children_left < 0)
    places, weights = np.polynomial.legendre.leggauss(max((nodes.max_depth + 1) // 2, 1))
    _add_of_leaves(leaves, splits, X, (places + 1) / 2, weights / 2, values)


@njit(cache=True, nogil=True)
def _add_of_leaves(  # noqa: PLR0917 - the tree, the samples, the integral, and what is added to
    leaves: Indices, splits: Splits, X: NDArray[np.float32], t: Array, weights: Array, values: Array
) -> None:
    """Add what the features on the way to each leaf have of its votes, for each sample."""
    for leaf in leaves:
        features, shares = _way(leaf, splits)
        for sample in range(len(X)):
            follows = _follows(leaf, splits, X[sample], features)
            product = weights.copy()
            for place in range(len(features)):
                product *= t * follows[place] + (1.0 - t) * shares[place]
            for place in range(len(features)):
                others = product / (t * follows[place] + (1.0 - t) * shares[place])
                added = (follows[place] - shares[place]) * others.sum()
                values[sample, features[place]] += added * splits.votes[leaf]


@njit(cache=True, nogil=True)
def _way(leaf: int, splits: Splits) -> tuple[Indices, Array]:
    """Return the features that split on the way to a leaf, and the share of the training samples that follow each."""
    features, shares = [splits.feature[leaf]][:0], [1.0][:0]
    node = leaf
    while splits.parent[node] >= 0:
        above = splits.parent[node]
        share = splits.weight[node] / splits.weight[above]
        if splits.feature[above] in features:
            shares[features.index(splits.feature[above])] *= share
        else:
            features.append(splits.feature[above])
            shares.append(share)
        node = above
    return np.array(features, dtype=np.intp), np.array(shares, dtype=np.float64)


@njit(cache=True, nogil=True)
def _follows(leaf: int, splits: Splits, x: NDArray[np.float32], features: Indices) -> Array:
    """Tell, by 1 or 0, of each feature on the way to a leaf whether a sample follows all its splits."""
    follows = np.ones(len(features))
    node = leaf
    while splits.parent[node] >= 0:
        above = splits.parent[node]
        if (x[splits.feature[above]] <= splits.threshold[above]) != splits.is_left[node]:
            for place in range(len(features)):
                if features[place] == splits.feature[above]:
                    follows[place] = 0.0
        node = above
    return follows
