"""Several classes from machines of two classes each, which vote."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from fsvm_cli.svm.labels import Codes, machine_labels
from fsvm_cli.svm.one_vs_rest import OneVsRest, predict_codes
from fsvm_cli.svm.training_set import Settings

if TYPE_CHECKING:
    from fsvm_cli.svm.solvers.dual import Array, Solver
    from fsvm_cli.svm.training_set import TrainingSet


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
