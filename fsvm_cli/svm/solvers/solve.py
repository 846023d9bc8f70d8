"""The solvers on a Gram matrix; each solution carries its certificate.

`Workspace` is the memory of the compiled solver, which serves problems of one size one after the other.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal, NamedTuple, get_args

import numpy as np
from scipy.linalg import lapack

from fsvm_cli.svm.solvers.active_set import INFEASIBLE, STEPS_PER_SAMPLE, make_scratch, maximise_certified, synchronise
from fsvm_cli.svm.solvers.certificate import cause_of_failure, certificate, duality_gap, on_bounds, scaled_up
from fsvm_cli.svm.solvers.dual import (
    ConvergenceError,
    DualProblem,
    DualSolution,
    DualSolver,
    InfeasibleError,
    Needs,
    Solver,
    SolverName,
)
from fsvm_cli.svm.solvers.interior_point import solve_interior_point
from fsvm_cli.svm.solvers.libsvm import solve_libsvm
from fsvm_cli.svm.solvers.optimality import refresh

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    from fsvm_cli.svm.compiled import Array
    from fsvm_cli.svm.solvers.dual import BinaryProblem

NO_ROUNDING = (np.zeros(1), np.zeros(1), np.zeros(1))
"""Of a Gram matrix that counts as exact."""


class Workspace:
    """Memory of the compiled solver.

    A machine without bias gets an artificial sample, with a zero row in the Gram matrix, label 0 and no bounds: its
    coefficient makes the sum zero whatever the others are, and its residual, 0, is the bias.

    Parameters
    ----------
    problem : DualProblem
        One of the problems; the others have as many samples, and a bias if it has one.

    Attributes
    ----------
    box : Box
        On return from `maximise` the point that was reached, with its residuals.
    """

    def __init__(self, problem: DualProblem) -> None:
        self.box, self._factor = make_scratch(len(problem.y) + (not problem.equality))
        self._K = problem.gram

    def maximise(self, problem: DualProblem, start: Array, tolerance: float) -> tuple[int, int, float, float]:
        """Run the compiled solver from a feasible point; return what `maximise_certified` does."""
        box, n, size = self.box, len(problem.y), len(self.box.c)
        K, y = problem.gram, problem.y
        if problem.ridge > 0.0 or not problem.equality:
            K = np.zeros((size, size))
            K[:n, :n] = problem.gram
            K.flat[: n * size : size + 1] += problem.ridge
            y = np.zeros(size)
            y[:n] = problem.y
        self._K = K
        farthest = problem.C * problem.y
        for array, values in zip((box.relative, box.reach, box.lengths), problem.rounding or NO_ROUNDING, strict=True):
            array[:n], array[n:] = values, 0.0
        box.lower[n:], box.upper[n:] = -np.inf, np.inf
        np.minimum(farthest, 0.0, out=box.lower[:n])
        np.maximum(farthest, 0.0, out=box.upper[:n])
        np.multiply(start, problem.y, out=box.c[:n])
        if not problem.equality:
            box.c[n] = -box.c[:n].sum()
        refresh(K, y, box)
        status, steps, bias, gap = maximise_certified(K, y, box, self._factor, tolerance, STEPS_PER_SAMPLE * size)
        return status, steps, bias, gap

    def solve_on_free(self, right: Array) -> tuple[npt.NDArray[np.intp], Array]:
        """Solve for several right sides on the free samples, by the Cholesky factor that `maximise` has left.

        Parameters
        ----------
        right : (m, n) array
            Each row a right side, on all samples.

        Returns
        -------
        free : (n_free,) array of int
            The samples strictly between their bounds, in no order.
        solutions : (m, n_free) array
            Of (K_FF + tau 11') x = right_F; the same for every tau > 0 where x is to have the sum 0. What is not
            positive definite is shifted, see `Factor`.
        """
        synchronise(self._factor, self._K, self.box)
        size = int(self._factor.size[0])
        free = self._factor.indices[:size].copy()
        restricted = right.take(free, axis=1)
        if size == 0:
            return free, restricted
        # Rows of an upper triangle are the columns of LAPACK's lower one.
        factor = self._factor.U[:size, :size].T
        solutions, _ = lapack.dpotrs(factor, restricted.T, lower=1, overwrite_b=1)
        return free, solutions.T


class _Candidate(NamedTuple):
    alpha: Array
    steps: int
    solver: str
    infeasible: bool = False
    certificate: tuple[float, float, float] | None = None
    """Bias, gap and objective, where the compiled solver has found them for this very problem."""


class GramSolver(DualSolver):
    """A solver of `DualProblem`: it proposes points, and the first one within the tolerance is the solution."""

    @abstractmethod
    def candidates(
        self, problem: DualProblem, tolerance: float, start: Array, workspace: Workspace | None
    ) -> Iterator[_Candidate]:
        """Yield ever better points, cheapest first."""

    def solve(  # noqa: D102
        self,
        problem: DualProblem,
        *,
        tolerance: float = 1e-6,
        alpha0: Array | None = None,
        on_failure: Literal["raise", "flag"] = "raise",
        workspace: Workspace | None = None,
    ) -> DualSolution:
        self.check(problem, tolerance)
        start = np.zeros(len(problem.y)) if alpha0 is None else _checked_start(problem, alpha0)
        best: DualSolution | None = None
        steps = 0
        for candidate in self.candidates(problem, tolerance, start, workspace):
            steps += candidate.steps
            solution = _certified(problem, candidate, steps, tolerance)
            if candidate.infeasible:
                return failed(problem, solution, tolerance, on_failure, infeasible=True)
            if solution.converged:
                return solution
            if best is None or solution.duality_gap < best.duality_gap:
                best = solution
        assert best is not None
        return scaled_up(problem, best, tolerance) or failed(problem, best, tolerance, on_failure, infeasible=False)


class ActiveSet(GramSolver):
    """Sequential minimal optimisation with Newton steps on the free samples; begins at `alpha0`."""

    name = "smo"
    needs = Needs(gram=True)

    def candidates(  # noqa: D102
        self, problem: DualProblem, tolerance: float, start: Array, workspace: Workspace | None
    ) -> Iterator[_Candidate]:
        yield _run_engine(problem, start, tolerance, self.name, workspace)


class InteriorPointMethod(GramSolver):
    """The interior-point method, ended by the Newton steps of `ActiveSet`."""

    name = "interior-point"
    needs = Needs(gram=True)

    def candidates(  # noqa: D102
        self,
        problem: DualProblem,
        tolerance: float,
        start: Array,  # noqa: ARG002 - it has a start of its own, amid the box
        workspace: Workspace | None,
    ) -> Iterator[_Candidate]:
        alpha, steps = solve_interior_point(problem)
        inner = balanced(problem, alpha)
        finish = _run_engine(problem, inner, tolerance, self.name, workspace)
        yield finish._replace(steps=steps + finish.steps)
        # The finish measures by the largest kernel value; where others are 1e12 times smaller it may lose the optimum.
        yield _Candidate(inner, 0, self.name)


class Automatic(GramSolver):
    """`ActiveSet`, and `InteriorPointMethod` where its budget of steps is spent."""

    name = "auto"
    needs = Needs(gram=True)

    def candidates(  # noqa: D102
        self, problem: DualProblem, tolerance: float, start: Array, workspace: Workspace | None
    ) -> Iterator[_Candidate]:
        for solver in (ActiveSet(), InteriorPointMethod()):
            yield from solver.candidates(problem, tolerance, start, workspace)


class Libsvm(GramSolver):
    """libsvm, stopped where a violation of the optimality conditions is within the tolerance, as for its users.

    It goes on, to a hundredth of the tolerance, only where the gap is not within it.
    """

    name = "libsvm"
    needs = Needs(gram=True, bias=True, soft_margin=True)
    violations = (1.0, 1e-2)
    """libsvm's stopping tolerance, in tolerances. Asked for 1e-3, libsvm's default, libsvm stops where the machines of
    its users stop."""

    def candidates(  # noqa: D102
        self,
        problem: DualProblem,
        tolerance: float,
        start: Array,  # noqa: ARG002 - libsvm begins at 0
        workspace: Workspace | None,  # noqa: ARG002 - and has its own memory
    ) -> Iterator[_Candidate]:
        for violation in self.violations:
            alpha, steps, _ = solve_libsvm(problem, violation * tolerance)
            yield _Candidate(alpha, steps, self.name)


@dataclass(frozen=True)
class StoppedLibsvm(DualSolver):
    """libsvm, stopped after a number of iterations, with the bias at that point.

    It shows what comes of a solver that gives up. The solution counts as converged, for it is what was asked for; how
    far it is from the optimum is its duality gap. Where libsvm's default tolerance ends it before, it ends there.

    Attributes
    ----------
    max_iterations : int
        >= 1.

    Raises
    ------
    ValueError
        If it is not.
    """

    max_iterations: int

    name = "libsvm"
    needs = Libsvm.needs
    default_tolerance: ClassVar[float] = 1e-3
    """libsvm's."""

    def __post_init__(self) -> None:
        if self.max_iterations < 1:
            raise ValueError(f"max_iterations must be >= 1, not {self.max_iterations!r}")

    def solve(  # noqa: D102
        self,
        problem: DualProblem,
        *,
        tolerance: float = 1e-6,
        alpha0: Array | None = None,  # noqa: ARG002 - libsvm begins at 0
        on_failure: Literal["raise", "flag"] = "raise",  # noqa: ARG002 - it does not fail
    ) -> DualSolution:
        self.check(problem, tolerance)
        alpha, steps, bias = solve_libsvm(problem, self.default_tolerance, self.max_iterations)
        gap = duality_gap(problem, alpha, bias)
        return DualSolution(alpha, bias, problem.objective(alpha), gap, steps, self.name, converged=True)


GRAM_SOLVERS: dict[SolverName, GramSolver] = {
    solver.name: solver for solver in (Automatic(), ActiveSet(), InteriorPointMethod(), Libsvm())
}


def solve(
    problem: DualProblem,
    *,
    tolerance: float = 1e-6,
    solver: Solver = "auto",
    alpha0: Array | None = None,
    on_failure: Literal["raise", "flag"] = "raise",
) -> DualSolution:
    """Solve a dual problem to a relative duality gap.

    Parameters
    ----------
    problem : DualProblem
    solver : {"auto", "smo", "interior-point", "libsvm"} or DualSolver
        By its name, see `ActiveSet`, `InteriorPointMethod`, `Automatic` and `Libsvm`, or itself.
    tolerance, alpha0, on_failure
        As of `DualSolver.solve`; "smo" begins at `alpha0`.

    Raises
    ------
    InfeasibleError, ConvergenceError
        As `DualSolver.solve`.
    ValueError
        If a parameter is out of range, `alpha0` is infeasible, or the solver cannot take the problem.
    """
    check_solver(solver)
    if isinstance(solver, str):
        if solver not in GRAM_SOLVERS:
            form = "LinearProblem" if solver == "feature-space" else "KernelProblem"
            raise ValueError(f"solver '{solver}' takes samples, not their Gram matrix: see `{form}`")
        solver = GRAM_SOLVERS[solver]
    return solver.solve(problem, tolerance=tolerance, alpha0=alpha0, on_failure=on_failure)


def check_solver(solver: Solver) -> None:
    """Raise ValueError for the name of a solver that does not exist."""
    if isinstance(solver, str) and solver not in get_args(SolverName):
        raise ValueError(f"solver must be one of {', '.join(get_args(SolverName))}, not {solver!r}")


def balanced(problem: BinaryProblem, alpha: Array, total: float = 0.0) -> Array:
    """Restore y'alpha = `total`, the equality constraint, by the coefficients that are farthest from any bound."""
    rounded = alpha.copy()
    missing = total - float(problem.y @ rounded) if problem.equality else 0.0
    for i in np.argsort(-np.minimum(rounded, problem.C - rounded)):
        if abs(missing) <= 1e-15 * rounded.sum():  # a coefficient off its bound by rounding only would fix the bias
            break
        distance = problem.C[i] - rounded[i] if problem.y[i] * missing > 0.0 else rounded[i]
        moved = min(abs(missing), distance) * np.sign(missing)
        rounded[i] += moved * problem.y[i]
        missing -= moved
    return np.clip(rounded, 0.0, problem.C)


def _run_engine(
    problem: DualProblem, start: Array, tolerance: float, name: str, workspace: Workspace | None
) -> _Candidate:
    """Run the compiled solver."""
    workspace = workspace or Workspace(problem)
    status, steps, bias, gap = workspace.maximise(problem, start, tolerance)
    coefficients, residuals = (values[: len(problem.y)] for values in (workspace.box.c, workspace.box.r))
    alpha = np.abs(coefficients)
    if problem.ridge > 0.0:  # a ridge allows a smaller loss, and so a smaller gap
        return _Candidate(alpha, steps, name, status == INFEASIBLE)
    objective = 0.5 * float(coefficients @ (problem.y + residuals))
    return _Candidate(alpha, steps, name, status == INFEASIBLE, (bias, gap, objective))


def _certified(problem: DualProblem, candidate: _Candidate, steps: int, tolerance: float) -> DualSolution:
    alpha, found = candidate.alpha, candidate.certificate
    if found is None:
        alpha = on_bounds(problem, alpha)
        found = certificate(problem, alpha, tolerance)
    bias, gap, objective = found
    return DualSolution(alpha, bias, objective, gap, steps, candidate.solver, gap <= tolerance)


def failed(
    problem: BinaryProblem,
    solution: DualSolution,
    tolerance: float,
    on_failure: Literal["raise", "flag"],
    *,
    infeasible: bool,
) -> DualSolution:
    """Return a solution that misses its gap, or raise an error with the cause, depending on `on_failure`."""
    if on_failure == "flag":
        return solution
    if infeasible:
        raise InfeasibleError(
            "the classes are not separable with this kernel, so that no hard margin exists; choose a finite C", solution
        )
    cause = cause_of_failure(problem, solution.alpha, solution.bias, tolerance)
    raise ConvergenceError(
        f"{solution.solver} stopped after {solution.iterations} iterations at a relative duality gap of "
        f"{solution.duality_gap:.1e}, above the tolerance of {tolerance:.1e}{cause and ': ' + cause}",
        solution,
    )


def _checked_start(problem: DualProblem, alpha0: Array) -> Array:
    start = np.asarray(alpha0, dtype=np.float64)
    if start.shape != problem.y.shape or not ((start >= 0) & (start <= problem.C)).all():
        raise ValueError("alpha0 must lie in the box of the problem")
    if problem.equality and abs(start @ problem.y) > 1e-8 * start.sum():
        raise ValueError("alpha0 must satisfy the equality constraint y' alpha = 0")
    return start
