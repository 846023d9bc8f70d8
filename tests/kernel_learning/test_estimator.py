"""`LearnedKernelSVM`: scikit-learn's contract, machines against `SVM` on the sum, transduction, what it refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.utils.estimator_checks import parametrize_with_checks

from fsvm_cli import SVM, ConvergenceError, Gaussian, LearnedKernelSVM, Linear, Polynomial, UnitDiagonal, WeightedSum
from fsvm_cli.svm import InfeasibleError, Tanh

KERNELS = (Polynomial(2), Gaussian(2.0), Linear())
every_way = pytest.mark.parametrize("combine", ["qcqp", "sdp", "alignment", "centred-alignment"])


def samples(n: int = 40, n_classes: int = 2) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(2)
    y = np.arange(n) % n_classes
    X = rng.normal(size=(n, 3))
    X[:, 0] += 1.5 * y
    return X, y


@parametrize_with_checks([LearnedKernelSVM()])
def test_it_is_a_scikit_learn_estimator(estimator: Any, check: Any) -> None:
    check(estimator)


@every_way
@pytest.mark.parametrize("n_classes", [2, 3])
def test_it_is_the_machine_on_the_sum(combine: Any, n_classes: int) -> None:
    X, y = samples(n_classes=n_classes)
    found = LearnedKernelSVM(KERNELS, combine, C=2.0, unit_diagonal=True).fit(X, y)
    assert found.converged_.all()
    assert found.weights_.shape == ((1 if n_classes == 2 else 3), 3)
    bases = tuple(map(UnitDiagonal, KERNELS))
    sums = [WeightedSum(bases, tuple(map(float, weights)), free_sign=True) for weights in found.weights_]
    own = {} if n_classes == 2 else dict(enumerate(sums))
    alone = SVM(sums[0], C=2.0, class_kernels=own).fit(X, y)
    np.testing.assert_allclose(found.decision_function(X), alone.decision_function(X), atol=1e-3)
    assert (found.predict(X) == alone.predict(X)).mean() > 0.95


@every_way
def test_the_trace_of_the_sum_is_that_of_all_kernels(combine: Any) -> None:
    X, y = samples()
    found = LearnedKernelSVM(KERNELS, combine).fit(X, y)
    grams = [kernel.gram(X, X) for kernel in KERNELS]
    total = np.trace(np.tensordot(found.weights_[0], np.array(grams), 1))
    assert total == pytest.approx(sum(np.trace(gram) for gram in grams))


def test_the_margin_is_the_width_between_the_classes() -> None:
    X = np.array([[0.0, 0.0], [0.0, 3.0], [2.0, 1.0], [2.0, 2.0]])
    found = LearnedKernelSVM([Linear()], margin="hard").fit(X, [0, 0, 1, 1])
    assert found.margin_[0] == pytest.approx(2.0)


def test_samples_without_classes_change_the_weights_and_keep_the_sum_semidefinite() -> None:
    X, y = samples()
    others = np.random.default_rng(0).normal(size=(30, 3)) * 3
    alone = LearnedKernelSVM(KERNELS, "sdp").fit(X, y)
    together = LearnedKernelSVM(KERNELS, "sdp").fit(X, y, X_unlabelled=others)
    assert not np.allclose(alone.weights_, together.weights_, rtol=1e-3)
    rows = np.vstack([X, others])
    gram = together.machine_kernels_[0].gram(rows, rows)
    assert np.linalg.eigvalsh(gram)[0] >= -1e-9 * np.trace(gram)


def test_a_learned_ridge_is_no_part_of_the_decision() -> None:
    X, y = samples()
    found = LearnedKernelSVM(KERNELS, margin="learned-2-norm").fit(X, y)
    assert found.ridge_[0] > 0.0
    alpha = np.abs(found.dual_coef_[0])
    labels = np.where(y[found.support_] == 1, 1.0, -1.0)
    np.testing.assert_allclose(
        labels * found.decision_function(X)[found.support_], 1 - found.ridge_[0] * alpha, atol=1e-3
    )


def test_sparse_samples_are_as_dense_ones() -> None:
    X, y = samples()
    X[np.abs(X) < 0.5] = 0.0
    kernels = (Linear(), Polynomial(2))
    dense = LearnedKernelSVM(kernels).fit(X, y, X_unlabelled=X[:5])
    of_csr = LearnedKernelSVM(kernels).fit(sparse.csr_matrix(X), y, X_unlabelled=sparse.csr_matrix(X[:5]))
    np.testing.assert_allclose(of_csr.weights_, dense.weights_, atol=1e-6)
    np.testing.assert_allclose(of_csr.decision_function(sparse.csr_matrix(X)), dense.decision_function(X), atol=1e-6)


@every_way
def test_classes_that_overlap_have_no_hard_margin(combine: Any) -> None:
    X, y = samples()
    X[:, :] = X[:1]
    with pytest.raises(InfeasibleError, match="not separable"):
        LearnedKernelSVM([Linear(), Gaussian(1.0)], combine, margin="hard").fit(X + np.eye(40, 3), y)


def test_a_missed_gap_is_raised_or_flagged() -> None:
    X, y = samples()
    with pytest.raises(ConvergenceError, match="qcqp stopped after"):
        LearnedKernelSVM(KERNELS, tolerance=1e-15).fit(X, y)
    assert not LearnedKernelSVM(KERNELS, tolerance=1e-15, on_failure="flag").fit(X, y).converged_.any()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"kernels": []}, "kernels must be a list of one kernel or more"),
        ({"kernels": "linear"}, "kernels must be a list of one kernel or more"),
        ({"kernels": ["lineer"]}, "lineer"),
        ({"kernels": [Linear(), Tanh(3.0, 2.0)]}, "the Gram matrix of base kernel 2 is indefinite"),
        ({"combine": "sum"}, "combine must be one of alignment, centred-alignment, qcqp, sdp, not 'sum'"),
        ({"margin": "soft"}, "margin must be one of hard, 1-norm"),
        ({"C": 0.0}, "C must be a finite number > 0"),
        ({"tolerance": 0.0}, "tolerance must be > 0"),
        ({"combine": "alignment", "margin": "learned-2-norm"}, "a ridge is learned by the qcqp only"),
    ],
)
def test_what_cannot_be_learned_is_refused(parameters: dict[str, Any], message: str) -> None:
    X, y = samples()
    with pytest.raises(ValueError, match=message):
        LearnedKernelSVM(**parameters).fit(X, y)
