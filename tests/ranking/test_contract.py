"""What every ranking method promises; a new method is tested by being there."""

from __future__ import annotations

import contextlib
import copy
import functools
import inspect
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from fsvm_cli.learners.machine import Machine
from fsvm_cli.ranking.base import Ranker, first_largest, order_of, tie_priority
from fsvm_cli.ranking.machine_ranker import MachineRanker
from fsvm_cli.ranking.registry import ranking_methods
from fsvm_cli.svm import SVM, Linear

if TYPE_CHECKING:
    from numpy.typing import NDArray

METHODS = list(ranking_methods().values())
every_method = pytest.mark.parametrize("method", METHODS, ids=lambda method: method.method)
every_informed_method = pytest.mark.parametrize(
    "method", [method for method in METHODS if not method.is_control], ids=lambda method: method.method
)

every_supervised_method = pytest.mark.parametrize(
    "method", [method for method in METHODS if method.is_supervised], ids=lambda method: method.method
)


# Forests of few trees keep every promise, and so do ascents beside few on permuted labels; what many are for is tested
# where they are.
FEWER: dict[str, dict[str, Any]] = {
    "ard": {"n_eigenvectors": 10, "n_permutations": 1},
    "boruta": {"rounds": 10, "n_trees": 20},
    "forest": {"n_trees": 50},
}


def build(method: type[Ranker], **parameters: Any) -> Ranker:
    """Build an estimator whose random numbers, if it draws any, are fixed."""
    fixed = {"random_state": 0} if "random_state" in method.passed_down else {}
    return method(**fixed, **(FEWER.get(method.method, {}) | parameters))


def separable(n_classes: int, n_features: int = 6) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Make classes that differ in the first feature, less in the second, and in no other."""
    rng = np.random.default_rng(5)
    y = np.arange(120) % n_classes
    X = rng.normal(size=(120, n_features))
    X[:, 0] += 4.0 * y
    X[:, 1] += 1.5 * y
    return X, y


# Some checks have classes of three samples, which have no more than three folds; and there are fifty checks.
MODEST: dict[str, dict[str, Any]] = {
    "ard": {"max_steps": 2, "n_landmarks": 20, "n_eigenvectors": 4},
    "boruta": {"rounds": 2, "n_trees": 5},
    "forest": {"n_trees": 5},
    "kpd": {"relative_change": 0.1},
    "knockoffs": {"draws": 2, "n_steps": 5},
    "elastic-net": {"n_steps": 5},
    "l1-logistic": {"n_steps": 5},
    "l1-svm": {"n_steps": 5},
    "permutation-importance": {"folds": 2, "repeats": 1},
    "multi-task": {"max_iterations": 2},
    "radius-margin": {"max_iterations": 2},
    "shap": {"n_trees": 5},
    "span": {"max_iterations": 2},
    "stability-selection": {"pairs": 1, "n_steps": 3},
    "wrapper": {"folds": 2, "max_evaluations": 20},
}


def build_modest(method: type[Ranker]) -> Ranker:
    """Build an estimator that does less of what it does, for what does not hang on how much it does."""
    return build(method, **MODEST.get(method.method, {}))


@functools.cache
def fitted(method: type[Ranker], n_classes: int) -> Ranker:
    """Fit a method as it comes to the separable classes, once for all tests, which only look at it."""
    return build(method, n_features_to_select=2).fit(*separable(n_classes))


@functools.cache
def fitted_modestly(method: type[Ranker]) -> Ranker:
    """Fit a method that does less to three separable classes, once for all tests, which only look at it."""
    return build_modest(method).fit(*separable(3))


@parametrize_with_checks([build_modest(method) for method in METHODS])
def test_it_is_a_scikit_learn_estimator(estimator: Any, check: Any) -> None:
    check(estimator)


@every_method
def test_its_page_says_what_it_costs_and_when_to_use_it(method: type[Ranker]) -> None:
    page = inspect.getdoc(method) or ""
    assert re.search(r"\bO\(", page)
    assert re.search(r"\bUse it .*\bnot ", page, re.DOTALL)
    described = re.findall(r"^(\w+) : ", page.partition("Parameters")[2], re.MULTILINE)
    assert set(method._get_param_names()) <= set(described)


@every_method
@pytest.mark.parametrize("n_classes", [2, 3])
def test_ranks_follow_the_scores(method: type[Ranker], n_classes: int) -> None:
    X, _ = separable(n_classes)
    ranker = fitted(method, n_classes)
    assert ranker.scores_.shape == (6,)
    assert np.isfinite(ranker.scores_).all()
    priority = tie_priority(ranker.tie_seed, 6)
    np.testing.assert_array_equal(np.argsort(ranker.ranking_), order_of(ranker.scores_, priority))
    np.testing.assert_array_equal(ranker.support_, (ranker.ranking_ <= 2) & ranker.has_score_)
    np.testing.assert_array_equal(ranker.transform(X), X[:, ranker.support_])
    assert ranker.converged_ is True


def test_ties_break_by_what_was_drawn() -> None:
    scores, priority = np.array([1.0, 3.0, 1.0, 3.0, 2.0]), np.array([4, 3, 0, 2, 1])
    np.testing.assert_array_equal(order_of(scores, priority), [3, 1, 4, 2, 0])
    assert first_largest(scores, priority) == 3


UNTIED = frozenset({"random", "kernel-selection"})
"""The first draws an order of its own; the other stops before it has shared weights among copies."""


@every_method
def test_of_copies_the_seed_draws_the_first(method: type[Ranker]) -> None:
    X, y = separable(2)
    X = np.repeat(X[:, [1, 0]], [4, 1], axis=1)
    fits = [build_modest(method).set_params(tie_seed=seed).fit(X, y) for seed in range(4)]
    if method.method not in UNTIED:
        expected = [tie_priority(seed, 5)[:4].argmin() for seed in range(4)]
        assert [each.ranking_[:4].argmin() for each in fits] == expected


@given(st.data())
def test_rounding_moves_no_tie(data: st.DataObject) -> None:
    size = data.draw(st.sampled_from([1e-30, 1e-3, 1.0, 1e6]))
    exact = np.array(data.draw(st.lists(st.integers(-3, 3), min_size=1, max_size=12))) * size
    assume(exact.any())  # what is left of nothing but zeros has no size to be compared with
    ulps = st.lists(st.integers(-4, 4), min_size=len(exact), max_size=len(exact))
    rounded = exact + np.array(data.draw(ulps)) * np.spacing(np.maximum(np.abs(exact), min(size, 1.0)))
    np.testing.assert_array_equal(order_of(rounded), np.argsort(-exact, kind="stable"))
    assert first_largest(rounded) == exact.argmax()


def test_a_huge_score_does_not_tie_the_others() -> None:
    np.testing.assert_array_equal(order_of(np.array([0.1, 0.2, 1e30, 0.3, np.inf])), [4, 2, 3, 1, 0])


def test_only_what_may_be_chosen_is_the_first_largest() -> None:
    assert first_largest(np.array([-np.inf, -2.0, -np.inf, -2.0 + 4e-16])) == 1


@every_supervised_method
@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_feature_that_separates_comes_first(method: type[Ranker], n_classes: int) -> None:
    X, y = separable(n_classes)
    # Relevance of "ard" is by length scales, whose unit is that of the feature.
    assert build(method).fit((X - X.mean(axis=0)) / X.std(axis=0), y).ranking_[0] == 1


@every_informed_method
def test_scores_move_with_their_features(method: type[Ranker]) -> None:
    X, y = separable(3)
    permutation = np.array([3, 0, 5, 1, 4, 2])
    scores = fitted(method, 3).scores_
    np.testing.assert_allclose(build(method).fit(X[:, permutation], y).scores_, scores[permutation], rtol=1e-4)


@every_informed_method
def test_names_of_classes_do_not_matter(method: type[Ranker]) -> None:
    X, y = separable(3)
    names = np.array(["a", "b", "c"])
    np.testing.assert_array_equal(build_modest(method).fit(X, names[y]).scores_, fitted_modestly(method).scores_)


@every_method
def test_one_class_is_refused_by_name(method: type[Ranker]) -> None:
    X, y = separable(2)
    with pytest.raises(ValueError, match="one class"):
        build(method).fit(X, np.zeros_like(y))


@every_method
@pytest.mark.parametrize(("n_classes", "constant"), [(2, 0.0), (3, 0.1), (2, -1e6)])
def test_a_constant_feature_is_the_last_and_changes_nothing(
    method: type[Ranker], n_classes: int, constant: float
) -> None:
    X, y = separable(n_classes)
    table = np.insert(X, 0, constant, axis=1)
    ranker = build_modest(method).set_params(n_features_to_select=7).fit(table, y)
    assert ranker.ranking_[0] == 7
    assert ranker.scores_[0] <= ranker.scores_.min()
    assert not ranker.support_[0]
    np.testing.assert_array_equal(ranker.scores_[1:], build_modest(method).fit(X, y).scores_)
    nothing = build_modest(method)
    with contextlib.suppress(ValueError):  # as of a kernel that is the same for all samples
        assert not nothing.fit(np.full((20, 3), constant), np.arange(20) % 2).support_.any()


class Given(Ranker):
    """Scores as they are in the first row of the data."""

    method = "given"

    def _scores(self, X: np.ndarray, y: np.ndarray, n_classes: int) -> np.ndarray:
        return X[0]


@pytest.mark.parametrize(
    ("scores", "says_nothing", "kept"),
    [
        ([2.0, 0.0, 3.0, 0.0], True, [1, 0, 1, 0]),
        ([2.0, 0.0, 3.0, -1.0], True, [1, 0, 1, 0]),
        ([2.0, 0.0, 3.0, 0.0], False, [1, 1, 1, 1]),
        ([0.0, 0.0, 0.0, 0.0], True, [0, 0, 0, 0]),
        ([-2.0, 0.0, -3.0, -1.0], True, [1, 1, 1, 1]),
        ([-2.0, 1.0, -3.0, 2.0], True, [1, 1, 1, 1]),
    ],
)
def test_a_feature_of_score_0_is_never_kept(
    monkeypatch: pytest.MonkeyPatch, scores: list[float], says_nothing: bool, kept: list[int]
) -> None:
    monkeypatch.setattr(Given, "zero_says_nothing", says_nothing)
    X = np.array([scores, *np.eye(4), np.full(4, 9.0)])
    assert Given(n_features_to_select=4).fit(X, np.arange(6) % 2).support_.tolist() == [bool(each) for each in kept]


@every_method
def test_fitting_again_gives_the_same_scores(method: type[Ranker]) -> None:
    once = fitted_modestly(method)
    again = copy.deepcopy(once).fit(*separable(3))
    np.testing.assert_array_equal(again.scores_, once.scores_)


@every_method
@pytest.mark.parametrize("n_features_to_select", [0, 7])
def test_a_subset_that_cannot_be_is_refused(method: type[Ranker], n_features_to_select: int) -> None:
    X, y = separable(2)
    with pytest.raises(ValueError, match="n_features_to_select"):
        build(method, n_features_to_select=n_features_to_select).fit(X, y)


@every_method
def test_parameters_that_a_person_sets_are_checked(method: type[Ranker]) -> None:
    X, y = separable(2)
    for name in method.parameters_model().model_fields:
        ranker = clone(build(method)).set_params(**{name: "nonsense"})
        with pytest.raises(ValueError, match=f"{method.method}: ({name} is 'nonsense'|'nonsense' is no {name})"):
            ranker.fit(X, y)


@every_method
def test_documentation_names_every_parameter(method: type[Ranker]) -> None:
    for name in method._get_param_names():
        assert f"{name} : " in (method.__doc__ or ""), f"{method.method}: {name} is not documented"
    for name in method.parameters_model().model_fields:
        assert name not in method.passed_down | method.outside_configs


@every_method
def test_what_the_experiment_hands_down_is_declared(method: type[Ranker]) -> None:
    machine = Machine(SVM(Linear(), C=2.0, tolerance=1e-3))
    ranking_arguments = machine.ranking_arguments() | {"random_state": 5}
    assert method.passed_down <= set(ranking_arguments)
    assert method.passed_down | method.outside_configs <= set(method._get_param_names())
    built = ranking_methods()[method.method](**{name: ranking_arguments[name] for name in method.passed_down})
    assert {name: getattr(built, name) for name in method.passed_down} == {
        name: ranking_arguments[name] for name in method.passed_down
    }
    assert method.trains_machines == issubclass(method, MachineRanker)
    assert not (set(ranking_arguments) - method.passed_down) & set(method._get_param_names()), "taken, but not declared"


@every_method
def test_diagnostics_are_tables(method: type[Ranker]) -> None:
    X, y = separable(3)
    names = [f"feature {place}" for place in range(6)]
    ranker = build_modest(method).fit(pd.DataFrame(X, columns=names), y)
    for table in ranker.diagnostics_.values():
        assert len({len(column) for column in table.values()}) == 1
        assert len(pd.DataFrame(table).columns) == len(table)
    assert isinstance(ranker.chosen_, dict)
    assert isinstance(ranker.converged_, bool)


@every_method
def test_a_copy_has_the_same_parameters(method: type[Ranker]) -> None:
    ranker = build(method, n_features_to_select=3)
    copied = clone(ranker)
    assert copied is not ranker
    assert copied != ranker, "estimators are compared by identity"
    assert repr(copied.get_params()) == repr(ranker.get_params())
    assert inspect.signature(method).parameters["n_features_to_select"].kind is inspect.Parameter.KEYWORD_ONLY


HOLDING_PAIRS = [name for name, method in ranking_methods().items() if method.pair_matrices]


def test_some_methods_hold_matrices_of_all_pairs():
    assert "kpd" in HOLDING_PAIRS


@pytest.mark.parametrize("name", HOLDING_PAIRS)
def test_a_method_says_for_how_many_rows_there_is_memory(name, monkeypatch):
    monkeypatch.setattr("fsvm_cli.memory_check.free_memory", lambda: 20_000)
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 3)), np.arange(60) % 2
    with pytest.raises(
        ValueError, match=rf"{name} holds \d matrices of all pairs of rows: 60 rows take .* enough for \d+ rows"
    ):
        ranking_methods()[name]().fit(X, y)
