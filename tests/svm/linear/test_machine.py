"""Linear machines as they are handed out: their gap in rational arithmetic, and columns far from the origin."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from fsvm_cli import GradientAngle, Infoprop, RecursiveFeatureElimination
from fsvm_cli.svm import SVM, DualProblem, Linear, nested_curves, solve
from fsvm_cli.svm.large.linear_machine import LinearMachine, centre_of, centred, outputs_with_errors
from fsvm_cli.svm.tuning import grid_search
from tests.helpers.linear_campaign import attempt, hostile_problem, true_gap


def two_classes(n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    return X, (X @ rng.standard_normal(d) + 0.5 * rng.standard_normal(n) > 0).astype(np.intp)


def timestamped(n: int, d: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return samples, the same with 1.6e9 added to their first column, and classes."""
    X, y = two_classes(n, d)
    X[:, 0] = np.rint(X[:, 0] * 1024.0) / 1024.0
    late = X.copy()
    late[:, 0] += 1.6e9
    return X, late, y


@pytest.mark.parametrize("seed", range(60))
def test_no_machine_states_less_than_the_gap_of_its_decision_values(seed):
    found = attempt(hostile_problem(seed))
    assert found.true <= found.stated
    assert found.stated <= 1e-6 or not found.converged


@pytest.mark.parametrize("seed", range(3))
def test_nor_does_one_of_many_samples(seed):
    found = attempt(hostile_problem(seed, many=True))
    assert found.true <= found.stated
    assert found.stated <= 1e-6 or not found.converged


@pytest.mark.parametrize("solver", ["auto", "feature-space", "smo", "interior-point"])
def test_an_offset_of_all_columns_changes_no_decision(solver):
    X, y = two_classes(300, 10)
    near = SVM(C=1e4, tolerance=1e-5, solver=solver).fit(X, y)
    far = SVM(C=1e4, tolerance=1e-5, solver=solver).fit(X + 1e6, y)
    assert far.converged_.all()
    assert true_gap(far, X + 1e6, y, 1e4) <= far.duality_gap_[0] <= 1e-5
    np.testing.assert_allclose(far.decision_function(X + 1e6), near.decision_function(X), atol=1e-4)
    np.testing.assert_allclose(far.coef_, near.coef_, atol=1e-4)


@pytest.mark.parametrize("n", [200, 5500])
@pytest.mark.parametrize("shape", ["ovr", "ovo"])
def test_a_timestamp_changes_no_machine(shape, n):
    X, late, _ = timestamped(n, 4)
    y = np.digitize(X[:, 0] + X[:, 1], [-0.5, 0.5])
    expected, found = (SVM(decision_function_shape=shape).fit(samples, y) for samples in (X, late))
    assert found.converged_.all()
    np.testing.assert_allclose(found.coef_, expected.coef_, atol=1e-5)
    np.testing.assert_allclose(found.decision_function(late), expected.decision_function(X), atol=1e-5)
    np.testing.assert_allclose(found.intercept_, expected.intercept_ - 1.6e9 * found.coef_[:, 0], rtol=1e-12, atol=1e-5)
    np.testing.assert_allclose(found.input_gradient(late[:2]), np.repeat(found.coef_[:, None], 2, axis=1))


def test_a_row_has_one_score_alone_and_among_others_dense_and_sparse():
    _, late, y = timestamped(3000, 4)
    machine = SVM().fit(late, y)
    scores = machine.decision_function(late)
    np.testing.assert_allclose([machine.decision_function(late[i : i + 1])[0] for i in (0, 1500)], scores[[0, 1500]])
    np.testing.assert_allclose(machine.decision_function(sparse.csr_array(late)), scores)


def test_a_constant_column_however_large_adds_nothing():
    X, y = two_classes(500, 4)
    machine = SVM().fit(np.column_stack([X, np.full(500, 1e6)]), y)
    assert machine.coef_[0, 4] == 0.0
    np.testing.assert_allclose(machine.coef_[0, :4], SVM().fit(X, y).coef_[0], atol=1e-6)


@pytest.mark.parametrize(
    "ranker", [GradientAngle(), Infoprop(random_state=0), RecursiveFeatureElimination()], ids=lambda each: each.method
)
@pytest.mark.parametrize("n", [200, 5500])
def test_rankings_by_linear_machines_do_not_depend_on_an_offset(ranker, n):
    X, late, y = timestamped(n, 4)
    expected = ranker.fit(X, y).scores_
    np.testing.assert_allclose(ranker.fit(late, y).scores_, expected, atol=1e-5 * (1.0 + np.abs(expected).max()))
    assert ranker.converged_


def test_curves_and_searches_do_not_depend_on_an_offset():
    X, late, y = timestamped(200, 4)
    curves = [
        nested_curves(Linear(), 1.0, samples[:150], y[:150], samples[150:], [[0, 1, 2, 3]], (1, 2, 4), n_classes=2)
        for samples in (X, late)
    ]
    assert curves[1].converged.all()
    np.testing.assert_allclose(curves[1].test_decision, curves[0].test_decision, atol=1e-5)
    folds = [(np.arange(100), np.arange(100, 200)), (np.arange(100, 200), np.arange(100))]
    searches = [grid_search([Linear()], [0.1, 10.0], samples, y, folds, n_classes=2) for samples in (X, late)]
    assert searches[1].converged.all()
    np.testing.assert_array_equal(searches[1].accuracy, searches[0].accuracy)


def test_columns_near_the_origin_stay_as_they_are(rng):
    X = rng.standard_normal((100, 3))
    assert centre_of((X - X.mean(axis=0)) / X.std(axis=0)) is None
    assert centred(X, None) is X
    assert centre_of(sparse.csr_array(X + 1.0)) is None
    np.testing.assert_array_equal(centre_of(sparse.csr_array(X + 100.0)), centre_of(X + 100.0))
    far = centre_of(X + np.array([0.0, 1e9, -300.0]))
    assert far[0] == 0.0
    np.testing.assert_allclose(far, [0.0, 1e9, -300.0], atol=16.0)
    constant = np.full((7, 1), 0.1)
    assert (centred(constant, centre_of(constant)) == 0.0).all()


@pytest.mark.parametrize("offset", [100.0, 1e8])
def test_sparse_samples_with_a_column_far_from_0_reach_the_gap_of_dense_ones(rng, offset):
    X = rng.standard_normal((200, 5))
    y = (X[:, 0] + 0.5 * rng.standard_normal(200) > 0).astype(int)
    X[:, 2] += offset
    dense, thin = (SVM(on_failure="flag").fit(samples, y) for samples in (X, sparse.csr_array(X)))
    assert thin.converged_.all()
    np.testing.assert_allclose(thin.decision_function(sparse.csr_array(X)), dense.decision_function(X), atol=1e-6)
    folds = [(np.arange(100), np.arange(100, 200)), (np.arange(100, 200), np.arange(100))]
    search = grid_search([Linear()], [0.1, 1.0], sparse.csr_array(X), y, folds, n_classes=2)
    assert search.converged.all()
    text = sparse.hstack([sparse.random_array((200, 90), density=0.02, rng=rng), np.ones((200, 1))]).tocsr()
    assert centre_of(text) is None


def test_errors_of_outputs_hold_the_exact_value(rng):
    Z = rng.standard_normal((50, 20)) * 10.0 ** rng.uniform(-8, 8, 20)
    machine = LinearMachine(rng.standard_normal(20) * 10.0 ** rng.uniform(-8, 8, 20), 3.0)
    values, error = outputs_with_errors(Z, machine)
    exact = (Z.astype(np.longdouble) * machine.coef).sum(axis=1) + 3.0
    assert (np.abs(values - exact) <= error).all()
    assert (np.abs(Z[:, ::-1] @ machine.coef[::-1] + 3.0 - exact) <= error).all()


@pytest.mark.parametrize("C", [1e3, 1e4, 1e5, np.inf])
def test_many_equal_rows_are_solved_and_share_their_coefficients(C):
    rng = np.random.default_rng(14)
    codes = rng.integers(0, 5, (6000, 2))
    X = np.column_stack([np.eye(5)[codes[:, 0]], np.eye(5)[codes[:, 1]]])
    y = (X @ rng.standard_normal(10) + (0.05 * rng.standard_normal(6000) if np.isfinite(C) else 0.0) > 0).astype(int)
    weights = rng.uniform(0.5, 2.0, 6000)
    machine = SVM(C=C).fit(X, y, weights)
    assert machine.converged_[0]
    kinds, place = np.unique(np.column_stack([X, y]), axis=0, return_inverse=True)
    alpha = np.zeros(6000)
    alpha[machine.support_] = np.abs(machine.dual_coef_[0])
    own, labels = kinds[:, :-1], 2.0 * kinds[:, -1] - 1.0
    together = solve(DualProblem(own @ own.T, labels, np.bincount(place.ravel(), C * weights)))
    objective = alpha.sum() - 0.5 * float(machine.coef_[0] @ machine.coef_[0])
    assert objective == pytest.approx(together.objective, rel=1e-5)
    assert (alpha <= C * weights).all()
