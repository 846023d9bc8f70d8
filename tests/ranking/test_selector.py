"""The transformer that keeps some features; the oracle is scikit-learn's mixin for it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin

from fsvm_cli.ranking.base import Selector

MASK = np.array([False, True, True, False, True])
X = np.random.default_rng(3).integers(0, 3, (7, 5)).astype(float)


class Mask(BaseEstimator):
    def fit(self, X: Any, y: Any = None) -> Any:
        self.n_features_in_ = X.shape[1]
        if isinstance(X, pd.DataFrame):
            self.feature_names_in_ = np.asarray(X.columns, dtype=object)
        return self

    def _get_support_mask(self) -> np.ndarray:
        return MASK


class Ours(Mask, Selector): ...


class Theirs(Mask, SelectorMixin): ...


KINDS = {
    "array": X,
    "whole numbers": X.astype(int),
    "frame": pd.DataFrame(X, columns=list("abcde")),
    "csr": sp.csr_array(X),
    "csc": sp.csc_array(X),
}


@pytest.mark.parametrize("kind", KINDS)
def test_it_transforms_there_and_back_as_scikit_learn_does(kind: str) -> None:
    ours, theirs = Ours().fit(KINDS[kind]), Theirs().fit(KINDS[kind])
    kept, expected = ours.transform(KINDS[kind]), theirs.transform(KINDS[kind])
    for found, wanted in [(kept, expected), (ours.inverse_transform(kept), theirs.inverse_transform(expected))]:
        assert (found.dtype, sp.issparse(found)) == (wanted.dtype, sp.issparse(wanted))
        np.testing.assert_array_equal(*(part.toarray() if sp.issparse(part) else part for part in (found, wanted)))
    assert list(ours.get_feature_names_out()) == list(theirs.get_feature_names_out())
    np.testing.assert_array_equal(ours.get_support(), theirs.get_support())
    np.testing.assert_array_equal(ours.get_support(indices=True), theirs.get_support(indices=True))


def test_frames_come_out_where_they_are_asked_for() -> None:
    frame = KINDS["frame"]
    found = Ours().fit(frame).set_output(transform="pandas").transform(frame)
    pd.testing.assert_frame_equal(found, frame[["b", "c", "e"]])


@pytest.mark.parametrize("n_columns", [2, 4])
def test_another_number_of_columns_has_no_way_back(n_columns: int) -> None:
    with pytest.raises(ValueError, match=f"X has {n_columns} features; 3 were selected"):
        Ours().fit(X).inverse_transform(X[:, :n_columns])
