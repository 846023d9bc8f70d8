"""Which of equally accurate candidates a grid search takes.

The choice of C and of the kernel by cross-validation.
"""

from __future__ import annotations

import dataclasses
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from fsvm_cli.memory_check import check_memory_for_pairs
from fsvm_cli.svm.costs import ClassWeight, CUnit, unit_of_c, weighted_bounds
from fsvm_cli.svm.kernels.additive import AdditiveKernel
from fsvm_cli.svm.labels import Codes, machine_labels
from fsvm_cli.svm.large.linear_machine import centre_of, centred
from fsvm_cli.svm.multiclass import TIE_TOLERANCES, predict_codes
from fsvm_cli.svm.paths.folds import Booleans, Fold, FoldMachines
from fsvm_cli.svm.solvers.certificate import stated
from fsvm_cli.svm.solvers.dual import DualProblem, check_tolerance
from fsvm_cli.svm.solvers.solve import solve

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fsvm_cli.svm.compiled import Array
    from fsvm_cli.svm.kernels.base import Kernel, Rounding
    from fsvm_cli.svm.kernels.pairwise import Matrix
    from fsvm_cli.svm.solvers.dual import DualSolution

TieRule = Literal["margin", "smoothest"]

MEAN_TOLERANCE = 1e-9
"""Between means of the same counts in another order."""

MARGIN_TOLERANCE = 1e-3
"""Relative difference of two margins that counts as none: machines reach their optimum to within a duality gap."""


def best_candidate(
    kernels: Sequence[Kernel], accuracy: Array, narrowness: Array, n_tested: int, rule: TieRule
) -> tuple[int, int]:
    """Choose among the candidates of a grid by accuracy, and among the equally accurate by a rule.

    The rule "margin" prefers what lies within a plateau to what lies at its edge. It compares the mean accuracy of the
    candidates next to each on the grid, in C and in each parameter of the kernel. Of those whose neighbours are within
    one standard error of the best neighbours, sqrt(a (1 - a) / n) for their accuracy a on n samples, it takes the one
    with the largest margin, in units of the samples' spread in the feature space. Of equal margins, and by the rule
    "smoothest" of all, the smallest C is taken, then the kernel of least `roughness`.

    Parameters
    ----------
    kernels : sequence of Kernel
    accuracy : (n_kernels, n_C) array
        In cross-validation, in 0 .. 1; C ascending.
    narrowness : (n_kernels, n_C) array
        Squared spread of the samples over the squared margin of the machines on all of them.
    n_tested : int
        Samples that the accuracy is one of.
    rule : {"margin", "smoothest"}

    Returns
    -------
    kernel, C : int
        Numbers of the row and the column.
    """
    smoothest = sorted(range(len(kernels)), key=lambda k: kernels[k].roughness)
    tied = np.argwhere(accuracy.max() - MEAN_TOLERANCE <= accuracy[smoothest].T)
    candidates = [(smoothest[k], int(c)) for c, k in tied]
    if rule == "margin" and len(candidates) > 1:
        beside = np.array([_accuracy_beside(kernels, accuracy, *candidate) for candidate in candidates])
        error = np.sqrt(beside.max() * (1 - beside.max()) / n_tested)
        within = [
            each for each, mean in zip(candidates, beside, strict=True) if mean >= beside.max() - error - MEAN_TOLERANCE
        ]
        least = min(narrowness[each] for each in within)
        candidates = [each for each in within if narrowness[each] <= least * (1 + MARGIN_TOLERANCE)]
    return candidates[0]


def _accuracy_beside(kernels: Sequence[Kernel], accuracy: Array, k: int, c: int) -> float:
    """Mean accuracy of the candidates next to one; its own where there are none."""
    found = [accuracy[k, each] for each in (c - 1, c + 1) if 0 <= each < accuracy.shape[1]]
    found += [accuracy[each, c] for each in _kernels_beside(kernels, k)]
    return float(np.mean(found)) if found else float(accuracy[k, c])


def _kernels_beside(kernels: Sequence[Kernel], k: int) -> list[int]:
    """Find the kernels that differ in one parameter, to the next larger or smaller value that there is of it."""
    beside = []
    own = _parameters(kernels[k])
    others = {each: _parameters(kernel) for each, kernel in enumerate(kernels) if type(kernel) is type(kernels[k])}
    for name, value in own.items():
        if isinstance(value, int | float):
            alike = [each for each, values in others.items() if {**values, name: None} == {**own, name: None}]
            line = {each: float(getattr(kernels[each], name)) for each in alike}
            above = [each for each in line if line[each] > value]
            below = [each for each in line if line[each] < value]
            beside += [min(above, key=line.__getitem__)] if above else []
            beside += [max(below, key=line.__getitem__)] if below else []
    return beside


def _parameters(kernel: Kernel) -> dict[str, object]:
    return {field.name: getattr(kernel, field.name) for field in dataclasses.fields(kernel)}


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
        Whether all machines reached their gap on the kernel values as computed.
    certified : (n_kernels, n_C) array of bool
        Whether they reached it for exact kernel values, too: else the accuracy may be another one.
    choice_converged : bool
        Whether all machines of all candidates reached their gap on the kernel values as computed, and those of the
        chosen candidate for exact ones, too. A candidate that is not chosen may lack the latter: in exact arithmetic
        its accuracy could have been the best.
    """

    kernel: Kernel
    C: float
    accuracy: Array
    converged: npt.NDArray[np.bool_]
    certified: npt.NDArray[np.bool_]
    choice_converged: bool


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
    sample_weight: Array | None = None,
    C_unit: CUnit = "none",
    jobs: int = 1,
) -> GridSearch:
    """Choose kernel and C by accuracy in cross-validation.

    Kernels of one statistic share its matrix, folds share the Gram matrix. Machines on all samples are fitted along
    ascending C, and the machines of a fold begin at them; where no support vector is left out they are the same.
    Of equally accurate candidates the one with the largest margin is taken, of those whose neighbours on the grid are
    accurate too; see `fsvm_cli.svm.tuning`.

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
    sample_weight : (n,) array, optional
        > 0. What C is multiplied by for each sample, too, and what it counts for in the accuracy of its part.
    C_unit : {"none", "mean-diagonal"}
        As of `SVM`; the unit is that of all samples also in the folds.
    jobs : int
        Threads, one kernel at a time each. The result does not depend on it.

    Raises
    ------
    ValueError
        If there are no candidates or folds, a C is out of range, or a training part holds fewer than two classes.
    """
    check_tolerance(tolerance)
    check_memory_for_pairs("tuning", len(y), PAIR_MATRICES, "choose C and the kernel on a part of them, or state both")
    ascending = np.unique(np.asarray(Cs, dtype=np.float64))
    if not len(kernels) or not len(ascending) or not len(folds):
        raise ValueError("a grid search needs at least one kernel, one C and one fold")
    if not (np.isfinite(ascending).all() and ascending[0] > 0.0):
        raise ValueError("every C must be finite and > 0")
    checked = [(np.asarray(train, dtype=np.int64), np.asarray(test, dtype=np.int64)) for train, test in folds]
    for train, _ in checked:
        machine_labels(y[train], n_classes)
    additive = [kernel for kernel in kernels if isinstance(kernel, AdditiveKernel)]
    is_weighted = class_weight is not None or sample_weight is not None
    weights = weighted_bounds(1.0, y, class_weight, sample_weight) if is_weighted else None
    Z = centred(X, centre_of(X))
    of_kernel = {_shared(kernel): (kernel, Z if kernel.is_linear else X) for kernel in additive}
    statistics = {shared: kernel.statistic_matrix(own, own) for shared, (kernel, own) in of_kernel.items()}

    def gram_of(kernel: Kernel) -> Array:
        return kernel.value(statistics[_shared(kernel)]) if isinstance(kernel, AdditiveKernel) else kernel.gram(X, X)

    def evaluate(kernel: Kernel) -> tuple[Array, Booleans, Booleans, Array]:
        bounds = ascending * unit_of_c(C_unit, kernel, X, sample_weight)
        samples = Z if kernel.is_linear else X
        rounding = kernel.rounding(samples).of_machine()
        return _cross_validate(gram_of(kernel), rounding, y, bounds, checked, n_classes, tolerance, weights)

    if jobs == 1:  # in this thread, whose time a trial measures
        results = [evaluate(kernel) for kernel in kernels]
    else:
        with ThreadPoolExecutor(max_workers=jobs) as pool:
            results = list(pool.map(evaluate, kernels))
    accuracy, converged, certified, narrowness = (np.stack(part) for part in zip(*results, strict=True))
    n_tested = sum(len(test) for _, test in checked)
    k, c = best_candidate(kernels, accuracy, narrowness, n_tested, ties)
    columns = np.searchsorted(ascending, np.asarray(Cs, dtype=np.float64))
    return GridSearch(
        kernels[k],
        float(ascending[c]),
        accuracy[:, columns],
        converged[:, columns],
        certified[:, columns],
        choice_converged=bool(converged.all() and certified[k, c]),
    )


def _shared(kernel: AdditiveKernel) -> tuple[object, object, object]:
    return kernel.is_linear, kernel.statistic, getattr(kernel, "weights", None)


def _cross_validate(  # noqa: PLR0917
    gram: Array,
    rounding: Rounding,
    y: Codes,
    Cs: Array,
    folds: list[Fold],
    n_classes: int,
    tolerance: float,
    weights: Array | None,
) -> tuple[Array, Booleans, Booleans, Array]:
    """Return mean accuracy, convergence, certificates and narrowness of the margin for each C on one Gram matrix."""
    labels, _ = machine_labels(y, n_classes)
    machines = {
        m: FoldMachines(gram, labels[m], Cs, tolerance, weights, rounding)
        for m in np.flatnonzero((labels > 0).any(axis=1))
    }
    accuracy, all_done, all_certified = np.zeros(len(Cs)), np.ones(len(Cs), dtype=bool), np.ones(len(Cs), dtype=bool)
    for train, test in folds:
        counts = np.bincount(y[train], minlength=n_classes)
        scores = np.full((len(labels), len(Cs), len(test)), -np.inf)
        for m, machine in machines.items():
            if not (labels[m, train] > 0).any():
                continue
            scores[m], done, certified = machine.score((train, test))
            found: DualSolution | None = None
            for c in np.flatnonzero(~done):
                part, own, C = gram[np.ix_(train, train)], labels[m, train], machine.bounds[c, train]
                found = _solved(DualProblem(part, own, C), found, tolerance)
                predicting = stated(DualProblem(part, own, C, rounding=rounding.restrict(train)), found, tolerance)
                scores[m, c] = gram[np.ix_(test, train)] @ (predicting.alpha * own) + predicting.bias
                done[c], certified[c] = found.converged, predicting.converged
            all_done &= done
            all_certified &= certified
        predicted = [predict_codes(scores[:, c], counts, TIE_TOLERANCES * tolerance) for c in range(len(Cs))]
        of_rows = None if weights is None else weights[test]
        accuracy += np.average(np.stack(predicted) == y[test], axis=1, weights=of_rows) / len(folds)
    # Coefficients add up to 0, so that the bias in the scores does not count.
    squared_norm = sum(np.einsum("ci,ci->c", each.coefficients, each.scores) for each in machines.values())
    return accuracy, all_done, all_certified, squared_norm * (np.trace(gram) / len(y) - gram.mean())


def _solved(problem: DualProblem, of_smaller_C: DualSolution | None, tolerance: float) -> DualSolution:
    """Return the machine for a smaller C where it is optimal for this one, too; else that of the interior point.

    It is optimal where no coefficient was at its bound.
    """
    if of_smaller_C is not None and (still := stated(problem, of_smaller_C, tolerance)).converged:
        return still
    return solve(problem, tolerance=tolerance, solver="interior-point", on_failure="flag")
