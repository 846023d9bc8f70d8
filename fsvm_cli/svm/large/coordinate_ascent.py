"""Linear machines on many sparse samples: coordinate ascent, and Newton steps on the samples that it leaves free.

Passes over the samples raise the dual objective by one coefficient after the other, as in Hsieh et al. (2008), with
w = sum_i alpha_i y_i x_i kept beside the coefficients. There the bias is one more weight, which the norm penalises;
here it is the multiplier of y'alpha = 0, by the method of multipliers (Hestenes 1969). After a few passes it
is nearly known which coefficients are free; Newton steps by conjugate gradients bring their samples onto the margin.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numba import njit
from scipy import sparse
from scipy.sparse.linalg import LinearOperator, cg

from fsvm_cli.svm.compiled import COMPILED, EPSILON
from fsvm_cli.svm.kernels.linear import Linear
from fsvm_cli.svm.large.decomposition import Decomposition
from fsvm_cli.svm.large.decomposition_problem import KernelProblem
from fsvm_cli.svm.large.linear import LinearSolution
from fsvm_cli.svm.large.linear_problem import NormalVectorProblem
from fsvm_cli.svm.solvers.active_set import MAX_VIOLATION
from fsvm_cli.svm.solvers.certificate import certificate, on_bounds
from fsvm_cli.svm.solvers.dual import DualSolution, DualSolver, Needs, Residuals, check_tolerance
from fsvm_cli.svm.solvers.solve import balanced
from fsvm_cli.svm.solvers.working_set import optimise_by_working_sets, signed_bounds

if TYPE_CHECKING:
    import numpy.typing as npt

    from fsvm_cli.svm.compiled import Array

FIRST_PASSES, PASSES = 8, 3
"""Over the samples before the first Newton steps, and before others."""
MAX_STAGES = 20
"""Of passes and Newton steps, after which decomposition goes on."""
MAX_FREE_OF_WORKING_SETS = 1000
"""Free coefficients that working sets, which hold their Gram matrix, take to the exact optimum."""
MAX_ROUNDS = 12
"""Of working sets in one stage."""
MAX_NEWTON_STEPS, MAX_HALVINGS = 2, 5
"""In one stage, each on the coefficients that the step before has left free; and of the length of a step."""
ROUGH, FINE = 1e-2, 1e-6
"""Parts of the residual that conjugate gradients leave: while coefficients still stop at bounds, and once none does."""
MAX_FINE_STAGES = 3
"""Within the tolerance, after which the optimum itself is not waited for. Short of it outputs depend on the way."""
MAX_PRODUCTS = 200
"""Of conjugate gradients in one step."""
RIDGE_OF_STEPS = 1e-10
"""In mean squared lengths, where the free samples are linearly dependent."""


@dataclass(frozen=True, eq=False, init=False)
class SparseProblem(NormalVectorProblem):
    """The problem of a machine with K = X X' on sparse samples; see `BinaryProblem`.

    Attributes
    ----------
    X : (n, d) CSR matrix
        Samples, each column once in a row.
    y, C, equality, ridge
        As in `BinaryProblem`; C given as a number holds for every sample.
    squared_lengths : (n,) array
        x_i . x_i.

    Raises
    ------
    ValueError
        As of `DualProblem`.
    """

    X: Any

    def __init__(self, X: Any, y: npt.ArrayLike, C: npt.ArrayLike, equality: bool = True, ridge: float = 0.0) -> None:
        samples, n = sparse.csr_matrix(X, dtype=np.float64), np.size(y)
        if samples.shape[0] != n or n == 0:
            raise ValueError(f"the samples have shape {samples.shape}; there are {n} labels")
        if not samples.has_canonical_format:
            samples = samples.copy()
            samples.sum_duplicates()
        if not np.isfinite(samples.data).all():
            raise ValueError("the samples hold values that are not finite")
        self._set_constraints(n, y, C, equality, ridge)
        object.__setattr__(self, "X", samples)
        object.__setattr__(self, "squared_lengths", np.asarray(samples.power(2).sum(axis=1)).ravel())

    def normal_vector(self, coefficients: Array) -> Array:  # noqa: D102 - as in NormalVectorProblem
        return np.asarray(coefficients @ self.X, dtype=np.float64)

    def block(self, rows: npt.NDArray[np.intp]) -> Array:  # noqa: D102 - as in ImplicitProblem
        own = self.X[rows]
        return np.asarray((own @ own.T).toarray(), dtype=np.float64)

    def residuals(self, coefficients: Array) -> Array:  # noqa: D102
        outputs = self.X @ self.normal_vector(coefficients)
        return np.asarray(self.y - outputs - self.ridge * coefficients, dtype=np.float64)

    def bounded_residuals(self, alpha: Array, *, sharp: bool = False) -> Residuals:
        """Return the residuals of the normal vector as computed, and how far that may be from the one of alpha.

        Their bound is as that of `LinearProblem.residuals_of`, with as many terms as a row has entries.
        """
        coefficients = alpha * self.y
        w = self.normal_vector(coefficients)
        outputs = self.X @ w
        lengths = np.sqrt(self.squared_lengths)
        sizes = abs(self.X) @ np.abs(w) if sharp else lengths * np.sqrt(w @ w)
        in_row = int(np.diff(self.X.indptr).max(initial=0))
        in_column = int(np.bincount(self.X.indices, minlength=1).max())
        shrinkage = self.ridge * coefficients
        error = EPSILON * ((in_row + 2) * sizes + 2.0 * (1.0 + np.abs(outputs) + 2.0 * np.abs(shrinkage)))
        return Residuals(self.y - outputs - shrinkage, error, EPSILON * (in_column + 2) * float(alpha @ lengths))


@dataclass(frozen=True)
class CoordinateAscent(DualSolver):
    """Coordinate ascent with Newton steps, for the linear kernel; hard margins are left to decomposition.

    Attributes
    ----------
    cache_mb : float or None
        As of `Decomposition`.
    """

    cache_mb: float | None = None

    name = "coordinate-ascent"
    needs = Needs(linear_kernel=True)

    def solve(  # noqa: D102
        self,
        problem: SparseProblem,
        *,
        tolerance: float = 1e-6,
        alpha0: Array | None = None,
        on_failure: Literal["raise", "flag"] = "raise",
    ) -> DualSolution:
        check_tolerance(tolerance)
        best: DualSolution | None = None
        if np.isfinite(problem.C).all():
            best = _ascend(problem, tolerance, alpha0)
            if best is not None and best.converged:
                return best
        own = KernelProblem(Linear(), problem.X, problem.y, problem.C, problem.equality, problem.ridge)
        start = alpha0 if best is None else best.alpha
        return Decomposition(self.cache_mb).solve(own, tolerance=tolerance, alpha0=start, on_failure=on_failure)


def _ascend(problem: SparseProblem, tolerance: float, alpha0: Array | None) -> LinearSolution | None:
    """Return the optimum, or the best point that was certified."""
    at, best, n_fine, accuracy = _Ascent(problem, alpha0), None, 0, ROUGH
    max_violation = MAX_VIOLATION * tolerance
    for stage in range(MAX_STAGES):
        at.pass_over_samples(PASSES if stage else FIRST_PASSES)
        n_clipped = at.newton_steps(accuracy, 0.1 * max_violation)
        alpha = balanced(problem, np.abs(at.coefficients))
        optimal = False
        if len(at.free()) <= MAX_FREE_OF_WORKING_SETS:
            ended = optimise_by_working_sets(problem, alpha, tolerance, rounds=MAX_ROUNDS)
            alpha, optimal = ended.alpha, ended.optimal
            at.move_to(problem.y * alpha)
        elif n_clipped:
            continue
        found = _certified(problem, alpha, stage + 1, tolerance)
        best = found if best is None or found.duality_gap < best.duality_gap else best
        n_fine += found.converged and accuracy == FINE
        if optimal or n_fine == MAX_FINE_STAGES or (found.converged and at.violation(found) <= max_violation):
            break
        accuracy = FINE
    return best


def _certified(problem: SparseProblem, alpha: Array, steps: int, tolerance: float) -> LinearSolution:
    alpha = on_bounds(problem, alpha)
    bias, gap, objective = certificate(problem, alpha, tolerance)
    w = problem.normal_vector(alpha * problem.y)
    outputs = problem.X @ w
    return LinearSolution(alpha, bias, objective, gap, steps, CoordinateAscent.name, gap <= tolerance, w, outputs)


class _Ascent:
    """A point of the dual problem, its coefficients c_i = alpha_i y_i, their normal vector, and a bias."""

    def __init__(self, problem: SparseProblem, alpha0: Array | None) -> None:
        self.problem, self.rng = problem, np.random.default_rng(0)
        self.move_to(np.zeros(len(problem.y)) if alpha0 is None else problem.y * alpha0)
        self.lower, self.upper = signed_bounds(problem)
        self.bias = 0.0
        self.penalty = float(problem.squared_lengths.mean()) if problem.equality else 0.0
        X = problem.X
        # Compiled code need not look for indices below zero, which would count from the end.
        self.rows = X.indptr.view(f"u{X.indptr.itemsize}"), X.indices.view(f"u{X.indices.itemsize}"), X.data

    def move_to(self, coefficients: Array) -> None:
        """Go to other coefficients, with the same bias."""
        self.coefficients = coefficients
        self.w = self.problem.normal_vector(coefficients)

    def free(self) -> npt.NDArray[np.intp]:
        """Return the samples whose coefficients are between their bounds."""
        return np.flatnonzero((self.coefficients > self.lower) & (self.coefficients < self.upper))

    def pass_over_samples(self, n_passes: int) -> None:
        """Raise the objective by one coefficient after the other, in an order that is drawn for each pass.

        Samples on a bound that do not pull away from it more than others did in the pass before are left out until the
        next call.
        """
        problem, order = self.problem, np.arange(len(self.coefficients))
        curvature = problem.squared_lengths + self.penalty + problem.ridge
        away = np.array([np.inf, -np.inf])
        for _ in range(n_passes):
            order = self.rng.permutation(order)
            surplus = float(self.coefficients.sum())
            found = np.array([self.bias, surplus, -np.inf, np.inf])
            point = self.coefficients, self.w
            box = problem.y, self.lower, self.upper, curvature
            n_left = visit(*self.rows, *box, order, *point, found, away, self.penalty, problem.ridge)
            self.bias += self.penalty * float(self.coefficients.sum())
            order = order[:n_left]
            if n_left == 0:
                break
            highest, lowest = found[2:]
            away = np.array([highest if highest > 0.0 else np.inf, lowest if lowest < 0.0 else -np.inf])

    def violation(self, found: LinearSolution) -> float:
        """Return by how much residuals of samples that may rise exceed those of samples that may fall."""
        c = found.alpha * self.problem.y
        residuals = self.problem.y - found.outputs - self.problem.ridge * c
        highest = residuals[c < self.upper].max(initial=-np.inf)
        lowest = residuals[c > self.lower].min(initial=np.inf)
        return float(highest - lowest if self.problem.equality else max(highest, 0.0) - min(lowest, 0.0))

    def newton_steps(self, accuracy: float, exact: float) -> int:
        """Take the free coefficients to where their samples lie on the margin, as far as their bounds allow.

        Coefficients that stop at a bound stay there, and the next step moves the others.

        Parameters
        ----------
        accuracy, exact : float
            The part of the residuals, and their norm, that conjugate gradients may leave.

        Returns
        -------
        int
            How many coefficients stopped at a bound in the last step.
        """
        for _ in range(MAX_NEWTON_STEPS):
            free = self.free()
            n_clipped = self._newton_step(free, accuracy, exact) if len(free) > 1 else 0
            if n_clipped == 0:
                break
        return n_clipped

    def _newton_step(self, free: npt.NDArray[np.intp], accuracy: float, exact: float) -> int:
        problem, X, y, own = self.problem, self.problem.X[free], self.problem.y[free], self.coefficients[free]
        ridge = problem.ridge + RIDGE_OF_STEPS * float(problem.squared_lengths.mean())
        residuals = y - X @ self.w - problem.ridge * own

        def product(v: Array) -> Array:
            return np.asarray(X @ (v @ X) + ridge * v, dtype=np.float64)

        def without_mean(v: Array) -> Array:
            return v - v.mean() if problem.equality else v

        shift = np.full(len(free), -float(self.coefficients.sum()) / len(free) if problem.equality else 0.0)
        projected = LinearOperator(
            (len(free), len(free)), matvec=lambda v: without_mean(product(without_mean(v))), dtype=np.float64
        )
        start = without_mean(residuals - product(shift))
        step, _ = cg(projected, start, rtol=accuracy, atol=exact, maxiter=MAX_PRODUCTS)
        step = without_mean(step) + shift
        if not np.isfinite(step).all():
            return 1
        bias = float((residuals - product(step)).mean()) if problem.equality else 0.0
        for halving in range(MAX_HALVINGS):
            wanted = own + 0.5**halving * step
            there = np.clip(wanted, self.lower[free], self.upper[free])
            change = there - own
            of_w = change @ X
            gain = change @ (residuals - bias) - 0.5 * (of_w @ of_w + problem.ridge * (change @ change))
            if gain >= 0.0:
                self.coefficients[free] = there
                self.w, self.bias = self.w + of_w, bias
                return int(np.count_nonzero(there != wanted))
        return 1


@njit(**COMPILED)
def visit(  # noqa: PLR0917
    starts: npt.NDArray[np.uint32],
    columns: npt.NDArray[np.uint32],
    values: Array,
    y: Array,
    lower: Array,
    upper: Array,
    curvature: Array,
    order: npt.NDArray[np.intp],
    c: Array,
    w: Array,
    at: Array,
    away: Array,
    penalty: float,
    ridge: float,
) -> int:
    """Take each coefficient to its optimum, all others held, and return how many samples are not left out.

    Parameters
    ----------
    starts, columns, values : arrays
        Of the CSR matrix (n, d).
    y, lower, upper, curvature : (n,) arrays
        Labels, bounds of the coefficients, and the second derivative of the penalised objective by each.
    order : (n_visited,) array of int
        Samples to visit; those that are not left out come first afterwards.
    c, w : (n,) and (d,) arrays
        Coefficients and sum_i c_i x_i, which change.
    at : (4,) array
        The multiplier and the sum of the coefficients; the largest and the smallest residual of coefficients that may
        rise and fall are written behind them.
    away : (2,) array
        A sample at its upper bound is left out where its residual is larger than the first number, one at its lower
        bound where it is smaller than the second.
    penalty, ridge : float
    """
    n_left, place = order.size, 0
    while place < n_left:
        i = order[place]
        residual = y[i] - at[0] - penalty * at[1] - ridge * c[i]
        for entry in range(starts[i], starts[i + 1]):
            residual -= w[columns[entry]] * values[entry]
        if (c[i] >= upper[i] and residual > away[0]) or (c[i] <= lower[i] and residual < away[1]):
            n_left -= 1
            order[place], order[n_left] = order[n_left], i
            continue
        place += 1
        if c[i] < upper[i]:
            at[2] = max(at[2], residual)
        if c[i] > lower[i]:
            at[3] = min(at[3], residual)
        moved = min(max(c[i] + residual / curvature[i], lower[i]), upper[i]) - c[i]
        if moved != 0.0:
            c[i] = min(max(c[i] + moved, lower[i]), upper[i])
            at[1] += moved
            for entry in range(starts[i], starts[i + 1]):
                w[columns[entry]] += moved * values[entry]
    return n_left
