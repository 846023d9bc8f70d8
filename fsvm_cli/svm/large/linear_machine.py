"""The linear machine of a fit, with a duality gap that covers the rounding of its decision values.

Columns far from the origin are centred first, for which the bias of the machine makes up.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from math import fsum
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.utils.sparsefuncs import mean_variance_axis

from fsvm_cli.memory_check import free_memory
from fsvm_cli.svm.compiled import EPSILON
from fsvm_cli.svm.large.linear import LinearSolution
from fsvm_cli.svm.large.linear_problem import BLOCK_ROWS, blocks_of, outputs_of, weighted_sum
from fsvm_cli.svm.solvers.dual import DualSolution
from fsvm_cli.svm.solvers.optimality import accurate_sum

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fsvm_cli.svm.compiled import Array

CENTRE_UNIT_DEVIATIONS = 8.0
"""Of a centre, in standard deviations of its column, before it is rounded up to a power of two. A column whose mean is
less than half of that is not changed: a standardised one keeps every digit."""
MIN_SPARSE_SHARE = 100.0
"""Of the variance of all columns: sparse samples with a smaller squared centre lose two digits, and stay sparse."""
DENSE_COPIES = 3
"""Of samples that were sparse: themselves, less their centre, and their features multiplied by their weights."""
MAX_PART_OF_FREE_MEMORY = 0.5
"""For samples that were sparse, and for a Gram matrix with its factor."""


def centre_of(X: Any) -> Array | None:
    """Return what is subtracted from each column, shape (d,); None where nothing is.

    The optimum of a machine with a bias does not depend on it, but rounding does: of a column of 1e9 ± 1, a kernel
    value has lost all digits in which samples differ. The centre is the mean, rounded to a multiple of a
    power of two, which leaves most differences from it without rounding. Of a constant column it is the constant.

    Parameters
    ----------
    X : (n, d) array or sparse matrix
        Of a sparse one nothing is subtracted where there is no memory for a dense one, which it would be then.
    """
    if sparse.issparse(X) and not fits_densely(*X.shape):
        return None
    lowest, highest = (_dense_row(each) for each in (X.min(axis=0), X.max(axis=0)))
    constant = lowest == highest
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        mean, variance = _moments(X)
        deviation = np.sqrt(variance)
        unit = np.exp2(np.ceil(np.log2(CENTRE_UNIT_DEVIATIONS * deviation)))
        rounded = unit * np.rint(mean / unit)
    centre = np.where(constant, lowest, np.where(np.isfinite(rounded), rounded, 0.0))
    is_lost = not sparse.issparse(X) or centre @ centre > MIN_SPARSE_SHARE * variance.sum()
    return centre if centre.any() and is_lost else None


def _dense_row(row: Any) -> Array:
    return np.ravel(row.toarray() if sparse.issparse(row) else row)


def _moments(X: Any) -> tuple[Array, Array]:
    """Return mean and variance of each column."""
    n = X.shape[0]
    if sparse.issparse(X):
        mean, variance = mean_variance_axis(X.tocsr().astype(np.float64), axis=0)
        return mean, variance
    mean = np.sum([X[rows].sum(axis=0) / n for rows in blocks_of(n)], axis=0)
    return mean, np.sum([((X[rows] - mean) ** 2).sum(axis=0) / n for rows in blocks_of(n)], axis=0)


def fits_densely(n: int, d: int) -> bool:
    """Return whether there is memory for sparse samples as dense ones."""
    return 8 * DENSE_COPIES * n * d <= MAX_PART_OF_FREE_MEMORY * free_memory()


def centred(X: Any, centre: Array | None) -> Any:
    """Return samples less their centre: the same object where there is none.

    Parameters
    ----------
    X : (n, d) array or sparse matrix
        A sparse one that has a centre, that of dense training samples, becomes dense.
    centre : (d,) array, optional
    """
    if centre is None:
        return X
    return (X.toarray() if sparse.issparse(X) else X) - centre


MAX_STRETCHES = 3
"""Times that a machine is scaled up: rounding may leave a sample within its margin again."""


class LinearMachine(NamedTuple):
    """The decision function x -> (x - centre) . coef + bias.

    Attributes
    ----------
    coef : (d,) array
        Of the columns as they are given.
    bias : float
        The decision value at the centre.
    centre : (d,) array or None
        None where nothing is subtracted.
    """

    coef: Array
    bias: float
    centre: Array | None = None

    @property
    def intercept(self) -> float:
        """The decision value at the origin."""
        return self.bias if self.centre is None else fsum([self.bias, *(-self.coef * self.centre)])

    def scaled(self, factor: float) -> LinearMachine:
        """Return the machine with all decision values multiplied."""
        return LinearMachine(factor * self.coef, factor * self.bias, self.centre)


@dataclass(frozen=True, eq=False)
class LinearMachineSolution(DualSolution):
    """A `DualSolution` whose gap is that of the decision values of a machine.

    Attributes
    ----------
    machine : LinearMachine
    """

    machine: LinearMachine


class MachineProblem(NamedTuple):
    """What a linear machine is certified against.

    Attributes
    ----------
    Z : (n, d) array or CSR matrix
        Samples less their centre.
    y, C : (n,) arrays
        Labels and upper bounds.
    weights : (d,) array or None
        Of the kernel K(u, v) = sum_j weights_j u_j v_j.
    centre : (d,) array or None
    """

    Z: Any
    y: Array
    C: Array
    weights: Array | None = None
    centre: Array | None = None


def handed_out(
    problem: MachineProblem, found: DualSolution, tolerance: float, *, improve: bool
) -> LinearMachineSolution:
    """Return the machine of a solution with the gap of its decision values.

    Parameters
    ----------
    problem : MachineProblem
    found : DualSolution
        Of the problem, however it was found; its bias is that of the samples less their centre.
    tolerance : float
        The relative duality gap to reach.
    improve : bool
        Whether a machine that misses it may be given another bias, and be scaled up until no sample with
        alpha_i < C_i is within its margin. Where C is large and the coefficients are tiny, C times the rounding of a
        decision value is more than the tolerance, and what the scale adds is not.
    """
    certifier = _Certifier(problem, _balanced(problem, found.alpha) if improve else found.alpha)
    best = certifier.machine(found)
    gap = certifier.gap(best)
    if improve and not gap <= tolerance:
        for other in certifier.alternatives(best):
            other_gap = certifier.gap(other)
            best, gap = (other, other_gap) if other_gap < gap else (best, gap)
            if gap <= tolerance:
                break
    kept: dict[str, Any] = {each.name: getattr(found, each.name) for each in fields(DualSolution)}
    kept |= {"alpha": certifier.alpha, "bias": best.bias, "duality_gap": gap}
    kept["converged"] = gap <= tolerance if improve else found.converged
    return LinearMachineSolution(**kept, machine=best)


def joint_outputs(machines: Sequence[LinearMachine], X: Any) -> Array:
    """Return the decision values of machines with one centre, shape (n_machines, n).

    Parameters
    ----------
    machines : sequence of LinearMachine
    X : (n, d) array or CSR matrix
        As it is given.
    """
    centre = machines[0].centre
    normals = np.array([machine.coef for machine in machines]).T
    if centre is None:
        values = np.asarray(X @ normals, dtype=np.float64)
    else:
        values = np.concatenate([centred(X[rows], centre) @ normals for rows in blocks_of(X.shape[0])])
    biases = np.array([[machine.bias] for machine in machines])
    return np.asarray(values.T + biases, dtype=np.float64)


def outputs_with_errors(Z: Any, machine: LinearMachine) -> tuple[Array, Array]:
    """Return decision values, shape (n,), and a bound on their errors, in whatever order their terms are added.

    The error is that from the exact decision value, and from any other that is computed in doubles; it holds the
    rounding of the samples less their centre.

    Parameters
    ----------
    Z : (n, d) array or CSR matrix
        Samples less their centre.
    machine : LinearMachine
    """
    size, d = np.abs(machine.coef), Z.shape[1]
    if sparse.issparse(Z):
        values, sizes, terms = Z @ machine.coef, abs(Z) @ size, int(np.diff(Z.indptr).max(initial=0))
    else:
        values, terms = outputs_of(Z, machine.coef), d
        sizes = np.concatenate([np.abs(Z[rows]) @ size for rows in blocks_of(len(Z))])
    return values + machine.bias, EPSILON * (terms + 4.0) * (sizes + abs(machine.bias))


class _Certifier:
    """Dual coefficients, and the gap of any machine beside them."""

    def __init__(self, problem: MachineProblem, alpha: Array) -> None:
        self.problem, self.alpha = problem, alpha
        coefficients, n = alpha * problem.y, len(alpha)
        support = np.flatnonzero(alpha)
        samples = problem.Z[support]
        if sparse.issparse(samples):
            self.v, sizes, terms = coefficients[support] @ samples, alpha[support] @ abs(samples), len(support)
        else:
            self.v, terms = weighted_sum(coefficients[support], samples), min(n, BLOCK_ROWS) + n // BLOCK_ROWS
            sizes = np.zeros(samples.shape[1])
            for rows in blocks_of(len(samples)):
                sizes += alpha[support[rows]] @ np.abs(samples[rows])
        self.unbalanced = abs(accurate_sum(coefficients)) + (EPSILON * n) ** 2 * fsum(alpha)
        self.error = EPSILON * (terms + 4.0) * sizes
        if problem.centre is not None:
            self.error += self.unbalanced * np.abs(problem.centre)

    def machine(self, found: DualSolution) -> LinearMachine:
        """Return the machine of the coefficients: that of the solver where it has made one."""
        weights = self.problem.weights
        if isinstance(found, LinearSolution):
            coef = found.w if weights is None else found.w * np.sqrt(weights)
        else:
            coef = self.v if weights is None else self.v * weights
        return LinearMachine(coef, found.bias, self.problem.centre)

    def gap(self, machine: LinearMachine) -> float:
        """Return an upper bound of the relative duality gap of a machine.

        With v = sum_i alpha_i y_i x_i, s_i = 1 - y_i f_i and the norm of the kernel's feature space, it is

            |w - v|^2 / 2 + sum_i [C_i max(0, s_i) - alpha_i s_i] - (b - w . centre) sum_i alpha_i y_i

        over the larger objective, whatever w is: a sum of large objectives would lose the digits. Infinity where a
        sample without upper bound may be within its margin.
        """
        y, C, alpha = self.problem.y, self.problem.C, self.alpha
        values, error = outputs_with_errors(self.problem.Z, machine)
        slack, error = 1.0 - y * values, error + EPSILON * (1.0 + np.abs(values))
        if (slack + error)[np.isinf(C)].max(initial=-1.0) > 0.0:
            return float("inf")
        bounds = np.where(np.isinf(C), 0.0, C)
        if not (np.isfinite(bounds * np.abs(slack)).all() and np.isfinite(error).all()):
            return float("inf")
        losses, worst_losses = bounds * np.maximum(slack, 0.0), bounds * np.maximum(slack + error, 0.0)
        squared_norm, squared_distance = self._squares(machine)
        gap = 0.5 * squared_distance + fsum(losses - alpha * slack)
        worst = 0.5 * squared_distance + fsum(worst_losses - alpha * (slack - error))
        worst += 4.0 * EPSILON * fsum(worst_losses + alpha * (np.abs(slack) + error))
        worst += self.unbalanced * self._offset(machine)
        primal = 0.5 * squared_norm + fsum(losses)
        size = max(primal, abs(primal - gap)) * (1.0 - 8.0 * EPSILON) - 2.0 * (worst - gap)
        if size > 0.0:
            return float(worst / size)
        return 0.0 if worst == 0.0 else float("inf")

    def alternatives(self, machine: LinearMachine) -> list[LinearMachine]:
        """Return the machine with the bias that its free samples ask for, and both machines scaled up."""
        y, C, alpha = self.problem.y, self.problem.C, self.alpha
        values, _ = outputs_with_errors(self.problem.Z, machine)
        free = (alpha > 0.0) & (alpha < C)
        machines = [machine]
        if free.any():
            machines.append(machine._replace(bias=machine.bias + float((y - values)[free].mean())))
        return [*machines[1:], *map(self._stretched, machines)]

    def _stretched(self, machine: LinearMachine) -> LinearMachine:
        outside = self.alpha < self.problem.C
        for _ in range(MAX_STRETCHES):
            values, error = outputs_with_errors(self.problem.Z, machine)
            least = float(
                (self.problem.y * values - error - EPSILON * (1.0 + np.abs(values)))[outside].min(initial=1.0)
            )
            if not 0.0 < least < 1.0:
                break
            machine = machine.scaled((1.0 + EPSILON) / least)
        return machine

    def _squares(self, machine: LinearMachine) -> tuple[float, float]:
        """Return |w|^2, and the most that |w - v|^2 can be."""
        weights, coef = self.problem.weights, machine.coef
        if weights is None:
            weights = np.ones(len(coef))
        used = weights > 0.0
        w, v, error, weights = coef[used] / weights[used], self.v[used], self.error[used], weights[used]
        apart = np.abs(w - v) + error + 2.0 * EPSILON * np.abs(w)
        return fsum(weights * w**2), fsum(weights * apart**2) * (1.0 + 8.0 * EPSILON)

    def _offset(self, machine: LinearMachine) -> float:
        """Return the most that the decision value at the origin can be."""
        if self.problem.centre is None:
            return abs(machine.bias)
        terms = np.abs(machine.coef * self.problem.centre)
        return abs(machine.intercept) + 4.0 * EPSILON * (fsum(terms) + abs(machine.bias))


def _balanced(problem: MachineProblem, alpha: Array) -> Array:
    """Restore y'alpha = 0 to far below the last digit of its largest term, where columns have a centre.

    What the coefficients sum to counts times the centre. The free samples make up for it one after the other, from
    large to small coefficients; each leaves what its own last digit can't hold.
    """
    if problem.centre is None:
        return alpha
    balanced, missing = alpha.copy(), accurate_sum(alpha * problem.y)
    free = np.flatnonzero((alpha > 0.0) & (alpha < problem.C))
    for i in free[np.argsort(-alpha[free], kind="stable")]:
        if missing == 0.0:
            break
        moved = balanced[i] - problem.y[i] * missing
        if 0.0 < moved < problem.C[i]:
            missing += problem.y[i] * (moved - balanced[i])
            balanced[i] = moved
    return balanced
