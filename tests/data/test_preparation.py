"""Missing values and words: what the training rows show, and nothing of the others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import OneHotEncoder

from fsvm_cli.config_io import Document, validate
from fsvm_cli.data.dataset import known_features
from fsvm_cli.data.preparation import Preparation
from fsvm_cli.data.source_spec import TableSpec
from fsvm_cli.data.user_file import from_frame
from fsvm_cli.errors import DataError

if TYPE_CHECKING:
    from fsvm_cli.data.dataset import Dataset

FILLING = ("mean", "median", "most-frequent", "indicator")
FRAME = pd.DataFrame(
    {
        "age": [30.0, None, 50.0, 90.0, 50.0, 20.0],
        "ward": ["north", "south", None, "north", "east", "north"],
        "dose": [1, 2, 3, 4, 5, 6],
        "y": ["ill", "well"] * 3,
    }
)


def dataset(frame: pd.DataFrame = FRAME, **said: Any) -> Dataset:
    return from_frame("t", frame, validate(Document("t", {"target": "y", **said}, {}), TableSpec))


tables = st.lists(
    st.tuples(st.one_of(st.none(), st.integers(-3, 3)), st.one_of(st.none(), st.sampled_from("abc"))),
    min_size=6,
    max_size=20,
)


@given(tables, st.sampled_from(FILLING), st.sampled_from(["one-hot", "ordinal"]), st.data())
def test_nothing_of_the_test_rows_is_known(
    drawn: list[Any], missing: Any, categorical: Any, data: st.DataObject
) -> None:
    n = len(drawn)
    columns = np.array([[np.nan if v is None else v, np.nan if w is None else "abc".index(w)] for v, w in drawn])
    training = np.sort(np.array(data.draw(st.permutations(range(n))))[: n // 2 + 1])
    asked = np.setdiff1d(np.arange(n), training)
    prepared = Preparation(("v", "w"), (None, tuple("abc")), columns, missing, categorical)
    found = prepared.features(training)
    assert found.shape == (n, len(prepared.layout))
    assert np.isfinite(found).all()
    # Other values in the test rows change nothing in the training rows, nor in another test row.
    others = columns.copy()
    others[asked[0]] = [7.0, 2.0]
    changed = Preparation(("v", "w"), (None, tuple("abc")), others, missing, categorical)
    if len(changed.layout) == len(prepared.layout):
        np.testing.assert_array_equal(np.delete(changed.features(training), asked[0], 0), np.delete(found, asked[0], 0))


@pytest.mark.parametrize("missing", FILLING)
def test_training_rows_are_as_scikit_learn_fills_and_codes_them(missing: Any) -> None:
    training = np.array([0, 1, 2, 3])  # the ward in the east is unknown to these
    data = dataset(missing=missing, categorical="one-hot")
    found = pd.DataFrame(known_features(data, training), columns=data.feature_names)
    strategy = {"most-frequent": "most_frequent", "indicator": "mean"}.get(missing, missing)
    ages = SimpleImputer(strategy=strategy).fit(FRAME[["age"]].iloc[training]).transform(FRAME[["age"]])
    np.testing.assert_allclose(found["age"], ages[:, 0])
    filled = FRAME[["ward"]].fillna("north")
    encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False).fit(filled.iloc[training])
    np.testing.assert_array_equal(found[["ward=north", "ward=south"]], encoder.transform(filled))
    assert not found["ward=east"].any()
    np.testing.assert_array_equal(found["dose"], FRAME["dose"])
    if missing == "indicator":
        assert found["age=missing"].tolist() == [0, 1, 0, 0, 0, 0]
        assert found["ward=missing"].tolist() == [0, 0, 1, 0, 0, 0]
        assert not known_features(data, np.array([0, 3, 4]))[:, data.feature_names.index("age=missing")].any()


def test_words_are_numbered_in_the_order_of_the_alphabet_and_an_unknown_one_is_missing() -> None:
    data = dataset(missing="median", categorical="ordinal")
    assert data.feature_names == ("age", "ward", "dose")
    np.testing.assert_array_equal(data.X[:, 1], [1, 2, 1, 1, 0, 1])  # east, north, south; north where it is missing
    np.testing.assert_array_equal(known_features(data, np.array([0, 1, 3]))[:, 1], [0, 1, 0, 0, 0, 0])


def test_a_column_without_a_value_in_the_training_rows_is_0() -> None:
    frame = FRAME.assign(age=[None, None, 5.0, None, None, None])
    data = dataset(frame, missing="mean", categorical="one-hot")
    np.testing.assert_array_equal(known_features(data, np.array([0, 1]))[:, 0], [0, 0, 5, 0, 0, 0])


def test_a_plain_table_is_as_it_was() -> None:
    plain = dataset(FRAME[["dose", "y"]])
    filling = dataset(FRAME[["dose", "y"]], missing="median", categorical="one-hot")
    assert plain.preparation is None
    assert (filling.preparation, filling.sha256) == (None, plain.sha256)


def test_each_rule_is_another_outcome_and_the_same_rule_the_same() -> None:
    rules = [(missing, categorical) for missing in FILLING for categorical in ("one-hot", "ordinal")]
    hashes = [dataset(missing=missing, categorical=categorical).sha256 for missing, categorical in rules]
    assert len(set(hashes)) == len(rules)
    assert hashes[0] == dataset(missing="mean", categorical="one-hot").sha256


def test_a_word_like_the_mark_of_what_is_missing() -> None:
    frame = FRAME.assign(ward=["missing", "south", None, "missing", "east", "south"])
    with pytest.raises(DataError, match="'ward=missing'; make them distinct"):
        dataset(frame, missing="indicator", categorical="one-hot")
