"""Average separation against the double sum that defines it."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from fsvm_cli.ranking.average_separation import AverageSeparation


def double_sum(X: np.ndarray, inside: np.ndarray) -> np.ndarray:
    distances = np.abs(X[inside][:, None] - X[~inside][None])
    return distances.mean(axis=(0, 1))


@given(
    arrays(
        float,
        st.tuples(st.integers(2, 12), st.integers(1, 3)),
        elements=st.floats(-1e3, 1e3).map(lambda value: round(value, 9)),
    ),
    st.data(),
)
def test_two_classes(X: np.ndarray, data: st.DataObject) -> None:
    y = np.array([0, 1, *data.draw(st.lists(st.integers(0, 1), min_size=len(X) - 2, max_size=len(X) - 2))])
    scores = AverageSeparation().fit(X, y).scores_
    np.testing.assert_allclose(scores, double_sum(X, y == 1), rtol=1e-9, atol=1e-9)


def test_several_classes_are_averaged_one_against_the_rest() -> None:
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(40, 5)) + 100.0, np.arange(40) % 3
    expected = np.mean([double_sum(X, y == code) for code in range(3)], axis=0)
    np.testing.assert_allclose(AverageSeparation().fit(X, y).scores_, expected, rtol=1e-10)
