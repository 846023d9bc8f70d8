"""Mutual information against entropies and scikit-learn."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.special import digamma
from scipy.stats import entropy
from sklearn.feature_selection import mutual_info_classif

from fsvm_cli.ranking.mutual_information import MutualInformation, neighbour_information

Y = np.array([0, 1, 1, 0, 1, 1, 2, 0, 2, 2])


@given(arrays(float, (10, 4), elements=st.sampled_from([0.0, 1.0])))
def test_occurrence_is_measured_by_entropies_in_bits(X: np.ndarray) -> None:
    expected = [bits(Y) + bits(x) - bits(Y, x) for x in X.T]
    np.testing.assert_allclose(MutualInformation().fit(X, Y).scores_, expected, atol=1e-12)


def test_occurrence_that_is_the_class_tells_one_bit() -> None:
    y = np.arange(8) % 2
    X = np.column_stack([y, 1 - y, np.arange(8) // 4, np.ones(8)])
    np.testing.assert_allclose(MutualInformation().fit(X, y).scores_, [1, 1, 0, 0], atol=1e-15)


def test_other_features_are_estimated_from_neighbours() -> None:
    rng = np.random.default_rng(2)
    y = np.arange(90) % 3
    X = rng.normal(size=(90, 3)) + y[:, None] * [0.0, 0.5, 2.0]
    ranker = MutualInformation(n_neighbors=5, random_state=4).fit(X, y)
    # Without ties among the values the noise, which is scikit-learn's, decides nothing.
    nats = mutual_info_classif(X, y, n_neighbors=5, random_state=0)
    np.testing.assert_allclose(ranker.scores_, nats / np.log(2), rtol=1e-9)
    assert ranker.ranking_.tolist() == [3, 2, 1]


def test_a_feature_of_both_kinds_is_scored_by_its_own() -> None:
    rng = np.random.default_rng(3)
    y = np.arange(60) % 2
    occurrence, continuous = (y + (rng.random(60) < 0.2)) % 2, rng.normal(size=60) + y
    together = MutualInformation(random_state=0).fit(np.column_stack([occurrence, continuous]), y).scores_
    alone = [MutualInformation(random_state=0).fit(x[:, None], y).scores_[0] for x in (occurrence, continuous)]
    np.testing.assert_array_equal(together, alone)


@pytest.mark.parametrize("constant", [0.0, 1.0, 0.1, -3.0])
def test_a_constant_feature_tells_nothing(constant: float) -> None:
    X = np.full((30, 1), constant)
    assert MutualInformation(random_state=0).fit(X, np.arange(30) % 2).scores_.tolist() == [0.0]


def test_the_unit_of_a_feature_does_not_matter_however_small() -> None:
    X, y = np.random.default_rng(4).normal(size=(60, 2)), np.arange(60) % 2
    X[:, 0] += 3 * y
    expected = MutualInformation(random_state=0).fit(X, y).scores_
    np.testing.assert_array_equal(MutualInformation(random_state=0).fit(np.ldexp(X, -60), y).scores_, expected)


def bits(*variables: np.ndarray) -> float:
    return float(entropy(np.unique(np.column_stack(variables), axis=0, return_counts=True)[1], base=2))


@pytest.mark.parametrize("scaling", [lambda x: x, lambda x: (x - x.mean()) / x.std(), lambda x: np.ldexp(x, -200)])
@pytest.mark.parametrize("values", [(0, 1), (1, 2), (3, 6, 7), tuple(range(10))])
@pytest.mark.parametrize("as_matrix", [np.array, sp.csr_array])
def test_values_that_repeat_are_counted_whatever_their_code(rng, scaling, values, as_matrix) -> None:
    x, y = rng.choice(values, 70).astype(float), rng.integers(0, 3, 70)
    found = [MutualInformation(random_state=seed).fit(as_matrix(scaling(x)[:, None]), y) for seed in (0, 1)]
    for ranker in found:
        assert ranker.scores_[0] == pytest.approx(bits(x) + bits(y) - bits(x, y), abs=1e-12)
        assert ranker.chosen_ == {"estimator": "counts (1)"}


def test_values_that_seldom_repeat_are_not_counted(rng) -> None:
    y = np.arange(60) % 2
    eleven, ten_of_few = rng.integers(0, 11, 60), np.arange(40) % 10
    assert MutualInformation(random_state=0).fit(eleven[:, None], y).chosen_ == {"estimator": "neighbours (1)"}
    assert MutualInformation(random_state=0).fit(ten_of_few[:, None], y[:40]).chosen_ == {"estimator": "neighbours (1)"}


def test_it_tells_which_estimator_served_which_feature(rng) -> None:
    X = pd.DataFrame({"age": rng.normal(size=50), "sex": rng.integers(1, 3, 50), "kind": rng.integers(0, 4, 50)})
    ranker = MutualInformation(random_state=0).fit(X, np.arange(50) % 2)
    assert ranker.chosen_ == {"estimator": "counts (2), neighbours (1)"}
    told = pd.DataFrame(ranker.diagnostics_["estimator"]).set_index("feature")["estimator"]
    assert told.to_dict() == {"age": "neighbours", "sex": "counts", "kind": "counts"}


COLUMNS = {
    "continuous": lambda rng, n: rng.normal(size=n),
    "few values": lambda rng, n: rng.integers(0, 12, n).astype(float),
    "long tail": lambda rng, n: np.exp(3 * rng.normal(size=n)),
    "far from zero": lambda rng, n: 1e8 + rng.normal(size=n),
}


@pytest.mark.parametrize("kind", COLUMNS)
def test_sorting_finds_what_scikit_learns_trees_find(kind) -> None:
    for seed in range(10):
        rng = np.random.default_rng(seed)
        y = np.repeat([0, 1, 2], rng.integers(10, 40, 3))
        x = COLUMNS[kind](rng, len(y))
        theirs = mutual_info_classif(x[:, None], y, n_neighbors=4, random_state=seed)
        noise = np.random.RandomState(seed).standard_normal(len(y))
        assert neighbour_information(x, y, 4, noise) == theirs[0]


@pytest.mark.parametrize("kind", COLUMNS)
def test_small_classes_are_counted_by_distances(kind) -> None:
    # Where k is half of a class, scikit-learn's distances come from products, and lose the digits that decide.
    for seed in range(10):
        rng = np.random.default_rng(seed)
        y = np.repeat([0, 1, 2], [1, *rng.integers(2, 9, 2)])
        x = COLUMNS[kind](rng, len(y))
        assert neighbour_information(x, y, 3, np.zeros(len(y))) == pytest.approx(
            by_all_pairs(x / x.std(), y, 3), abs=1e-12
        )


def by_all_pairs(x: np.ndarray, y: np.ndarray, n_neighbors: int) -> float:
    x, y = x[y > 0], y[y > 0]  # class 0 has one sample
    away = np.abs(x[:, None] - x)
    terms = []
    for i in range(len(x)):
        of_class = np.sort(np.delete(away[i], i)[np.delete(y, i) == y[i]])
        k = min(n_neighbors, len(of_class))
        nearer = max((away[i] < of_class[k - 1]).sum(), (away[i] == 0).sum())
        terms.append(digamma(k) - digamma(len(of_class) + 1) - digamma(nearer))
    return max(0.0, float(digamma(len(x)) + np.mean(terms)))
