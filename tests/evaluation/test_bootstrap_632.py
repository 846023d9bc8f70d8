"""The .632+ estimate: by hand, in closed forms, and the samples that it is made of."""

from __future__ import annotations

import numpy as np
import pytest

from fsvm_cli.evaluation.bootstrap import (
    bootstrap_split,
    error_of_left_out,
    no_information_error,
    weight_632_plus,
)


def estimate(apparent: float, left_out: float, no_information: float) -> float:
    weight, bounded = weight_632_plus(*map(np.array, (apparent, left_out, no_information)))
    return float((1 - weight) * apparent + weight * bounded)


def by_the_text(apparent: float, left_out: float, no_information: float) -> float:
    """Compute it as the paper writes it: the .632 estimate and what is added to it."""
    bounded = min(left_out, no_information)
    rate = (left_out - apparent) / (no_information - apparent) if min(left_out, no_information) > apparent else 0.0
    rate = min(rate, 1.0)
    point_632 = 0.368 * apparent + 0.632 * left_out
    if rate == 0.0:
        return 0.368 * apparent + 0.632 * bounded
    added = (bounded - apparent) * 0.368 * 0.632 * rate / (1 - 0.368 * rate)
    return point_632 - 0.632 * (left_out - bounded) + added


@pytest.mark.parametrize("apparent", [0.0, 0.05, 0.3, 0.5])
@pytest.mark.parametrize("left_out", [0.0, 0.04, 0.2, 0.45, 0.7])
@pytest.mark.parametrize("no_information", [0.3, 0.46, 0.5])
def test_it_is_what_the_paper_writes(apparent: float, left_out: float, no_information: float) -> None:
    expected = by_the_text(apparent, left_out, no_information)
    assert estimate(apparent, left_out, no_information) == pytest.approx(expected, abs=1e-12)


def test_closed_forms() -> None:
    # Nothing is overfitted: the .632 estimate, of two equal errors each of them.
    assert estimate(0.2, 0.2, 0.5) == pytest.approx(0.2)
    # A nearest neighbour on pure noise has no error on its own rows and half on others: .632 would say .316.
    assert estimate(0.0, 0.5, 0.5) == pytest.approx(0.5)
    assert estimate(0.0, 0.6, 0.5) == pytest.approx(0.5)
    # Half of the way there: .632 / (1 - .368 / 2) of the error of left-out rows.
    assert estimate(0.0, 0.25, 0.5) == pytest.approx(0.25 * 0.632 / 0.816)


def test_without_information_classes_and_predictions_are_independent() -> None:
    rng = np.random.default_rng(0)
    confusion = rng.integers(0, 9, size=(5, 3, 3)) + 1
    for each, found in zip(confusion, no_information_error(confusion), strict=True):
        y = np.repeat(np.arange(3), each.sum(axis=1))
        predicted = np.concatenate([np.repeat(np.arange(3), row) for row in each])
        assert found == pytest.approx(np.mean(y[:, None] != predicted))  # all pairs of a class and a prediction
    p, q = 22 / 62, 20 / 62
    assert no_information_error(np.array([[20, 2], [0, 40]])) == pytest.approx(p * (1 - q) + (1 - p) * q)


def test_the_error_of_left_out_rows_is_a_mean_over_rows() -> None:
    # Row 0: wrong in 1 of 2 machines, row 1: in 3 of 3, row 2: right in its only one; row 3 is in every sample.
    assert error_of_left_out(np.array([1.0, 3, 0, 0]), np.array([2, 3, 1, 0])) == pytest.approx(0.5)
    assert np.isnan(error_of_left_out(np.zeros(2), np.zeros(2, dtype=int)))


def test_a_sample_has_as_many_rows_as_the_data_and_leaves_the_others_out() -> None:
    y = np.arange(40) % 2
    left_out = []
    for seed in range(200):
        train, test = bootstrap_split(y, None, np.random.default_rng(seed))
        assert len(train) == 40
        assert sorted({*train.tolist(), *test.tolist()}) == list(range(40))
        assert not set(train.tolist()) & set(test.tolist())
        left_out.append(len(test) / 40)
    assert np.mean(left_out) == pytest.approx((1 - 1 / 40) ** 40, abs=0.01)


def test_groups_are_drawn_as_a_whole() -> None:
    y, groups = np.tile([0, 1], 12), np.repeat(np.arange(8), 3)
    for seed in range(20):
        train, test = bootstrap_split(y, groups, np.random.default_rng(seed))
        times = np.bincount(train, minlength=24)
        assert (times.reshape(8, 3) == times[::3, None]).all()
        assert set(groups[test].tolist()) == {group for group in range(8) if times[3 * group] == 0}


def test_a_sample_has_two_classes_and_leaves_a_row_out() -> None:
    for seed in range(50):
        train, test = bootstrap_split(np.array([0, 1, 1]), None, np.random.default_rng(seed))
        assert set(np.array([0, 1, 1])[train].tolist()) == {0, 1}
        assert len(test) == 1
    with pytest.raises(ValueError, match="too few rows"):
        bootstrap_split(np.array([0, 1]), None, np.random.default_rng(0))
