"""Groups of samples: none of them is on both sides, in no split and no fold."""

from __future__ import annotations

import inspect
import sys

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from fsvm_cli.evaluation.folds import LEAVE_ONE_OUT, leave_one_out, stratified_folds
from fsvm_cli.evaluation.splits import random_group_split, random_split
from fsvm_cli.learners.pruned_tree import PrunedTree
from fsvm_cli.ranking.content import content_order
from fsvm_cli.ranking.infoprop import Infoprop
from fsvm_cli.ranking.kpd import KernelParameterDescent
from fsvm_cli.ranking.registry import ranking_methods
from fsvm_cli.ranking.wrapper import Wrapper

rows = st.lists(st.tuples(st.integers(0, 7), st.integers(0, 2)), min_size=6, max_size=40)


@given(rows, st.data())
def test_a_split_divides_no_group(drawn: list[tuple[int, int]], data: st.DataObject) -> None:
    groups, y = np.array(drawn).T
    assume(len(np.unique(groups)) > 1)
    n_train = data.draw(st.integers(1, len(y) - 1))
    n_test = data.draw(st.integers(1, len(y) - n_train))
    split = random_group_split(y, groups, n_train, n_test, np.random.default_rng(n_train))
    assert not set(groups[split.train]) & set(groups[split.test])
    assert len(split.train)
    assert len(split.test)
    taken = np.concatenate([split.train, split.test])
    assert len(np.unique(taken)) == len(taken)
    # Whole groups: those that are taken are taken with all their rows.
    assert np.isin(groups, groups[taken]).sum() == len(taken)
    if n_train + n_test == len(y):
        assert len(taken) == len(y)


def test_parts_are_as_large_as_groups_of_one_size_allow_and_have_all_classes() -> None:
    groups = np.repeat(np.arange(30), 4)
    y = np.repeat(np.arange(30) < 3, 4).astype(int)  # three groups of a small class
    for seed in range(30):
        split = random_group_split(y, groups, 80, 40, np.random.default_rng(seed))
        assert (len(split.train), len(split.test)) == (80, 40)
        assert set(y[split.train]) == {0, 1}


def test_every_group_is_as_often_for_training_as_any_other() -> None:
    groups = np.repeat(np.arange(9), 3)
    y = np.arange(27) % 3
    splits = [random_group_split(y, groups, 9, 18, np.random.default_rng(seed)) for seed in range(900)]
    counts = sum(np.bincount(np.unique(groups[split.train]), minlength=9) for split in splits)
    # Each count is binomial with mean 300 and standard deviation 14.
    assert np.abs(counts - 300).max() < 70


def test_one_group_cannot_be_split() -> None:
    with pytest.raises(ValueError, match="two groups"):
        random_group_split(np.array([0, 1, 0]), np.zeros(3, dtype=int), 2, 1, np.random.default_rng(0))
    with pytest.raises(ValueError, match="cannot be drawn"):
        random_group_split(np.array([0, 1, 0]), np.arange(3), 3, 1, np.random.default_rng(0))


@given(rows, st.integers(2, 4))
def test_a_fold_divides_no_group(drawn: list[tuple[int, int]], folds: int) -> None:
    groups, y = np.array(drawn).T
    try:
        divided = stratified_folds(y, folds, 0, groups=groups)
    except ValueError as error:
        assert str(folds) in str(error)  # noqa: PT017 - either is right
        return
    assert len(divided) == folds
    left_out = np.concatenate([asked for _, asked in divided])
    np.testing.assert_array_equal(np.sort(left_out), np.arange(len(y)))
    for train, asked in divided:
        assert not set(groups[train]) & set(groups[asked])
        assert set(y[train]) == set(y)


def test_leaving_one_out_leaves_a_group_out() -> None:
    groups = np.array([2, 2, 0, 0, 1, 1])
    y = np.array([0, 1, 0, 1, 0, 1])
    found = [(train.tolist(), asked.tolist()) for train, asked in leave_one_out(y, groups=groups)]
    assert found == [([0, 1, 4, 5], [2, 3]), ([0, 1, 2, 3], [4, 5]), ([2, 3, 4, 5], [0, 1])]


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ([0, 0, 0, 0, 1, 1, 1, 1], "folds is 3; the training part has 2 groups, and 3 are needed"),
        ([0, 1, 2, 3, 4, 4, 4, 4], "a fold holds all groups of a class"),
    ],
)
def test_too_few_groups_are_told(groups: list[int], message: str) -> None:
    y = np.repeat([0, 1], 4)
    with pytest.raises(ValueError, match=message):
        stratified_folds(y, 3, 0, groups=np.array(groups))
    if "all groups" in message:
        with pytest.raises(ValueError, match=f"folds is {LEAVE_ONE_OUT}; {message}"):
            leave_one_out(y, groups=np.array(groups))


class _Spy:
    """Notes the groups of each part that a method trains on and asks."""

    def __init__(self, groups: np.ndarray) -> None:
        self.groups, self.calls = groups, 0

    def __call__(self, y: np.ndarray, *arguments: object, **named: object) -> list[tuple[np.ndarray, np.ndarray]]:
        divided = stratified_folds(y, *arguments, **named)  # type: ignore[arg-type]
        self.calls += 1
        for train, asked in divided:
            assert not set(self.groups[train]) & set(self.groups[asked])
        return divided


@pytest.mark.parametrize(
    "method",
    [
        Wrapper(folds=3, random_state=0),
        KernelParameterDescent(strength=(0.1, 1.0), max_iterations=3, random_state=0),
        Infoprop(credit_on="cross-validation", folds=3, random_state=0),
        PrunedTree(folds=3),
    ],
    ids=lambda method: type(method).__name__,
)
def test_methods_that_cross_validate_keep_groups_together(method: object, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    groups = np.repeat(np.arange(12), 3)
    y = np.repeat(np.arange(12) % 2, 3)
    X = rng.standard_normal((36, 3)) + y[:, None]
    rows = content_order(X, y).rows
    X, y, groups = X[rows], y[rows], groups[rows]
    spy = _Spy(groups)
    monkeypatch.setattr(f"{type(method).__module__}.stratified_folds", spy)
    method.fit(X, y, groups)  # type: ignore[attr-defined]
    assert spy.calls == 1


def test_infoprop_holds_out_whole_groups() -> None:
    groups = np.repeat(np.arange(12), 3)
    y = np.repeat(np.arange(12) % 2, 3)
    ((train, asked),) = Infoprop(random_state=0)._parts_to_ask(y, groups)
    assert not set(groups[train]) & set(groups[asked])
    assert len(asked) == 12  # whole groups, nearest to 30 % of 36 rows


@pytest.mark.parametrize("name", ranking_methods())
def test_a_method_that_divides_the_samples_takes_groups(name: str) -> None:
    method = ranking_methods()[name]
    divides = any("folds" in called or "split" in called for called in vars(sys.modules[method.__module__]))
    assert method.cross_validates == divides == ("groups" in inspect.signature(method._scores).parameters)
    assert "groups" in inspect.signature(method.fit).parameters


def test_groups_of_one_row_are_as_likely_as_plain_splits() -> None:
    y = np.arange(12) % 2
    found = random_group_split(y, np.arange(12), 8, 4, np.random.default_rng(1))
    plain = random_split(12, 8, 4, np.random.default_rng(1))
    assert (len(found.train), len(found.test)) == (len(plain.train), len(plain.test))
