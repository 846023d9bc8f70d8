"""Coordinate ascent on sparse samples, against the dense solvers and plain numpy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from fsvm_cli.svm import SVM, DualProblem, routing, solve
from fsvm_cli.svm.large import coordinate_ascent
from fsvm_cli.svm.large.coordinate_ascent import CoordinateAscent, SparseProblem, visit
from fsvm_cli.svm.large.decomposition import Decomposition


def drawn(seed: int) -> tuple[sparse.csr_matrix, np.ndarray, float]:
    """Draw sparse samples of any scale, some of them twice, with labels that say nothing, and C."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(4, 80)), int(rng.integers(1, 40))
    X = sparse.random(n, d, density=rng.uniform(0.02, 0.6), random_state=rng, data_rvs=rng.standard_normal)
    X = sparse.csr_matrix(X) * 10 ** rng.uniform(-2, 2)
    if seed % 3 == 0:
        X = sparse.vstack([X, X[: n // 2]]).tocsr()
    y = np.where(rng.random(X.shape[0]) < rng.uniform(0.1, 0.9), 1.0, -1.0)
    y[:2] = -1.0, 1.0
    return X, y, 10 ** rng.uniform(-3, 4)


@pytest.mark.parametrize("seed", range(40))
def test_the_optimum_is_that_of_the_dense_solver(seed: int) -> None:
    X, y, C = drawn(seed)
    equality, ridge = seed % 5 != 0, 0.1 * (seed % 4 == 1)
    found = CoordinateAscent().solve(SparseProblem(X, y, C, equality, ridge))
    expected = solve(DualProblem((X @ X.T).toarray(), y, C, equality, ridge), tolerance=1e-8)
    assert found.solver == "coordinate-ascent"
    assert found.duality_gap <= 1e-6
    assert found.objective == pytest.approx(expected.objective, rel=2e-6)


@pytest.mark.parametrize("most", [0, coordinate_ascent.MAX_FREE_OF_WORKING_SETS])
def test_either_end_puts_free_samples_on_their_margins(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coordinate_ascent, "MAX_FREE_OF_WORKING_SETS", most)
    rng = np.random.default_rng(1)
    X = sparse.random(200, 1000, density=0.02, random_state=rng, data_rvs=rng.standard_normal).tocsr()
    y = np.where(rng.random(200) < 0.5, 1.0, -1.0)
    found = CoordinateAscent().solve(SparseProblem(X, y, 0.3))
    outputs = X @ (X.T @ (found.alpha * y)) + found.bias
    free = (found.alpha > 0.0) & (found.alpha < 0.3)
    assert np.count_nonzero(free) > 20
    np.testing.assert_allclose((y * outputs)[free], 1.0, atol=1e-9)
    assert ((y * outputs)[found.alpha == 0.0] >= 1.0 - 1e-9).all()
    assert ((y * outputs)[found.alpha == 0.3] <= 1.0 + 1e-9).all()


def test_a_pass_is_that_of_plain_numpy() -> None:
    X, y, _ = drawn(2)
    n, rng = len(y), np.random.default_rng(5)
    lower, upper = np.where(y > 0, 0.0, -2.0), np.where(y > 0, 2.0, 0.0)
    c = np.clip(rng.normal(size=n), lower, upper)
    w, order, penalty, ridge, multiplier = X.T @ c, rng.permutation(n), 0.7, 0.2, 0.1
    curvature = np.asarray(X.power(2).sum(axis=1)).ravel() + penalty + ridge
    away = np.array([0.5, -0.5])
    expected, left, rising, falling = c.copy(), list(order), [], []
    visited = 0
    while visited < len(left):
        i = left[visited]
        bias = multiplier + penalty * expected.sum()
        residual = float(y[i] - bias - (X[[i]] @ (X.T @ expected))[0] - ridge * expected[i])
        if (expected[i] >= upper[i] and residual > away[0]) or (expected[i] <= lower[i] and residual < away[1]):
            left[visited] = left[-1]  # the last one is visited in its place
            left.pop()
            continue
        visited += 1
        rising += [residual] * int(expected[i] < upper[i])
        falling += [residual] * int(expected[i] > lower[i])
        expected[i] = np.clip(expected[i] + residual / curvature[i], lower[i], upper[i])
    at = np.array([multiplier, c.sum(), -np.inf, np.inf])
    rows = X.indptr.view(np.uint32), X.indices.view(np.uint32), X.data
    n_left = visit(*rows, y, lower, upper, curvature, order, c, w, at, away, penalty, ridge)
    assert 0 < len(left) < n
    assert order[:n_left].tolist() == left
    np.testing.assert_allclose(c, expected, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(w, X.T @ expected, rtol=1e-10, atol=1e-10)
    assert at[1] == pytest.approx(expected.sum())
    assert at[2] == pytest.approx(max(rising))
    assert at[3] == pytest.approx(min(falling))


def test_a_hard_margin_is_left_to_decomposition() -> None:
    X = sparse.csr_matrix(np.array([[0.0, 3.0], [1.0, 1.0], [5.0, 3.0], [6.0, 1.0]]))
    found = CoordinateAscent().solve(SparseProblem(X, [-1, -1, 1, 1], np.inf))
    assert found.converged
    assert found.solver == "decomposition"


def test_what_stays_open_is_left_to_decomposition(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coordinate_ascent, "MAX_STAGES", 0)
    X, y, _ = drawn(4)
    found = CoordinateAscent().solve(SparseProblem(X, y, 1.0))
    assert found.converged
    assert found.solver == "decomposition"


@pytest.mark.parametrize("n_classes", [2, 3])
def test_an_estimator_predicts_as_with_all_pairs_and_its_gap_is_that_of_its_decision_values(n_classes: int) -> None:
    rng = np.random.default_rng(n_classes)
    X = sparse.random(150, 400, density=0.05, random_state=rng).tocsr()
    labels = rng.integers(0, n_classes, 150)
    found, expected = SVM(solver="coordinate-ascent").fit(X, labels), SVM(solver="smo").fit(X, labels)
    assert set(found.solver_) == {"coordinate-ascent"}
    np.testing.assert_allclose(found.decision_function(X), expected.decision_function(X), atol=1e-6)
    np.testing.assert_allclose(found.coef_, expected.coef_, atol=1e-6)
    values = found.decision_function(X)
    for m, coef in enumerate(found.coef_):
        y = np.where(labels == (m if n_classes > 2 else 1), 1.0, -1.0)
        outputs = values if n_classes == 2 else values[:, m]
        primal = 0.5 * coef @ coef + np.maximum(0.0, 1.0 - y * outputs).sum()
        dual = np.abs(found.dual_coef_[m]).sum() - 0.5 * coef @ coef
        assert (primal - dual) / primal <= 1e-6


def test_a_weighted_kernel_and_dense_samples_are_taken_too() -> None:
    rng = np.random.default_rng(7)
    X, y = rng.normal(size=(60, 5)), np.where(rng.random(60) < 0.5, "a", "b")
    dense = SVM(solver="smo").fit(X, y).decision_function(X)
    np.testing.assert_allclose(SVM(solver="coordinate-ascent").fit(X, y).decision_function(X), dense, atol=1e-6)


def test_entries_of_one_place_are_added_up() -> None:
    twice = sparse.csr_matrix((np.array([1.0, 2.0, 5.0]), np.array([0, 0, 1]), np.array([0, 2, 3])), shape=(2, 2))
    np.testing.assert_array_equal(SparseProblem(twice, [-1, 1], 1.0).squared_lengths, [9.0, 25.0])
    assert twice.nnz == 3  # what was handed over is as it was


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (sparse.csr_matrix((3, 2)), [1, -1], "the samples have shape"),
        (sparse.csr_matrix(np.array([[np.inf], [1.0]])), [1, -1], "not finite"),
        (sparse.csr_matrix((2, 2)), [1, 1], "one class only"),
    ],
)
def test_bad_samples_are_refused(X: sparse.csr_matrix, y: list[int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        SparseProblem(X, y, 1.0)


def test_many_sparse_samples_for_each_feature_are_fitted_as_dense_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(routing, "MAX_SAMPLES_OF_SMALL_GRAM", 1000)
    rng = np.random.default_rng(9)
    X = sparse.random(1500, 20, density=0.2, random_state=rng, data_rvs=rng.standard_normal).tocsr()
    y = np.where(X.toarray() @ rng.normal(size=20) + 0.3 * rng.normal(size=1500) > 0, "a", "b")
    found, dense = SVM().fit(X, y), SVM().fit(X.toarray(), y)
    assert found.solver_ == dense.solver_ == ("feature-space",)
    np.testing.assert_allclose(found.decision_function(X), dense.decision_function(X.toarray()), atol=1e-12)
    np.testing.assert_allclose(found.decision_function(X), X @ found.coef_[0] + found.intercept_[0], atol=1e-9)


def test_decomposition_has_the_memory_that_was_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def solver(cache_mb: float | None) -> Decomposition:
        asked.append(cache_mb)
        return Decomposition(cache_mb)

    monkeypatch.setattr(coordinate_ascent, "Decomposition", solver)
    X = sparse.csr_matrix(np.array([[0.0, 3.0], [1.0, 1.0], [5.0, 3.0], [6.0, 1.0]]))
    assert SVM(solver="coordinate-ascent", C=np.inf, cache_mb=3.0).fit(X, [0, 0, 1, 1]).converged_
    assert asked == [3.0]
