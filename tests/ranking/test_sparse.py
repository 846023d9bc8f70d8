"""Sparse matrices: the methods that take them score as on the dense ones, the others refuse by name."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from fsvm_cli.numerics import value_ranges
from fsvm_cli.ranking.fisher import Fisher
from fsvm_cli.ranking.gradient_angle import GradientAngle
from fsvm_cli.ranking.infoprop import Infoprop
from fsvm_cli.ranking.mutual_information import MutualInformation, occurrence_information
from fsvm_cli.ranking.registry import ranking_methods
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
