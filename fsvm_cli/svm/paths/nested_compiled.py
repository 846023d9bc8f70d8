"""What the compiled functions of nested subsets are handed: the path so far, scratch, problems, features, records.

Machines on growing sets of features, compiled: the inner loop of nested subsets.

There are two entry points. `follow_order` lets features enter one by one, for dense samples; `fit_subset` fits one
subset whose matrices the caller has made, for sparse samples and for many features at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from fsvm_cli.svm.compiled import COMPILED, INLINED, add_scaled, inner_product, overwrite, total
from fsvm_cli.svm.kernels.compiled import IDENTITY, Form, add_feature, apply_function, fill_gram
from fsvm_cli.svm.solvers.active_set import CONVERGED, STEPS_PER_SAMPLE, make_scratch, maximise_certified
from fsvm_cli.svm.solvers.block_pivoting import pivot_certified
from fsvm_cli.svm.solvers.optimality import refresh
from fsvm_cli.svm.solvers.smo import count_inside, set_bounds

if TYPE_CHECKING:
    from fsvm_cli.svm.compiled import Array
    from fsvm_cli.svm.solvers.cholesky import Factor
    from fsvm_cli.svm.solvers.smo import Box

Integers = npt.NDArray[np.int64]


class Path(NamedTuple):
    """The machines on the last subset, from which those on the next begin, and the matrices that they share.

    Attributes
    ----------
    form : Form
        The kernel: a function of the statistic, which is a sum over features.
    square : (n, n) array
        Statistic between training samples; of some kernels the upper triangle only.
    cross : (n, n_test) array
        Statistic between training and test samples; without columns where scores come from normal vectors.
    coefficients, residuals : (n_machines, n) arrays
        Solutions on the last subset. `follow_order` keeps the residuals up to date where the kernel is its statistic.
    bias : (n_machines,) array
    """

    form: Form
    square: Array
    cross: Array
    coefficients: Array
    residuals: Array
    bias: Array


class Scratch(NamedTuple):
    """Memory to work in, reusable from one path to the next.

    Attributes
    ----------
    K : (n, n) array
        The Gram matrix; the path's own `square` where the kernel is its statistic.
    box : Box
    factor : Factor
    row : (max(n, n_test),) array
    """

    K: Array
    box: Box
    factor: Factor
    row: Array


class Problems(NamedTuple):
    """The dual problems but for their Gram matrix.

    Attributes
    ----------
    labels : (n_machines, n) array
        -1 or +1; a machine without +1 has no fit and a score of -infinity.
    C : (n,) array
        Upper bounds of alpha.
    tolerance : float
        Relative duality gap.
    digits, lengths : (n,) arrays
        Of the kernel on all features: what rounding does to a kernel value is at most
        digits_i lengths_i lengths_k, see `Rounding.of_machine`.
    has_own_lengths : bool
        Whether the roots of the kernel of samples with themselves, on a subset, may stand for `lengths`.
    """

    labels: Array
    C: Array
    tolerance: float
    digits: Array
    lengths: Array
    has_own_lengths: bool


class Entering(NamedTuple):
    """The features that enter along an order, and when.

    Attributes
    ----------
    train, test : (n_features, n) and (n_features, n_test) arrays
        Samples, one row for each feature.
    weights : (n_features,) array
        Of the features in the kernel.
    order : (n_entering,) array of int
        Rows of `train`.
    added : (n_sizes,) array of int
        How many features enter before each subset.
    """

    train: Array
    test: Array
    weights: Array
    order: Integers
    added: Integers


class Records(NamedTuple):
    """What is noted of each subset and machine; see `NestedCurves`.

    The duality gap takes the Gram matrix as exact; `rounding` is what its rounding can add, relative to the objective.
    """

    train_decision: Array
    test_decision: Array
    duality_gap: Array
    converged: npt.NDArray[np.bool_]
    iterations: Integers
    rounding: Array

    def part(self, index: Any) -> Records:
        """Return views of the records at an index of their leading axes."""
        return Records(*(array[index] for array in self))


def make_path(form: Form, n: int, n_test: int, n_machines: int) -> tuple[Path, Scratch]:
    """Return a path, which `restart` is to begin, and its scratch; linear machines need no `cross`."""
    path = Path(
        form=form,
        square=np.empty((n, n)),
        cross=np.empty((n, 0 if form.function == IDENTITY else n_test)),
        coefficients=np.empty((n_machines, n)),
        residuals=np.empty((n_machines, n)),
        bias=np.empty(n_machines),
    )
    box, factor = make_scratch(n)
    K = path.square if form.function == IDENTITY else np.empty((n, n))
    return path, Scratch(K=K, box=box, factor=factor, row=np.empty(max(n, n_test)))


def restart(path: Path, labels: Array) -> None:
    """Begin without features: matrices of zeros, and machines whose coefficients are 0."""
    path.square[:], path.cross[:], path.coefficients[:] = 0.0, 0.0, 0.0
    path.residuals[:] = labels


MIN_FREE_TO_PIVOT = 128
"""Free samples from which on it is faster to exchange all of those that change with a feature at once."""


def follow_order(path: Path, scratch: Scratch, problems: Problems, entering: Entering, records: Records) -> None:
    """Fit and evaluate the machines on subset after subset of an order.

    Parameters
    ----------
    path : Path
        From `restart`; advanced by the features that enter.
    scratch : Scratch
    problems : Problems
    entering : Entering
    records : Records
        Written, one row per subset.
    """
    _fit_subsets(path, scratch, problems, entering, path.form.function == IDENTITY, records)


def fit_subset(path: Path, scratch: Scratch, problems: Problems, records: Records) -> None:
    """Fit and evaluate the machines on one subset.

    Parameters
    ----------
    path : Path
        With the matrices of this subset, and the coefficients of the one before. Where `cross` has no columns, the
        scores of test samples are the biases alone: the caller adds what the normal vectors give.
    scratch : Scratch
    problems : Problems
    records : Records
        Written, of this subset.
    """
    n, none = len(path.square), np.empty(0, dtype=np.intp)
    nothing = Entering(
        train=np.empty((0, n)), test=np.empty((0, 0)), weights=np.empty(0), order=none, added=np.zeros(1, dtype=np.intp)
    )
    _fit_subsets(path, scratch, problems, nothing, False, records.part(None))


@njit(**COMPILED)
def _fit_subsets(  # noqa: PLR0917
    path: Path, scratch: Scratch, problems: Problems, entering: Entering, by_normal_vectors: bool, records: Records
) -> None:
    """Let features enter, fit and evaluate, once per subset; one function, for it takes long to compile.

    By normal vectors, residuals and test scores follow the features that enter; else kernel values give them.
    """
    entered = 0
    for s in range(entering.added.size):
        for _ in range(entering.added[s]):
            advance(path, entering, entering.order[entered], scratch.row)
            entered += 1
        subset = Records(
            records.train_decision[s],
            records.test_decision[s],
            records.duality_gap[s],
            records.converged[s],
            records.iterations[s],
            records.rounding[s],
        )
        fit_machines(path, scratch, problems, by_normal_vectors, subset)
        if by_normal_vectors:
            evaluate_linear(path, entering, entering.order[:entered], subset.test_decision)
        else:
            evaluate(path, subset.test_decision, scratch.row)


@njit(**INLINED)
def fit_machines(path: Path, scratch: Scratch, problems: Problems, has_residuals: bool, records: Records) -> None:
    """Fit the machines of one subset, each from its coefficients on the one before, and note what they are.

    The path `has_residuals` where those of its coefficients are at hand; else they are computed.
    """
    labels, C, tolerance, digits, lengths, has_own_lengths = problems
    K, box, factor, _ = scratch
    n = labels.shape[1]
    if path.form.function != IDENTITY:
        fill_gram(path.form, path.square, K)
    for m in range(len(labels)):
        y = labels[m]
        if total(y) == -n:
            path.bias[m] = -np.inf
            continue
        set_bounds(box, y, C)
        overwrite(box.r, path.residuals[m])
        if not has_residuals:
            overwrite(box.c, path.coefficients[m])
            refresh(K, y, box)
        converged, steps, bias, gap = fit_from(path.coefficients[m], K, y, box, factor, tolerance)
        path.bias[m] = bias
        overwrite(path.coefficients[m], box.c)
        overwrite(path.residuals[m], box.r)
        for i in range(n):
            records.train_decision[m, i] = y[i] - box.r[i] + bias
        records.duality_gap[m] = gap
        records.converged[m] = converged
        records.iterations[m] = steps
        records.rounding[m] = rounding_of_gap(K, y, box, bias, digits, lengths, has_own_lengths)


@njit(**COMPILED)
def rounding_of_gap(  # noqa: PLR0917
    K: Array, y: Array, box: Box, bias: float, digits: Array, lengths: Array, has_own_lengths: bool
) -> float:
    """Return the most that the rounding of kernel values adds to a gap, in units of the dual objective.

    By digits_i lengths_i sum_k |c_k| lengths_k the output of sample i may be off. Its loss changes by C_i times that if
    it may be within the margin, and what the coefficients say of both objectives by alpha_i times that.
    """
    total_length, dual, norm = 0.0, 0.0, 0.0
    for t in range(y.size):
        total_length += abs(box.c[t]) * (np.sqrt(abs(K[t, t])) if has_own_lengths else lengths[t])
        dual += 0.5 * box.c[t] * (y[t] + box.r[t])
        norm += box.c[t] * (y[t] - box.r[t])
    worst, largest = 0.0, 0.0
    for t in range(y.size):
        error = digits[t] * (np.sqrt(abs(K[t, t])) if has_own_lengths else lengths[t]) * total_length
        bound, slack = box.upper[t] - box.lower[t], y[t] * (box.r[t] - bias)
        if bound == np.inf:
            largest = max(largest, error)
        elif slack > -error:
            worst += bound * error
        worst += 3.0 * abs(box.c[t]) * error
    # A hard margin holds after the machine is scaled up by what its largest error asks for.
    worst += 4.0 * largest * norm
    return worst / abs(dual) if dual != 0.0 and largest < 0.25 else (0.0 if worst == 0.0 else np.inf)


@njit(**INLINED)
def fit_from(  # noqa: PLR0917
    start: Array, K: Array, y: Array, box: Box, factor: Factor, tolerance: float
) -> tuple[bool, int, float, float]:
    """Go to the optimum from a point with its residuals; return whether the gap was reached, steps, bias and gap."""
    overwrite(box.c, start)
    if count_inside(box) >= MIN_FREE_TO_PIVOT:
        rounds, bias, gap = pivot_certified(K, y, box, factor, tolerance)
        if rounds > 0:
            return True, rounds, bias, gap
        overwrite(box.c, start)
        refresh(K, y, box)
    status, steps, bias, gap = maximise_certified(K, y, box, factor, tolerance, STEPS_PER_SAMPLE * y.size)
    return status == CONVERGED, steps, bias, gap


@njit(**COMPILED)
def advance(path: Path, entering: Entering, j: int, row: Array) -> None:
    """Let feature j enter the matrices and, where the kernel is its statistic, the residuals; the row is scratch."""
    train, weight = entering.train[j], entering.weights[j]
    add_feature(path.form, path.square, path.cross, train, entering.test[j], weight, row)
    if path.form.function == IDENTITY:
        for m in range(len(path.residuals)):
            add_scaled(path.residuals[m], train, -weight * inner_product(path.coefficients[m], train))


@njit(**COMPILED)
def evaluate(path: Path, test_decision: Array, scratch: Array) -> None:
    """Write the machines' scores of the test samples; kernel values are computed for support vectors only."""
    row = scratch[: path.cross.shape[1]]
    start_at_bias(path, test_decision)
    if row.size == 0:
        return
    for i in range(path.cross.shape[0]):
        computed = False
        for m in range(path.bias.size):
            if path.coefficients[m, i] != 0.0:
                if not computed:
                    apply_function(path.form, path.cross[i], row)
                    computed = True
                add_scaled(test_decision[m], row, path.coefficients[m, i])


@njit(**COMPILED)
def evaluate_linear(path: Path, entering: Entering, entered: Integers, test_decision: Array) -> None:
    """Write the scores of linear machines by their normal vectors; the matrix `cross` is not read."""
    start_at_bias(path, test_decision)
    for m in range(path.bias.size):
        for j in entered:
            weight = entering.weights[j] * inner_product(path.coefficients[m], entering.train[j])
            add_scaled(test_decision[m], entering.test[j], weight)


@njit(**COMPILED)
def start_at_bias(path: Path, test_decision: Array) -> None:
    """Write the bias of each machine as its scores."""
    for m in range(path.bias.size):
        for t in range(test_decision.shape[1]):
            test_decision[m, t] = path.bias[m]
