"""Methods over data sets: ranks against a published worked example and scipy, chances against closed forms, and how
often what is concluded is wrong."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from fsvm_cli.evaluation.many_data_sets import (
    PRIOR_STRENGTH,
    mean_ranks,
    pairs_apart,
    signed_rank_chances,
    supports_pairs,
)

# Demsar (2006), Table 6: area under the ROC of C4.5 without and with pruning (m) and inner tuning (cf, m and cf).
DEMSAR = np.array(
    [
        [0.763, 0.768, 0.771, 0.798],
        [0.599, 0.591, 0.590, 0.569],
        [0.954, 0.971, 0.968, 0.967],
        [0.628, 0.661, 0.654, 0.657],
        [0.882, 0.888, 0.886, 0.898],
        [0.936, 0.931, 0.916, 0.931],
        [0.661, 0.668, 0.609, 0.685],
        [0.583, 0.583, 0.563, 0.625],
        [0.775, 0.838, 0.866, 0.875],
        [1.000, 1.000, 1.000, 1.000],
        [0.940, 0.962, 0.965, 0.962],
        [0.619, 0.666, 0.614, 0.669],
        [0.972, 0.981, 0.9750001, 0.975],  # printed alike, and ranked 2 and 3
        [0.957, 0.978, 0.946, 0.970],
    ]
)


def test_demsars_example() -> None:
    found = mean_ranks(DEMSAR)
    np.testing.assert_allclose(found.ranks, [3.143, 2.000, 2.893, 1.964], atol=5e-4)
    assert found.critical_difference == pytest.approx(1.25, abs=5e-3)
    # The paper's formula ignores ties.
    n, k = DEMSAR.shape
    plain = 12 * n / (k * (k + 1)) * (np.sum(found.ranks**2) - k * (k + 1) ** 2 / 4)
    assert plain == pytest.approx(9.28, abs=5e-3)


@pytest.mark.parametrize("decimals", [1, 8])
def test_friedmans_statistic_is_scipys(rng: np.random.Generator, decimals: int) -> None:
    values = rng.random((12, 5)).round(decimals)
    found = mean_ranks(values)
    expected = stats.friedmanchisquare(*values.T)
    assert found.chi_square == pytest.approx(expected.statistic)
    assert found.p == pytest.approx(expected.pvalue)
    assert found.ranks.sum() == pytest.approx(15)


def test_methods_that_never_differ_are_not_told_apart() -> None:
    found = mean_ranks(np.ones((3, 2)))
    assert np.isnan(found.chi_square)
    assert np.isnan(found.p)
    np.testing.assert_array_equal(found.ranks, [1.5, 1.5])


@pytest.mark.parametrize("shape", [(1, 3), (3, 1)])
def test_one_of_a_kind_is_refused(shape: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="of each at least"):
        mean_ranks(np.ones(shape))


@pytest.mark.parametrize(
    ("difference", "margin", "expected"),
    [
        # The weight w of the pseudo-observation has P(w < x) = x^(1/2), and above the margin is all but w².
        (3.0, 1.0, (0.0, 1 - 0.5**0.25, 0.5**0.25)),
        (-3.0, 1.0, (0.5**0.25, 1 - 0.5**0.25, 0.0)),
        # The mean with the pseudo-observation is within the margin: above it is (1 - w)² alone.
        (1.5, 1.0, (0.0, 1 - (1 - 0.5**0.5) ** 0.5, (1 - 0.5**0.5) ** 0.5)),
        (0.5, 1.0, (0.0, 1.0, 0.0)),
        (3.0, 0.0, (0.0, 0.0, 1.0)),
        (0.0, 0.0, (0.5, 0.0, 0.5)),
    ],
)
def test_chances_over_a_single_data_set_are_those_of_the_closed_form(
    difference: float, margin: float, expected: tuple[float, float, float]
) -> None:
    assert PRIOR_STRENGTH == 0.5
    np.testing.assert_allclose(signed_rank_chances(np.array([difference]), margin), expected, atol=0.01)


@pytest.mark.parametrize("margin", [0.0, 0.4, 1.0])
@pytest.mark.parametrize("differences", [(1.2, -0.3), (2.5, 0.9), (-1.0, 1.0), (0.8, 0.8)])
def test_chances_over_two_data_sets_are_those_of_a_quadrature(differences: tuple[float, float], margin: float) -> None:
    # w_0 has the distribution Beta(1/2, 2), and w_1 a uniform share of the rest.
    places = (np.arange(200) + 0.5) / 200
    of_none, share = np.meshgrid(stats.beta.ppf(places, PRIOR_STRENGTH, 2), places)
    weights = [of_none, (1 - of_none) * share, (1 - of_none) * (1 - share)]
    values = [0.0, *differences]
    mass = {-1: 0.0, 0: 0.0, 1: 0.0}
    for i in range(3):
        for j in range(3):
            middle = (values[i] + values[j]) / 2
            both = weights[i] * weights[j]
            if abs(middle) == margin:
                for side in (np.sign(middle), 0) if margin else (-1, 1):
                    mass[side] = mass[side] + both / 2
            else:
                side = 0 if abs(middle) < margin else np.sign(middle)
                mass[side] = mass[side] + both
    if margin == 0:
        right = np.mean(mass[1] > mass[-1]) + np.mean(np.isclose(mass[1], mass[-1])) / 2
        expected = (1 - right, 0.0, right)
    else:
        largest = np.argmax([np.broadcast_to(mass[side], share.shape) for side in (0, -1, 1)], axis=0)
        expected = tuple(np.mean(largest == each) for each in (1, 0, 2))
    np.testing.assert_allclose(signed_rank_chances(np.array(differences), margin), expected, atol=0.015)


def test_chances_turn_with_the_order_of_a_pair_and_are_the_same_each_time(rng: np.random.Generator) -> None:
    differences = rng.normal(size=12)
    found = signed_rank_chances(differences, 0.3)
    assert found == signed_rank_chances(differences, 0.3)
    assert sum(found) == pytest.approx(1)
    np.testing.assert_allclose(signed_rank_chances(-differences, 0.3), found[::-1], atol=0.02)


def test_chances_of_95_percent_are_seldom_wrong_and_large_differences_are_found() -> None:
    rng = np.random.default_rng(3)

    def surely(shift: float, spread: float, n: int = 18) -> np.ndarray:
        """How often the first is called worse, the same in practice, or better, with a margin of 1."""
        found = [signed_rank_chances(shift + spread * rng.normal(size=n), 1.0) for _ in range(200)]
        return np.mean(np.array(found) >= 0.95, axis=0)

    alike = surely(0.0, 2.0)
    assert alike[[0, 2]].max() <= 0.02
    on_the_edge = surely(1.0, 2.0)
    assert on_the_edge.max() <= 0.1
    apart = surely(3.0, 2.0)
    assert apart[0] == apart[1] == 0
    assert apart[2] >= 0.9
    assert surely(0.0, 0.5)[1] >= 0.9
    assert surely(0.0, 3.0, n=6).max() <= 0.05, "six data sets do not tell"


def made_table(rng: np.random.Generator, shifts: list[float], n_data_sets: int = 18) -> np.ndarray:
    """Accuracies in points: what a data set allows, what a method adds, and how it happens to suit the data set."""
    level = rng.normal(85, 8, size=(n_data_sets, 1))
    return level + np.array(shifts) + 2.0 * rng.normal(size=(n_data_sets, len(shifts)))


@pytest.mark.parametrize("n_data_sets", [8, 18])
def test_equal_methods_are_seldom_told_apart(n_data_sets: int) -> None:
    rng = np.random.default_rng(11)
    assert supports_pairs(n_data_sets, 10) == (n_data_sets == 18)
    wrong = 0
    for _ in range(200):
        values = made_table(rng, [0.0] * 5, n_data_sets)
        wrong += pairs_apart(values, mean_ranks(values)).differ.any()
    assert wrong <= 0.05 * 200 + 2 * np.sqrt(0.05 * 0.95 * 200)


def test_a_method_that_is_better_by_a_known_amount_is_told_apart_and_the_others_are_not() -> None:
    rng = np.random.default_rng(12)
    found = others = 0
    for _ in range(60):
        values = made_table(rng, [5.0, 0.0, 0.0, 0.0, 0.0])
        apart = pairs_apart(values, mean_ranks(values))
        assert apart.test == "Wilcoxon, Holm"
        found += apart.differ[0, 1:].all()
        others += apart.differ[1:, 1:].any()
    assert found >= 50
    assert others <= 6


def test_few_data_sets_are_tested_by_mean_ranks_alone() -> None:
    values = np.arange(4.0) + np.zeros((6, 1))
    found = mean_ranks(values)
    apart = pairs_apart(values, found)
    assert apart.test == "Nemenyi"
    np.testing.assert_array_equal(apart.differ, np.abs(found.ranks[:, None] - found.ranks) > found.critical_difference)
    assert (apart.p[0, 1:] == 2 / 2**6).all()
    assert pairs_apart(np.ones((6, 4)), mean_ranks(np.ones((6, 4)))).test == "none"
