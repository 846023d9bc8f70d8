"""Figures of merit of scores against scikit-learn, and their limits for other samples on known truth."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats
import sklearn.metrics
from hypothesis import given
from hypothesis import strategies as st

from fsvm_cli.evaluation.metrics import confusion_matrix, metric_of_counts, metric_title, stated_specificity
from fsvm_cli.evaluation.score_metrics import limits_for_other_samples, log_losses, score_metric

samples = st.lists(st.tuples(st.integers(0, 1), st.integers(-3, 3)), min_size=2, max_size=30)
"""Classes and scores, of which many are equal."""


def sensitivity_on_the_curve(is_positive: np.ndarray, scores: np.ndarray, specificity: float) -> float:
    false_positive, true_positive, _ = sklearn.metrics.roc_curve(is_positive, scores, drop_intermediate=False)
    return float(true_positive[false_positive <= 1 - specificity + 1e-9].max())


@given(pairs=samples, positive=st.integers(0, 1), specificity=st.sampled_from(["0.5", "0.9", "0.95"]))
def test_those_of_two_classes_agree_with_scikit_learn(
    pairs: list[tuple[int, int]], positive: int, specificity: str
) -> None:
    y, whole = np.array(pairs).T
    scores, is_positive = whole.astype(float), y == positive
    towards = scores if positive == 1 else -scores
    names = ("auc", "average-precision", f"sensitivity-at-specificity-{specificity}")
    area, precision, sensitivity = (score_metric(name, y, scores, None, positive) for name in names)
    if is_positive.any():
        assert precision == pytest.approx(sklearn.metrics.average_precision_score(is_positive, towards))
    else:
        assert math.isnan(precision)
    if len(set(y.tolist())) == 1:
        assert math.isnan(area)
        assert math.isnan(sensitivity)
        return
    assert area == pytest.approx(sklearn.metrics.roc_auc_score(y, scores))
    assert sensitivity == pytest.approx(sensitivity_on_the_curve(is_positive, towards, float(specificity)))


def test_of_several_classes_the_area_is_the_mean_of_each_against_the_rest(rng: np.random.Generator) -> None:
    y = rng.integers(3, size=60)
    probabilities = rng.dirichlet(np.ones(3), size=60)
    expected = sklearn.metrics.roc_auc_score(y, probabilities, multi_class="ovr", average="macro")
    assert score_metric("auc", y, probabilities, None, 1) == pytest.approx(expected)
    two = y[y < 2]  # a class that no test row has
    of_two = [sklearn.metrics.roc_auc_score(two == code, probabilities[y < 2, code]) for code in range(2)]
    assert score_metric("auc", two, probabilities[y < 2], None, 1) == pytest.approx(np.mean(of_two))


def test_the_log_loss_agrees_with_scikit_learn(rng: np.random.Generator) -> None:
    y = np.array([0, 1, 2, 2, 1])
    probabilities = rng.dirichlet(np.ones(3), size=5)
    probabilities[0] = [0.0, 0.5, 0.5]  # that of the own class is impossible
    expected = sklearn.metrics.log_loss(y, probabilities, labels=[0, 1, 2])
    assert log_losses(y, probabilities).mean() == pytest.approx(expected)
    assert score_metric("log-loss", y, probabilities, probabilities, 1) == pytest.approx(expected)


@given(
    pairs=st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=1, max_size=30), positive=st.integers(0, 1)
)
def test_f1_agrees_with_scikit_learn(pairs: list[tuple[int, int]], positive: int) -> None:
    y, predicted = np.array(pairs).T
    expected = sklearn.metrics.f1_score(y, predicted, pos_label=positive, zero_division=0, labels=[0, 1])
    assert metric_of_counts("f1", positive)(confusion_matrix(y, predicted, 2)) == pytest.approx(expected)


def test_a_specificity_is_stated_by_the_name() -> None:
    assert stated_specificity("sensitivity-at-specificity-0.975") == 0.975
    assert stated_specificity("sensitivity-at-specificity-1.0") is None
    assert metric_title("sensitivity-at-specificity-0.975") == "sensitivity at 97.5 % specificity"


@pytest.mark.parametrize(("n_positive", "n_negative", "shift"), [(10, 40, 1.0), (12, 12, 2.5), (40, 40, 0.5)])
def test_limits_of_an_area_hold_that_of_other_samples(n_positive: int, n_negative: int, shift: float) -> None:
    rng, truth = np.random.default_rng(0), scipy.stats.norm.cdf(shift / math.sqrt(2))
    y = np.repeat([1, 0], [n_positive, n_negative])
    counts = np.array([n_negative, n_positive], dtype=float)
    n_tables, held = 400, 0
    for _ in range(n_tables):
        area = score_metric("auc", y, rng.normal(size=len(y)) + shift * y, None, 1)
        low, high = limits_for_other_samples("auc", area, counts, math.nan)
        held += low <= truth <= high
    assert held / n_tables >= 0.93


def test_limits_of_a_log_loss_hold_that_of_other_samples() -> None:
    rng = np.random.default_rng(0)
    held = 0
    for _ in range(400):
        probability = rng.uniform(0.1, 0.9, size=80)
        y = (rng.uniform(size=80) < probability).astype(int)
        losses = log_losses(y, np.stack([1 - probability, probability], axis=1))
        low, high = limits_for_other_samples("log-loss", losses.mean(), np.array([40.0, 40.0]), losses.std())
        grid = np.linspace(0.1, 0.9, 100_001)
        truth = np.mean(-grid * np.log(grid) - (1 - grid) * np.log(1 - grid))
        held += low <= truth <= high
    assert held / 400 >= 0.93


def test_scores_without_an_error_are_not_certain_on_other_samples() -> None:
    low, high = limits_for_other_samples("average-precision", 1.0, np.array([200.0, 8.0]), math.nan)
    assert (low, high) == (pytest.approx(0.025 ** (1 / 8)), 1.0)
    assert np.isnan(limits_for_other_samples("auc", math.nan, np.array([200.0, 8.0]), math.nan)).all()
