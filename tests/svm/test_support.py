"""Support vectors are counted alike, however copies of a sample share their coefficient."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from fsvm_cli.ranking.infoprop import count_support_vectors

NOISE = 1e-5


def count(points: object, coefficients: list[float], C: float = 1.0) -> int:
    own = np.array([coefficients])
    return int(count_support_vectors(points, own, np.full(own.shape, C), NOISE)[0])


@pytest.mark.parametrize(
    ("coefficients", "C", "expected"),
    [
        ([0.5, -0.5, 0.0], 1.0, 2),  # no copies: all that are not 0
        ([0.5, -0.5, 1e-7], 1.0, 2),
        ([1.0, -1.0, 1e-4], 1.0, 3),
        ([1e-9, -1e-9, 0.0], 1.0, 2),  # far below C: as a part of the largest
        ([1e-9, -1e-9, 0.0], math.inf, 2),
    ],
)
def test_without_copies_it_is_the_number_of_coefficients(coefficients: list[float], C: float, expected: int) -> None:
    assert count(np.arange(3.0)[:, None], coefficients, C) == expected


@given(st.lists(st.tuples(st.integers(0, 3), st.booleans(), st.floats(0.01, 1.0)), min_size=1, max_size=12))
def test_of_copies_on_one_side_as_few_count_as_can_carry_what_they_have(samples: list[tuple[int, bool, float]]) -> None:
    joint: Counter[tuple[int, bool]] = Counter()
    for place, is_positive, alpha in samples:
        joint[place, is_positive] += alpha  # type: ignore[assignment]
    expected = sum(max(1, math.ceil(alpha - NOISE)) for alpha in joint.values())
    points = np.array([[place, 7.0 - place, 0.0] for place, _, _ in samples])
    coefficients = [alpha if is_positive else -alpha for _, is_positive, alpha in samples]
    assert count(points, coefficients) == expected
    assert count(sparse.csr_matrix(points), coefficients) == expected


def test_each_machine_has_bounds_of_its_own() -> None:
    points, coefficients = np.zeros((3, 1)), np.array([[0.5, 0.5, 0.5], [0.5, 0.5, -0.5]])
    bounds = np.array([[0.5, 0.5, 0.5], [2.0, 2.0, 2.0]])
    assert count_support_vectors(points, coefficients, bounds, NOISE).tolist() == [3, 2]
