"""Sample weights: a sample of weight 3 counts as three equal ones, one of weight 0 as none."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.utils.validation import has_fit_parameter

from fsvm_cli import SVM
from fsvm_cli.ranking.always_keep import AlwaysKeep
from fsvm_cli.ranking.fisher import Fisher
from fsvm_cli.ranking.gradient_angle import GradientAngle
from fsvm_cli.ranking.registry import ranking_methods
from fsvm_cli.ranking.rfe import RecursiveFeatureElimination
from fsvm_cli.svm import Gaussian

WEIGHTED = {name: method for name, method in ranking_methods().items() if method.takes_sample_weight}
FIXED: dict[str, dict[str, Any]] = {"random": {"random_state": 0}, "rfe": {"tolerance": 1e-8}}
WEIGHTS = np.random.default_rng(7).integers(0, 4, 60).astype(float)


def table(n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    y = np.arange(60) % n_classes
    rng = np.random.default_rng(n_classes)
    return rng.normal(size=(60, 6)) + np.outer(y, [1.2, 0.8, 0.5, 0.2, 0.0, 0.0]), y


def repeated(X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    times = WEIGHTS.astype(int)
    return np.repeat(X, times, axis=0), np.repeat(y, times)


def test_some_methods_take_weights() -> None:
    assert {"fisher", "rfe", "gradient-angle", "l1-svm"} <= set(WEIGHTED)


@pytest.mark.parametrize("name", ranking_methods())
def test_a_method_says_whether_it_takes_weights(name: str) -> None:
    method = ranking_methods()[name]
    assert has_fit_parameter(method(), "sample_weight") == method.takes_sample_weight


@pytest.mark.parametrize("name", WEIGHTED)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_whole_weights_are_repeated_samples(name: str, n_classes: int) -> None:
    X, y = table(n_classes)
    weighted, plain, without = (WEIGHTED[name](**FIXED.get(name, {})) for _ in range(3))
    weighted.fit(X, y, sample_weight=WEIGHTS)
    plain.fit(*repeated(X, y))
    np.testing.assert_allclose(weighted.scores_, plain.scores_, rtol=1e-4)
    np.testing.assert_array_equal(weighted.ranking_, plain.ranking_)
    if not weighted.is_control:
        assert not np.allclose(weighted.scores_, without.fit(X, y).scores_, rtol=1e-3) or name == "rfe"


@pytest.mark.parametrize("name", WEIGHTED)
def test_weights_of_one_are_none(name: str) -> None:
    X, y = table(2)
    weighted, plain = (WEIGHTED[name](**FIXED.get(name, {})) for _ in range(2))
    np.testing.assert_array_equal(weighted.fit(X, y, sample_weight=np.ones(60)).scores_, plain.fit(X, y).scores_)


@pytest.mark.parametrize("kernel", ["linear", Gaussian(theta=8.0)], ids=str)
def test_weights_of_classes_come_on_top(kernel: Any) -> None:
    X, y = table(2)
    y[:20] = 0
    for method in (RecursiveFeatureElimination, GradientAngle):
        weighted, plain = (method(kernel, class_weight={0: 1.0, 1: 5.0}, tolerance=1e-8) for _ in range(2))
        weighted.fit(X, y, sample_weight=WEIGHTS)
        np.testing.assert_allclose(weighted.scores_, plain.fit(*repeated(X, y)).scores_, rtol=1e-4)


def test_the_unit_of_C_is_that_of_the_repeated_samples() -> None:
    X, y = table(2)
    weighted, plain = (GradientAngle(C_unit="mean-diagonal", tolerance=1e-8) for _ in range(2))
    weighted.fit(X, y, sample_weight=WEIGHTS)
    np.testing.assert_allclose(weighted.scores_, plain.fit(*repeated(X, y)).scores_, rtol=1e-4)


def test_weights_multiply_C() -> None:
    X, y = table(2)
    ranker = GradientAngle(C=0.3).fit(X, y, sample_weight=2.5 * WEIGHTS)
    w = np.abs(SVM(C=0.3).fit(X, y, sample_weight=2.5 * WEIGHTS).coef_[0])
    np.testing.assert_allclose(ranker.scores_, 2 / np.pi * np.arcsin(w / np.linalg.norm(w)), rtol=1e-4)


def test_features_that_are_kept_leave_the_weights_to_the_method() -> None:
    X, y = table(2)
    kept = AlwaysKeep(Fisher(), [5]).fit(X, y, sample_weight=WEIGHTS)
    np.testing.assert_array_equal(kept.ranker_.scores_, Fisher().fit(X, y, sample_weight=WEIGHTS).scores_)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.ones(59), r"sample_weight has the shape \(59,\); one weight is needed for each of 60 samples"),
        (-np.ones(60), "sample_weight must hold finite numbers >= 0"),
        (np.full(60, np.nan), "sample_weight must hold finite numbers >= 0"),
        (np.zeros(60), "all weights in sample_weight are zero"),
        ((np.arange(60) % 2).astype(float), "fisher needs samples of at least two classes"),
    ],
)
def test_weights_that_cannot_be_are_refused(weights: np.ndarray, message: str) -> None:
    X, y = table(2)
    with pytest.raises(ValueError, match=message):
        Fisher().fit(X, y, sample_weight=weights)


def test_a_certificate_with_weights_is_of_the_weighted_machines() -> None:
    X, y = table(2)
    weighted, plain = (RecursiveFeatureElimination(certify=True, tolerance=1e-8) for _ in range(2))
    weighted.fit(X, y, sample_weight=WEIGHTS)
    plain.fit(*repeated(X, y))
    np.testing.assert_array_equal(weighted.certificate_["feature"], plain.certificate_["feature"])
    with pytest.raises(ValueError, match="neither a sparse matrix nor sample weights"):
        GradientAngle(certify=True).fit(X, y, sample_weight=WEIGHTS)
