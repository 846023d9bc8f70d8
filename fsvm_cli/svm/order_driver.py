"""One order of features from subset to subset, compiled: the inner loop of nested subsets."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from fsvm_cli.svm.active_set import CONVERGED
from fsvm_cli.svm.compiled_kernels import IDENTITY, Form, Scratch, add_feature, apply_function, fill_gram
from fsvm_cli.svm.engine import STEPS_PER_SAMPLE, make_scratch, maximise_certified
from fsvm_cli.svm.pair_steps import ALLOCATING, COMPILED, Array, add_scaled, inner_product

Integers = npt.NDArray[np.int64]


class Walk(NamedTuple):
    """Where the walk along an order stands; shared by all its machines.

    Attributes
    ----------
    square : (n, n) array
        Statistic between training samples; of some kernels the upper triangle only.
    cross : (n, n_test) array
        Statistic between training and test samples; without columns where scores come from normal vectors, which
        are added to the biases.
    coefficients : (n_machines, n) array
        Solutions on the last subset, where the next begins.
    """

    square: Array
    cross: Array
    coefficients: Array


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
def evaluate(form: Form, walk: Walk, bias: Array, test_decision: Array, scratch: Scratch) -> None:
    """Write the machines' scores of the test samples; kernel values are computed for support vectors only.

    Of a walk without `cross`, the biases alone.
    """
    row = scratch.row[: walk.cross.shape[1]]
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
                    apply_function(form, walk.cross[i], row, scratch)
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


@njit(**ALLOCATING)
def follow(  # noqa: PLR0917
    form: Form,
    walk: Walk,
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
    K = walk.square if form.function == IDENTITY else np.empty((n, n))
    box, factor = make_scratch(n)
    widest = max(n, test.shape[1])
    scratch = Scratch(np.empty(widest), np.empty(widest, np.int64))
    bias = np.empty(len(labels))
    by_normal_vector = form.function == IDENTITY and order.size > 0
    entered = 0
    for s in range(added.size):
        for _ in range(added[s]):
            j = order[entered]
            add_feature(form, walk.square, walk.cross, train[j], test[j], weights[j], scratch)
            entered += 1
        if form.function != IDENTITY:
            fill_gram(form, walk.square, K, scratch)
        for m in range(len(labels)):
            y = labels[m]
            if np.max(y) < 0.0:
                bias[m] = -np.inf
                records.train_decision[s, m] = -np.inf
                continue
            for i in range(n):
                box.lower[i], box.upper[i] = min(0.0, C * y[i]), max(0.0, C * y[i])
            box.c[:] = walk.coefficients[m]
            status, steps, bias[m], gap = maximise_certified(K, y, box, factor, tolerance, STEPS_PER_SAMPLE * n)
            walk.coefficients[m] = box.c
            for i in range(n):
                records.train_decision[s, m, i] = y[i] - box.r[i] + bias[m]
            records.duality_gap[s, m] = gap
            records.converged[s, m] = status == CONVERGED
            records.iterations[s, m] = steps
        if by_normal_vector:
            evaluate_linear(train, test, weights, order[:entered], walk, bias, records.test_decision[s])
        else:
            evaluate(form, walk, bias, records.test_decision[s], scratch)


@njit(**ALLOCATING)
def follow_orders(  # noqa: PLR0917
    form: Form,
    train: Array,
    test: Array,
    weights: Array,
    orders: Integers,
    added: Integers,
    labels: Array,
    C: float,
    tolerance: float,
    records: Records,
) -> None:
    """Follow each row of `orders` from nothing; the records have one more leading axis than those of `follow`."""
    n = labels.shape[1]
    n_cross = 0 if form.function == IDENTITY else test.shape[1]
    for o in range(len(orders)):
        walk = Walk(np.zeros((n, n)), np.zeros((n, n_cross)), np.zeros(labels.shape))
        part = Records(
            records.train_decision[o],
            records.test_decision[o],
            records.duality_gap[o],
            records.converged[o],
            records.iterations[o],
        )
        follow(form, walk, train, test, weights, orders[o], added, labels, C, tolerance, part)
