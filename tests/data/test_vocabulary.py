"""The vocabulary of a split against scikit-learn's vectorizer, which is given the training texts alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer

from fsvm_cli.data.dataset import Dataset, hash_values, with_training_vocabulary
from fsvm_cli.data.readers.reuters import MIN_OCCURRENCES, WORD_PATTERN, read_reuters
from tests.data.test_reuters import story

if TYPE_CHECKING:
    from pathlib import Path

WORDS = ("gold", "coal", "gross", "product", "mine", "ore")
TEXTS = st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=8).map(" ".join), min_size=4, max_size=12)


def counted(texts: list[str]) -> Dataset:
    vectorizer = CountVectorizer(token_pattern=WORD_PATTERN, dtype=np.float64)
    X = sp.csr_array(vectorizer.fit_transform(texts))
    y = np.arange(len(texts)) % 2
    return Dataset(
        name="texts",
        X=X,
        y=y,
        feature_names=tuple(vectorizer.get_feature_names_out()),
        class_names=("a", "b"),
        sha256="0" * 64,
        least_occurrences=MIN_OCCURRENCES,
    )


@given(TEXTS, st.data())
def test_the_words_of_a_split_are_those_of_its_training_texts(texts: list[str], data: st.DataObject) -> None:
    dataset = counted(texts)
    training = np.array(data.draw(st.permutations(range(len(texts)))))[: len(texts) // 2]
    seen = with_training_vocabulary(dataset, training).toarray()
    vectorizer = CountVectorizer(token_pattern=WORD_PATTERN)
    counts = vectorizer.fit_transform([texts[row] for row in training]).sum(axis=0).A1
    known = vectorizer.get_feature_names_out()[counts >= MIN_OCCURRENCES]
    for column, word in enumerate(dataset.feature_names):
        occurs = [word in text.split() for text in texts] if word in known else [False] * len(texts)
        np.testing.assert_array_equal(seen[:, column], occurs)


def test_data_that_hold_no_counts_look_the_same_to_everybody() -> None:
    X = np.arange(8.0).reshape(4, 2)
    dataset = Dataset(
        name="small",
        X=X,
        y=np.array([0, 1, 0, 1]),
        feature_names=("a", "b"),
        class_names=("no", "yes"),
        sha256="0" * 64,
    )
    assert with_training_vocabulary(dataset, np.array([0, 1])) is X


def test_counts_with_a_threshold_are_another_data_set_than_counts() -> None:
    X, y = sp.csr_array(np.eye(3)), np.array([0, 1, 0])
    assert len({hash_values(X, y), hash_values(X, y, None, 2), hash_values(X, y, None, 3)}) == 3


@pytest.mark.parametrize("vocabulary", ["whole", "training"])
def test_the_reader_leaves_the_choice_to_random_splits_alone(tmp_path: Path, vocabulary: str) -> None:
    path = tmp_path / "reut2-000.sgm"
    path.write_text(story("gold gold gold coal", "gold") + story("gold coal gross gross gross", "gnp"))
    (rows,) = read_reuters([path], topics=("gold", "gnp"), split="any", vocabulary=vocabulary)
    assert rows.feature_names == ("gold", "gross")
    whole = vocabulary == "whole"
    assert rows.least_occurrences == (None if whole else MIN_OCCURRENCES)
    np.testing.assert_array_equal(rows.X.toarray(), [[1, 0], [1, 1]] if whole else [[3, 0], [1, 3]])
