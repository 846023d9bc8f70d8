"""Machines on Gram matrices of low rank: exact with all landmarks, and honest about how far they are with fewer."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.utils.estimator_checks import parametrize_with_checks

from fsvm_cli.svm import SVM, Anova, Gaussian, Kernel, Laplace, Linear, Polynomial, Tanh, UnitDiagonal
from fsvm_cli.svm import nystroem as nystroem_module
from fsvm_cli.svm.nystroem import Distance, NystroemSVM, distance_from_exact, low_rank_gram
from fsvm_cli.svm.solvers.dual import DualProblem
from fsvm_cli.svm.solvers.solve import solve

KERNELS = [Gaussian(theta=2.0), Laplace(theta=2.0), Polynomial(degree=2), Anova(), Linear(), UnitDiagonal(Linear())]


def problem(n: int = 90, n_classes: int = 2) -> tuple[np.ndarray, np.ndarray]:
    X, y = make_classification(n, 5, n_informative=4, n_redundant=0, n_classes=n_classes, flip_y=0.1, random_state=3)
    return X, y


@parametrize_with_checks([NystroemSVM(n_landmarks=30, random_state=0)])
def test_it_is_a_classifier_in_scikit_learns_manner(estimator: NystroemSVM, check) -> None:
    check(estimator)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_with_all_samples_as_landmarks_it_is_the_exact_machine(kernel: Kernel, n_classes: int) -> None:
    X, y = problem(n_classes=n_classes)
    fresh = problem(300, n_classes)[0]
    found = NystroemSVM(kernel, C=0.7, n_landmarks=len(X)).fit(X, y)
    exact = SVM(kernel, C=0.7).fit(X, y)
    np.testing.assert_allclose(found.decision_function(fresh), exact.decision_function(fresh), atol=1e-6)
    np.testing.assert_array_equal(found.predict(fresh), exact.predict(fresh))
    assert all(each.share < 1e-9 and each.error == 0.0 for each in found.distance_)


def test_it_is_the_machine_of_the_approximate_gram_matrix() -> None:
    X, y = problem()
    found = NystroemSVM(Gaussian(theta=1.0), n_landmarks=15, random_state=1, class_weight={1: 3.0}).fit(X, y)
    V = low_rank_gram(Gaussian(theta=1.0), X, found.landmarks_, 15).V
    labels = np.where(y == 1, 1.0, -1.0)
    oracle = solve(DualProblem(V @ V.T, labels, np.where(y == 1, 3.0, 1.0)))
    np.testing.assert_allclose(found.decision_function(X), V @ (V.T @ (oracle.alpha * labels)) + oracle.bias, atol=1e-6)
    assert found.converged_.all()
    assert found.rank_ == V.shape[1]


@pytest.mark.parametrize("n_landmarks", [1, 5, 20, 60])
def test_the_exact_optimum_lies_where_it_says(n_landmarks: int) -> None:
    X, y = problem()
    kernel = Gaussian(theta=0.5)
    labels = np.where(y == 1, 1.0, -1.0)
    found = NystroemSVM(kernel, n_landmarks=n_landmarks, random_state=0).fit(X, y)
    V = low_rank_gram(kernel, X, found.landmarks_, n_landmarks).V
    approximate = solve(DualProblem(V @ V.T, labels, 1.0)).objective
    exact = solve(DualProblem(kernel.gram(X, X), labels, 1.0)).objective
    (distance,) = found.distance_
    assert (1.0 - distance.share) * approximate * (1.0 - 1e-9) <= exact <= approximate * (1.0 + 1e-6)
    assert 0.0 < distance.share < 1.0


def test_drawn_rows_tell_the_distance_within_their_error(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = problem(400)
    kernel, labels = Gaussian(theta=0.5), np.where(y == 1, 1.0, -1.0)
    V = low_rank_gram(kernel, X, np.arange(0, 400, 20), 20).V
    found = solve(DualProblem(V @ V.T, labels, 1.0))
    arguments = (kernel, X, V, found.alpha * labels)
    whole = distance_from_exact(*arguments, np.random.default_rng(0))
    monkeypatch.setattr(nystroem_module, "MAX_DISTANCE_PAIRS", 1)
    drawn = [distance_from_exact(*arguments, np.random.default_rng(seed)) for seed in range(200)]
    z = np.array([(each.share - whole.share) / each.error for each in drawn])
    assert whole.error == 0.0
    assert abs(z.mean()) < 4 / np.sqrt(len(z))
    assert 0.8 < z.std() < 1.25


def test_a_machine_without_support_vectors_is_exact() -> None:
    nothing = distance_from_exact(Linear(), np.eye(2), np.eye(2), np.zeros(2), np.random.default_rng(0))
    assert nothing == Distance(0.0, 0.0)


def test_landmarks_and_distance_depend_on_the_seed_alone() -> None:
    X, y = problem()
    first, again, other = (NystroemSVM(n_landmarks=9, random_state=seed).fit(X, y) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.landmarks_, again.landmarks_)
    assert first.distance_ == again.distance_
    assert not np.array_equal(first.landmarks_, other.landmarks_)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kernel": Tanh(scale=0.1)}, "is indefinite"),
        ({"n_landmarks": 0}, "n_landmarks must be at least 1, not 0"),
        ({"C": -1.0}, "C must be"),
    ],
)
def test_what_cannot_be_is_refused(options: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        NystroemSVM(**options).fit(*problem())


def test_memory_that_is_not_there_is_told_before_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fsvm_cli.memory_check.free_memory", lambda: 1000)
    with pytest.raises(ValueError, match=r"90 rows with 50 landmarks take .* are free; take fewer landmarks"):
        NystroemSVM(n_landmarks=50).fit(*problem())
