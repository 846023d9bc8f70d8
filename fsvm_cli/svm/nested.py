"""Machines on nested subsets of features: the retained-feature curve of one or more orders."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from fsvm_cli.svm.one_vs_rest import TIE_TOLERANCES, Codes, fit_one_vs_rest, machine_labels, predict_codes

if TYPE_CHECKING:
    from fsvm_cli.svm.dual import Array, Solver
    from fsvm_cli.svm.kernels import Kernel
    from fsvm_cli.svm.pairwise import Samples


@dataclass(frozen=True, eq=False)
class NestedCurves:
    """What the machines on each prefix of each order say.

    Machines of classes that the training part lacks have a decision value of -infinity, gap 0, no iterations, are
    converged, and their solver is "".

    Attributes
    ----------
    train_predicted : (n_orders, n_sizes, n_train) array of int
        Class codes.
    test_predicted : (n_orders, n_sizes, n_test) array of int
        Class codes.
    train_decision : (n_orders, n_sizes, n_machines, n_train) array
        Scores.
    test_decision : (n_orders, n_sizes, n_machines, n_test) array
        Scores.
    duality_gap : (n_orders, n_sizes, n_machines) array
        Relative.
    converged : (n_orders, n_sizes, n_machines) array of bool
        Whether the gap is within the tolerance.
    iterations : (n_orders, n_sizes, n_machines) array of int
    solver : (n_orders, n_sizes, n_machines) array of str
        The solver that finished each fit.
    """

    train_predicted: Codes
    test_predicted: Codes
    train_decision: Array
    test_decision: Array
    duality_gap: Array
    converged: npt.NDArray[np.bool_]
    iterations: npt.NDArray[np.int64]
    solver: npt.NDArray[np.str_]


def nested_curves(  # noqa: PLR0917
    kernel: Kernel,
    C: float,
    X_train: Samples,
    y_train: Codes,
    X_test: Samples,
    orders: npt.ArrayLike,
    sizes: tuple[int, ...],
    *,
    n_classes: int,
    tolerance: float = 1e-6,
    solver: Solver = "auto",
) -> NestedCurves:
    """Fit and evaluate one-vs-rest machines on the first `sizes` features of each order.

    The result of an order does not depend on which other orders are passed.

    Parameters
    ----------
    kernel : Kernel
    C : float
        Upper bound of alpha, > 0, infinity allowed.
    X_train, X_test : (n_train, d) and (n_test, d)
        Samples, dense or (inner-product kernels) CSR.
    y_train : (n_train,) array of int
        Class codes.
    orders : (n_orders, d) array of int
        Feature indices, best first; pass an order reversed for its worst-first curve.
    sizes : tuple of int
        Sizes of the subsets, each in 1 .. d.
    n_classes : int
        >= 2; classes may be absent from `y_train`.
    tolerance : float
        The relative duality gap of every fit.
    solver : str
        As in `solve`.

    Raises
    ------
    ValueError
        If an order is not a permutation of the features, a size is out of range, or fewer than two classes are present.
    """
    checked = _check_orders(orders, sizes, X_train.shape[1])
    labels, counts = machine_labels(y_train, n_classes)
    shape = (len(checked), len(sizes), len(labels))
    train_decision, test_decision = np.empty((*shape, X_train.shape[0])), np.empty((*shape, X_test.shape[0]))
    gap, converged, iterations = np.zeros(shape), np.ones(shape, dtype=bool), np.zeros(shape, dtype=np.int64)
    solvers = np.full(shape, "", dtype="<U16")
    for o, order in enumerate(checked):
        for s, size in enumerate(sizes):
            subset = order[:size]
            gram = kernel.value(kernel.statistic_matrix(X_train, X_train, subset))
            cross = kernel.value(kernel.statistic_matrix(X_train, X_test, subset))
            machines = fit_one_vs_rest(
                gram, y_train, C, n_classes, tolerance=tolerance, solver=solver, on_failure="flag"
            )
            train_decision[o, s], test_decision[o, s] = machines.decision_values(gram), machines.decision_values(cross)
            for m, found in enumerate(machines.solutions):
                if found is not None:
                    gap[o, s, m], converged[o, s, m] = found.duality_gap, found.converged
                    iterations[o, s, m], solvers[o, s, m] = found.iterations, found.solver
    return NestedCurves(
        train_predicted=_predict(train_decision, counts, tolerance),
        test_predicted=_predict(test_decision, counts, tolerance),
        train_decision=train_decision,
        test_decision=test_decision,
        duality_gap=gap,
        converged=converged,
        iterations=iterations,
        solver=solvers,
    )


def _check_orders(orders: npt.ArrayLike, sizes: tuple[int, ...], n_features: int) -> npt.NDArray[np.intp]:
    checked = np.asarray(orders, dtype=np.intp)
    if checked.ndim != 2 or checked.shape[1] != n_features:
        raise ValueError(f"orders has shape {checked.shape}; it must be (n_orders, {n_features})")
    if not (np.sort(checked, axis=1) == np.arange(n_features)).all():
        raise ValueError(f"each order must be a permutation of 0 .. {n_features - 1}")
    if not sizes or not all(1 <= size <= n_features for size in sizes):
        raise ValueError(f"sizes must lie in 1 .. {n_features}, not {sizes!r}")
    return checked


def _predict(decision: Array, counts: Codes, tolerance: float) -> Codes:
    n_orders, n_sizes, n_machines, n = decision.shape
    flat = decision.transpose(2, 0, 1, 3).reshape(n_machines, -1)
    return predict_codes(flat, counts, TIE_TOLERANCES * tolerance).reshape(n_orders, n_sizes, n)
