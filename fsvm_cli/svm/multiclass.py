"""Several classes from binary machines, one against the rest or in pairs, and the rules that predict a class."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from fsvm_cli.svm.labels import Codes, machine_labels
from fsvm_cli.svm.large.linear_machine import LinearMachine, LinearMachineSolution
from fsvm_cli.svm.training_set import GramTrainingSet, Settings, SharpSolution, TrainingSet

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fsvm_cli.svm.compiled import Array
    from fsvm_cli.svm.solvers.dual import DualSolution, Solver

OutputScaling = Literal["none", "times-margin", "divided-by-margin"]

TIE_TOLERANCES = 10.0
"""Two correct solvers differ by less than this many tolerances in the scores of a well-posed problem."""


@dataclass(frozen=True, eq=False)
class OneVsRest:
    """The machines of a classification problem.

    Attributes
    ----------
    coefficients : (n_machines, n) array
        alpha_i y_i. One machine for two classes, with class code 1 as +1; k machines for k > 2 classes.
    bias : (n_machines,) array
        -infinity for a class that the training part lacks: it has no machine and is never predicted. That of the
        samples less their centre where they are a `LinearTrainingSet`.
    class_counts : (n_classes,) array
        Training samples of each class.
    solutions : tuple of DualSolution or None
        One per machine, None for a class that the training part lacks.
    """

    coefficients: Array
    bias: Array
    class_counts: Codes
    solutions: tuple[DualSolution | None, ...]

    @property
    def linear_machines(self) -> tuple[LinearMachine | None, ...]:
        """The machine of each solution that holds one, as those of a `LinearTrainingSet` do."""
        return tuple(found.machine if isinstance(found, LinearMachineSolution) else None for found in self.solutions)

    @property
    def sharp_machines(self) -> tuple[int, ...]:
        """The machines whose gap is that of outputs by `Kernel.sharp_expansion`."""
        return tuple(m for m, found in enumerate(self.solutions) if isinstance(found, SharpSolution))

    def decision_values(self, gram: Array) -> Array:
        """Return the machines' scores, shape (n_machines, n_b), for a Gram matrix (n, n_b), training samples first."""
        return decision_values(self.coefficients, self.bias, gram)


def fit_one_vs_rest(
    gram: Array | TrainingSet | Sequence[TrainingSet],
    codes: Codes,
    C: npt.ArrayLike,
    n_classes: int,
    *,
    tolerance: float = 1e-6,
    solver: Solver = "auto",
    on_failure: Literal["raise", "flag"] = "raise",
) -> OneVsRest:
    """Fit the machines of all classes on one training set, or each on its own.

    Parameters
    ----------
    gram : (n, n) array, TrainingSet, or one of these for each machine
    codes : (n,) array of int
        Class codes.
    C : float, (n,) array or (n_machines, n) array
        Upper bounds, as in `DualProblem`; of all machines, or of each.
    n_classes : int
        >= 2; classes may be absent from `codes`.
    tolerance, solver, on_failure
        As in `solve`.

    Raises
    ------
    ValueError
        As `machine_labels` and `solve`.
    ConvergenceError
        As `solve`.
    """
    labels, counts = machine_labels(codes, n_classes)
    coefficients = np.zeros(labels.shape)
    bias = np.full(len(labels), -np.inf)
    solutions: list[DualSolution | None] = [None] * len(labels)
    common = GramTrainingSet(gram) if isinstance(gram, np.ndarray) else gram
    sets = [common] * len(labels) if isinstance(common, TrainingSet) else common
    settings = Settings(tolerance, solver, on_failure)
    bounds: Any = C if np.ndim(C) == 2 else [C] * len(labels)
    for m, (own, y) in enumerate(zip(sets, labels, strict=True)):
        if (y > 0).any():
            found = own.train(y, bounds[m], settings)
            coefficients[m], bias[m], solutions[m] = found.alpha * y, found.bias, found
    return OneVsRest(coefficients, bias, counts, tuple(solutions))


def decision_values(coefficients: Array, bias: Array, gram: Array) -> Array:
    """Return sum_i coefficients_mi K(x_i, b_k) + bias_m, shape (n_machines, n_b), from the Gram matrix (n, n_b)."""
    return np.asarray(coefficients @ gram + bias[:, None], dtype=np.float64)


def output_factors(
    norms: Array, spreads: Array, scaling: Literal["times-margin", "divided-by-margin"], tie_width: float
) -> Array:
    """Return what the machines' outputs are multiplied by before the largest of them wins, shape (n_machines,).

    Parameters
    ----------
    norms : (n_machines,) array
        ‖w‖ of each machine; the margin is 1/‖w‖.
    spreads : (n_machines,) array
        Largest minus smallest output of each machine on its training samples.
    scaling : {"times-margin", "divided-by-margin"}
        Times the margin, the output is the distance to the hyperplane. A machine with w = 0 has no hyperplane to be
        distant from: its output stays as it is.
    tie_width : float
        A machine whose outputs all lie within it is constant, w = 0: what its norm holds is rounding.
    """
    known = np.where((norms > 0) & (spreads > tie_width), norms, 1.0)
    return 1 / known if scaling == "times-margin" else known


def predict_codes(values: Array, class_counts: Codes, tie_width: float | Array) -> Codes:
    """Return the class of each sample from the machines' scores.

    The class with the largest score. Scores within `tie_width` of the largest (two classes: of zero) are a tie, and
    the tie goes to the class with most training samples, then to the smallest code. Where machines are constant, as
    on one irrelevant feature, scores agree to within what solvers leave undetermined; without the rule two correct
    solvers would differ by whole per cents of accuracy. Hence the width is `TIE_TOLERANCES` times the tolerance. Where
    scores have been multiplied, each machine has its own width, and that of two machines is the larger one: what is
    rounding for a machine with one kernel may be all that those with another say.

    Parameters
    ----------
    values : (n_machines, ...) array
        Scores; one machine decides between codes 0 and 1.
    class_counts : (n_classes,) array of int
        Training samples per class.
    tie_width : float or (n_machines,) array
        >= 0, in units of the scores.

    Returns
    -------
    (...) array of int
    """
    counts, widths = np.asarray(class_counts, dtype=np.int64), np.asarray(tie_width, dtype=np.float64)
    if len(counts) == 2:
        larger = int(counts[1] > counts[0])
        codes: Codes = np.where(np.abs(values[0]) <= widths.max(), larger, np.int64(values[0] > 0))
        return codes
    largest = values.max(axis=0)
    of_largest = widths[values.argmax(axis=0)] if widths.ndim else widths
    winners = np.zeros(largest.shape, dtype=np.int64)
    for code in np.lexsort((np.arange(len(counts)), -counts))[::-1]:  # later classes overwrite earlier ones
        own = widths[code] if widths.ndim else widths
        np.copyto(winners, code, where=values[code] >= largest - np.maximum(of_largest, own))
    return winners


def pairs_of(n_classes: int) -> list[tuple[int, int]]:
    """List the pairs of classes, in the order of their machines: (0, 1), (0, 2), ..."""
    return list(itertools.combinations(range(n_classes), 2))


def fit_one_vs_one(
    training: TrainingSet,
    codes: Codes,
    C: npt.ArrayLike,
    n_classes: int,
    *,
    tolerance: float = 1e-6,
    solver: Solver = "auto",
    on_failure: Literal["raise", "flag"] = "raise",
) -> OneVsRest:
    """Fit a machine for each pair of classes, on the samples of these two; the first of the pair is +1.

    Parameters
    ----------
    training : TrainingSet
    codes : (n,) array of int
        Class codes; every class is there.
    C : float, (n,) array or (n_pairs, n) array
        Upper bounds, as in `DualProblem`; of all machines, or of each.
    n_classes : int
        >= 3.
    tolerance, solver, on_failure
        As in `solve`.

    Returns
    -------
    OneVsRest
        With a row for each pair; coefficients are 0 for samples of other classes.
    """
    _, counts = machine_labels(codes, n_classes)
    pairs = pairs_of(n_classes)
    bounds = np.broadcast_to(np.asarray(C, dtype=np.float64), (len(pairs), len(codes)))
    coefficients, bias = np.zeros((len(pairs), len(codes))), np.zeros(len(pairs))
    solutions = []
    for m, (first, second) in enumerate(pairs):
        rows = np.flatnonzero((codes == first) | (codes == second))
        y = np.where(codes[rows] == first, 1.0, -1.0)
        found = training.train(y, bounds[m, rows], Settings(tolerance, solver, on_failure), rows)
        coefficients[m, rows], bias[m] = found.alpha * y, found.bias
        solutions.append(found)
    return OneVsRest(coefficients, bias, counts, tuple(solutions))


def votes(values: Array, class_counts: Codes, tie_width: float) -> Codes:
    """Return the class of each sample that most machines vote for.

    A machine within `tie_width` of 0 votes for the larger of its classes, as `predict_codes` has it. Among classes with
    equally many votes the sum of the machines' scores for the class decides.

    Parameters
    ----------
    values : (n_pairs, n) array
        Scores of the machines, positive for the first class of the pair.
    class_counts : (n_classes,) array of int
        Training samples per class.
    tie_width : float
        >= 0, in units of the scores.

    Returns
    -------
    (n,) array of int
    """
    n_classes = len(class_counts)
    ballots, scores = np.zeros((n_classes, values.shape[1])), np.zeros((n_classes, values.shape[1]))
    for value, pair in zip(values, pairs_of(n_classes), strict=True):
        wins_second = predict_codes(-value[None], class_counts[list(pair)], tie_width)
        for code, won, score in zip(pair, (1 - wins_second, wins_second), (value, -value), strict=True):
            ballots[code] += won
            scores[code] += score
    # Less than half a vote, so that it decides among equals only; scikit-learn's machines break ties so.
    return predict_codes(ballots + scores / (3 * (np.abs(scores) + 1)), class_counts, tie_width)
