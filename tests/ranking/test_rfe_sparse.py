"""Recursive elimination on sparse matrices against that on full ones, and its steps against dense linear algebra."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from fsvm_cli.ranking.rfe import RecursiveFeatureElimination
from fsvm_cli.ranking.rfe_machines import EliminationProblem, SparseLinearMachines, machines_for
from fsvm_cli.svm import SVM, Gaussian, Linear, Polynomial


def words(n_samples: int, n_features: int, n_classes: int = 2) -> tuple[np.ndarray, np.ndarray]:
    """Draw tables of which a tenth is not zero, in which the first words belong to one class each."""
    rng = np.random.default_rng(n_features)
    y = np.arange(n_samples) % n_classes
    shares = np.full((n_classes, n_features), 0.1)
    shares[np.arange(6) % n_classes, np.arange(6)] = 0.4
    return (rng.random((n_samples, n_features)) < shares[y]) * rng.exponential(size=(n_samples, n_features)), y


@pytest.mark.parametrize("make", [sp.csr_array, sp.csr_matrix, sp.csc_array])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(("n_samples", "n_features"), [(60, 25), (40, 90)])
def test_the_order_is_that_of_the_full_matrix(make: Any, n_classes: int, n_samples: int, n_features: int) -> None:
    X, y = words(n_samples, n_features, n_classes)
    for C in (0.3, 10.0):
        sparse = RecursiveFeatureElimination(C=C, tolerance=1e-8).fit(make(X), y)
        full = RecursiveFeatureElimination(C=C, tolerance=1e-8).fit(X, y)
        assert sparse.converged_ is True
        np.testing.assert_array_equal(sparse.ranking_, full.ranking_)


@pytest.mark.parametrize(
    "options", [{"step": 3}, {"step": 0.3}, {"class_weight": "balanced"}, {"kernel": Linear(weights=(0.5, 2.0) * 15)}]
)
def test_its_parameters_mean_the_same(options: dict[str, Any]) -> None:
    X, y = words(70, 30)
    y[:20] = 0
    sparse, full = (RecursiveFeatureElimination(tolerance=1e-8, **options).fit(own, y) for own in (sp.csr_array(X), X))
    np.testing.assert_array_equal(sparse.ranking_, full.ranking_)


def test_machines_of_a_working_set_are_those_of_all_samples() -> None:
    X, y = words(600, 30)
    labels = np.where(y == 1, 1.0, -1.0)
    far = np.random.default_rng(1).exponential(4.0, 600)  # outside the margin, most of them
    X[:, 0], X[:, 1] = far * (labels > 0), far * (labels < 0)
    problem = EliminationProblem(Linear(), sp.csr_array(X), labels[None], np.full(600, 1.0), 1e-8, "auto")
    machines = machines_for(problem)
    assert isinstance(machines, SparseLinearMachines)
    for _ in range(6):
        assert machines.train()
        (chunk,) = machines.chunks
        assert len(chunk.rows) < 600
        left = X[np.ix_(chunk.rows, machines.features)]
        np.testing.assert_allclose(chunk.K, left @ left.T, atol=1e-12)
        svm = SVM(Linear(), 1.0, 1e-9).fit(X[:, machines.features], y)
        np.testing.assert_allclose(machines.w, svm.coef_, atol=1e-6)
        machines.drop(np.array([len(machines.features) - 1, 2]))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kernel": Polynomial(degree=2)}, "rfe with the polynomial kernel and solver 'auto' takes no sparse matrix"),
        ({"kernel": Gaussian()}, "takes no sparse matrix"),
        ({"solver": "interior-point"}, "solver 'interior-point' takes no sparse matrix; take the linear kernel"),
        ({"certify": True}, "certify=True takes no sparse matrix"),
    ],
)
def test_what_needs_a_full_matrix_is_refused(options: dict[str, Any], message: str) -> None:
    X, y = words(40, 8)
    with pytest.raises(ValueError, match=message):
        RecursiveFeatureElimination(**options).fit(sp.csr_array(X), y)


def test_more_pairs_than_memory_holds_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fsvm_cli.memory_check.free_memory", lambda: 20_000)
    X, y = words(60, 8)
    with pytest.raises(ValueError, match="rfe on a sparse matrix holds 2 matrices of all pairs of rows: 60 rows"):
        RecursiveFeatureElimination().fit(sp.csr_array(X), y)
