"""Machines whose Gram matrix loses terms, against machines that are solved afresh."""

from __future__ import annotations

import numpy as np
import pytest

from fsvm_cli.svm import DualProblem, duality_gap
from fsvm_cli.svm.paths.gram_downdate import MIN_FREE_FOR_PIVOTING, downdate_gram, reoptimise
from fsvm_cli.svm.solvers.active_set import make_scratch
from fsvm_cli.svm.solvers.optimality import compiled_bias
from tests.helpers.qp_oracle import solve_with_piqp


def start(X, y, C):
    """Return a machine on all columns: Gram matrix, box and factor."""
    box, factor = make_scratch(len(y))
    box.lower[:], box.upper[:] = np.minimum(0.0, C * y), np.maximum(0.0, C * y)
    return X @ X.T, box, factor


@pytest.mark.parametrize("C", [0.003, 1.0])
@pytest.mark.parametrize(("n_samples", "n_features"), [(120, 400), (40, 60), (60, 8)])
def test_the_machine_is_the_one_that_is_solved_afresh(n_samples, n_features, C):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(n_samples, n_features))
    y = np.where(X[:, 0] + rng.normal(size=n_samples) > 0, 1.0, -1.0)
    K, box, factor = start(X, y, C)
    assert reoptimise(K, y, box, factor, 1e-6)
    assert (factor.size[0] >= MIN_FREE_FOR_PIVOTING) == (n_samples == 120)
    for j in range(5):
        downdate_gram(K, box, factor, np.ascontiguousarray(X[:, j]))
        assert reoptimise(K, y, box, factor, 1e-6)
        problem = DualProblem(X[:, j + 1 :] @ X[:, j + 1 :].T, y, C)
        alpha = box.c * y
        assert ((alpha >= 0.0) & (alpha <= C)).all()
        assert abs(box.c.sum()) <= 1e-12 * alpha.sum()
        assert duality_gap(problem, alpha, compiled_bias(box)) <= 1e-6
        assert problem.objective(alpha) == pytest.approx(problem.objective(solve_with_piqp(problem)), rel=1e-6)


def test_a_large_term_that_goes_makes_many_samples_change_sides():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(150, 200))
    y = np.where(X[:, 0] + rng.normal(size=150) > 0, 1.0, -1.0)
    X[:, 7] = 10.0 * y + rng.normal(size=150)
    K, box, factor = start(X, y, 0.005)
    assert reoptimise(K, y, box, factor, 1e-6)
    free = (box.c != 0.0) & (np.abs(box.c) != 0.005)
    downdate_gram(K, box, factor, np.ascontiguousarray(X[:, 7]))
    assert reoptimise(K, y, box, factor, 1e-6)
    assert np.count_nonzero(free != ((box.c != 0.0) & (np.abs(box.c) != 0.005))) > 20
    left = np.delete(X, 7, axis=1)
    problem = DualProblem(left @ left.T, y, 0.005)
    assert duality_gap(problem, box.c * y, compiled_bias(box)) <= 1e-6
