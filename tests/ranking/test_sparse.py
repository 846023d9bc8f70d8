"""Sparse matrices: the methods that take them score as on the dense ones, the others refuse by name."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from fsvm_cli.numerics import value_ranges
from fsvm_cli.ranking.boruta import Boruta
from fsvm_cli.ranking.content import content_order
from fsvm_cli.ranking.fisher import Fisher
from fsvm_cli.ranking.forest import Forest
from fsvm_cli.ranking.gradient_angle import GradientAngle
from fsvm_cli.ranking.infoprop import Infoprop
from fsvm_cli.ranking.mutual_information import MutualInformation, occurrence_information
from fsvm_cli.ranking.registry import ranking_methods
from fsvm_cli.ranking.shap import Shap
from fsvm_cli.svm import SVM, Gaussian, Polynomial


def words_and_counts(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    rng, word = np.random.default_rng(4), np.arange(12)
    words = (rng.random((90, 12)) < np.where(word < 3, 0.2 + 0.3 * (y[:, None] == word % 3), 0.2)) * 1.0
    return words, words * rng.integers(1, 5, size=words.shape)


Y = np.arange(90) % 3
WORDS, COUNTS = words_and_counts(Y)


def with_long_indices(X: np.ndarray) -> sp.csr_array:
    """As the reader of LIBSVM files makes it."""
    made = sp.csr_array(X)
    return sp.csr_array((made.data, made.indices.astype(np.int64), made.indptr.astype(np.int64)), shape=X.shape)


FORMATS = [sp.csr_array, sp.csr_matrix, sp.csc_array, with_long_indices]


@pytest.mark.parametrize("make", FORMATS)
@pytest.mark.parametrize("kernel", ["linear", Polynomial(degree=2)], ids=str)
def test_infoprop(make: Any, kernel: Any) -> None:
    dense = Infoprop(kernel, random_state=0).fit(COUNTS, Y)
    sparse = Infoprop(kernel, random_state=0).fit(make(COUNTS), Y)
    np.testing.assert_allclose(sparse.scores_, dense.scores_, rtol=1e-6)
    leaking = [
        Infoprop(kernel, credit_on="test")
        .fit(fill(COUNTS[:60]), Y[:60], X_test=fill(COUNTS[60:]), y_test=Y[60:])
        .scores_
        for fill in (np.asarray, make)
    ]
    np.testing.assert_allclose(*leaking, rtol=1e-6)


@pytest.mark.parametrize("make", FORMATS)
@pytest.mark.parametrize("X", [WORDS, COUNTS], ids=["words", "counts"])
def test_mutual_information(make: Any, X: np.ndarray) -> None:
    scores = MutualInformation(random_state=0).fit(make(X), Y).scores_
    np.testing.assert_allclose(scores, MutualInformation(random_state=0).fit(X, Y).scores_, rtol=1e-12)
    if X is WORDS:
        np.testing.assert_allclose(scores, occurrence_information(X, Y, 3), rtol=1e-12)


@pytest.mark.parametrize(
    "method",
    [each for each in ranking_methods().values() if each.accepts_sparse and each.method != "rfe"],
    ids=lambda each: each.method,
)
@pytest.mark.parametrize("make", FORMATS)
def test_scores_are_those_of_the_full_matrix(make: Any, method: Any) -> None:
    fixed = {"random_state": 0} if "random_state" in method.passed_down else {}
    for y in (Y, Y % 2):
        full, sparse = method(**fixed).fit(COUNTS, y), method(**fixed).fit(make(COUNTS), y)
        exact = method.scores_columns_apart
        np.testing.assert_allclose(sparse.scores_, full.scores_, rtol=0 if exact else 1e-4)


@pytest.mark.parametrize(
    "method",
    [each for each in ranking_methods().values() if each.accepts_sparse and each.takes_sample_weight],
    ids=lambda each: each.method,
)
def test_weighted_scores_are_those_of_the_full_matrix(method: Any) -> None:
    weights = np.random.default_rng(1).integers(0, 4, len(Y)) / 2.0
    X = np.column_stack([COUNTS, np.full(len(Y), 3.0)])
    fixed = {"random_state": 0} if "random_state" in method.passed_down else {}
    full, sparse = (method(**fixed).fit(each, Y, sample_weight=weights) for each in (X, sp.csr_array(X)))
    np.testing.assert_allclose(sparse.scores_, full.scores_, rtol=1e-4, atol=1e-12)


def test_columns_are_scored_a_block_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = Fisher().fit(COUNTS, Y).scores_
    monkeypatch.setattr("fsvm_cli.numerics.CHUNK_VALUES", 5 * len(Y))
    np.testing.assert_array_equal(Fisher().fit(sp.csr_array(COUNTS), Y).scores_, whole)


def test_of_a_linear_machine_one_gradient_says_all() -> None:
    w = np.abs(SVM().fit(COUNTS, Y % 2).coef_[0])
    scores = GradientAngle().fit(sp.csr_array(COUNTS), Y % 2).scores_
    np.testing.assert_allclose(scores, 2 / np.pi * np.arcsin(w / np.linalg.norm(w)), rtol=1e-5)


def test_a_kernel_of_distances_refuses() -> None:
    with pytest.raises((TypeError, ValueError), match=r"[Ss]parse"):
        Infoprop(Gaussian(), random_state=0).fit(sp.csr_array(COUNTS), Y)


@pytest.mark.parametrize(
    "method", [each for each in ranking_methods().values() if not each.accepts_sparse], ids=lambda each: each.method
)
def test_the_others_refuse(method: Any) -> None:
    with pytest.raises(TypeError, match="Sparse data was passed"):
        method().fit(sp.csr_array(COUNTS), Y)


def test_ranges_count_the_zeros_that_are_not_stored() -> None:
    X = np.array([[0.0, 2.0, -1.0], [0.0, 3.0, 0.0]])
    for each in (X, sp.csr_array(X), sp.csr_matrix(X)):
        np.testing.assert_array_equal(value_ranges(each), [0, 1, 1])


def sparse_table(seed: int, *, signed: bool) -> tuple[np.ndarray, np.ndarray]:
    """Columns with zeros, one without, a constant one of a value and one of zeros."""
    rng = np.random.default_rng(seed)
    X = (rng.random((70, 9)) < 0.3) * rng.integers(1, 6, (70, 9)).astype(float)
    X *= np.where(signed & (X > 0), rng.normal(size=X.shape), 1.0)
    X[:, 3], X[:, 4], X[:, 5] = 1e9 + rng.integers(0, 4, 70), 7.1, 0.0
    return X, (X[:, 0] > 0) + (X[:, 1] * X[:, 2] > 0)


@pytest.mark.parametrize("method", [Forest, Boruta, Shap])
@pytest.mark.parametrize("signed", [False, True])
def test_forests_are_the_same_trees(method: Any, signed: bool) -> None:
    for seed in range(4):
        X, y = sparse_table(seed, signed=signed)
        full, sparse = (method(n_trees=20, random_state=seed).fit(each, y) for each in (X, sp.csr_array(X)))
        np.testing.assert_allclose(sparse.scores_, full.scores_, rtol=1e-12, atol=1e-15)
        assert sparse.scores_[5] < sparse.scores_[0]


@given(arrays(np.float64, (5, 7), elements=st.sampled_from([0.0, 0.0, 1.0, -1.0, 2.0, 0.1])))
def test_rows_and_columns_of_a_sparse_matrix_are_in_the_order_of_the_full_one(X: np.ndarray) -> None:
    y = np.arange(5) % 2
    for full, sparse in zip(content_order(X, y), content_order(sp.csr_array(X), y), strict=True):
        np.testing.assert_array_equal(full, sparse)


def test_values_of_zero_that_are_stored_change_nothing() -> None:
    X, y = sparse_table(0, signed=True)
    stored = sp.csr_array(X)
    stored.data[:10] = 0.0
    full = stored.toarray()
    for method in (Forest, Shap):
        scores = [method(n_trees=10, random_state=0).fit(each, y).scores_ for each in (full, stored)]
        np.testing.assert_allclose(*scores, rtol=1e-12, atol=1e-15)


def test_shap_goes_through_the_samples_a_block_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = Shap(n_trees=5, random_state=0).fit(COUNTS, Y).scores_
    monkeypatch.setattr("fsvm_cli.numerics.CHUNK_VALUES", 7 * 36)
    np.testing.assert_allclose(Shap(n_trees=5, random_state=0).fit(sp.csr_array(COUNTS), Y).scores_, whole, rtol=1e-12)
