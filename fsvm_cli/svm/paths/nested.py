"""Machines on nested subsets of features: the retained-feature curve of one or more orders."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from scipy import sparse

from fsvm_cli.svm.kernels.additive import AdditiveKernel
from fsvm_cli.svm.kernels.compiled import IDENTITY, POWER
from fsvm_cli.svm.labels import Codes, machine_labels
from fsvm_cli.svm.large.linear_machine import LinearMachineSolution, centre_of, centred
from fsvm_cli.svm.multiclass import TIE_TOLERANCES, predict_codes
from fsvm_cli.svm.paths.nested_compiled import Entering, Problems, Records, fit_subset, follow_order, make_path, restart
from fsvm_cli.svm.solvers.certificate import stated, with_rounding
from fsvm_cli.svm.solvers.dual import DualProblem, check_tolerance
from fsvm_cli.svm.solvers.solve import check_solver, solve
from fsvm_cli.svm.training_set import Settings, SharpSolution, certified_decision_values, training_set

if TYPE_CHECKING:
    from fsvm_cli.svm.compiled import Array
    from fsvm_cli.svm.kernels.base import Kernel, Rounding
    from fsvm_cli.svm.kernels.pairwise import Matrix
    from fsvm_cli.svm.paths.nested_compiled import Path, Scratch
    from fsvm_cli.svm.solvers.dual import DualSolution, Solver

Features = npt.NDArray[np.intp]

MAX_FEATURES_ONE_BY_ONE = 16
"""Features that enter one by one, at most; more at once enter by a matrix product."""


@dataclass(frozen=True, eq=False)
class NestedCurves:
    """What the machines on each prefix of each order predict, with their certificates.

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
        Relative; of the machine on the Gram matrix as it is computed and, where the rounding of kernel values may take
        it above the tolerance, of the machine that predicts.
    converged : (n_orders, n_sizes, n_machines) array of bool
        Whether the gap of the machine that predicts is within the tolerance.
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
    C: npt.ArrayLike,
    X_train: Matrix,
    y_train: Codes,
    X_test: Matrix,
    orders: npt.ArrayLike,
    sizes: tuple[int, ...],
    *,
    n_classes: int,
    tolerance: float = 1e-6,
    solver: Solver = "auto",
) -> NestedCurves:
    """Fit and evaluate one-vs-rest machines on the first `sizes` features of each order.

    The result of an order does not depend on which other orders are passed. Machines with a kernel that is no function
    of a sum over features, such as a `WeightedSum`, begin anew on each subset, with a Gram matrix of its own.

    Parameters
    ----------
    kernel : Kernel
    C : float or (n_train,) array
        Upper bounds of alpha, > 0, infinity allowed.
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
    tolerance, solver
        As in `solve`, for every fit.

    Raises
    ------
    ValueError
        If an order is not a permutation of the features, a size or a parameter is out of range, fewer than two classes
        are present, or kernel values are not finite.
    """
    check_tolerance(tolerance)
    check_solver(solver)
    bounds = np.array(np.broadcast_to(np.asarray(C, dtype=np.float64), len(y_train)))
    if not (bounds > 0.0).all():
        raise ValueError(f"C must be > 0 (infinity is allowed), not {C!r}")
    checked = _check_orders(orders, sizes, X_train.shape[1])
    labels, counts = machine_labels(y_train, n_classes)
    if kernel.is_linear:
        centre = centre_of(X_train)
        X_train, X_test = centred(X_train, centre), centred(X_test, centre)
    setting = _Setting(kernel, bounds, X_train, X_test, labels, tolerance)
    records, solvers = _fit_subsets(setting, checked, sizes, solver)
    _certify_doubtful(setting, checked, sizes, solver, records, solvers)
    return NestedCurves(
        train_predicted=_predict(records.train_decision, counts, tolerance),
        test_predicted=_predict(records.test_decision, counts, tolerance),
        train_decision=records.train_decision,
        test_decision=records.test_decision,
        duality_gap=records.duality_gap,
        converged=records.converged,
        iterations=records.iterations,
        solver=solvers,
    )


@dataclass(frozen=True, eq=False)
class _Setting:
    """What all orders share."""

    kernel: Kernel
    C: Array
    X_train: Matrix
    X_test: Matrix
    labels: Array
    tolerance: float

    @property
    def present(self) -> npt.NDArray[np.bool_]:
        """Whether the training part has samples of each machine's class."""
        return np.asarray((self.labels > 0).any(axis=1))

    @property
    def additive_kernel(self) -> AdditiveKernel:
        """The kernel as one that an order of features can be followed with."""
        assert isinstance(self.kernel, AdditiveKernel), "machines with other kernels are fitted one by one"
        return self.kernel

    @cached_property
    def problems(self) -> Problems:
        """The problems, with what rounding does to kernel values of all features."""
        return self._problems(self.kernel.rounding(self.X_train).of_machine())

    def _problems(self, rounding: Rounding) -> Problems:
        reach = np.divide(rounding.reach, rounding.lengths, out=np.zeros(len(self.C)), where=rounding.lengths > 0.0)
        return Problems(
            labels=self.labels,
            C=self.C,
            tolerance=self.tolerance,
            digits=rounding.relative + reach,
            lengths=rounding.lengths,
            has_own_lengths=self.additive_kernel.form.function in {IDENTITY, POWER},
        )

    def empty_records(self, *leading: int) -> Records:
        shape = (*leading, len(self.labels))
        return Records(
            np.full((*shape, self.X_train.shape[0]), -np.inf),
            np.full((*shape, self.X_test.shape[0]), -np.inf),
            np.zeros(shape),
            np.broadcast_to(~self.present, shape).copy(),
            np.zeros(shape, dtype=np.int64),
            np.zeros(shape),
        )


def _fit_subsets(
    setting: _Setting, orders: Features, sizes: tuple[int, ...], solver: Solver
) -> tuple[Records, npt.NDArray[np.str_]]:
    """Fit the machines on all subsets, by following the orders where that is possible; name each fit's last solver."""
    solvers = np.full((len(orders), len(sizes), len(setting.labels)), "", dtype="<U16")
    followed = solver in {"auto", "smo"} and isinstance(setting.kernel, AdditiveKernel)
    if followed:
        records = _follow_all(setting, orders, sizes)
        solvers[..., setting.present] = "smo"
    else:
        records = setting.empty_records(len(orders), len(sizes))
    if not followed or solver != "smo":
        rest: Solver = "interior-point" if followed and solver == "auto" else solver
        for o, s in np.argwhere(~records.converged.all(axis=2)):
            _refit(setting, orders[o, : sizes[s]], rest, records.part((o, s)), solvers[o, s])
    return records, solvers


def _follow_all(setting: _Setting, orders: Features, sizes: tuple[int, ...]) -> Records:
    """Follow each order from small to large subsets, each fit beginning at the one before.

    Larger subsets are easier, and sums that only grow lose no digits. The set of all features is the same for all
    orders: it is fitted once, on its own, so that an order's result does not depend on its company.
    """
    ascending = sorted(set(sizes))
    distinct, d = np.array(ascending), orders.shape[1]
    n_partial = len(distinct) - (ascending[-1] == d)
    n_samples = setting.X_train.shape[0], setting.X_test.shape[0]
    path, scratch = make_path(setting.additive_kernel.form, *n_samples, len(setting.labels))
    parts = []
    if n_partial:
        parts.append(_follow(setting, orders, distinct[:n_partial], path, scratch))
    if n_partial < len(distinct):
        whole = _follow(setting, np.sort(orders[:1]), distinct[n_partial:], path, scratch)
        parts.append(whole.part(np.zeros(len(orders), dtype=np.intp)))
    records = Records(*(np.concatenate(arrays, axis=1) for arrays in zip(*parts, strict=True)))
    return records if ascending == list(sizes) else records.part((slice(None), np.searchsorted(distinct, sizes)))


def _follow(setting: _Setting, orders: Features, sizes: npt.NDArray[np.intp], path: Path, scratch: Scratch) -> Records:
    """Fit and evaluate the machines on the first features of each order, for ascending sizes."""
    added = np.diff(sizes, prepend=0)
    if added.max() <= MAX_FEATURES_ONE_BY_ONE and not sparse.issparse(setting.X_train):
        return _follow_by_features(setting, orders, added, path, scratch)
    return _follow_by_matrices(setting, orders, sizes, path, scratch)


def _follow_by_features(
    setting: _Setting, orders: Features, added: npt.NDArray[np.intp], path: Path, scratch: Scratch
) -> Records:
    """Let features enter one by one, in compiled code."""
    kernel, d = setting.additive_kernel, orders.shape[1]
    records = setting.empty_records(len(orders), len(added))
    weights = kernel.feature_weights(d)
    weights = np.ones(d) if weights is None else weights
    train, test = (np.ascontiguousarray(X.T, dtype=np.float64) for X in (setting.X_train, setting.X_test))
    for o, order in enumerate(orders):
        restart(path, setting.labels)
        entering = Entering(train=train, test=test, weights=weights, order=order, added=added)
        follow_order(path, scratch, setting.problems, entering, records.part(o))
    return records


def _follow_by_matrices(
    setting: _Setting, orders: Features, sizes: npt.NDArray[np.intp], path: Path, scratch: Scratch
) -> Records:
    """Let the features between two sizes enter together: a matrix product, which sparse samples have, too."""
    kernel, X_train, X_test = setting.additive_kernel, setting.X_train, setting.X_test
    records = setting.empty_records(len(orders), len(sizes))
    for o, order in enumerate(orders):
        path.coefficients[:] = 0.0
        for s, (entered, size) in enumerate(pairwise([0, *sizes.tolist()])):
            entering = order[entered:size]
            _add_term(path.square, kernel.statistic_matrix(X_train, X_train, entering), is_first=s == 0)
            if not kernel.is_linear:
                _add_term(path.cross, kernel.statistic_matrix(X_train, X_test, entering), is_first=s == 0)
            fit_subset(path, scratch, setting.problems, records.part((o, s)))
            if kernel.is_linear:
                records.test_decision[o, s] += kernel.expansion(X_train, X_test, path.coefficients, order[:size])
    return records


def _add_term(total: Array, term: Array, *, is_first: bool) -> None:
    if is_first:
        total[:] = term
    else:
        total += term


def _refit(
    setting: _Setting, subset: Features, solver: Solver, records: Records, solvers: npt.NDArray[np.str_]
) -> None:
    """Give the machines of one subset that have not converged to another solver."""
    gram = setting.kernel.gram(setting.X_train, setting.X_train, subset)
    cross = setting.kernel.gram(setting.X_train, setting.X_test, subset)
    rounding = setting.kernel.rounding(setting.X_train, subset).of_machine()
    for m in np.flatnonzero(~records.converged):
        y, tolerance = setting.labels[m], setting.tolerance
        found = solve(DualProblem(gram, y, setting.C), tolerance=tolerance, solver=solver, on_failure="flag")
        found = stated(DualProblem(gram, y, setting.C, rounding=rounding), found, tolerance)
        records.rounding[m] = 0.0
        records.train_decision[m] = (found.alpha * y) @ gram + found.bias
        records.test_decision[m] = (found.alpha * y) @ cross + found.bias
        records.duality_gap[m], records.converged[m] = found.duality_gap, found.converged
        records.iterations[m] += found.iterations
        solvers[m] = found.solver


def _certify_doubtful(  # noqa: PLR0917
    setting: _Setting,
    orders: Features,
    sizes: tuple[int, ...],
    solver: Solver,
    records: Records,
    solvers: npt.NDArray[np.str_],
) -> None:
    """Train machines anew whose gap the rounding of kernel values may take above the tolerance, by their features.

    A linear machine then predicts by its normal vector, and a polynomial one in twice the precision. Where that does
    not certify it either, or the solver was chosen by its name, the machine is flagged with the gap that it may have.
    """
    tolerance, gap, rounding = setting.tolerance, records.duality_gap, records.rounding
    doubtful = records.converged & (gap <= tolerance) & (gap + rounding > tolerance * (1.0 - rounding))
    for o, s in np.argwhere(doubtful.any(axis=2)):
        subset = np.sort(orders[o, : sizes[s]])
        X, y = setting.X_train[:, subset], setting.labels
        has_own = solver == "auto" and setting.kernel.feature_weights(orders.shape[1]) is None
        training = training_set(setting.kernel, X, solver) if has_own else None
        for m in np.flatnonzero(doubtful[o, s]):
            place = (o, s, m)
            found = training and training.train(y[m], setting.C, Settings(tolerance, solver, "flag"))
            if not found or not found.converged:
                gap[place], records.converged[place] = with_rounding(float(gap[place]), float(rounding[place])), False
                continue
            for decision, samples in ((records.train_decision, X), (records.test_decision, setting.X_test[:, subset])):
                decision[place] = _decision_values(setting.kernel, X, y[m], found, samples)
            gap[place], solvers[place] = found.duality_gap, found.solver
            records.iterations[place] += found.iterations


def _decision_values(kernel: Kernel, X_train: Matrix, y: Array, found: DualSolution, X: Matrix) -> Array:
    """Return the decision values of a machine, shape (n,)."""
    used = np.flatnonzero(found.alpha)
    values = certified_decision_values(
        [kernel],
        X_train[used],
        (found.alpha * y)[None, used],
        np.array([found.bias]),
        X,
        linear_machines=[found.machine if isinstance(found, LinearMachineSolution) else None],
        sharp_machines=[0] if isinstance(found, SharpSolution) else [],
    )
    return np.asarray(values[0])


def _check_orders(orders: npt.ArrayLike, sizes: tuple[int, ...], n_features: int) -> Features:
    checked = np.asarray(orders, dtype=np.intp)
    if checked.ndim != 2 or checked.shape[1] != n_features:
        raise ValueError(f"orders has shape {checked.shape}; it must be (n_orders, {n_features})")
    if not (np.sort(checked, axis=1) == np.arange(n_features)).all():
        raise ValueError(f"each order must be a permutation of 0 .. {n_features - 1}")
    if not sizes or not all(1 <= size <= n_features for size in sizes):
        raise ValueError(f"sizes must lie in 1 .. {n_features}, not {sizes!r}")
    return checked


def _predict(decision: Array, counts: Codes, tolerance: float) -> Codes:
    return predict_codes(np.moveaxis(decision, 2, 0), counts, TIE_TOLERANCES * tolerance)
