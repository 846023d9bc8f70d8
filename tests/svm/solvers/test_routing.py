"""Every solver by one interface, with the needs that it declares, and the table that chooses among them."""

import numpy as np
import pytest
from scipy import sparse

from fsvm_cli.svm import DualProblem, Gaussian, Linear
from fsvm_cli.svm.large.coordinate_ascent import SparseProblem
from fsvm_cli.svm.large.decomposition_problem import KernelProblem
from fsvm_cli.svm.large.linear_problem import LinearProblem
from fsvm_cli.svm.routing import (
    COORDINATE_ASCENT,
    MAX_SAMPLES_OF_GRAM,
    MAX_SAMPLES_OF_PAIR_STEPS,
    MAX_SAMPLES_OF_SMALL_GRAM,
    SOLVERS,
    is_better_dense,
    solver_for,
)
from fsvm_cli.svm.solvers.dual import ConvergenceError
from fsvm_cli.svm.solvers.solve import StoppedLibsvm

N = 60
every_solver = pytest.mark.parametrize("solver", SOLVERS, ids=lambda solver: solver.name)


def samples():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(N, 4))
    return X, np.where(X[:, 0] + rng.normal(size=N) > 0.2, 1.0, -1.0)


def problem_for(solver, *, C=1.0, equality=True):
    X, y = samples()
    if solver.needs.gram:
        return DualProblem(X @ X.T, y, C, equality)
    if solver is COORDINATE_ASCENT:
        return SparseProblem(sparse.csr_matrix(X), y, C, equality)
    return (
        LinearProblem(X, y, C, equality) if solver.needs.linear_kernel else KernelProblem(Linear(), X, y, C, equality)
    )


@every_solver
def test_every_solver_reaches_the_optimum_that_the_others_reach(solver):
    optimum = SOLVERS[0].solve(problem_for(SOLVERS[0]), tolerance=1e-9).objective
    found = solver.solve(problem_for(solver), tolerance=1e-6)
    assert found.converged
    assert found.duality_gap <= 1e-6
    assert found.objective == pytest.approx(optimum, rel=1e-6)


@every_solver
def test_every_solver_begins_at_a_feasible_point_or_where_it_likes(solver):
    problem = problem_for(solver)
    alpha0 = solver.solve(problem).alpha
    assert solver.solve(problem, alpha0=alpha0).objective == pytest.approx(problem.objective(alpha0), rel=1e-6)


@every_solver
def test_what_a_solver_needs_it_has_or_refuses(solver):
    without_bias = problem_for(solver, equality=False)
    if solver.needs.bias:
        with pytest.raises(ValueError, match="no machine without bias"):
            solver.solve(without_bias)
    else:
        assert solver.solve(without_bias).converged
    hard = problem_for(solver, C=np.inf)
    with pytest.raises(ValueError if solver.needs.soft_margin else ConvergenceError):
        solver.solve(hard)  # the classes overlap


@every_solver
def test_a_tolerance_out_of_range_is_refused(solver):
    with pytest.raises(ValueError, match="tolerance must be > 0"):
        solver.solve(problem_for(solver), tolerance=0.0)


@every_solver
def test_a_solver_is_found_by_its_name(solver):
    X, _ = samples()
    assert solver_for(Linear(), X, solver.name) is solver
    if not solver.needs.linear_kernel:
        assert solver_for(Gaussian(1.0), sparse.csr_matrix(X), solver.name) is solver


@pytest.mark.parametrize(
    ("kernel", "shape", "name"),
    [
        (Linear(), (MAX_SAMPLES_OF_PAIR_STEPS, 2), "auto"),
        (Linear(), (MAX_SAMPLES_OF_PAIR_STEPS + 1, 2), "feature-space"),
        (Linear(), (MAX_SAMPLES_OF_GRAM + 1, MAX_SAMPLES_OF_GRAM), "decomposition"),
        (Gaussian(1.0), (MAX_SAMPLES_OF_SMALL_GRAM, 2), "auto"),
        (Gaussian(1.0), (MAX_SAMPLES_OF_GRAM + 1, 2), "decomposition"),
    ],
)
def test_auto_chooses_by_the_kernel_and_the_number_of_samples(kernel, shape, name):
    X = np.broadcast_to(0.0, shape)
    assert solver_for(kernel, X, "auto").name == name


@pytest.mark.parametrize(
    ("shape", "name", "better_dense"),
    [
        ((MAX_SAMPLES_OF_SMALL_GRAM, 100_000), "auto", False),
        ((MAX_SAMPLES_OF_SMALL_GRAM + 1, 100_000), "coordinate-ascent", False),
        ((MAX_SAMPLES_OF_SMALL_GRAM + 1, 10), "coordinate-ascent", True),
        ((10_000_000, 2_000_000), "coordinate-ascent", False),  # there is no room
    ],
)
def test_auto_chooses_for_sparse_samples(shape, name, better_dense):
    X = sparse.csr_matrix(shape)
    assert solver_for(Linear(), X, "auto").name == name
    assert is_better_dense(X, "auto") == better_dense
    assert not is_better_dense(X, "coordinate-ascent")


def test_what_no_row_takes_is_refused():
    X, _ = samples()
    with pytest.raises(ValueError, match="'coordinate-ascent' is for the linear kernel; leave"):
        solver_for(Gaussian(1.0), X, "coordinate-ascent")
    with pytest.raises(ValueError, match="is for the linear kernel and dense samples"):
        solver_for(Gaussian(1.0), X, "feature-space")
    with pytest.raises(ValueError, match="solver must be one of"):
        solver_for(Linear(), X, "newton")
    stopped = StoppedLibsvm(3)
    assert solver_for(Linear(), X, stopped) is stopped
