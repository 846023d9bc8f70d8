"""Memory that one problem after the other is solved in, and what it holds then."""

from __future__ import annotations

import numpy as np
import pytest

from fsvm_cli.svm import DualProblem, solve
from fsvm_cli.svm.solvers.solve import Automatic, Workspace

N = 60


def problem_of(width: float, ridge: float, *, bias: bool = True) -> DualProblem:
    rng = np.random.default_rng(7)
    X = rng.standard_normal((N, 3))
    y = np.where(X[:, 0] + 0.7 * rng.standard_normal(N) > 0.0, 1.0, -1.0)
    gram = np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2) / width)
    return DualProblem(gram, y, np.inf if ridge else 2.0, bias, ridge)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("ridge", [0.0, 0.5])
def test_what_a_problem_leaves_behind_changes_nothing_for_the_next(ridge: float, bias: bool) -> None:
    problems = [problem_of(width, ridge, bias=bias) for width in (0.5, 8.0, 2.0)]
    workspace = Workspace(problems[0])
    for problem in problems:
        again, alone = Automatic().solve(problem, workspace=workspace), solve(problem)
        np.testing.assert_array_equal(again.alpha, alone.alpha)
        assert (again.bias, again.duality_gap, again.iterations) == (alone.bias, alone.duality_gap, alone.iterations)


@pytest.mark.parametrize("ridge", [0.0, 0.5])
@pytest.mark.parametrize("tolerance", [1e4, 1e-8])
def test_right_sides_are_solved_for_on_the_free_samples(tolerance: float, ridge: float) -> None:
    problem = problem_of(2.0, ridge)
    workspace = Workspace(problem)
    alpha = Automatic().solve(problem, tolerance=tolerance, workspace=workspace).alpha
    right = np.random.default_rng(0).standard_normal((3, N))
    free, found = workspace.solve_on_free(np.vstack([right, np.ones(N)]))
    np.testing.assert_array_equal(np.sort(free), np.flatnonzero((alpha > 0.0) & (alpha < problem.C)))
    assert 1 < len(free) < N + 1
    # By plain numpy: the block bordered with the bias, whose solutions sum to 0, whatever is added to all of the block.
    m = len(free)
    bordered = np.ones((m + 1, m + 1))
    bordered[:m, :m], bordered[m, m] = problem.gram[np.ix_(free, free)] + ridge * np.eye(m), 0.0
    expected = np.linalg.solve(bordered, np.vstack([right[:, free].T, np.zeros(3)]))[:m].T
    level = found[:-1].sum(axis=1) / found[-1].sum()
    np.testing.assert_allclose(found[:-1] - level[:, None] * found[-1], expected, rtol=1e-6, atol=1e-8)


def test_without_free_samples_nothing_is_solved_for() -> None:
    problem = DualProblem(np.zeros((2, 2)), [1.0, -1.0], 1.0)
    workspace = Workspace(problem)
    Automatic().solve(problem, workspace=workspace)
    free, found = workspace.solve_on_free(np.ones((3, 2)))
    assert len(free) == 0
    assert found.shape == (3, 0)
