"""Subsets by their share of the relevance."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from fsvm_cli.ranking.ranks import least_relevant, most_relevant

SHARES = np.array([0.1, 0.4, 0.05, 0.3, 0.15])


@pytest.mark.parametrize(
    ("relevance", "kept"), [(0.3, [1]), (0.4, [1]), (0.41, [1, 3]), (0.8, [1, 3, 4]), (0.95, [1, 3, 4, 0])]
)
def test_features_are_added_until_the_relevance_is_reached_or_exceeded(relevance: float, kept: list[int]) -> None:
    assert most_relevant(SHARES, relevance).tolist() == kept


def test_the_least_relevant_are_what_the_others_leave() -> None:
    assert least_relevant(SHARES, 0.2).tolist() == [0, 2]
    assert least_relevant(SHARES, 0.1).tolist() == [2]


def test_no_feature_left_is_told() -> None:
    with pytest.raises(ValueError, match=r"no feature is left where the others have a relevance of 0\.99"):
        least_relevant(SHARES, 0.01)


@given(
    arrays(np.float64, st.integers(1, 30), elements=st.floats(0.0, 1.0)).filter(lambda a: a.sum() > 0.01),
    st.floats(0.01, 0.99),
)
def test_no_smaller_subset_would_do(weights: np.ndarray, relevance: float) -> None:
    shares = weights / weights.sum()
    kept = most_relevant(shares, relevance)
    total = shares[kept].sum()
    assert total > relevance - 1e-8
    assert total - shares[kept[-1]] < relevance
    assert shares[kept].min() >= np.delete(shares, kept).max(initial=0.0) - 1e-8
