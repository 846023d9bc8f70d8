"""Folds against those of scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.model_selection import LeaveOneOut, StratifiedKFold

from fsvm_cli.evaluation.folds import leave_one_out, stratified_folds

Y = np.repeat([0, 1, 2], [12, 7, 5])


@pytest.mark.parametrize("folds", [2, 5])
def test_stratified_folds_are_scikit_learns(folds: int) -> None:
    theirs = StratifiedKFold(folds, shuffle=True, random_state=3).split(Y, Y)
    for (train, test), (their_train, their_test) in zip(stratified_folds(Y, folds, 3), theirs, strict=True):
        np.testing.assert_array_equal(train, their_train)
        np.testing.assert_array_equal(test, their_test)


def test_leave_one_out_is_scikit_learns() -> None:
    for (train, test), (their_train, their_test) in zip(leave_one_out(Y), LeaveOneOut().split(Y), strict=True):
        np.testing.assert_array_equal(train, their_train)
        np.testing.assert_array_equal(test, their_test)


def test_a_class_with_fewer_samples_than_folds_is_told_in_one_sentence() -> None:
    with pytest.raises(ValueError, match=r"^wrapper: folds is 6; .* smallest class has 5 samples, and 6 are needed$"):
        stratified_folds(Y, 6, 0, caller="wrapper")
    with pytest.raises(ValueError, match=r"^tune: folds is leave-one-out; .* has 1 samples, and 2 are needed$"):
        leave_one_out(np.array([0, 0, 1]), caller="tune")


def test_a_class_that_does_not_occur_needs_no_samples() -> None:
    assert len(stratified_folds(np.array([0, 0, 2, 2]), 2, 0)) == 2
