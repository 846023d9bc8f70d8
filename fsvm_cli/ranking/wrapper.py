"""Best-first search for the subset that a classifier does best with: the wrapper that infoprop2001 mentions."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from annotated_types import Ge
from sklearn.base import clone

from fsvm_cli.evaluation.folds import stratified_folds
from fsvm_cli.numerics import value_ranges
from fsvm_cli.ranking.base import Ranker

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fsvm_cli.evaluation.folds import Fold

    Subset = frozenset[int]

FEATURE_PENALTY = 0.001
"""Accuracy that each feature costs: of two subsets with the same accuracy the smaller one is better."""
MIN_ACCURACY_GAIN = 0.001
"""Accuracy less penalty by which a subset must exceed the best one so far."""
MAX_STALE_EXPANSIONS = 5
"""Expansions in a row without a better subset, after which the search ends."""


class Wrapper(Ranker):
    """Whether the best subset that a search finds has the feature, and what it is worth alone.

    A subset is worth the cross-validated accuracy of the classifier on it, less 0.001 for each feature. The search
    begins with no feature. It expands the best subset that it has not expanded: all subsets with one feature more, and
    all with one less. It ends when five expansions have found nothing better by 0.001, or its budget is spent.

    A feature of the best subset scores between 1 and 2, the one that adds most first; any other scores the accuracy of
    the classifier on it alone. O(d) subsets for each expansion, each with a fit for every fold.

    Use it with few features and a quick classifier, where the subset for that very classifier is wanted; not with
    hundreds of features, which take hours, nor with few samples, on which a search over many subsets overfits.

    Parameters
    ----------
    folds : int, default=5
        Folds of the cross-validation, at least 2, and no more than samples in the smallest class; the same for all
        subsets.
    max_evaluations : int, default=2000
        Budget: subsets that are evaluated, at least 1. The first expansion takes as many as there are features.
    estimator : classifier, optional
        Of the experiment; scikit-learn's Gaussian naive Bayes where None.
    random_state : int, RandomState or None, default=0
        Of the folds.
    n_features_to_select : int or None, default=None
        Size of the selected subset; half of the features where None.
    tie_seed : int, default=0
        Breaks ties among features at random.

    Attributes
    ----------
    best_subset_ : ndarray of int
        Features of the best subset, in the order of their scores.
    n_evaluations_ : int
        Subsets that were evaluated.
    converged_ : bool
        Always true: `exhausted_` marks a search that spent its budget.
    exhausted_ : bool
        Whether the budget ended the search.

    Notes
    -----
    Source: Kohavi and John (1997), whose best-first search, penalty and ends of the search these are; infoprop2001
    quotes 11 features for DNA, after several hours. Their compound operators, and the repetition of a cross-validation
    that is uncertain, are left out. A feature that is constant is never tried and scores 0.

    See Also
    --------
    RecursiveFeatureElimination : Asks the machine itself, not its accuracy.

    References
    ----------
    - infoprop2001: V. Sindhwani, P. Bhattacharya and S. Rakshit, SDM 2001; in full in `Ranker`.
    - R. Kohavi and G. H. John, "Wrappers for Feature Subset Selection", Artificial Intelligence 97(1-2), 1997, pages
      273-324.

    Examples
    --------
    >>> from fsvm_cli import Wrapper
    >>> Wrapper(folds=2).fit([[0, 3], [1, 1], [0, 2], [5, 3], [6, 1], [5, 2]], list("aaabbb")).ranking_.tolist()
    [1, 2]
    """

    method = "wrapper"
    passed_down = frozenset({"estimator", "random_state"})
    cross_validates = True

    folds: Annotated[int, Ge(2)] = 5
    max_evaluations: Annotated[int, Ge(1)] = 2000
    estimator: Any = None
    random_state: int | np.random.RandomState | None = 0

    def _scores(
        self,
        X: NDArray[np.float64],
        y: NDArray[np.intp],
        n_classes: int,  # noqa: ARG002 - the contract of Ranker
        groups: NDArray[np.intp] | None = None,
    ) -> NDArray[np.float64]:
        folds = stratified_folds(y, self.folds, self.random_state, groups=groups, caller=self.method)
        estimator = _naive_bayes() if self.estimator is None else self.estimator
        priority = self._priority.tolist()
        candidates = sorted(np.flatnonzero(value_ranges(X) > 0).tolist(), key=priority.__getitem__)
        search = _SubsetSearch(_CrossValidation(estimator, X, y, folds), candidates, self.max_evaluations, priority)
        best = search.run()
        self.n_evaluations_, self.exhausted_ = len(search.worth), search.exhausted
        scores = np.zeros(X.shape[1])
        for feature in candidates:
            scores[feature] = search.worth.get(frozenset([feature]), -FEATURE_PENALTY) + FEATURE_PENALTY
        self.best_subset_ = np.array(search.by_gain(best), dtype=np.intp)
        scores[self.best_subset_] = 2 - np.arange(len(best)) / max(len(best), 1)
        return scores

    def _put_back(self, scores: NDArray[np.float64]) -> None:  # noqa: ARG002 - the contract of Ranker
        """Renumber the best subset."""
        self.best_subset_ = self._columns[self.best_subset_]


@dataclass
class _CrossValidation:
    """Accuracy of a classifier on subsets of the features."""

    estimator: Any
    X: NDArray[np.float64]
    y: NDArray[np.intp]
    folds: Sequence[Fold]

    def accuracy(self, subset: Subset) -> float:
        """Share of the samples that a classifier recognises which has not seen their fold."""
        columns = self.X[:, sorted(subset)]
        n_right = 0
        for train, asked in self.folds:
            # In the other folds a feature may be constant, which leaves a likelihood without a spread.
            with np.errstate(all="ignore"):
                fitted = clone(self.estimator).fit(columns[train], self.y[train])
                n_right += int(np.count_nonzero(fitted.predict(columns[asked]) == self.y[asked]))
        return n_right / len(self.y)


@dataclass
class _SubsetSearch:
    """Best-first search over subsets."""

    validation: _CrossValidation
    candidates: list[int]
    budget: int
    priority: list[int]
    worth: dict[Subset, float] = field(default_factory=dict)
    exhausted: bool = False

    def run(self) -> Subset:
        """Search, and return the best subset."""
        best: Subset = frozenset()
        most, stale = -np.inf, 0
        opened, expanded = {best}, set()
        while stale < MAX_STALE_EXPANSIONS and opened and not self.exhausted:
            node = max(opened, key=self._preference)
            opened.remove(node)
            expanded.add(node)
            stale += 1
            for child in self._children(node):
                if child in expanded or not self._evaluate(child):
                    continue
                opened.add(child)
                if self.worth[child] > most + (MIN_ACCURACY_GAIN if best else 0):
                    stale = 0
            leader = max(self.worth, key=self._preference, default=best)
            if self.worth.get(leader, -np.inf) > most:
                best, most = leader, self.worth[leader]
        return best

    def by_gain(self, subset: Subset) -> list[int]:
        """Order the features of a subset by what each adds to those before it, as far as the search has looked."""
        order: list[int] = []
        while len(order) < len(subset):
            left = sorted(subset.difference(order), key=self.priority.__getitem__)
            known = [self.worth.get(frozenset([*order, feature]), -np.inf) for feature in left]
            order.append(left[int(np.argmax(known))])
        return order

    def _children(self, node: Subset) -> list[Subset]:
        more = [node | {feature} for feature in self.candidates if feature not in node]
        less = [node - {feature} for feature in sorted(node, key=self.priority.__getitem__)] if len(node) > 1 else []
        return more + less

    def _evaluate(self, subset: Subset) -> bool:
        """Evaluate a subset, if that has not been done and the budget allows; say whether its worth is known."""
        if subset not in self.worth:
            if len(self.worth) >= self.budget:
                self.exhausted = True
                return False
            self.worth[subset] = self.validation.accuracy(subset) - FEATURE_PENALTY * len(subset)
        return True

    def _preference(self, subset: Subset) -> tuple[float, float, list[int]]:
        """Order subsets by worth; equal ones by what their features are worth alone, then by priority."""
        alone = math.fsum(self.worth.get(frozenset([feature]), 0.0) for feature in subset)
        return self.worth.get(subset, -np.inf), alone, sorted(-self.priority[feature] for feature in subset)[::-1]


def _naive_bayes() -> Any:
    from sklearn.naive_bayes import GaussianNB  # noqa: PLC0415 - slow to import, and seldom needed

    return GaussianNB()
