"""Block principal pivoting against an independent quadratic programming solver."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import make_classification

from fsvm_cli.svm import Anova, DualProblem, Gaussian, Laplace, Tanh, bias_of, duality_gap, solve
from fsvm_cli.svm.solvers.active_set import make_scratch
from fsvm_cli.svm.solvers.block_pivoting import pivot_certified
from tests.helpers.qp_oracle import solve_with_piqp

X, CODES = make_classification(120, 8, n_informative=5, flip_y=0.1, random_state=3)
Y = np.where(CODES == 1, 1.0, -1.0)


def pivot(problem, guess):
    """Return whether the rounds led to the optimum, alpha and the bias."""
    y = problem.y
    box, factor = make_scratch(len(y))
    box.lower[:], box.upper[:] = np.minimum(0.0, problem.C * y), np.maximum(0.0, problem.C * y)
    box.c[:] = guess * y
    box.r[:] = y - problem.gram @ box.c
    rounds, bias, _ = pivot_certified(problem.gram, y, box, factor, 1e-6)
    converged = rounds > 0
    assert (np.abs(box.c) <= problem.C).all() or not converged
    return converged, box.c * y, bias


@pytest.mark.parametrize("C", [0.7, 1.0, 3.0, 30.0])
@pytest.mark.parametrize("theta", [1.0, 4.0, 16.0])
def test_from_the_machine_on_all_samples_it_finds_that_without_a_few(theta, C):
    gram = Gaussian(theta).gram(X, X)
    kept = np.arange(len(Y)) % 10 != 0
    whole = solve(DualProblem(gram, Y, C))
    problem = DualProblem(gram[np.ix_(kept, kept)], Y[kept], C)
    converged, alpha, bias = pivot(problem, whole.alpha[kept])
    assert converged
    assert abs(alpha @ problem.y) <= 1e-12 * alpha.sum()
    assert duality_gap(problem, alpha, bias) <= 1e-6
    assert bias == pytest.approx(bias_of(problem, alpha), abs=1e-9)
    expected = problem.objective(solve_with_piqp(problem))
    assert problem.objective(alpha) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("kernel", [Gaussian(4.0), Laplace(4.0), Anova(0.5, 1)], ids=lambda kernel: kernel.name)
def test_whatever_the_guess_what_it_vouches_for_is_optimal(kernel):
    problem = DualProblem(kernel.gram(X, X), Y, 1.0)
    best = solve(problem).objective
    vouched = 0
    for seed in range(30):
        converged, alpha, bias = pivot(problem, np.random.default_rng(seed).choice([0.0, 0.5, 1.0], len(Y)))
        if converged:
            vouched += 1
            assert duality_gap(problem, alpha, bias) <= 1e-6
            assert problem.objective(alpha) == pytest.approx(best, rel=1e-6)
    assert vouched > 0


def test_twins_of_samples_leave_alpha_open_but_not_the_optimum():
    rows = np.repeat(np.arange(60), 2)
    problem = DualProblem(Gaussian(8.0).gram(X[rows], X[rows]), Y[rows], 1.0)
    whole = solve(problem)
    converged, alpha, _ = pivot(problem, whole.alpha)
    assert converged
    assert problem.objective(alpha) == pytest.approx(whole.objective, rel=1e-9)


def test_it_leaves_to_others_what_it_is_not_made_for():
    nobody_free = DualProblem(Gaussian(8.0).gram(X, X), Y, 1.0)
    assert not pivot(nobody_free, np.zeros(len(Y)))[0]
    indefinite = Tanh(1.0, 2.0).gram(X, X)
    assert np.linalg.eigvalsh(indefinite)[0] < -1.0
    assert not pivot(DualProblem(indefinite, Y, 1.0), np.full(len(Y), 0.5))[0]
