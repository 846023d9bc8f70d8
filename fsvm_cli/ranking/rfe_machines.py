"""Machines on a set of features that shrinks, for recursive feature elimination."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fsvm_cli.ranking.rfe_steps import (
    decision_values,
    drop_feature,
    has_strays,
    make_chunk,
    normal_vector,
    restart_at,
    train,
)
from fsvm_cli.svm import DualProblem, solve
from fsvm_cli.svm.solvers.conclusion import compiled_bias

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fsvm_cli.svm import Kernel
    from fsvm_cli.svm.solvers.dual import Solver

NEAR = 1.0
"""Samples that lie this far outside the margin, in units of the decision value, or nearer, are watched."""
NEARLY_ALL = 0.8
"""Where so large a part of the samples is to be watched, all are: then none needs to be looked for."""
FIRST_SAMPLES = 200
"""A linear machine begins with about so many samples: which others lie near its margin, it then knows."""
ROUNDS = 50
"""Trainings of one machine at most, the last of them on all samples: one that misses its gap need not settle."""
SHRUNK = 0.25
"""A sum over features that has shrunk to this part of itself is made anew: what is subtracted leaves its rounding."""


@dataclass(frozen=True, eq=False)
class Task:
    """What stays the same while features go.

    Attributes
    ----------
    kernel : Kernel
    X : ndarray, shape (n_samples, n_features)
    labels : ndarray, shape (n_machines, n_samples)
        -1 or +1.
    C, tolerance, solver
        As in `fsvm_cli.svm.solve`.
    """

    kernel: Kernel
    X: NDArray[np.float64]
    labels: NDArray[np.float64]
    C: float
    tolerance: float
    solver: Solver


class Machines(ABC):
    """One machine per class (two classes: one) on the features that are left.

    Attributes
    ----------
    task : Task
    features : ndarray of int, shape (n_left,)
        In ascending order.
    """

    def __init__(self, task: Task) -> None:
        self.task = task
        self.features = np.arange(task.X.shape[1])

    @abstractmethod
    def train(self) -> bool:
        """Train all machines from where they stand; return whether all reached their duality gap."""

    @abstractmethod
    def costs(self) -> NDArray[np.float64]:
        """Return what each feature that is left adds to the squared norms at fixed coefficients, shape (n_left,)."""

    @abstractmethod
    def drop(self, places: NDArray[np.intp]) -> None:
        """Let the features at these places of `features` go."""


class KernelMachines(Machines):
    """Machines with any kernel, on a sum over features from which terms are subtracted."""

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        self.alphas = np.zeros(task.labels.shape)
        self._sum_up()

    def train(self) -> bool:  # noqa: D102
        task = self.task
        gram = task.kernel.value(self.statistic)
        converged = True
        for machine, y in enumerate(task.labels):
            problem, start = DualProblem(gram, y, task.C), self.alphas[machine]
            found = solve(problem, tolerance=task.tolerance, solver=task.solver, alpha0=start, on_failure="flag")
            self.alphas[machine] = found.alpha
            converged &= found.converged
        return converged

    def costs(self) -> NDArray[np.float64]:  # noqa: D102
        kernel = self.task.kernel
        support = np.flatnonzero((self.alphas != 0).any(axis=0))
        X, coefficients = self.task.X[support], (self.alphas * self.task.labels)[:, support]
        statistic = self.statistic[np.ix_(support, support)]
        # One coefficient for each pair: the sum over the machines of their products.
        pairs = coefficients.T @ coefficients
        whole = kernel.value(statistic)
        costs = np.empty(len(self.features))
        for place, feature in enumerate(self.features.tolist()):
            without = kernel.value(statistic - kernel.statistic_matrix(X, X, [feature]))
            costs[place] = np.sum(pairs * (whole - without))
        return costs

    def drop(self, places: NDArray[np.intp]) -> None:  # noqa: D102
        dropped = self.features[places]
        self.features = np.delete(self.features, places)
        self.statistic -= self.task.kernel.statistic_matrix(self.task.X, self.task.X, dropped)
        if np.abs(self.statistic).max() < SHRUNK * self.size:
            self._sum_up()

    def _sum_up(self) -> None:
        self.statistic = self.task.kernel.statistic_matrix(self.task.X, self.task.X, self.features)
        self.size = np.abs(self.statistic).max()


class LinearMachines(Machines):
    """Machines with the linear kernel, each on the samples near its margin.

    A sample far outside the margin has alpha = 0 and stays out of the Gram matrix until it comes near.
    """

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        weights = task.kernel.feature_weights(task.X.shape[1])
        self.columns = np.ascontiguousarray((task.X if weights is None else task.X * np.sqrt(weights)).T)
        self.squares = (self.columns**2).sum(axis=1)
        self.trace = self.squares.sum()
        none = np.zeros(len(task.X))
        self.chunks = [make_chunk(_every_few(y), self.columns, self.features, y, none, task.C) for y in task.labels]
        self.w = np.zeros((len(task.labels), len(self.features)))
        self.shrunk = False

    def train(self) -> bool:  # noqa: D102
        if self.shrunk:
            # By now each machine may do with fewer samples, too.
            for machine in range(len(self.chunks)):
                self._watch(machine)
            self.shrunk = False
        converged = [self._train(machine) for machine in range(len(self.chunks))]
        return all(converged)

    def costs(self) -> NDArray[np.float64]:  # noqa: D102
        costs: NDArray[np.float64] = (self.w**2).sum(axis=0)
        return costs

    def drop(self, places: NDArray[np.intp]) -> None:  # noqa: D102
        dropped = self.features[places]
        self.features = np.delete(self.features, places)
        self.w = np.delete(self.w, places, axis=1)
        trace = self.squares[self.features].sum()
        if trace < SHRUNK * self.trace:
            self.trace, self.shrunk = trace, True
        if self.shrunk:
            return
        for chunk in self.chunks:
            for feature in dropped:
                drop_feature(chunk, feature)

    def _train(self, machine: int) -> bool:
        task = self.task
        for rounds_left in reversed(range(ROUNDS)):
            chunk = self.chunks[machine]
            converged = bool(train(chunk, task.tolerance))
            if not converged and task.solver == "auto":
                problem = DualProblem(chunk.K, chunk.y, task.C)
                found = solve(problem, tolerance=task.tolerance, solver="interior-point", on_failure="flag")
                converged = found.converged
                restart_at(chunk, found.alpha * chunk.y)
            w = self.w[machine]
            normal_vector(chunk, self.features, w)
            if len(chunk.rows) == len(task.X):
                return converged
            bias = compiled_bias(chunk.box)
            if not has_strays(chunk.rows, self.columns, self.features, w, bias, task.labels[machine]):
                return converged
            self._watch(machine, every=rounds_left == 1)
        raise AssertionError("the last round is on all samples")

    def _watch(self, machine: int, *, every: bool = False) -> None:
        """Rebuild a machine on the samples near its margin and those with alpha > 0, or on `every` sample."""
        chunk, y = self.chunks[machine], self.task.labels[machine]
        margins = np.empty(len(y))
        decision_values(self.columns, self.features, self.w[machine], compiled_bias(chunk.box), margins)
        margins *= y
        coefficients = np.zeros(len(y))
        coefficients[chunk.rows] = chunk.box.c
        near = (margins < 1 + NEAR) | (coefficients != 0)
        rows = np.arange(len(y)) if every or near.mean() > NEARLY_ALL else np.flatnonzero(near)
        self.chunks[machine] = make_chunk(rows, self.columns, self.features, y, coefficients, self.task.C)


def _every_few(y: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return about `FIRST_SAMPLES` rows, evenly from both classes, in ascending order."""
    stride = -(-len(y) // FIRST_SAMPLES)
    return np.sort(np.concatenate([np.flatnonzero(y > 0)[::stride], np.flatnonzero(y < 0)[::stride]]))
