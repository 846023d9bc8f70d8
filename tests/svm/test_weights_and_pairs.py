"""Weights of samples and classes, machines of pairs, probabilities: against scikit-learn's own machine."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris, make_classification
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from fsvm_cli.svm import SVM, Gaussian

X, Y = make_classification(120, 5, n_informative=3, weights=[0.8], flip_y=0.1, random_state=3)
IRIS, KIND = load_iris(return_X_y=True)
WEIGHTS = np.random.default_rng(5).uniform(0.2, 3.0, len(Y))
THEIRS = {"linear": {"kernel": "linear"}, "gaussian": {"kernel": "rbf", "gamma": 1 / 4}}
OURS = {"linear": "linear", "gaussian": Gaussian(4.0)}


def pair(kernel: str, **said: object) -> tuple[SVM, SVC]:
    return SVM(OURS[kernel], C=2.0, tolerance=1e-9, **said), SVC(
        **THEIRS[kernel], C=2.0, tol=1e-12, shrinking=False, **said
    )


@pytest.mark.parametrize("kernel", OURS)
@pytest.mark.parametrize(
    ("class_weight", "sample_weight"),
    [("balanced", None), ({0: 0.5, 1: 4.0}, None), ({1: 3.0}, None), (None, WEIGHTS), ("balanced", WEIGHTS)],
)
def test_weights_are_those_of_scikit_learn(kernel: str, class_weight: object, sample_weight: object) -> None:
    ours, theirs = pair(kernel, class_weight=class_weight)
    ours.fit(X, Y, sample_weight=sample_weight)
    theirs.fit(X, Y, sample_weight=sample_weight)
    alphas = np.zeros((2, len(Y)))
    alphas[0, ours.support_], alphas[1, theirs.support_] = ours.dual_coef_[0], theirs.dual_coef_[0]
    # libsvm holds the Gram matrix in single precision.
    np.testing.assert_allclose(alphas[0], alphas[1], atol=1e-5)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=5e-5)
    # The conditions of Karush, Kuhn and Tucker, which no other solution meets, hold much better.
    balanced = len(Y) / (2 * np.bincount(Y))
    of_class = balanced if class_weight == "balanced" else np.array([(class_weight or {}).get(c, 1.0) for c in (0, 1)])
    bounds = 2.0 * of_class[Y] * (1.0 if sample_weight is None else sample_weight)
    margins = np.where(Y, 1.0, -1.0) * ours.decision_function(X)
    alpha = np.abs(alphas[0])
    assert (alpha <= bounds).all()
    assert (margins[alpha == 0] >= 1 - 1e-6).all()
    assert (margins[alpha == bounds] <= 1 + 1e-6).all()
    (on_margin,) = ours.margin_vectors_
    np.testing.assert_array_equal(on_margin, np.flatnonzero((alpha > 0) & (alpha < bounds)))
    np.testing.assert_allclose(margins[on_margin], 1.0, atol=1e-6)


def test_a_weight_of_0_leaves_a_sample_out() -> None:
    weights = np.where(np.arange(len(Y)) % 3, 1.0, 0.0)
    kept = np.flatnonzero(weights)
    weighted, without = SVM().fit(X, Y, sample_weight=weights), SVM().fit(X[kept], Y[kept])
    np.testing.assert_array_equal(weighted.support_, kept[without.support_])
    np.testing.assert_array_equal(weighted.margin_vectors_[0], kept[without.margin_vectors_[0]])
    np.testing.assert_array_equal(weighted.decision_function(X), without.decision_function(X))


def test_weights_of_1_are_no_weights() -> None:
    plain, weighted = SVM(Gaussian(4.0)).fit(X, Y), SVM(Gaussian(4.0)).fit(X, Y, sample_weight=np.ones(len(Y)))
    np.testing.assert_array_equal(plain.dual_coef_, weighted.dual_coef_)


@pytest.mark.parametrize("kernel", OURS)
@pytest.mark.parametrize("class_weight", [None, {0: 2.0, 2: 0.3}])
def test_pairs_are_those_of_scikit_learn(kernel: str, class_weight: object) -> None:
    ours, theirs = pair(kernel, class_weight=class_weight, decision_function_shape="ovo")
    ours.fit(IRIS, KIND)
    theirs.fit(IRIS, KIND)
    np.testing.assert_allclose(ours.decision_function(IRIS), theirs.decision_function(IRIS), atol=1e-4)
    rows = KIND != 1
    alone = SVM(OURS[kernel], C=2.0, tolerance=1e-9, class_weight=class_weight).fit(IRIS[rows], KIND[rows])
    np.testing.assert_allclose(-ours.decision_function(IRIS)[:, 1], alone.decision_function(IRIS), atol=1e-8)
    theirs.set_params(decision_function_shape="ovr", break_ties=True)
    np.testing.assert_array_equal(ours.predict(IRIS), theirs.predict(IRIS))
    gradient = ours.input_gradient(IRIS[:2])
    assert gradient.shape == (3, 2, 4)
    if kernel == "linear":
        np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)


def test_two_classes_are_one_pair() -> None:
    one, other = SVM().fit(X, Y), SVM(decision_function_shape="ovo").fit(X, Y)
    np.testing.assert_array_equal(one.decision_function(X), other.decision_function(X))


def test_pairs_do_what_planes_against_the_rest_cannot() -> None:
    folds = StratifiedKFold(10, shuffle=True, random_state=0)
    accuracy = {
        shape: cross_val_score(
            make_pipeline(StandardScaler(), SVM(decision_function_shape=shape)), IRIS, KIND, cv=folds
        ).mean()
        for shape in ("ovr", "ovo")
    }
    assert accuracy["ovo"] > 0.94
    assert accuracy["ovr"] < 0.92


@pytest.mark.parametrize(("C", "ovr", "ovo"), [(0.1, 0.84, 0.97), (1.0, 0.93, 0.98)])
def test_the_accuracies_on_iris_are_those_of_the_documentation(C: float, ovr: float, ovo: float) -> None:
    folds = StratifiedKFold(10, shuffle=True, random_state=0)
    for shape, said in (("ovr", ovr), ("ovo", ovo)):
        found = cross_val_score(SVM(C=C, decision_function_shape=shape), IRIS, KIND, cv=folds).mean()
        assert found == pytest.approx(said, abs=0.015)


def test_probabilities_are_calibrated_on_samples_left_out() -> None:
    machine = SVM(C=2.0, class_weight="balanced", probability=True).fit(X, Y, sample_weight=WEIGHTS)
    oracle = CalibratedClassifierCV(SVM(C=2.0, class_weight="balanced"), cv=5, ensemble=False)
    oracle.fit(X, Y, sample_weight=WEIGHTS)
    found = machine.predict_proba(X)
    np.testing.assert_allclose(found, oracle.predict_proba(X), rtol=1e-12)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    several = SVM(probability=True).fit(IRIS, KIND).predict_proba(IRIS)
    assert several.shape == (150, 3)
    assert not hasattr(SVM().fit(X, Y), "predict_proba")


def test_all_of_it_can_be_searched() -> None:
    grid = {"theta": [1.0, 4.0], "class_weight": [None, "balanced"], "decision_function_shape": ["ovr", "ovo"]}
    search = GridSearchCV(SVM("gaussian"), grid, cv=2).fit(IRIS[::3], KIND[::3])
    assert set(search.best_params_) == set(grid)


@pytest.mark.parametrize(
    ("said", "weights", "message"),
    [
        ({"decision_function_shape": "ovo!"}, None, "must be one of ovr, ovo, not 'ovo!'"),
        ({"decision_function_shape": "ovo", "output_scaling": "times-margin"}, None, "leave them out"),
        ({"decision_function_shape": "ovo", "class_kernels": {0: "linear"}}, None, "leave them out"),
        ({"decision_function_shape": "ovo", "probability": True}, None, "leave it out"),
        ({"class_weight": {0: -1.0}}, None, "weights must be finite numbers >= 0"),
        ({}, np.full(150, np.nan), "weights must be finite numbers >= 0"),
        ({}, np.ones(3), "expected"),
        ({}, (KIND > 0).astype(float), "all samples of class 0 have zero weight"),
    ],
)
def test_what_makes_no_sense_is_refused(said: dict[str, object], weights: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        SVM(**said).fit(IRIS, KIND, sample_weight=weights)  # type: ignore[arg-type]


def test_a_class_of_one_sample_has_no_probability() -> None:
    with pytest.raises(ValueError, match="two samples of each class"):
        SVM(probability=True).fit([[0.0], [1.0], [2.0]], [0, 0, 1])
