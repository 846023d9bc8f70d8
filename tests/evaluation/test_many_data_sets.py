"""Ranks over data sets, against a published worked example and scipy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from fsvm_cli.evaluation.many_data_sets import mean_ranks

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
