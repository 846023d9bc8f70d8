"""Classifier information against the document's matrices, scikit-learn's mutual information, and its own properties."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats
import sklearn.metrics
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from fsvm_cli.numerics import (
    class_uncertainty,
    classifier_information,
    entropy,
    firing_frequency,
    indicator_credits,
    indicator_uncertainty,
    relative_classifier_information,
)

# infoprop2001, section 3.2: the matrices, and the printed H_d and H.
PRINTED = {
    "a": ([[15, 0, 5], [0, 15, 5], [0, 0, 20]], 1.58, 0.96),
    "b": ([[16, 2, 2], [2, 16, 2], [1, 1, 18]], 1.58, 0.78),
    "c": ([[1, 0, 4], [0, 1, 4], [1, 1, 48]], 0.82, 0.06),
}
# Computed by hand from equation (3).
CREDITS = {"a": [0.3962, 0.3962, 0.1667], "b": [0.2567, 0.2567, 0.2637], "c": [0.0015, 0.0015, 0.0614]}

confusions = arrays(np.int64, (3, 3), elements=st.integers(0, 12)).filter(lambda confusion: confusion.sum() > 0)


@pytest.mark.parametrize("name", PRINTED)
def test_the_matrices_of_the_document(name: str) -> None:
    rows, uncertainty, information = PRINTED[name]
    confusion = np.array(rows)
    # The document cuts 1.585 to 1.58 and rounds the others.
    assert class_uncertainty(confusion) == pytest.approx(uncertainty, abs=0.0051)
    assert classifier_information(confusion) == pytest.approx(information, abs=0.005)
    np.testing.assert_allclose(indicator_credits(confusion), CREDITS[name], atol=5e-5)


@given(confusions)
def test_information_is_the_mutual_information_of_the_two_labels(confusion: np.ndarray) -> None:
    nats = sklearn.metrics.mutual_info_score(None, None, contingency=confusion)
    assert classifier_information(confusion) == pytest.approx(nats / np.log(2), abs=1e-12)
    assert class_uncertainty(confusion) == pytest.approx(scipy.stats.entropy(confusion.sum(axis=1), base=2), abs=1e-12)


@given(confusions)
def test_credits_are_shares_of_the_information(confusion: np.ndarray) -> None:
    shares = indicator_credits(confusion)
    assert (shares >= 0).all()
    assert shares.sum() == pytest.approx(classifier_information(confusion), abs=1e-12)
    assert (shares[firing_frequency(confusion) == 0] == 0).all()
    assert 0 <= relative_classifier_information(confusion) <= 1 + 1e-12


@given(confusions, st.permutations(range(3)))
def test_information_does_not_ask_which_indicator_says_it(confusion: np.ndarray, order: list[int]) -> None:
    assert classifier_information(confusion[:, order]) == pytest.approx(classifier_information(confusion), abs=1e-12)
    np.testing.assert_allclose(indicator_credits(confusion[:, order]), indicator_credits(confusion)[order], atol=1e-12)


def test_a_class_that_is_never_predicted_contributes_nothing() -> None:
    confusion = np.array([[5, 0, 1], [1, 0, 4], [0, 0, 3]])
    assert indicator_uncertainty(confusion)[1] == 0
    assert indicator_credits(confusion)[1] == 0
    assert np.isfinite(relative_classifier_information(confusion))


def test_a_class_that_is_absent_leaves_the_rest_as_it_is() -> None:
    present = np.array([[8, 2], [1, 9]])
    confusion = np.zeros((3, 3), dtype=int)
    confusion[:2, :2] = present
    assert classifier_information(confusion) == pytest.approx(classifier_information(present))
    assert relative_classifier_information(confusion) == pytest.approx(relative_classifier_information(present))


def test_with_one_class_there_is_nothing_to_resolve() -> None:
    confusion = np.array([[3, 4], [0, 0]])
    assert (class_uncertainty(confusion), relative_classifier_information(confusion)) == (0, 0)
    np.testing.assert_array_equal(indicator_credits(confusion), 0)


def test_indicators_that_say_nothing_have_no_credit() -> None:
    np.testing.assert_array_equal(indicator_credits(np.full((3, 3), 7)), 0)


def test_leading_axes_are_many_matrices() -> None:
    stack = np.array([[rows for rows, _, _ in PRINTED.values()]] * 2)
    assert stack.shape == (2, 3, 3, 3)
    np.testing.assert_allclose(indicator_credits(stack)[1], list(CREDITS.values()), atol=5e-5)
    each = [float(relative_classifier_information(confusion)) for confusion in stack[0]]
    np.testing.assert_allclose(relative_classifier_information(stack), [each, each], rtol=1e-14)


def test_entropy_over_several_axes_is_that_of_the_whole_table() -> None:
    table = np.arange(6).reshape(2, 3)
    assert entropy(table, axis=(0, 1)) == pytest.approx(scipy.stats.entropy(table.ravel(), base=2))
