"""Certified eliminations: decided, between copies, or tied."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from fsvm_cli import RecursiveFeatureElimination
from fsvm_cli.ranking.certified_places import classes_of_copies
from tests.ranking.certified_rankings import mistakes


def two_classes(rng: np.random.Generator, n: int = 40, d: int = 12) -> tuple[np.ndarray, np.ndarray]:
    X = rng.standard_normal((n, d))
    return X, np.where(X[:, 0] - X[:, 1] + 0.5 * rng.standard_normal(n) > 0, 1, 0)


def test_no_decided_place_is_another_one_by_exact_machines() -> None:
    counts: Counter[str] = Counter()
    assert [line for seed in range(12) for line in mistakes(seed, counts)] == []
    assert counts["decided"] > 10
    assert counts["tied"] > 0


@pytest.mark.parametrize("solver", ["auto", "interior-point", "feature-space"])
@pytest.mark.parametrize("classes", [2, 3])
def test_a_loose_tolerance_gives_the_order_of_a_tight_one(rng: np.random.Generator, solver: str, classes: int) -> None:
    X, y = two_classes(rng)
    y = y + (classes - 2) * (X[:, 2] > 0.5)
    tight = RecursiveFeatureElimination(tolerance=1e-9).fit(X, y)
    loose = RecursiveFeatureElimination(tolerance=1e-2, solver=solver, certify=True).fit(X, y)
    assert loose.decided_.all()
    np.testing.assert_array_equal(loose.ranking_, tight.ranking_)
    np.testing.assert_array_equal(loose.score_intervals_, np.column_stack([loose.scores_, loose.scores_]))
    np.testing.assert_array_equal(loose.decided_sizes_, np.arange(1, 13))
    assert loose.tied_with_ == {}


def test_certifying_changes_no_order(rng: np.random.Generator) -> None:
    X, y = two_classes(rng)
    plain = RecursiveFeatureElimination(step=0.3).fit(X, y)
    certified = RecursiveFeatureElimination(step=0.3, certify=True).fit(X, y)
    np.testing.assert_array_equal(certified.scores_, plain.scores_)
    assert not hasattr(plain, "certificate_")


def test_copies_have_a_verdict_of_their_own(rng: np.random.Generator) -> None:
    X, y = two_classes(rng, d=5)
    X = np.column_stack([X, X[:, 3], -X[:, 0]])
    found = RecursiveFeatureElimination(certify=True).fit(X, y)
    assert Counter(found.certificate_["verdict"].tolist()) == {"decided": 4, "copy": 2}
    first = {frozenset((3, 5)), frozenset((0, 6))}
    assert {frozenset((j, *rivals.tolist())) for j, rivals in found.tied_with_.items()} == first
    places = {j: found.scores_[[j, copy]] for j, copy in ((3, 5), (0, 6))}
    for (j, copy), both in zip(((3, 5), (0, 6)), places.values(), strict=True):
        np.testing.assert_array_equal(found.score_intervals_[[j, copy]], [[both.min(), both.max()]] * 2)
    split = {7 - k for both in places.values() for k in range(int(both.min()), int(both.max()))}
    assert set(found.decided_sizes_.tolist()) == set(range(1, 8)) - split


def test_machines_that_see_nothing_decide_nothing(rng: np.random.Generator) -> None:
    X = rng.standard_normal((10, 4))
    found = RecursiveFeatureElimination(certify=True).fit(np.vstack([X, X]), np.repeat([0, 1], 10))
    assert set(found.certificate_["verdict"].tolist()) == {"tied"}
    assert not found.decided_.any()
    np.testing.assert_array_equal(found.score_intervals_, [[1, 4]] * 4)
    np.testing.assert_array_equal(found.decided_sizes_, [4])


def test_features_that_are_all_copies_are_never_decided(rng: np.random.Generator) -> None:
    x = rng.standard_normal(20)
    found = RecursiveFeatureElimination(certify=True).fit(np.column_stack([x, x, -x]), x > 0.3)
    assert set(found.certificate_["verdict"].tolist()) == {"copy"}
    assert not found.decided_.any()
    assert set(found.tied_with_) == {0, 1, 2}


def test_duplicated_samples_decide_what_one_of_each_does_with_twice_the_cost(rng: np.random.Generator) -> None:
    """Their coefficients are not unique, but the weights of the machine are."""
    X, y = two_classes(rng)
    once = RecursiveFeatureElimination(C=1.0, certify=True).fit(X, y)
    twice = RecursiveFeatureElimination(C=0.5, certify=True).fit(np.vstack([X, X]), np.concatenate([y, y]))
    np.testing.assert_array_equal(twice.ranking_, once.ranking_)
    assert once.decided_.all()
    assert twice.decided_.all()


def test_of_one_feature_no_elimination_is_certified(rng: np.random.Generator) -> None:
    X, y = two_classes(rng)
    found = RecursiveFeatureElimination(certify=True).fit(X[:, :1], y)
    assert len(found.certificate_["verdict"]) == 0
    assert found.decided_.all()
    np.testing.assert_array_equal(found.score_intervals_, [[1.0, 1.0]])


def test_a_hard_margin_without_a_solution_decides_nothing(rng: np.random.Generator) -> None:
    X = rng.standard_normal((10, 3))
    found = RecursiveFeatureElimination(C=np.inf, certify=True).fit(np.vstack([X, X]), np.repeat([0, 1], 10))
    assert set(found.certificate_["verdict"].tolist()) == {"tied"}
    assert not found.decided_.any()


def test_columns_that_differ_by_a_constant_or_their_sign_are_copies() -> None:
    columns = np.array([[0.0, 1.0, 1.0], [1.0, 0.0, 0.0], [5.0, 6.0, 6.0], [0.0, 1.0, 2.0], [3.0, 3.0, 3.0], [0.0] * 3])
    copies = classes_of_copies(columns, None)
    assert copies.tolist() == [0, 0, 0, 1, 2, 2]
    assert classes_of_copies(columns, np.array([1.0, 2.0, 1.0, 1.0, 1.0, 1.0])).tolist() == [0, 1, 0, 2, 3, 3]


def test_a_kernel_without_a_bound_is_refused(rng: np.random.Generator) -> None:
    X, y = two_classes(rng)
    with pytest.raises(ValueError, match="certify=True needs the linear kernel; no bound is known"):
        RecursiveFeatureElimination("gaussian", certify=True).fit(X, y)
