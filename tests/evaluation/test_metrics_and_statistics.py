"""Metrics and means against scikit-learn and scipy."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats
import sklearn.metrics
from hypothesis import given
from hypothesis import strategies as st

from fsvm_cli.evaluation.bootstrap import bootstrap_interval
from fsvm_cli.evaluation.metrics import METRICS, accuracy, confusion_matrix
from fsvm_cli.evaluation.statistics import mean_interval


def relative_information(y: np.ndarray, predicted: np.ndarray) -> float:
    """Mutual information over entropy, both by scikit-learn."""
    uncertainty = scipy.stats.entropy(np.bincount(y))
    return sklearn.metrics.mutual_info_score(y, predicted) / uncertainty if uncertainty > 0 else 0.0


def f1_of_classes_that_occur(y: np.ndarray, predicted: np.ndarray) -> float:
    return float(sklearn.metrics.f1_score(y, predicted, labels=np.unique(y), average="macro", zero_division=0))


ORACLES = {
    "macro-f1": f1_of_classes_that_occur,
    "mcc": sklearn.metrics.matthews_corrcoef,
    "accuracy": sklearn.metrics.accuracy_score,
    "balanced-accuracy": sklearn.metrics.balanced_accuracy_score,
    "rci": relative_information,
}
codes = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=30)


@pytest.mark.parametrize("metric", METRICS)
@given(pairs=codes)
@pytest.mark.filterwarnings("ignore:y_pred contains classes not in y_true")
@pytest.mark.filterwarnings("ignore:A single label was found")
def test_metrics_agree_with_scikit_learn(metric: str, pairs: list[tuple[int, int]]) -> None:
    y, predicted = np.array(pairs).T
    confusion = confusion_matrix(y, predicted, 3)
    np.testing.assert_array_equal(confusion, sklearn.metrics.confusion_matrix(y, predicted, labels=[0, 1, 2]))
    assert METRICS[metric](confusion) == pytest.approx(ORACLES[metric](y, predicted), abs=1e-12)


@pytest.mark.parametrize("metric", METRICS)
def test_metrics_work_on_many_matrices_at_once(metric: str) -> None:
    confusions = np.random.default_rng(0).integers(1, 9, size=(5, 3, 3))
    np.testing.assert_allclose(METRICS[metric](confusions), [METRICS[metric](each) for each in confusions], rtol=1e-14)


@given(st.lists(st.floats(-10, 10), min_size=2, max_size=30))
def test_the_interval_is_students(values: list[float]) -> None:
    found = mean_interval(np.array(values))
    half_width = scipy.stats.t.ppf(0.975, len(values) - 1) * scipy.stats.sem(values)
    np.testing.assert_allclose([found.mean, found.high - found.mean], [np.mean(values), half_width], atol=1e-9)
    assert found.mean - found.low == pytest.approx(found.high - found.mean, abs=1e-9)
    assert found.std == pytest.approx(np.std(values, ddof=1))


def test_a_single_trial_has_a_mean_and_no_interval() -> None:
    found = mean_interval(np.array([0.5]))
    assert (found.mean, found.n) == (0.5, 1)
    assert np.isnan([found.std, found.low, found.high]).all()


@pytest.mark.parametrize("n_right", [5, 30, 57])
def test_the_bootstrap_of_the_accuracy_is_binomial(n_right: int) -> None:
    confusion = np.array([[n_right, 60 - n_right], [0, 0]])
    low, high = bootstrap_interval(accuracy, confusion, np.random.default_rng(0))
    expected = scipy.stats.binom.ppf([0.025, 0.975], 60, n_right / 60) / 60
    np.testing.assert_allclose([low, high], expected, atol=1.5 / 60)


def test_the_bootstrap_of_certainty_has_no_width() -> None:
    assert bootstrap_interval(METRICS["rci"], np.diag([10, 20, 30]), np.random.default_rng(0)) == pytest.approx((1, 1))


def test_confusion_matrices_of_several_classifiers_are_those_of_each() -> None:
    rng = np.random.default_rng(5)
    y, predicted = rng.integers(0, 4, 30), rng.integers(0, 4, (2, 3, 30))
    together = confusion_matrix(y, predicted, 4)
    assert together.shape == (2, 3, 4, 4)
    for index in np.ndindex(2, 3):
        np.testing.assert_array_equal(together[index], confusion_matrix(y, predicted[index], 4))
