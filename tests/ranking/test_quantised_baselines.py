"""MIFS and Koller-Sahami against brute force over tables of counts."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.metrics import mutual_info_score

from fsvm_cli.ranking.koller_sahami import KollerSahami, conditional_information, pairwise_conditional_information
from fsvm_cli.ranking.mifs import Mifs
from fsvm_cli.ranking.quantise import Indicators, code_entropy, combined, quantise

small_tables = arrays(np.int64, st.tuples(st.integers(4, 15), st.integers(1, 5)), elements=st.integers(0, 2))


def classes_of(table: np.ndarray, seed: int) -> np.ndarray:
    y = np.random.default_rng(seed).integers(0, 3, size=len(table))
    y[:2] = [0, 1]
    return np.unique(y, return_inverse=True)[1]


def information(a: np.ndarray, b: np.ndarray) -> float:
    return float(mutual_info_score(a, b) / np.log(2))


@given(small_tables, st.integers(0, 5), st.sampled_from([0.0, 0.5, 1.0]))
@settings(deadline=None)
def test_every_choice_of_mifs_is_the_best_by_its_formula(table: np.ndarray, seed: int, beta: float) -> None:
    y = classes_of(table, seed)
    ranker = Mifs(beta=beta).fit(table.astype(float), y)
    chosen: list[int] = []
    remaining = set(np.flatnonzero(np.ptp(table, axis=0)))  # constant columns are not chosen
    relevance = [information(column, y) for column in table.T]
    redundancy = [[information(column, other) for other in table.T] for column in table.T]
    for feature in np.argsort(ranker.ranking_)[: len(remaining)]:
        criterion = {j: relevance[j] - beta * sum(redundancy[j][s] for s in chosen) for j in remaining}
        assert ranker.scores_[feature] == pytest.approx(criterion[feature], abs=1e-9)
        assert criterion[feature] >= max(criterion.values()) - 1e-9
        remaining.remove(feature)
        chosen.append(feature)


def test_mifs_prefers_what_is_new_to_a_copy() -> None:
    rng = np.random.default_rng(0)
    y = np.arange(400) % 4
    high, low = (y // 2).astype(float), np.where(rng.random(400) < 0.1, 1 - y % 2, y % 2).astype(float)
    X = np.column_stack([high, high, low])
    assert Mifs(beta=1.0).fit(X, y).ranking_[2] == 2
    assert Mifs(beta=0.0).fit(X, y).ranking_[2] == 3


def conditional_by_the_definition(feature: np.ndarray, y: np.ndarray, given: np.ndarray) -> float:
    """Σ P(m, f) KL(P(c | m, f) ‖ P(c | m)), group by group."""
    total = 0.0
    for m in np.unique(given, axis=0):
        in_m = (given == m).all(axis=1)
        for value in np.unique(feature[in_m]):
            in_both = in_m & (feature == value)
            p, q = (np.bincount(y[rows], minlength=3) / rows.sum() for rows in (in_both, in_m))
            total += in_both.mean() * scipy.stats.entropy(p[q > 0], q[q > 0], base=2)
    return total


@given(small_tables, st.integers(0, 5))
@settings(deadline=None)
def test_what_is_left_to_say_is_the_expected_divergence(table: np.ndarray, seed: int) -> None:
    y, feature = classes_of(table, seed), table[:, 0]
    for n_given in range(min(3, table.shape[1])):
        given = table[:, 1 : 1 + n_given]
        expected = conditional_by_the_definition(feature, y, given)
        assert conditional_information(feature, y, given) == pytest.approx(expected, abs=1e-9)
    pairs = pairwise_conditional_information(table, y)
    for j, k in itertools.product(range(table.shape[1]), repeat=2):
        expected = conditional_by_the_definition(table[:, j], y, table[:, [k]])
        assert pairs[j, k] == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("blanket_size", [0, 1, 2, 9])
def test_koller_sahami_is_the_elimination_of_its_definition(blanket_size: int) -> None:
    rng = np.random.default_rng(3)
    y = rng.integers(0, 3, size=80)
    noise = rng.integers(0, 3, size=(80, 5))
    table = np.where(rng.random((80, 5)) < [0.7, 0.5, 0.4, 0.2, 0.0], y[:, None], noise)
    table = np.column_stack([table, np.where(rng.random(80) < 0.9, table[:, 0], 2)])
    remaining, gone = list(range(6)), []
    pairs = {
        (j, k): conditional_by_the_definition(table[:, j], y, table[:, [k]])
        for j, k in itertools.permutations(remaining, 2)
    }
    while remaining:
        losses = {}
        for j in remaining:
            blanket = sorted(set(remaining) - {j}, key=lambda k: pairs[j, k])[:blanket_size]
            losses[j] = conditional_by_the_definition(table[:, j], y, table[:, blanket])
        gone.append(min(losses, key=lambda j: losses[j]))
        remaining.remove(gone[-1])
    ranker = KollerSahami(blanket_size=blanket_size).fit(table.astype(float), y)
    assert np.argsort(ranker.scores_).tolist() == gone


def test_koller_sahami_drops_one_of_two_copies_and_keeps_the_other() -> None:
    rng = np.random.default_rng(1)
    y = np.arange(300) % 2
    copy = np.where(rng.random(300) < 0.1, 1 - y, y)
    weak = np.where(rng.random(300) < 0.35, 1 - y, y)
    ranks = KollerSahami(blanket_size=1).fit(np.column_stack([copy, copy, weak]).astype(float), y).ranking_
    assert ranks[2] == 2


# Values that differ by less than rounding count as one; those that are drawn differ by more, or not at all.
distinct = st.floats(-9, 9).map(lambda value: round(value, 6))


@given(arrays(np.float64, st.tuples(st.integers(2, 40), st.integers(1, 3)), elements=distinct), st.integers(2, 6))
def test_quantising_keeps_the_order_and_the_number_of_bins(X: np.ndarray, n_bins: int) -> None:
    codes = quantise(X, n_bins)
    assert codes.min() == 0
    for column, code in zip(X.T, codes.T, strict=True):
        n_distinct = len(np.unique(column))
        np.testing.assert_array_equal(np.unique(code), np.arange(code.max() + 1))
        # Of evenly many bins the value in the very middle has one more.
        assert code.max() < n_bins + (n_bins % 2 == 0)
        order = np.argsort(column, kind="stable")
        assert (np.diff(code[order]) >= 0).all()
        if n_distinct <= n_bins:
            assert code.max() + 1 == n_distinct


def test_bins_of_distinct_values_hold_equally_many() -> None:
    codes = quantise(np.random.default_rng(0).normal(size=(100, 1)), 5)
    np.testing.assert_array_equal(np.bincount(codes[:, 0]), [20] * 5)


@given(small_tables)
def test_entropies_of_codes_are_scipys(table: np.ndarray) -> None:
    counts = np.unique(table, axis=0, return_counts=True)[1]
    assert code_entropy(combined(*table.T)) == pytest.approx(scipy.stats.entropy(counts, base=2), abs=1e-12)
    codes = quantise(table.astype(float), 3)
    found = Indicators.of(codes).information(table[:, 0])
    np.testing.assert_allclose(found, [information(column, table[:, 0]) for column in table.T], atol=1e-9)
