"""One order of features from subset to subset, compiled: the inner loop of nested subsets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from fsvm_cli.svm.kernels.compiled import IDENTITY, Form, add_feature, apply_function, fill_gram
from fsvm_cli.svm.solvers.active_set import CONVERGED
from fsvm_cli.svm.solvers.block_pivoting import pivot_certified
from fsvm_cli.svm.solvers.engine import STEPS_PER_SAMPLE, make_scratch, maximise_certified
from fsvm_cli.svm.solvers.pair_steps import Box, count_inside, set_bounds
from fsvm_cli.svm.solvers.residuals import refresh
from fsvm_cli.svm.vectors import COMPILED, INLINED, Array, add_scaled, inner_product, overwrite, total

if TYPE_CHECKING:
    from fsvm_cli.svm.solvers.factor import Factor

Integers = npt.NDArray[np.int64]


PIVOT_FROM = 128
"""From so many free samples on, many of which change with a feature, it pays to exchange all of them at once."""


class Walk(NamedTuple):
    """Where the walk along an order stands; shared by all its machines.

    Attributes
    ----------
    square : (n, n) array
        Statistic between training samples; of some kernels the upper triangle only.
    cross : (n, n_test) array
        Statistic between training and test samples; without columns where scores come from normal vectors.
    coefficients, residuals : (n_machines, n) arrays
        Solutions on the last subset, where the next begins; the residuals only where the kernel is its statistic, and
        follow each feature that enters.
    """

    square: Array
    cross: Array
    coefficients: Array
    residuals: Array


class Room(NamedTuple):
    """Scratch of a walk, reusable from one to the next.

    Attributes
    ----------
    K : (n, n) array
        The Gram matrix; the walk's own `square` where the kernel is its statistic.
    box : Box
    factor : Factor
    row : (widest,) array
        Scratch.
    bias : (n_machines,) array
    """

    K: Array
    box: Box
    factor: Factor
    row: Array
    bias: Array


def restart(walk: Walk, labels: Array) -> None:
    """Put a walk back to its beginning."""
    for matrix in walk:
        matrix[:] = 0.0
    walk.residuals[:] = labels


def prepare(form: Form, n: int, n_test: int, n_machines: int) -> tuple[Walk, Room]:
    """Return a walk, to be put to its beginning, and its room; linear machines need no `cross`."""
    n_cross = 0 if form.function == IDENTITY else n_test
    walk = Walk(np.empty((n, n)), np.empty((n, n_cross)), np.empty((n_machines, n)), np.empty((n_machines, n)))
    K = walk.square if form.function == IDENTITY else np.empty((n, n))
    widest = max(n, n_test)
    return walk, Room(K, *make_scratch(n), np.empty(widest), np.empty(n_machines))


class Records(NamedTuple):
    """What is noted of each subset and machine; see `NestedCurves`."""

    train_decision: Array
    test_decision: Array
    duality_gap: Array
    converged: npt.NDArray[np.bool_]
    iterations: Integers

    def part(self, index: Any) -> Records:
        """Return views of the records at an index of their leading axes."""
        return Records(*(array[index] for array in self))


@njit(**COMPILED)
def evaluate(form: Form, walk: Walk, bias: Array, test_decision: Array, scratch: Array) -> None:
    """Write the machines' scores of the test samples; kernel values are computed for support vectors only.

    Of a walk without `cross`, the biases alone: normal vectors give the rest.
    """
    row = scratch[: walk.cross.shape[1]]
    for m in range(bias.size):
        for t in range(test_decision.shape[1]):
            test_decision[m, t] = bias[m]
    if row.size == 0:
        return
    for i in range(walk.cross.shape[0]):
        computed = False
        for m in range(bias.size):
            if walk.coefficients[m, i] != 0.0:
                if not computed:
                    apply_function(form, walk.cross[i], row)
                    computed = True
                add_scaled(test_decision[m], row, walk.coefficients[m, i])


@njit(**COMPILED)
def evaluate_linear(  # noqa: PLR0917
    train: Array, test: Array, weights: Array, entered: Integers, walk: Walk, bias: Array, test_decision: Array
) -> None:
    """Write the scores of linear machines by their normal vectors; the matrix `cross` is not read."""
    for m in range(bias.size):
        for t in range(test.shape[1]):
            test_decision[m, t] = bias[m]
        for j in entered:
            add_scaled(test_decision[m], test[j], weights[j] * inner_product(walk.coefficients[m], train[j]))


@njit(**COMPILED)
def advance(form: Form, walk: Walk, train: Array, test: Array, weight: float, scratch: Array) -> None:  # noqa: PLR0917
    """Let a feature enter the walk's matrices and, where the kernel is their entry, the residuals."""
    add_feature(form, walk.square, walk.cross, train, test, weight, scratch)
    if form.function == IDENTITY:
        for m in range(len(walk.residuals)):
            add_scaled(walk.residuals[m], train, -weight * inner_product(walk.coefficients[m], train))


@njit(**INLINED)
def fit_from(  # noqa: PLR0917
    start: Array, K: Array, y: Array, box: Box, factor: Factor, tolerance: float
) -> tuple[bool, int, float, float]:
    """Go to the optimum from a point with its residuals; return whether the gap was reached, steps, bias and gap."""
    overwrite(box.c, start)
    if count_inside(box) >= PIVOT_FROM:
        rounds, bias, gap = pivot_certified(K, y, box, factor, tolerance)
        if rounds > 0:
            return True, rounds, bias, gap
        overwrite(box.c, start)
        refresh(K, y, box)
    status, steps, bias, gap = maximise_certified(K, y, box, factor, tolerance, STEPS_PER_SAMPLE * y.size)
    return status == CONVERGED, steps, bias, gap


@njit(**COMPILED)
def follow(  # noqa: PLR0917
    form: Form,
    walk: Walk,
    room: Room,
    train: Array,
    test: Array,
    weights: Array,
    order: Integers,
    added: Integers,
    labels: Array,
    C: float,
    tolerance: float,
    records: Records,
) -> None:
    """Fit and evaluate the machines on subset after subset.

    Parameters
    ----------
    form : Form
    walk : Walk
        Advanced.
    room : Room
    train, test : (n_features, n) and (n_features, n_test) arrays
    weights : (n_features,) array
    order : (n_entering,) array of int
        The features that enter, as rows of `train`; empty where the walk's matrices have been advanced already.
    added : (n_sizes,) array of int
        How many features enter before each subset.
    labels : (n_machines, n) array
        -1 or +1; a machine without +1 has no fit and a score of -infinity.
    C : float
        Upper bound of alpha.
    tolerance : float
        Relative duality gap.
    records : Records
        Written, one row per subset.
    """
    n = labels.shape[1]
    K, box, factor, scratch, bias = room
    by_normal_vector = form.function == IDENTITY and order.size > 0
    entered = 0
    for s in range(added.size):
        for _ in range(added[s]):
            j = order[entered]
            advance(form, walk, train[j], test[j], weights[j], scratch)
            entered += 1
        if form.function != IDENTITY:
            fill_gram(form, walk.square, K)
        for m in range(len(labels)):
            y = labels[m]
            if total(y) == -n:
                bias[m] = -np.inf
                continue
            set_bounds(box, y, C)
            overwrite(box.r, walk.residuals[m])
            if not by_normal_vector:
                overwrite(box.c, walk.coefficients[m])
                refresh(K, y, box)
            converged, steps, bias[m], gap = fit_from(walk.coefficients[m], K, y, box, factor, tolerance)
            overwrite(walk.coefficients[m], box.c)
            overwrite(walk.residuals[m], box.r)
            for i in range(n):
                records.train_decision[s, m, i] = y[i] - box.r[i] + bias[m]
            records.duality_gap[s, m] = gap
            records.converged[s, m] = converged
            records.iterations[s, m] = steps
        if by_normal_vector:
            evaluate_linear(train, test, weights, order[:entered], walk, bias, records.test_decision[s])
        else:
            evaluate(form, walk, bias, records.test_decision[s], scratch)
