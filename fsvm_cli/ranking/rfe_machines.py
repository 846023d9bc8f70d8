"""Machines on ever fewer features, for recursive feature elimination."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from fsvm_cli.memory import check_room_for_pairs
from fsvm_cli.ranking.rfe_samples import RECOMPUTE_BELOW, LeavingFeatures
from fsvm_cli.ranking.rfe_steps import (
    decision_values,
    drop_feature,
    has_margin_violators,
    make_chunk,
    normal_vector,
    restart_at,
    train,
)
from fsvm_cli.svm import DualProblem, solve
from fsvm_cli.svm.linear.centring import centre_of, centred
from fsvm_cli.svm.linear.problem import LinearProblem
from fsvm_cli.svm.linear.solve import solve_linear
from fsvm_cli.svm.solvers.conclusion import compiled_bias
from fsvm_cli.svm.training_set import works_in_feature_space

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fsvm_cli.svm.kernels.additive import AdditiveKernel
    from fsvm_cli.svm.linear.solve import LinearSolution
    from fsvm_cli.svm.solvers.dual import Solver

NEAR = 1.0
"""Samples up to this far outside the margin, in units of the decision value, are in the working set."""
NEARLY_ALL = 0.8
"""Where so large a part of the samples is in the working set, all are: then no violator needs to be looked for."""
FIRST_SAMPLES = 200
"""A linear machine begins with about so many samples, which tell what others lie near its margin."""
ROUNDS = 50
"""Trainings of one machine at most, the last of them on all samples: one that misses its gap may go on for ever."""
PAIR_MATRICES = 3
"""Matrices of all pairs of samples that machines with a kernel hold: sums over features, kernel values, a factor."""


@dataclass(frozen=True, eq=False)
class EliminationProblem:
    """What stays the same while features go.

    Attributes
    ----------
    kernel : AdditiveKernel
    X : ndarray, shape (n_samples, n_features)
    labels : ndarray, shape (n_machines, n_samples)
        -1 or +1.
    C : ndarray, shape (n_samples,)
    tolerance, solver
        As in `fsvm_cli.svm.solve`.
    """

    kernel: AdditiveKernel
    X: NDArray[np.float64]
    labels: NDArray[np.float64]
    C: NDArray[np.float64]
    tolerance: float
    solver: Solver


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

    @abstractmethod
    def drop(self, positions: NDArray[np.intp]) -> None:
        """Drop the features at these positions of `features`."""


class KernelMachines(Machines):
    """Machines with any kernel, on a sum over features from which terms are subtracted."""

    def __init__(self, problem: EliminationProblem) -> None:
        super().__init__(problem)
        check_room_for_pairs(
            f"rfe with the {problem.kernel.name} kernel",
            len(problem.X),
            PAIR_MATRICES,
            "take the linear kernel, which needs none, or gradient-angle",
        )
        self.alphas = np.zeros(problem.labels.shape)
        self._sum_up()

    def train(self) -> bool:  # noqa: D102
        problem = self.problem
        gram = problem.kernel.value(self.statistic)
        converged = True
        for machine, y in enumerate(problem.labels):
            dual, start = DualProblem(gram, y, problem.C), self.alphas[machine]
            found = solve(dual, tolerance=problem.tolerance, solver=problem.solver, alpha0=start, on_failure="flag")
            self.alphas[machine] = found.alpha
            converged &= found.converged
        return converged

    def costs(self) -> NDArray[np.float64]:  # noqa: D102
        kernel = self.problem.kernel
        support = np.flatnonzero((self.alphas != 0).any(axis=0))
        X, coefficients = self.problem.X[support], (self.alphas * self.problem.labels)[:, support]
        statistic = self.statistic[np.ix_(support, support)]
        # For each pair of samples, the sum over the machines of the products of coefficients.
        pairs = coefficients.T @ coefficients
        whole = kernel.value(statistic)
        costs = np.empty(len(self.features))
        for j, feature in enumerate(self.features.tolist()):
            without = kernel.value(statistic - kernel.statistic_matrix(X, X, [feature]))
            costs[j] = np.sum(pairs * (whole - without))
        return costs

    def drop(self, positions: NDArray[np.intp]) -> None:  # noqa: D102
        dropped = self.features[positions]
        self.features = np.delete(self.features, positions)
        self.statistic -= self.problem.kernel.statistic_matrix(self.problem.X, self.problem.X, dropped)
        if np.abs(self.statistic).max() < RECOMPUTE_BELOW * self.size:
            self._sum_up()

    def _sum_up(self) -> None:
        self.statistic = self.problem.kernel.statistic_matrix(self.problem.X, self.problem.X, self.features)
        self.size = np.abs(self.statistic).max()


class LinearMachines(Machines):
    """Machines with the linear kernel, each on the samples near its margin.

    A sample far outside the margin has alpha = 0, and stays out of the working set, whose Gram matrix is kept, until it
    comes near.
    """

    def __init__(self, problem: EliminationProblem) -> None:
        super().__init__(problem)
        weights = problem.kernel.feature_weights(problem.X.shape[1])
        self.columns = np.ascontiguousarray((problem.X if weights is None else problem.X * np.sqrt(weights)).T)
        self.squares = (self.columns**2).sum(axis=1)
        self.trace = self.squares.sum()
        none = np.zeros(len(problem.X))
        self.chunks = [
            make_chunk(_every_few(y), self.columns, self.features, y, none, problem.C) for y in problem.labels
        ]
        self.w = np.zeros((len(problem.labels), len(self.features)))
        self.outdated = False

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
        if trace < RECOMPUTE_BELOW * self.trace:
            self.trace, self.outdated = trace, True
        if self.outdated:
            return
        for chunk in self.chunks:
            for feature in dropped:
                drop_feature(chunk, feature)

    def _train(self, machine: int) -> bool:
        problem = self.problem
        for rounds_left in reversed(range(ROUNDS)):
            chunk = self.chunks[machine]
            converged = bool(train(chunk, problem.tolerance))
            if not converged and problem.solver == "auto":
                dual = DualProblem(chunk.K, chunk.y, problem.C[chunk.rows])
                found = solve(dual, tolerance=problem.tolerance, solver="interior-point", on_failure="flag")
                converged = found.converged
                restart_at(chunk, found.alpha * chunk.y)
            w = self.w[machine]
            normal_vector(chunk, self.features, w)
            if len(chunk.rows) == len(problem.X):
                return converged
            bias = compiled_bias(chunk.box)
            if not has_margin_violators(chunk.rows, self.columns, self.features, w, bias, problem.labels[machine]):
                return converged
            self._rebuild(machine, every=rounds_left == 1)
        raise AssertionError("the last round is on all samples")

    def _rebuild(self, machine: int, *, every: bool = False) -> None:
        """Make the samples near the margin and those with alpha > 0, or `every` one, a machine's working set."""
        chunk, y = self.chunks[machine], self.problem.labels[machine]
        margins = np.empty(len(y))
        decision_values(self.columns, self.features, self.w[machine], compiled_bias(chunk.box), margins)
        margins *= y
        coefficients = np.zeros(len(y))
        coefficients[chunk.rows] = chunk.box.c
        near = (margins < 1 + NEAR) | (coefficients != 0)
        rows = np.arange(len(y)) if every or near.mean() > NEARLY_ALL else np.flatnonzero(near)
        self.chunks[machine] = make_chunk(rows, self.columns, self.features, y, coefficients, self.problem.C)


def _every_few(y: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return about `FIRST_SAMPLES` rows, evenly from both classes, in ascending order."""
    stride = -(-len(y) // FIRST_SAMPLES)
    return np.sort(np.concatenate([np.flatnonzero(y > 0)[::stride], np.flatnonzero(y < 0)[::stride]]))


class FeatureSpaceMachines(Machines):
    """Linear machines on so many samples that the space of the features is the smaller one."""

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

    def drop(self, positions: NDArray[np.intp]) -> None:  # noqa: D102
        for position in positions:
            column = self.samples.drop(self.features[position])
            for machine, w in enumerate(self.w):
                self.outputs[machine] -= w[position] * column
        self.features = np.delete(self.features, positions)
        self.w = np.delete(self.w, positions, axis=1)


def machines_for(problem: EliminationProblem) -> Machines:
    """Choose how the machines are trained, linear ones on samples less their centre."""
    if problem.kernel.is_linear:
        problem = replace(problem, X=centred(problem.X, centre_of(problem.X)))
    if works_in_feature_space(problem.kernel, problem.X, problem.solver):
        return FeatureSpaceMachines(problem)
    fast = problem.kernel.is_linear and problem.solver in {"auto", "smo"}
    return LinearMachines(problem) if fast else KernelMachines(problem)
