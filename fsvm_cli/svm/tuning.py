"""The choice of C and of the kernel by cross-validation."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from fsvm_cli.memory import check_room_for_pairs
from fsvm_cli.svm.c_unit import CUnit, unit_of_c
from fsvm_cli.svm.kernels.additive import AdditiveKernel
from fsvm_cli.svm.labels import Codes, machine_labels
from fsvm_cli.svm.linear.centring import centre_of, centred
from fsvm_cli.svm.one_vs_rest import TIE_TOLERANCES, predict_codes
from fsvm_cli.svm.paths.folds import Booleans, Fold, FoldMachines
from fsvm_cli.svm.solvers.dual import Array, DualProblem
from fsvm_cli.svm.solvers.solve import check_options, solve
from fsvm_cli.svm.ties import TieRule, best_candidate
from fsvm_cli.svm.weights import ClassWeight, weighted_bounds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fsvm_cli.svm.kernels.base import Kernel
    from fsvm_cli.svm.kernels.pairwise import Matrix

PAIR_MATRICES = 3
"""Matrices of all pairs of samples that a search holds: of a statistic, of kernel values, and a factor."""


@dataclass(frozen=True, eq=False)
class GridSearch:
    """What a grid search found.

    Attributes
    ----------
    kernel : Kernel
        The chosen kernel.
    C : float
        The chosen upper bound.
    accuracy : (n_kernels, n_C) array
        Mean over folds of the accuracy on the part that was left out, in 0 .. 1.
    converged : (n_kernels, n_C) array of bool
        Whether all machines reached their gap.
    """

    kernel: Kernel
    C: float
    accuracy: Array
    converged: npt.NDArray[np.bool_]


def grid_search(
    kernels: Sequence[Kernel],
    Cs: Sequence[float],
    X: Matrix,
    y: Codes,
    folds: Sequence[Fold],
    *,
    n_classes: int,
    tolerance: float = 1e-6,
    ties: TieRule = "margin",
    class_weight: ClassWeight | None = None,
    C_unit: CUnit = "none",
    jobs: int = 1,
) -> GridSearch:
    """Choose kernel and C by accuracy in cross-validation.

    Kernels of one statistic share its matrix, folds share the Gram matrix. Machines on all samples are fitted along
    ascending C, and the machines of a fold begin at them; where no support vector is left out they are the same.
    Of equally accurate candidates the one with the largest margin is taken, of those whose neighbours on the grid are
    accurate too; see `fsvm_cli.svm.ties`.

    Parameters
    ----------
    kernels : sequence of Kernel
        Candidates.
    Cs : sequence of float
        Candidates, > 0 and finite, in units of `C_unit`.
    X : (n, d)
        Samples, dense or (inner-product kernels) CSR.
    y : (n,) array of int
        Class codes.
    folds : sequence of (train, test)
        Rows of each fold; every training part must hold at least two classes. See
        `fsvm_cli.evaluation.folds`.
    n_classes : int
        >= 2.
    tolerance : float
        The relative duality gap of every machine.
    ties : {"margin", "smoothest"}
        What decides among equally accurate candidates; "smoothest": smallest C, then the kernel of least `roughness`
        (largest theta, smallest degree, gamma or scale).
    class_weight : mapping of class code to float, "balanced", or None
        What C is multiplied by for the samples of a class, and what their accuracy counts for; "balanced" is n /
        (n_classes * samples of the class), of all samples also in the folds, and the accuracy that chooses is the
        balanced one.
    C_unit : {"none", "mean-diagonal"}
        As of `SVM`; the unit is that of all samples also in the folds.
    jobs : int
        Threads, one kernel at a time each. The result does not depend on it.

    Raises
    ------
    ValueError
        If there are no candidates or folds, a C is out of range, or a training part holds fewer than two classes.
    """
    check_options(tolerance, "auto")
    check_room_for_pairs("tuning", len(y), PAIR_MATRICES, "choose C and the kernel on a part of them, or state both")
    ascending = np.unique(np.asarray(Cs, dtype=np.float64))
    if not len(kernels) or not len(ascending) or not len(folds):
        raise ValueError("a grid search needs at least one kernel, one C and one fold")
    if not (np.isfinite(ascending).all() and ascending[0] > 0.0):
        raise ValueError("every C must be finite and > 0")
    checked = [(np.asarray(train, dtype=np.int64), np.asarray(test, dtype=np.int64)) for train, test in folds]
    for train, _ in checked:
        machine_labels(y[train], n_classes)
    additive = [kernel for kernel in kernels if isinstance(kernel, AdditiveKernel)]
    weights = None if class_weight is None else weighted_bounds(1.0, y, class_weight)
    Z = centred(X, centre_of(X))
    of_kernel = {_shared(kernel): (kernel, Z if kernel.is_linear else X) for kernel in additive}
    statistics = {shared: kernel.statistic_matrix(own, own) for shared, (kernel, own) in of_kernel.items()}

    def gram_of(kernel: Kernel) -> Array:
        return kernel.value(statistics[_shared(kernel)]) if isinstance(kernel, AdditiveKernel) else kernel.gram(X, X)

    def evaluate(kernel: Kernel) -> tuple[Array, Booleans, Array]:
        bounds = ascending * unit_of_c(C_unit, kernel, X)
        return _cross_validate(gram_of(kernel), y, bounds, checked, n_classes, tolerance, weights)

    with ThreadPoolExecutor(max_workers=jobs) as pool:
        results = list(pool.map(evaluate, kernels))
    accuracy, converged, narrowness = (np.stack(part) for part in zip(*results, strict=True))
    n_tested = sum(len(test) for _, test in checked)
    k, c = best_candidate(kernels, accuracy, narrowness, n_tested, ties)
    columns = np.searchsorted(ascending, np.asarray(Cs, dtype=np.float64))
    return GridSearch(kernels[k], float(ascending[c]), accuracy[:, columns], converged[:, columns])


def _shared(kernel: AdditiveKernel) -> tuple[object, object, object]:
    return kernel.is_linear, kernel.statistic, getattr(kernel, "weights", None)


def _cross_validate(  # noqa: PLR0917
    gram: Array, y: Codes, Cs: Array, folds: list[Fold], n_classes: int, tolerance: float, weights: Array | None
) -> tuple[Array, Booleans, Array]:
    """Return mean accuracy, convergence and narrowness of the margin for each C on one Gram matrix."""
    labels, _ = machine_labels(y, n_classes)
    machines = {
        m: FoldMachines(gram, labels[m], Cs, tolerance, weights) for m in np.flatnonzero((labels > 0).any(axis=1))
    }
    accuracy, converged = np.zeros(len(Cs)), np.ones(len(Cs), dtype=bool)
    for train, test in folds:
        counts = np.bincount(y[train], minlength=n_classes)
        scores = np.full((len(labels), len(Cs), len(test)), -np.inf)
        for m, machine in machines.items():
            if not (labels[m, train] > 0).any():
                continue
            scores[m], done = machine.score((train, test))
            for c in np.flatnonzero(~done):
                scores[m, c], done[c] = _solve_fold(gram, labels[m], machine.bounds[c], (train, test), tolerance)
            converged &= done
        predicted = [predict_codes(scores[:, c], counts, TIE_TOLERANCES * tolerance) for c in range(len(Cs))]
        of_rows = None if weights is None else weights[test]
        accuracy += np.average(np.stack(predicted) == y[test], axis=1, weights=of_rows) / len(folds)
    # Coefficients add up to 0, so that the bias in the scores does not count.
    squared_norm = sum(np.einsum("ci,ci->c", each.coefficients, each.scores) for each in machines.values())
    return accuracy, converged, squared_norm * (np.trace(gram) / len(y) - gram.mean())


def _solve_fold(gram: Array, y: Array, C: Array, fold: Fold, tolerance: float) -> tuple[Array, bool]:
    """Give a machine that has not converged to the interior point; return its scores, and whether it has now."""
    train, test = fold
    problem = DualProblem(gram[np.ix_(train, train)], y[train], C[train])
    found = solve(problem, tolerance=tolerance, solver="interior-point", on_failure="flag")
    return gram[np.ix_(test, train)] @ (found.alpha * y[train]) + found.bias, found.converged
