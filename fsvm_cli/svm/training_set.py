"""Training samples as machines of one kernel see them: by their Gram matrix, by their features, or pair by pair."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import scipy.sparse as sp

from fsvm_cli.memory_check import check_memory_for_pairs
from fsvm_cli.svm.compiled import EPSILON
from fsvm_cli.svm.kernels.base import SHARP_RELATIVE_ERROR
from fsvm_cli.svm.large.coordinate_ascent import CoordinateAscent, SparseProblem
from fsvm_cli.svm.large.decomposition import Decomposition
from fsvm_cli.svm.large.decomposition_problem import KernelProblem
from fsvm_cli.svm.large.linear import LinearSolution
from fsvm_cli.svm.large.linear_machine import MachineProblem, centre_of, centred, handed_out, joint_outputs
from fsvm_cli.svm.large.linear_problem import LinearProblem, blocks_of
from fsvm_cli.svm.routing import (
    COORDINATE_ASCENT,
    FEATURE_SPACE,
    GRAM_MATRICES,
    MAX_FEATURES_OF_RETRY,
    MAX_SAMPLES_OF_SMALL_GRAM,
    is_better_dense,
    needs_a_cache,
    solver_for,
)
from fsvm_cli.svm.solvers.certificate import certificate, on_bounds
from fsvm_cli.svm.solvers.dual import ConvergenceError, DualProblem, DualSolution, InfeasibleError, Residuals
from fsvm_cli.svm.solvers.solve import StoppedLibsvm, failed, solve

if TYPE_CHECKING:
    from collections.abc import Container, Sequence

    import numpy.typing as npt

    from fsvm_cli.svm.compiled import Array
    from fsvm_cli.svm.kernels.base import Kernel, Rounding
    from fsvm_cli.svm.large.linear_machine import LinearMachine, LinearMachineSolution
    from fsvm_cli.svm.solvers.dual import Solver

MAX_DISTINCT_SHARE, DISTINCT_PROBE_ROWS, MAX_DISTINCT_SHARE_OF_PROBE = 0.25, 1000, 0.5
"""Where no larger part of the samples of a linear machine is distinct, equal ones are put together; that it may be so
is seen by about so many of them, of which no larger part is distinct."""


class Settings(NamedTuple):
    """How machines are solved; see `fsvm_cli.svm.solve`."""

    tolerance: float
    solver: Solver
    on_failure: Literal["raise", "flag"]


class TrainingSet(ABC):
    """Samples that machines are trained on."""

    @abstractmethod
    def train(self, y: Array, C: Any, settings: Settings, rows: npt.NDArray[np.intp] | None = None) -> DualSolution:
        """Solve the problem of one machine.

        Parameters
        ----------
        y : (n,) or (n_rows,) array
            Labels, -1 or +1.
        C : float or array of the shape of y
            Upper bounds.
        settings : Settings
        rows : (n_rows,) array of int, optional
            The samples to train on; all where it is None.
        """

    @abstractmethod
    def outputs(self, coefficients: Array) -> Array:
        """Return sum_i c_mi K(x_i, x_k), shape (n_machines, n), from the coefficients (n_machines, n)."""


class SharpSolution(DualSolution):
    """A solution whose gap is that of outputs by `Kernel.sharp_expansion`."""


class SharpProblem(DualProblem):
    """A problem of which the outputs are known in twice the precision.

    Parameters
    ----------
    problem : DualProblem
    kernel : Kernel
    X : (n, d) array
        Samples, of which the kernel computes outputs in twice the precision.
    """

    kernel: Kernel
    X: Any

    def __init__(self, problem: DualProblem, kernel: Kernel, X: Any) -> None:
        super().__init__(problem.gram, problem.y, problem.C)
        object.__setattr__(self, "kernel", kernel)
        object.__setattr__(self, "X", X)

    def bounded_residuals(self, alpha: Array, *, sharp: bool = False) -> Residuals:  # noqa: ARG002, D102
        used = np.flatnonzero(alpha)
        outputs = self.kernel.sharp_expansion(self.X[used], self.X, (alpha * self.y)[used])
        assert outputs is not None
        root = np.sqrt(np.abs(self.diagonal()))
        # The bias is added to the output of a machine, and subtracted from a residual.
        error = EPSILON * (np.abs(outputs) + np.abs(self.y - outputs)) + SHARP_RELATIVE_ERROR * root * (alpha @ root)
        return Residuals(self.y - outputs, error)


class GramTrainingSet(TrainingSet):
    """Samples by their Gram matrix, (n, n), of any kernel, and what rounding does to it, where that is known.

    Parameters
    ----------
    gram : (n, n) array
    rounding : Rounding, optional
        Of the kernel values.
    kernel, X : Kernel and (n, d) array or CSR matrix, optional
        Where the rounding of kernel values alone keeps a machine from its gap, its outputs are those by
        `Kernel.sharp_expansion`, if the kernel has it, and the solution is a `SharpSolution`.
    """

    def __init__(
        self, gram: Array, rounding: Rounding | None = None, kernel: Kernel | None = None, X: Any = None
    ) -> None:
        self.gram, self.rounding, self.kernel, self.X = gram, rounding, kernel, X

    def train(  # noqa: D102
        self, y: Array, C: Any, settings: Settings, rows: npt.NDArray[np.intp] | None = None
    ) -> DualSolution:
        gram, rounding = self.gram, self.rounding
        if rows is not None:
            gram = gram[np.ix_(rows, rows)]
            rounding = None if rounding is None else rounding.restrict(rows)
        problem = DualProblem(gram, y, C, rounding=None if rounding is None else rounding.of_machine())
        try:
            found = solve(problem, **settings._asdict())
        except ConvergenceError as error:
            if isinstance(error, InfeasibleError) or not (sharp := self._sharp(problem, settings, rows)):
                raise
            return sharp
        return found if found.converged else self._sharp(problem, settings, rows) or found

    def _sharp(
        self, problem: DualProblem, settings: Settings, rows: npt.NDArray[np.intp] | None
    ) -> SharpSolution | None:
        """Return a machine that reaches its gap by outputs in twice the precision; None where there is none."""
        kernel, X = self.kernel, self.X
        if kernel is None or kernel.sharp_expansion(X[:1], X[:1], np.ones(1)) is None:
            return None
        X = X if rows is None else X[rows]
        found = solve(DualProblem(problem.gram, problem.y, problem.C), **settings._replace(on_failure="flag")._asdict())
        if not found.converged:
            return None
        known = SharpProblem(problem, kernel, X)
        alpha = on_bounds(known, found.alpha)
        bias, gap, objective = certificate(known, alpha, settings.tolerance)
        if not gap <= settings.tolerance:
            return None
        return SharpSolution(alpha, bias, objective, gap, found.iterations, found.solver, converged=True)

    def outputs(self, coefficients: Array) -> Array:  # noqa: D102
        return np.asarray(coefficients @ self.gram, dtype=np.float64)


class FeatureSpaceTrainingSet(TrainingSet):
    """Samples of linear machines by their features, (n, d), each multiplied by the root of its weight."""

    def __init__(self, X: Array) -> None:
        self.X = X

    def train(  # noqa: D102
        self, y: Array, C: Any, settings: Settings, rows: npt.NDArray[np.intp] | None = None
    ) -> DualSolution:
        X, bounds = self.X if rows is None else self.X[rows], np.broadcast_to(np.asarray(C, dtype=np.float64), len(y))
        first, place = _distinct(X, y)
        if len(first) > MAX_DISTINCT_SHARE * len(y):
            problem = LinearProblem(X, y, C)
            return FEATURE_SPACE.solve(problem, tolerance=settings.tolerance, on_failure=settings.on_failure)
        # Equal samples of a class are one with the sum of their bounds: of many, the steps would see ties alone.
        together = np.asarray(np.bincount(place, bounds), dtype=np.float64)
        problem = LinearProblem(X[first], y[first], together)
        try:
            found = FEATURE_SPACE.solve(problem, tolerance=settings.tolerance, on_failure=settings.on_failure)
        except ConvergenceError as error:
            raise type(error)(str(error), _shared_out(error.solution, place, bounds, together)) from None
        return _shared_out(found, place, bounds, together)

    def outputs(self, coefficients: Array) -> Array:  # noqa: D102
        normals = np.sum([coefficients[:, rows] @ self.X[rows] for rows in blocks_of(len(self.X))], axis=0)
        return np.asarray(normals @ self.X.T, dtype=np.float64)


class SparseTrainingSet(TrainingSet):
    """Sparse samples of linear machines, a CSR matrix (n, d), each feature multiplied by the root of its weight."""

    def __init__(self, X: Any, solver: CoordinateAscent) -> None:
        self.X, self.solver = X, solver

    def train(  # noqa: D102
        self, y: Array, C: Any, settings: Settings, rows: npt.NDArray[np.intp] | None = None
    ) -> DualSolution:
        problem = SparseProblem(self.X if rows is None else self.X[rows], y, C)
        return self.solver.solve(problem, tolerance=settings.tolerance, on_failure=settings.on_failure)

    def outputs(self, coefficients: Array) -> Array:  # noqa: D102
        return np.asarray((self.X @ (coefficients @ self.X).T).T, dtype=np.float64)


class CachedTrainingSet(TrainingSet):
    """Samples whose kernel values are computed when needed, and kept within a given memory.

    Parameters
    ----------
    kernel : Kernel
    X : (n, d) array or CSR matrix
    solver : Decomposition
    """

    def __init__(self, kernel: Kernel, X: Any, solver: Decomposition) -> None:
        self.kernel, self.X, self.solver = kernel, X, solver

    def train(  # noqa: D102
        self, y: Array, C: Any, settings: Settings, rows: npt.NDArray[np.intp] | None = None
    ) -> DualSolution:
        problem = KernelProblem(self.kernel, self.X if rows is None else self.X[rows], y, C)
        return self.solver.solve(problem, tolerance=settings.tolerance, on_failure=settings.on_failure)

    def outputs(self, coefficients: Array) -> Array:  # noqa: D102
        support = np.flatnonzero((coefficients != 0.0).any(axis=0))
        return self.kernel.expansion_in_blocks(self.X[support], self.X, coefficients[:, support])


class LinearTrainingSet(TrainingSet):
    """Samples that linear machines see less their centre, in any of the other forms.

    A solution is a `LinearMachineSolution`, with the bias of the samples less their centre.

    Parameters
    ----------
    kernel, X, solver, cache_mb
        As of `training_set`; the kernel is linear.
    """

    def __init__(self, kernel: Kernel, X: Any, solver: Solver, cache_mb: float | None = None) -> None:
        X = X.toarray() if is_better_dense(X, solver) else X
        self.kernel, self.X = kernel, X
        self.weights = kernel.feature_weights(X.shape[1])
        # libsvm keeps kernel values in single precision: less a centre it would take other steps before it is stopped.
        self.centre = None if isinstance(solver, StoppedLibsvm) else centre_of(X)
        self.Z = centred(X, self.centre)
        chosen = solver_for(kernel, self.Z, solver)
        if chosen is FEATURE_SPACE:
            self.form: TrainingSet = self._in_feature_space(self.Z)
        elif chosen is COORDINATE_ASCENT:
            scaled = sp.csr_matrix(self.Z)
            scaled = scaled if self.weights is None else scaled @ sp.diags(np.sqrt(self.weights))
            self.form = SparseTrainingSet(scaled, CoordinateAscent(cache_mb))
        else:
            self.form = _of_any_kernel(kernel, self.Z, solver, cache_mb)

    def train(  # noqa: D102
        self, y: Array, C: Any, settings: Settings, rows: npt.NDArray[np.intp] | None = None
    ) -> LinearMachineSolution:
        bounds = np.broadcast_to(np.asarray(C, dtype=np.float64), len(y))
        Z = self.Z if rows is None else self.Z[rows]
        problem = MachineProblem(Z, y, bounds, self.weights, self.centre)
        best, infeasible = _trained(self.form, problem, settings, rows)
        if not (best.converged or infeasible) and self._may_change(settings.solver):
            own = self.X if rows is None else self.X[rows]
            centre = centre_of(own)
            problem = problem._replace(Z=centred(own, centre), centre=centre)
            other, infeasible = _trained(self._other_form(problem.Z), problem, settings)
            if other.duality_gap < best.duality_gap:
                best = replace(other, iterations=best.iterations + other.iterations)
        if not best.converged and settings.on_failure == "raise":
            dual = KernelProblem(self.kernel, problem.Z, y, bounds)
            failed(dual, best, settings.tolerance, "raise", infeasible=infeasible)
        return best

    def outputs(self, coefficients: Array) -> Array:  # noqa: D102
        return self.form.outputs(coefficients)

    def _may_change(self, solver: Solver) -> bool:
        """Return whether another form is left to try."""
        if solver != "auto" or sp.issparse(self.Z):
            return False
        n, d = self.Z.shape
        tried = isinstance(self.form, FeatureSpaceTrainingSet)
        return bool(n <= MAX_SAMPLES_OF_SMALL_GRAM if tried else d <= MAX_FEATURES_OF_RETRY)

    def _other_form(self, Z: Array) -> TrainingSet:
        """Return the form that has not been tried.

        A Gram matrix holds the squares of the features, and loses twice as many digits as they do; its Newton steps
        need no interior point to begin with.
        """
        if isinstance(self.form, FeatureSpaceTrainingSet):
            return _of_any_kernel(self.kernel, Z, "auto", None)
        return self._in_feature_space(Z)

    def _in_feature_space(self, Z: Array) -> TrainingSet:
        return FeatureSpaceTrainingSet(Z if self.weights is None else Z * np.sqrt(self.weights))


def _trained(
    form: TrainingSet, problem: MachineProblem, settings: Settings, rows: npt.NDArray[np.intp] | None = None
) -> tuple[LinearMachineSolution, bool]:
    """Return the machine that is handed out, and whether no hard margin exists."""
    infeasible = False
    try:
        found = form.train(problem.y, problem.C, settings._replace(on_failure="raise"), rows)
    except ConvergenceError as error:
        found, infeasible = error.solution, isinstance(error, InfeasibleError)
    improve = not isinstance(settings.solver, StoppedLibsvm)
    return handed_out(problem, found, settings.tolerance, improve=improve), infeasible


def _distinct(X: Array, y: Array) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Return the first of all equal samples of a class, and which of these each sample is; all where most differ."""
    own = np.arange(len(y))
    probe = X[:: max(1, len(y) // DISTINCT_PROBE_ROWS)]
    if len(np.unique(probe, axis=0)) > MAX_DISTINCT_SHARE_OF_PROBE * len(probe):
        return own, own
    _, first, place = np.unique(np.column_stack([y, X]), axis=0, return_index=True, return_inverse=True)
    return first, place.ravel()


def _shared_out(found: DualSolution, place: npt.NDArray[np.intp], C: Array, together: Array) -> DualSolution:
    """Give each of equal samples its part of their coefficient, in proportion to its bound."""
    alpha = found.alpha[place]
    with np.errstate(invalid="ignore"):
        part = np.where(np.isinf(C), 1.0 / np.bincount(place)[place], C / together[place])
    shared = np.where(alpha == together[place], C, np.minimum(alpha * part, C))
    if isinstance(found, LinearSolution):
        return replace(found, alpha=shared, outputs=found.outputs[place])
    return replace(found, alpha=shared)


def training_set(kernel: Kernel, X: Any, solver: Solver, cache_mb: float | None = None) -> TrainingSet:
    """Choose how machines with a kernel are trained.

    Parameters
    ----------
    kernel : Kernel
    X : (n, d) array or CSR matrix
    solver : str
        "auto" chooses by the kernel, the number of samples and of features, and the free memory; see
        `fsvm_cli.svm.routing`.
    cache_mb : float, optional
        Megabytes for kernel values where they are cached; a quarter of the free memory where it is None.

    Raises
    ------
    ValueError
        If the solver is "feature-space", and the kernel is not linear or the samples are sparse; or it is one that
        needs a Gram matrix for which there is no memory.
    """
    if kernel.is_linear:
        return LinearTrainingSet(kernel, X, solver, cache_mb)
    solver_for(kernel, X, solver)  # refuses a solver that cannot take the samples
    return _of_any_kernel(kernel, X, solver, cache_mb)


def _of_any_kernel(kernel: Kernel, X: Any, solver: Solver, cache_mb: float | None) -> TrainingSet:
    if needs_a_cache(X.shape[0], solver):
        return CachedTrainingSet(kernel, X, Decomposition(cache_mb))
    instead = "leave the solver to 'auto', which then holds none, or take the linear kernel"
    check_memory_for_pairs(f"solver '{solver}'", X.shape[0], GRAM_MATRICES, instead)
    return GramTrainingSet(kernel.gram(X, X), kernel.rounding(X), kernel, X)


def certified_decision_values(
    kernels: Sequence[Kernel],
    support_vectors: Any,
    coefficients: Array,
    intercepts: Array,
    X: Any,
    *,
    linear_machines: Sequence[LinearMachine | None],
    sharp_machines: Container[int],
) -> Array:
    """Return the decision values of machines, shape (n_machines, n), each in the way that its gap is certified for.

    A linear machine decides by its normal vector, one with a `SharpSolution` by outputs in twice the precision, and any
    other by an expansion over the support vectors.

    Parameters
    ----------
    kernels : sequence of Kernel
        One for each machine.
    support_vectors : (n_support, d) array or CSR matrix
    coefficients : (n_machines, n_support) array
        alpha_i y_i.
    intercepts : (n_machines,) array
    X : (n, d) array or CSR matrix
    linear_machines : sequence of LinearMachine or None
        One for each machine, None where it has none.
    sharp_machines : container of int
        The machines that are a `SharpSolution`.
    """
    values = np.empty((len(kernels), X.shape[0]))
    linear = {m: machine for m, machine in enumerate(linear_machines) if machine is not None}
    for centre in {id(machine.centre) for machine in linear.values()}:
        own = {m: machine for m, machine in linear.items() if id(machine.centre) == centre}
        values[list(own)] = joint_outputs([*own.values()], X)
    by_kernel = [m for m in range(len(kernels)) if m not in linear]
    for kernel in dict.fromkeys(kernels[m] for m in by_kernel):
        rows = [m for m in by_kernel if kernels[m] == kernel]
        values[rows] = kernel.expansion_in_blocks(support_vectors, X, coefficients[rows])
        values[rows] += intercepts[rows, None]
    for m in by_kernel:
        if m in sharp_machines:
            outputs = kernels[m].sharp_expansion(support_vectors, X, coefficients[m])
            assert outputs is not None
            values[m] = outputs + intercepts[m]
    return values
