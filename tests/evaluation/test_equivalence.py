"""Probabilities that a difference matters."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats

from fsvm_cli.evaluation.statistics import difference_interval, p_value, practical_equivalence


@pytest.mark.parametrize("ratio", [0.0, 0.5])
@pytest.mark.parametrize("margin", [0.0, 0.01])
def test_probabilities_are_areas_under_the_posterior(rng: np.random.Generator, ratio: float, margin: float) -> None:
    differences = rng.normal(0.01, 0.03, 20)
    scale = np.sqrt((1 / 20 + ratio) * differences.var(ddof=1))
    density = stats.t(19, loc=differences.mean(), scale=scale).pdf
    found = practical_equivalence(differences, ratio, margin, 0.01)
    for probability, low, high in zip(found, (-3, -margin, margin), (-margin, margin, 3), strict=True):
        assert probability == pytest.approx(integrate.quad(density, low, high, points=[0.01])[0], abs=1e-8)


def test_without_a_region_it_agrees_with_the_corrected_test(rng: np.random.Generator) -> None:
    differences = rng.normal(0.01, 0.02, 30)
    found = practical_equivalence(differences, 0.5, 0.0, 0.01)
    assert found.equivalent == 0.0
    assert 2 * min(found.lower, found.higher) == pytest.approx(p_value(difference_interval(differences, 0.5)))


@pytest.mark.parametrize("difference", [-0.02, 0.0, 0.02])
def test_what_never_varies_is_as_sure_as_one_row_lets_it_be(difference: float) -> None:
    found = practical_equivalence(np.full(5, difference), 0.5, 0.01, row=0.01)
    posterior = stats.t(4, loc=difference, scale=0.01 * np.sqrt(1 / 5 + 0.5))
    assert found.lower == pytest.approx(posterior.cdf(-0.01))
    assert found.higher == pytest.approx(posterior.sf(0.01))
    assert max(found) < 0.95


@given(st.lists(st.floats(-1, 1), min_size=2, max_size=30), st.floats(0, 2), st.floats(0, 0.5))
def test_probabilities_sum_to_one(differences: list[float], ratio: float, margin: float) -> None:
    found = practical_equivalence(np.array(differences), ratio, margin, 0.01)
    assert min(found) >= 0
    assert sum(found) == pytest.approx(1)
