"""Machines on ever fewer features, for recursive feature elimination.

Four kinds share one interface, `Machines`: with any kernel, linear on a working set of samples, of a full matrix or a
sparse one, and linear in the space of the features where there are many samples.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numba import njit

from fsvm_cli.memory_check import check_memory_for_pairs
from fsvm_cli.ranking.rfe_costs import add_costs, bounds_of_costs, costs_of_power
from fsvm_cli.svm import DualProblem, solve
from fsvm_cli.svm.compiled import (
    ALLOCATING,
    COMPILED,
    EPSILON,
    Array,
    add_scaled,
    inner_product,
)
from fsvm_cli.svm.kernels.base import Rounding
from fsvm_cli.svm.kernels.compiled import EXPONENTIAL, INNER_PRODUCT, POWER, SQUARED_DISTANCE, fill_gram
from fsvm_cli.svm.large.linear import solve_linear
from fsvm_cli.svm.large.linear_machine import centre_of, centred
from fsvm_cli.svm.large.linear_problem import LinearProblem, blocks_of, squared_norms
from fsvm_cli.svm.margin_factor import VALUE_TERMS
from fsvm_cli.svm.paths.gram_downdate import downdate_gram, reoptimise
from fsvm_cli.svm.routing import eliminates_in_feature_space
from fsvm_cli.svm.solvers.active_set import make_scratch
from fsvm_cli.svm.solvers.certificate import scaled_up
from fsvm_cli.svm.solvers.dual import DualSolution
from fsvm_cli.svm.solvers.optimality import compiled_bias, refresh

if TYPE_CHECKING:
    import numpy.typing as npt
    from numpy.typing import NDArray

    from fsvm_cli.svm.certified import BoundedResiduals
    from fsvm_cli.svm.kernels.additive import AdditiveKernel
    from fsvm_cli.svm.large.linear import LinearSolution
    from fsvm_cli.svm.solvers.cholesky import Factor
    from fsvm_cli.svm.solvers.dual import Solver
    from fsvm_cli.svm.solvers.smo import Box

COMPACT_BELOW_SHARE = 0.8
"""Columns are moved together when only this part of a matrix is left: the unused ones between are read in vain."""
RECOMPUTE_BELOW_SHARE = 0.25
"""A sum over features that has fallen to this part of its value is recomputed: subtractions accumulate rounding."""
WORKING_SET_MARGIN = 1.0
"""Samples up to this far outside the margin, in units of the decision value, are in the working set."""
MAX_WORKING_SET_SHARE = 0.8
"""Beyond this part of the samples the working set is all of them: no search for margin violators is needed then."""
INITIAL_WORKING_SET_SAMPLES = 200
"""Samples that a linear machine begins with, about; their machine predicts which others lie near the margin."""
MAX_TRAININGS = 50
"""Trainings of one machine at most, the last of them on all samples: one that misses its gap may never end."""
PAIR_MATRICES = 6
"""Matrices of all pairs of samples that machines with a kernel hold at most: sums over features, kernel values and a
factor, or sums and kernel values of the support vectors and their products with coefficients."""
SPARSE_PAIR_MATRICES = 2
"""The same of linear machines on sparse samples, all of them at most: the Gram matrix and a factor."""
DOWNDATE_ULPS = 80.0
"""What subtracting a feature's distances takes from a sample's, at most, in last digits of its largest distance. The
term of a sample at distances x and x' from the centre is off by 13 / 2 last digits of (x + x')^2, which is no more than
ten times the square of the sample's largest difference."""


@dataclass(frozen=True, eq=False)
class EliminationProblem:
    """What stays the same while features go.

    Attributes
    ----------
    kernel : AdditiveKernel
    X : ndarray or CSR matrix, shape (n_samples, n_features)
        A sparse one with the linear kernel only.
    labels : ndarray, shape (n_machines, n_samples)
        -1 or +1.
    C : ndarray, shape (n_samples,)
    tolerance, solver
        As in `fsvm_cli.svm.solve`.
    """

    kernel: AdditiveKernel
    X: Any
    labels: NDArray[np.float64]
    C: NDArray[np.float64]
    tolerance: float
    solver: Solver


class MachineSolution(NamedTuple):
    """What a machine on the features that are left is certified by.

    Attributes
    ----------
    c : ndarray, shape (n_samples,)
        Coefficients alpha_i y_i.
    bias : float
    w : ndarray, shape (n_left,), or None
        Their sum over the samples, where it has been computed in doubles.
    known : tuple or None
        Some samples, their Gram matrix and a bound on its error, as of `fsvm_cli.svm.certified.locate`.
    residuals : tuple of ndarray, shape (n_samples,), or None
        y_i - sum_k c_k K(x_i, x_k), where the machine's own certificate has them; bounds on what rounding did to the
        sums, and on what that of the kernel values does to them.
    """

    c: NDArray[np.float64]
    bias: float
    w: NDArray[np.float64] | None = None
    known: tuple[NDArray[np.intp], NDArray[np.float64], float] | None = None
    residuals: BoundedResiduals | None = None


class Machines(ABC):
    """One machine per class (two classes: one) on the features that are left.

    Attributes
    ----------
    problem : EliminationProblem
    features : ndarray of int, shape (n_left,)
        In ascending order.
    """

    def __init__(self, problem: EliminationProblem) -> None:
        self.problem = problem
        self.features = np.arange(problem.X.shape[1])

    @abstractmethod
    def train(self) -> bool:
        """Train all machines from their coefficients; return whether all reached their duality gap."""

    @abstractmethod
    def costs(self) -> NDArray[np.float64]:
        """Return what each feature that is left adds to the squared norms at fixed coefficients, shape (n_left,)."""

    def costs_of_cheapest(self, number: int) -> NDArray[np.float64]:  # noqa: ARG002 - of machines whose costs take long
        """Return the costs; infinity may stand for those that are certainly not among the `number` lowest."""
        return self.costs()

    @abstractmethod
    def drop(self, positions: NDArray[np.intp]) -> None:
        """Drop the features at these positions of `features`."""

    @abstractmethod
    def solution(self, machine: int) -> MachineSolution:
        """Return where the last training of a machine ended."""


def machines_for(problem: EliminationProblem) -> Machines:
    """Choose how the machines are trained, linear ones on samples less their centre, which sparse ones have not.

    Raises
    ------
    ValueError
        If samples are sparse, and the kernel is not linear or the solver takes no sparse samples.
    """
    fast = problem.kernel.is_linear and problem.solver in {"auto", "smo"}
    if sp.issparse(problem.X):
        if not fast:
            raise ValueError(
                f"rfe with the {problem.kernel.name} kernel and solver '{problem.solver}' takes no sparse matrix; take "
                "the linear kernel with solver 'auto' or 'smo', or a full matrix"
            )
        return SparseLinearMachines(problem)
    if problem.kernel.is_linear:
        problem = replace(problem, X=centred(problem.X, centre_of(problem.X)))
    if eliminates_in_feature_space(problem.kernel, problem.X, problem.solver):
        return FeatureSpaceMachines(problem)
    return LinearMachines(problem) if fast else KernelMachines(problem)


class KernelMachines(Machines):
    """Machines with any kernel, on a sum over features from which terms are subtracted."""

    def __init__(self, problem: EliminationProblem) -> None:
        super().__init__(problem)
        check_memory_for_pairs(
            f"rfe with the {problem.kernel.name} kernel",
            len(problem.X),
            PAIR_MATRICES,
            "take the linear kernel, which needs none, or gradient-angle",
        )
        self.alphas = np.zeros(problem.labels.shape)
        self.biases = np.zeros(len(problem.labels))
        self._sum_up()
        self.gram = np.empty_like(self.statistic)

    def train(self) -> bool:  # noqa: D102
        problem = self.problem
        rounding, converged = self._rounding(), True
        fill_gram(problem.kernel.form, self.statistic, self.gram)
        for machine, y in enumerate(problem.labels):
            dual, start = DualProblem(self.gram, y, problem.C, rounding=rounding), self.alphas[machine]
            found = solve(dual, tolerance=problem.tolerance, solver=problem.solver, alpha0=start, on_failure="flag")
            self.alphas[machine], self.biases[machine] = found.alpha, found.bias
            converged &= found.converged
        return converged

    def costs(self) -> NDArray[np.float64]:  # noqa: D102
        return self._costs(None)

    def costs_of_cheapest(self, number: int) -> NDArray[np.float64]:  # noqa: D102 - as in Machines
        return self._costs(number)

    def _costs(self, number: int | None) -> NDArray[np.float64]:
        kernel, form = self.problem.kernel, self.problem.kernel.form
        support = np.flatnonzero((self.alphas != 0).any(axis=0))
        X = self.problem.X[support][:, self.features]
        coefficients = np.ascontiguousarray((self.alphas * self.problem.labels)[:, support])
        statistic = self.statistic[support][:, support]
        weights = kernel.feature_weights(self.problem.X.shape[1])
        of_features = np.ones(len(self.features)) if weights is None else weights[self.features]
        # Where no feature tells a class from the rest all cost 0, and rounding errors, which were a tenth of this bound
        # at most, would decide their order. Costs of other features may lie little above it.
        negligible = EPSILON * _sum_of_absolute_values(self.gram, self.alphas)
        if form.statistic == INNER_PRODUCT and form.function == POWER:
            return _without_rounding(costs_of_power(form, X, of_features, statistic, coefficients), negligible)
        gram = self.gram[support][:, support]
        places, costs = np.arange(len(self.features)), np.full(len(self.features), np.inf)
        if number is not None and form.statistic == SQUARED_DISTANCE and form.function == EXPONENTIAL:
            low, high = bounds_of_costs(X * np.sqrt(-form.scale * of_features), coefficients, gram)
            places = np.flatnonzero(low <= np.partition(high, number - 1)[number - 1])
        columns, found, memory = np.ascontiguousarray(X[:, places].T), np.zeros(len(places)), np.empty((3, len(X)))
        add_costs(form, columns, of_features[places], statistic, gram, coefficients, memory, found)
        costs[places] = _without_rounding(found, negligible)
        return costs

    def drop(self, positions: NDArray[np.intp]) -> None:  # noqa: D102
        dropped = self.features[positions]
        self.features = np.delete(self.features, positions)
        if self.problem.kernel.form.function == EXPONENTIAL:
            first = self.n_summed + 12.0 if len(self.features) + len(dropped) == self.n_summed else 0.0
            self.lost += (first + DOWNDATE_ULPS * len(dropped)) * EPSILON * self.statistic.max(axis=1)
        self.statistic -= self.problem.kernel.statistic_matrix(self.problem.X, self.problem.X, dropped)
        if max(self.statistic.max(), -self.statistic.min()) < RECOMPUTE_BELOW_SHARE * self.size:
            self._sum_up()

    def solution(self, machine: int) -> MachineSolution:  # noqa: D102
        return MachineSolution(self.alphas[machine] * self.problem.labels[machine], float(self.biases[machine]))

    def _sum_up(self) -> None:
        self.statistic = self.problem.kernel.statistic_matrix(self.problem.X, self.problem.X, self.features)
        self.size = np.abs(self.statistic).max()
        self.rounding = self.problem.kernel.rounding(self.problem.X, self.features).of_machine()
        self.lost, self.n_summed = np.zeros(len(self.problem.X)), len(self.features)

    def _rounding(self) -> Rounding:
        """Bound what rounding does to kernel values after features have gone from the sum."""
        form, summed = self.problem.kernel.form, self.rounding
        if len(self.features) == self.n_summed:
            return summed
        if form.function == EXPONENTIAL:
            lost = -form.scale * self.lost
            # A value whose exponent has lost all digits may be anything from 0 to 1.
            relative = summed.relative + np.expm1(np.where(lost < 0.5, lost, 0.0))
            return summed._replace(relative=relative, reach=np.where(lost < 0.5, summed.reach, 1.0))
        # A term that goes is rounded, and so is what it leaves: three roundings of each feature, in units of the
        # lengths on all that were summed.
        return summed._replace(reach=3.0 * summed.reach)


def _sum_of_absolute_values(gram: NDArray[np.float64], alphas: NDArray[np.float64]) -> float:
    """Return sum_m sum_ik alpha_mi alpha_mk |K_ik|, block by block: no other matrix of all pairs is made."""
    return float(sum((alphas[:, rows] * (alphas @ np.abs(gram[:, rows]))).sum() for rows in blocks_of(len(gram))))


def _without_rounding(costs: NDArray[np.float64], negligible: float) -> NDArray[np.float64]:
    return np.where(np.abs(costs) <= negligible, 0.0, costs)


class Chunk(NamedTuple):
    """A machine on some of the samples, its working set (Vapnik's chunking).

    Attributes
    ----------
    rows : (n_chunk,) array of int
        Which of all samples, in ascending order.
    columns : (n_features, n_chunk) array
        Their values of all features. Of sparse samples their `SparseColumns`, which no compiled function is handed.
    K : (n_chunk, n_chunk) array
        Their Gram matrix on the features that are left.
    y : (n_chunk,) array
        Labels, -1 or +1.
    box : Box
    factor : Factor
        Of the free block of `K`; empty before the first training.
    """

    rows: npt.NDArray[np.intp]
    columns: Any
    K: Array
    y: Array
    box: Box
    factor: Factor


def make_chunk(  # noqa: PLR0917
    rows: npt.NDArray[np.intp], columns: Array, features: npt.NDArray[np.intp], y: Array, coefficients: Array, C: Array
) -> Chunk:
    """Build the machine on some samples.

    Parameters
    ----------
    rows : (n_chunk,) array of int
    columns : (n_features, n_samples) array
    features : (n_left,) array of int
    y, coefficients : (n_samples,) arrays
        Labels, and alpha_i y_i, where the training begins; 0 outside `rows`.
    C : (n_samples,) array
        Upper bounds of alpha.
    """
    own = columns if len(rows) == columns.shape[1] else np.ascontiguousarray(columns[:, rows])
    left = own[features]
    return _chunk_with(Chunk(rows, own, left.T @ left, y[rows], *make_scratch(len(rows))), len(left), coefficients, C)


def _chunk_with(chunk: Chunk, n_terms: int, coefficients: Array, C: Array) -> Chunk:
    """Fill in bounds, coefficients and bounds on rounding of a chunk whose kernel values are sums of so many terms."""
    box, bounds = chunk.box, C[chunk.rows]
    box.lower[:], box.upper[:] = np.where(chunk.y > 0, 0.0, -bounds), np.where(chunk.y > 0, bounds, 0.0)
    box.c[:] = coefficients[chunk.rows]
    # A sum of d products, and up to d that are subtracted: two roundings of each, in units of the samples' lengths.
    box.lengths[:] = np.sqrt(chunk.K.diagonal())
    box.reach[:] = 2.0 * EPSILON * (n_terms + 6) * box.lengths
    return chunk


def drop_feature(chunk: Chunk, feature: int) -> None:
    """Take one feature out of the Gram matrix; the coefficients stay."""
    downdate_gram(chunk.K, chunk.box, chunk.factor, chunk.columns[feature])


def train(chunk: Chunk, tolerance: float) -> bool:
    """Train from the chunk's coefficients; return whether the relative duality gap is within the tolerance."""
    return bool(reoptimise(chunk.K, chunk.y, chunk.box, chunk.factor, tolerance))


def put_at(chunk: Chunk, coefficients: Array, *, keeps_factor: bool) -> None:
    """Put the chunk at a solution; the next training starts afresh where other samples are free than in its factor."""
    chunk.box.c[:] = coefficients
    refresh(chunk.K, chunk.y, chunk.box)
    if not keeps_factor:
        chunk.factor.size[0] = 0


@njit(**COMPILED)
def normal_vector(chunk: Chunk, features: npt.NDArray[np.intp], w: Array) -> None:
    """Fill in the weight of each feature that is left, shape (n_left,)."""
    for j in range(features.size):
        w[j] = inner_product(chunk.columns[features[j]], chunk.box.c)


@njit(**COMPILED)
def decision_values(columns: Array, features: npt.NDArray[np.intp], w: Array, bias: float, values: Array) -> None:
    """Fill in the machine's scores of all samples, shape (n_samples,)."""
    for i in range(values.size):
        values[i] = bias
    for j in range(features.size):
        add_scaled(values, columns[features[j]], w[j])


@njit(**ALLOCATING)
def has_margin_violators(  # noqa: PLR0917
    rows: npt.NDArray[np.intp], columns: Array, features: npt.NDArray[np.intp], w: Array, bias: float, y: Array
) -> bool:
    """Return whether a sample that is not among the rows, in ascending order, lies within the margin."""
    values = np.empty(y.size)
    decision_values(columns, features, w, bias, values)
    following = 0
    for i in range(y.size):
        if following < rows.size and rows[following] == i:
            following += 1
        elif y[i] * values[i] < 1.0:
            return True
    return False


class LinearMachines(Machines):
    """Machines with the linear kernel, each on the samples near its margin.

    A sample far outside the margin has alpha = 0, and stays out of the working set, whose Gram matrix is kept, until it
    comes near.
    """

    def __init__(self, problem: EliminationProblem) -> None:
        super().__init__(problem)
        self.columns, self.squares = self._columns(problem.kernel.feature_weights(problem.X.shape[1]))
        self.trace = self.squares.sum()
        none = np.zeros(problem.X.shape[0])
        self.chunks = [self._chunk(machine, _every_few(y), none) for machine, y in enumerate(problem.labels)]
        self.w = np.zeros((len(problem.labels), len(self.features)))
        self.outdated = False
        self.has_residuals = [False] * len(self.chunks)

    def train(self) -> bool:  # noqa: D102
        if self.outdated:
            # Fewer samples may do by now, too.
            for machine in range(len(self.chunks)):
                self._rebuild(machine)
            self.outdated = False
        converged = [self._train(machine) for machine in range(len(self.chunks))]
        return all(converged)

    def costs(self) -> NDArray[np.float64]:  # noqa: D102
        costs: NDArray[np.float64] = (self.w**2).sum(axis=0)
        return costs

    def drop(self, positions: NDArray[np.intp]) -> None:  # noqa: D102
        dropped = self.features[positions]
        self.features = np.delete(self.features, positions)
        self.w = np.delete(self.w, positions, axis=1)
        trace = self.squares[self.features].sum()
        if trace < RECOMPUTE_BELOW_SHARE * self.trace:
            self.trace, self.outdated = trace, True
        if self.outdated:
            return
        for chunk in self.chunks:
            for feature in dropped:
                self._drop_from(chunk, feature)

    def solution(self, machine: int) -> MachineSolution:  # noqa: D102
        chunk = self.chunks[machine]
        box, c, residuals = chunk.box, chunk.box.c, None
        if len(chunk.rows) < self.problem.X.shape[0]:
            c = np.zeros(self.problem.X.shape[0])
            c[chunk.rows] = box.c
        elif self.has_residuals[machine]:
            residuals = box.r, box.error, box.kernel_error
        # A matrix of d terms, and d downdates, round each entry 2 d + 2 times in units of |x_i| |x_k| as it was built.
        error = 2.0 * EPSILON * (self.problem.X.shape[1] + VALUE_TERMS) * float(self.trace)
        return MachineSolution(c, compiled_bias(box), self.w[machine], (chunk.rows, chunk.K, error), residuals)

    def _train(self, machine: int) -> bool:
        problem = self.problem
        for rounds_left in reversed(range(MAX_TRAININGS)):
            chunk = self.chunks[machine]
            converged = self.has_residuals[machine] = bool(train(chunk, problem.tolerance))
            if not converged and problem.solver == "auto":
                rounding = Rounding(chunk.box.relative, chunk.box.reach, chunk.box.lengths)
                dual = DualProblem(chunk.K, chunk.y, problem.C[chunk.rows], rounding=rounding)
                # Of many features and a large C it is often the rounding alone that exceeds the tolerance.
                here = DualSolution(
                    np.abs(chunk.box.c), compiled_bias(chunk.box), 0.0, np.inf, 0, "smo", converged=False
                )
                found = scaled_up(dual, here, problem.tolerance)
                same_free = found is not None and np.array_equal(found.alpha < dual.C, here.alpha < dual.C)
                if found is None:
                    found = solve(dual, tolerance=problem.tolerance, solver="interior-point", on_failure="flag")
                converged = found.converged
                put_at(chunk, found.alpha * chunk.y, keeps_factor=same_free)
            self._weigh(machine)
            if len(chunk.rows) == problem.X.shape[0] or not self._has_margin_violators(machine):
                return converged
            self._rebuild(machine, every=rounds_left == 1)
        raise AssertionError("the last round is on all samples")

    def _rebuild(self, machine: int, *, every: bool = False) -> None:
        """Make the samples near the margin and those with alpha > 0, or `every` one, a machine's working set."""
        chunk, y = self.chunks[machine], self.problem.labels[machine]
        margins = y * self._decision_values(machine)
        coefficients = np.zeros(len(y))
        coefficients[chunk.rows] = chunk.box.c
        near = (margins < 1 + WORKING_SET_MARGIN) | (coefficients != 0)
        rows = np.arange(len(y)) if every or near.mean() > MAX_WORKING_SET_SHARE else np.flatnonzero(near)
        self.chunks[machine] = self._chunk(machine, rows, coefficients)

    def _columns(self, weights: NDArray[np.float64] | None) -> tuple[Any, NDArray[np.float64]]:
        """Return the features' columns, multiplied by the roots of the weights, and their squared lengths."""
        X = self.problem.X
        columns = np.ascontiguousarray((X if weights is None else X * np.sqrt(weights)).T)
        return columns, (columns**2).sum(axis=1)

    def _chunk(self, machine: int, rows: NDArray[np.intp], coefficients: Array) -> Chunk:
        y, C = self.problem.labels[machine], self.problem.C
        return make_chunk(rows, self.columns, self.features, y, coefficients, C)

    def _drop_from(self, chunk: Chunk, feature: int) -> None:
        drop_feature(chunk, feature)

    def _weigh(self, machine: int) -> None:
        """Compute the weights of the features that are left."""
        normal_vector(self.chunks[machine], self.features, self.w[machine])

    def _has_margin_violators(self, machine: int) -> bool:
        """Return whether a sample outside the working set lies within the margin."""
        chunk, y = self.chunks[machine], self.problem.labels[machine]
        bias = compiled_bias(chunk.box)
        return bool(has_margin_violators(chunk.rows, self.columns, self.features, self.w[machine], bias, y))

    def _decision_values(self, machine: int) -> NDArray[np.float64]:
        """Return the scores of all samples."""
        values = np.empty(self.problem.X.shape[0])
        bias = compiled_bias(self.chunks[machine].box)
        decision_values(self.columns, self.features, self.w[machine], bias, values)
        return values


class SparseColumns(NamedTuple):
    """Columns of a sparse matrix: those of feature j are at `starts[j]` to `starts[j + 1]`.

    Attributes
    ----------
    starts : (n_features + 1,) array of int
    samples : (n_stored,) array of int
    values : (n_stored,) array
    """

    starts: npt.NDArray[np.intp]
    samples: npt.NDArray[np.intp]
    values: Array


@njit(**COMPILED)
def sparse_normal_vector(columns: SparseColumns, features: npt.NDArray[np.intp], c: Array, w: Array) -> None:
    """Fill in the weight of each feature that is left, shape (n_left,)."""
    for j in range(features.size):
        w[j] = 0.0
        for k in range(columns.starts[features[j]], columns.starts[features[j] + 1]):
            w[j] += columns.values[k] * c[columns.samples[k]]


@njit(**COMPILED)
def sparse_decision_values(
    columns: SparseColumns, features: npt.NDArray[np.intp], w: Array, bias: float, values: Array
) -> None:
    """Fill in the machine's scores of all samples, shape (n_samples,)."""
    for i in range(values.size):
        values[i] = bias
    for j in range(features.size):
        for k in range(columns.starts[features[j]], columns.starts[features[j] + 1]):
            values[columns.samples[k]] += w[j] * columns.values[k]


class SparseLinearMachines(LinearMachines):
    """The same on a sparse matrix, from whose columns nothing is subtracted, for they would be sparse no more.

    A feature that goes changes the rows of the Gram matrix that belong to samples which have it.
    """

    def __init__(self, problem: EliminationProblem) -> None:
        check_memory_for_pairs(
            "rfe on a sparse matrix", problem.X.shape[0], SPARSE_PAIR_MATRICES, "or take mutual-information"
        )
        super().__init__(problem)

    def _columns(self, weights: NDArray[np.float64] | None) -> tuple[SparseColumns, NDArray[np.float64]]:
        X = sp.csr_array(self.problem.X)
        self.samples = X if weights is None else sp.csr_array(X * np.sqrt(weights))
        return _sparse_columns(self.samples), self.samples.power(2).sum(axis=0)

    def _chunk(self, machine: int, rows: NDArray[np.intp], coefficients: Array) -> Chunk:
        own = self.samples if len(rows) == self.samples.shape[0] else self.samples[rows]
        left = own if len(self.features) == own.shape[1] else own[:, self.features]
        K = (left @ left.T).toarray()
        y = self.problem.labels[machine][rows]
        chunk = Chunk(rows, _sparse_columns(own), K, y, *make_scratch(len(rows)))
        return _chunk_with(chunk, int(np.diff(left.indptr).max()), coefficients, self.problem.C)

    def _drop_from(self, chunk: Chunk, feature: int) -> None:
        columns, x = chunk.columns, np.zeros(len(chunk.rows))
        own = slice(columns.starts[feature], columns.starts[feature + 1])
        x[columns.samples[own]] = columns.values[own]
        downdate_gram(chunk.K, chunk.box, chunk.factor, x)

    def _weigh(self, machine: int) -> None:
        chunk = self.chunks[machine]
        sparse_normal_vector(chunk.columns, self.features, chunk.box.c, self.w[machine])

    def _has_margin_violators(self, machine: int) -> bool:
        within = self.problem.labels[machine] * self._decision_values(machine) < 1.0
        within[self.chunks[machine].rows] = False
        return bool(within.any())

    def _decision_values(self, machine: int) -> NDArray[np.float64]:
        values = np.empty(self.problem.X.shape[0])
        bias = compiled_bias(self.chunks[machine].box)
        sparse_decision_values(self.columns, self.features, self.w[machine], bias, values)
        return values


def _sparse_columns(X: Any) -> SparseColumns:
    by_column = sp.csc_array(X)
    return SparseColumns(by_column.indptr.astype(np.intp), by_column.indices.astype(np.intp), by_column.data)


def _every_few(y: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return about `INITIAL_WORKING_SET_SAMPLES` rows, evenly from both classes, in ascending order."""
    stride = -(-len(y) // INITIAL_WORKING_SET_SAMPLES)
    return np.sort(np.concatenate([np.flatnonzero(y > 0)[::stride], np.flatnonzero(y < 0)[::stride]]))


class LeavingFeatures:
    """Samples on the features that are left.

    Attributes
    ----------
    X : ndarray, shape (n_samples, n_left)
        Row by row in memory, with columns between the rows that nobody needs any more.
    features : ndarray of int, shape (n_left,)
        Of the columns. The last column takes the place of one that is dropped, and no other moves.
    squared_lengths : ndarray, shape (n_samples,)
        Of the samples.
    """

    def __init__(self, X: NDArray[np.float64], weights: NDArray[np.float64] | None) -> None:
        self.X = np.multiply(X, 1.0 if weights is None else np.sqrt(weights), order="C")
        self._memory = self.X.reshape(-1)
        self.features = np.arange(X.shape[1])
        self.squared_lengths = squared_norms(self.X)
        self._computed = self.squared_lengths.copy()

    def drop(self, feature: int) -> NDArray[np.float64]:
        """Let a feature go; return its column, shape (n_samples,)."""
        (column,) = np.flatnonzero(self.features == feature)
        last = len(self.features) - 1
        dropped = self.X[:, column].copy()
        if column != last:
            self.X[:, column], self.features[column] = self.X[:, last], self.features[last]
        self.X, self.features = self.X[:, :last], self.features[:last]
        if last * self.X.itemsize <= COMPACT_BELOW_SHARE * self.X.strides[0]:
            self._move_together()
        self._shorten(dropped)
        return dropped

    def _move_together(self) -> None:
        """Move the rows to the front of the memory, from the first one on, so that none is overwritten before."""
        n, d = self.X.shape
        together = self._memory[: n * d].reshape(n, d)
        for rows in blocks_of(n):
            together[rows] = self.X[rows]
        self.X = together

    def _shorten(self, dropped: NDArray[np.float64]) -> None:
        self.squared_lengths = self.squared_lengths - dropped * dropped
        few = np.flatnonzero(self.squared_lengths < RECOMPUTE_BELOW_SHARE * self._computed)
        self.squared_lengths[few] = self._computed[few] = np.einsum("ij,ij->i", self.X[few], self.X[few])


class FeatureSpaceMachines(Machines):
    """Linear machines on more samples than features, solved in the space of the features."""

    def __init__(self, problem: EliminationProblem) -> None:
        super().__init__(problem)
        self.samples = LeavingFeatures(problem.X, problem.kernel.feature_weights(problem.X.shape[1]))
        self.found: list[LinearSolution] = []
        self.w = np.zeros((len(problem.labels), len(self.features)))
        self.outputs = np.zeros(problem.labels.shape)

    def train(self) -> bool:  # noqa: D102
        problem, samples = self.problem, self.samples
        of_columns = np.searchsorted(self.features, samples.features)
        found = []
        for machine, y in enumerate(problem.labels):
            before = self.found[machine] if self.found else None
            found.append(
                solve_linear(
                    LinearProblem(samples.X, y, problem.C, squared_lengths=samples.squared_lengths),
                    tolerance=problem.tolerance,
                    alpha0=None if before is None else before.alpha,
                    w0=None if before is None else self.w[machine, of_columns],
                    outputs0=None if before is None else self.outputs[machine],
                    on_failure="flag",
                )
            )
            self.w[machine, of_columns], self.outputs[machine] = found[-1].w, found[-1].outputs
        self.found = found
        return all(each.converged for each in found)

    def costs(self) -> NDArray[np.float64]:  # noqa: D102
        costs: NDArray[np.float64] = (self.w**2).sum(axis=0)
        return costs

    def solution(self, machine: int) -> MachineSolution:  # noqa: D102
        found = self.found[machine]
        return MachineSolution(found.alpha * self.problem.labels[machine], found.bias)

    def drop(self, positions: NDArray[np.intp]) -> None:  # noqa: D102
        for position in positions:
            column = self.samples.drop(self.features[position])
            for machine, w in enumerate(self.w):
                self.outputs[machine] -= w[position] * column
        self.features = np.delete(self.features, positions)
        self.w = np.delete(self.w, positions, axis=1)
