"""The wrapper against a search over all subsets, and what its search promises."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from fsvm_cli.ranking.content import content_order
from fsvm_cli.ranking.wrapper import FEATURE_PENALTY, Wrapper, _CrossValidation

Y = np.arange(90) % 3
X = np.random.default_rng(2).normal(size=(90, 5))
X[:, 1] += 1.5 * Y
X[:, 3] += 2.0 * (Y == 1)
ROWS = content_order(X, Y).rows
X, Y = X[ROWS], Y[ROWS]
FOLDS = list(StratifiedKFold(5, shuffle=True, random_state=0).split(X, Y))


@pytest.mark.parametrize("subset", [{0}, {1, 3}, {4, 0, 2}])
def test_the_worth_of_a_subset_is_scikit_learns_cross_validation(subset: set[int]) -> None:
    found = _CrossValidation(GaussianNB(), X, Y, FOLDS).accuracy(frozenset(subset))
    # The folds are of one size, so that the mean of their accuracies is that of all samples.
    expected = cross_val_score(GaussianNB(), X[:, sorted(subset)], Y, cv=FOLDS).mean()
    assert found == pytest.approx(expected)


@pytest.mark.parametrize("estimator", [None, DecisionTreeClassifier(max_depth=3, random_state=0)], ids=["nb", "tree"])
def test_on_few_features_it_finds_the_best_subset_of_all(estimator: Any) -> None:
    ranker = Wrapper(estimator=estimator, random_state=0).fit(X, Y)
    validation = _CrossValidation(estimator or GaussianNB(), X, Y, FOLDS)
    subsets = [frozenset(each) for size in range(1, 6) for each in itertools.combinations(range(5), size)]
    best = max(validation.accuracy(subset) - FEATURE_PENALTY * len(subset) for subset in subsets)
    chosen = frozenset(ranker.best_subset_.tolist())
    assert validation.accuracy(chosen) - FEATURE_PENALTY * len(chosen) == pytest.approx(best)
    assert not ranker.exhausted_
    assert ranker.n_evaluations_ <= len(subsets)


def test_scores_tell_the_subset_from_the_rest() -> None:
    ranker = Wrapper(random_state=0).fit(X, Y)
    assert set(ranker.best_subset_) == set(np.flatnonzero(ranker.scores_ > 1))
    assert ranker.best_subset_.tolist() == np.argsort(-ranker.scores_)[: len(ranker.best_subset_)].tolist()
    alone = cross_val_score(GaussianNB(), X[:, [0]], Y, cv=FOLDS).mean()
    assert ranker.scores_[0] == pytest.approx(alone)


@pytest.mark.parametrize("budget", [1, 4, 7])
def test_the_budget_is_kept(budget: int) -> None:
    ranker = Wrapper(max_evaluations=budget, random_state=0).fit(X, Y)
    assert ranker.n_evaluations_ == budget
    assert ranker.exhausted_
    assert len(ranker.best_subset_) > 0


def test_a_feature_that_depends_on_another_is_found_by_their_pair() -> None:
    # Neither says anything alone; a tree on both does. Forward selection without going on would stop.
    rng = np.random.default_rng(2)
    signs = rng.choice([-1.0, 1.0], size=(200, 2))
    y = (signs[:, 0] * signs[:, 1] > 0).astype(int)
    noisy = np.column_stack([rng.normal(size=(200, 1)), signs + 0.1 * rng.normal(size=(200, 2))])
    ranker = Wrapper(estimator=DecisionTreeClassifier(max_depth=2, random_state=0), random_state=0).fit(noisy, y)
    assert {1, 2} <= set(ranker.best_subset_.tolist())


def test_where_nothing_varies_nothing_is_chosen() -> None:
    ranker = Wrapper(random_state=0).fit(np.ones((12, 3)), np.arange(12) % 2)
    assert ranker.scores_.tolist() == [0, 0, 0]
    assert len(ranker.best_subset_) == 0


def test_more_folds_than_samples_of_a_class_are_refused() -> None:
    few = np.concatenate([np.flatnonzero(code == Y)[:6] for code in range(3)])
    with pytest.raises(ValueError, match=r"wrapper: folds is 7; .* the smallest class has 6 samples, and 7 are needed"):
        Wrapper(folds=7).fit(X[few], Y[few])
