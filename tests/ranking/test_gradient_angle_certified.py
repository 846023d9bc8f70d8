"""Certified places of `gradient-angle`: decided, between copies, or tied."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from fsvm_cli import Gaussian, GradientAngle
from fsvm_cli.ranking.certified_places import places_by_intervals
from fsvm_cli.ranking.gradient_angle_certified import mean_of_some
from fsvm_cli.svm import Laplace, Polynomial
from tests.ranking.certified_angles import mistakes


def two_classes(rng: np.random.Generator, n: int = 40, d: int = 5) -> tuple[np.ndarray, np.ndarray]:
    X = rng.standard_normal((n, d))
    return X, np.where(X[:, 0] - X[:, 1] + 0.5 * rng.standard_normal(n) > 0, 1, 0)


def test_no_exact_score_is_outside_its_interval_and_no_decided_place_is_another_one() -> None:
    counts: Counter[str] = Counter()
    widths: list[float] = []
    assert [line for seed in range(27) for line in mistakes(seed, counts, widths)] == []
    assert counts["decided"] > 20
    assert counts["unknown"] < 15
    assert np.median(widths) < 1e-9


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("kernel", ["linear", Gaussian(5.0), Polynomial(2)], ids=repr)
def test_a_loose_tolerance_gives_the_scores_of_a_tight_one(
    rng: np.random.Generator, kernel: object, classes: int
) -> None:
    X, y = two_classes(rng)
    y = y + (classes - 2) * (X[:, 2] > 0.5)
    tight = GradientAngle(kernel, tolerance=1e-11).fit(X, y)
    loose = GradientAngle(kernel, tolerance=1e-3, certify=True).fit(X, y)
    low, high = loose.score_intervals_.T
    assert (high - low < 1e-6).all()
    assert (low - 1e-6 <= tight.scores_).all()
    assert (tight.scores_ <= high + 1e-6).all()
    assert loose.decided_.all()
    np.testing.assert_array_equal(loose.ranking_, tight.ranking_)
    np.testing.assert_array_equal(loose.decided_sizes_, np.arange(1, 6))
    assert loose.tied_with_ == {}
    assert not hasattr(tight, "certificate_")


@pytest.mark.parametrize("kernel", ["linear", Gaussian(5.0)], ids=repr)
def test_copies_have_a_verdict_of_their_own(rng: np.random.Generator, kernel: object) -> None:
    X, y = two_classes(rng)
    found = GradientAngle(kernel, certify=True).fit(np.column_stack([X, -X[:, 0]]), y)
    assert {0: "copy", 5: "copy"}.items() <= dict(
        zip(found.certificate_["feature"].tolist(), found.certificate_["verdict"].tolist(), strict=True)
    ).items()
    assert {j: rivals.tolist() for j, rivals in found.tied_with_.items()} == {0: [5], 5: [0]}
    split = int(found.ranking_[[0, 5]].min())
    assert set(found.decided_sizes_.tolist()) == set(range(1, 7)) - {split}


def test_machines_that_see_nothing_decide_nothing(rng: np.random.Generator) -> None:
    X = rng.standard_normal((8, 3))
    found = GradientAngle(Gaussian(3.0), certify=True).fit(np.vstack([X, X]), np.repeat([0, 1], 8))
    assert not found.decided_.any()
    np.testing.assert_array_equal(found.decided_sizes_, [3])


@pytest.mark.parametrize("kernel", ["linear", Gaussian(3.0)], ids=repr)
def test_a_hard_margin_without_a_solution_decides_nothing(rng: np.random.Generator, kernel: object) -> None:
    X = rng.standard_normal((8, 3))
    found = GradientAngle(kernel, C=np.inf, certify=True).fit(np.vstack([X, X]), np.repeat([0, 1], 8))
    assert not found.converged_
    assert not found.decided_.any()
    np.testing.assert_allclose(found.score_intervals_, [[0.0, 1.0]] * 3)


def test_a_kernel_without_a_bound_is_refused(rng: np.random.Generator) -> None:
    X, y = two_classes(rng)
    with pytest.raises(ValueError, match="certify=True needs the linear, Gaussian or polynomial kernel"):
        GradientAngle(Laplace(3.0), certify=True).fit(X, y)


def test_means_of_some_are_those_of_all_choices(rng: np.random.Generator) -> None:
    low = rng.random((6, 3))
    high, certain = low + rng.random((6, 3)), np.array([True, False, True, False, False, False])
    chosen = [certain | np.array(mask, dtype=bool) for mask in MASKS]
    least, most = mean_of_some(low, high, certain)
    np.testing.assert_allclose(least, np.min([low[each].mean(axis=0) for each in chosen], axis=0))
    np.testing.assert_allclose(most, np.max([high[each].mean(axis=0) for each in chosen], axis=0))
    assert (mean_of_some(low, high, np.zeros(6, dtype=bool))[0] == 0.0).all()


MASKS = [[0, k & 1, 0, k & 2, k & 4, k & 8] for k in range(16)]


def test_places_are_decided_where_no_interval_reaches_another() -> None:
    low, high = np.array([0.1, 0.5, 0.45, 0.9]), np.array([0.2, 0.6, 0.55, 1.0])
    found = places_by_intervals(np.array([3, 1, 2, 0]), low, high, np.arange(4))
    assert found.verdicts == ["decided", "tied", "tied", "decided"]
    assert found.sizes.tolist() == [1, 3, 4]
    assert {j: rivals.tolist() for j, rivals in found.tied_with.items()} == {1: [2], 2: [1]}
    wrong = places_by_intervals(np.array([0, 1, 2, 3]), low, high, np.arange(4))
    assert set(wrong.verdicts) == {"tied"}
    assert wrong.sizes.tolist() == [4]
