"""One machine on all samples and without those of a fold, for ascending C on one Gram matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from fsvm_cli.svm.active_set import CONVERGED
from fsvm_cli.svm.engine import STEPS_PER_SAMPLE, make_scratch, maximise_certified

if TYPE_CHECKING:
    from fsvm_cli.svm.dual import Array

Booleans = npt.NDArray[np.bool_]
Fold = tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]


def restore_balance(c: Array, lower: Array, upper: Array) -> Array:
    """Return coefficients that sum to zero: moved are the free ones as far as that goes, then any."""
    missing = -float(c.sum())
    room = upper - c if missing > 0.0 else c - lower
    free_first = np.argsort(~((c > lower) & (c < upper)), kind="stable")
    room = room[free_first]
    moves = np.clip(abs(missing) - (np.cumsum(room) - room), 0.0, room)
    balanced = c.copy()
    balanced[free_first] += np.sign(missing) * moves
    return np.clip(balanced, lower, upper)


def fit_all(K: Array, y: Array, Cs: Array, tolerance: float) -> tuple[Array, Array]:
    """Fit one machine on all samples, for each C from the solution for the one before.

    Parameters
    ----------
    K : (n, n) array
        Gram matrix.
    y : (n,) array
        Labels.
    Cs : (n_C,) array
        Ascending.
    tolerance : float
        Relative duality gap.

    Returns
    -------
    coefficients, scores : (n_C, n) arrays
    """
    box, factor = make_scratch(len(y))
    coefficients, scores = np.zeros((len(Cs), len(y))), np.empty((len(Cs), len(y)))
    for c, C in enumerate(Cs):
        box.lower[:], box.upper[:] = np.minimum(0.0, C * y), np.maximum(0.0, C * y)
        if c > 0:
            box.c[:] = np.clip(_grow(K, y, coefficients[c - 1], C / Cs[c - 1]), box.lower, box.upper)
        _, _, bias, _ = maximise_certified(K, y, box, factor, tolerance, STEPS_PER_SAMPLE * len(y))
        coefficients[c], scores[c] = box.c, y - box.r + bias
    return coefficients, scores


def score_fold(  # noqa: PLR0917
    K: Array, y: Array, Cs: Array, fold: Fold, tolerance: float, coefficients: Array, scores: Array
) -> Booleans:
    """Write the scores of the samples that a fold leaves out by machines without them; return which converged.

    A machine none of whose support vectors is left out is the machine on all samples, whose scores are there already.
    Others begin at that machine.

    Parameters
    ----------
    K, y, Cs, tolerance
        As in `fit_all`.
    fold : pair of arrays of int
        Training and test rows.
    coefficients : (n_C, n) array
        Of the machines on all samples.
    scores : (n_C, n) array
        On entry those of the machines on all samples.
    """
    train, test = fold
    converged = np.ones(len(Cs), dtype=bool)
    changed = np.flatnonzero((coefficients[:, test] != 0.0).any(axis=1))
    if not len(changed):
        return converged
    part, labels = K[np.ix_(train, train)], y[train]
    box, factor = make_scratch(len(train))
    for c in changed:
        box.lower[:], box.upper[:] = np.minimum(0.0, Cs[c] * labels), np.maximum(0.0, Cs[c] * labels)
        box.c[:] = restore_balance(coefficients[c, train], box.lower, box.upper)
        budget = STEPS_PER_SAMPLE * len(train)
        status, _, bias, _ = maximise_certified(part, labels, box, factor, tolerance, budget)
        converged[c] = status == CONVERGED
        scores[c, test] = K[np.ix_(test, train)] @ box.c + bias
    return converged


def _grow(K: Array, y: Array, previous: Array, ratio: float) -> Array:
    """Return the better of a solution and its multiple by the ratio of two C, both feasible for the larger C."""
    sum_alpha, curvature = float(previous @ y), float(previous @ (K @ previous))
    multiple_is_better = ratio * sum_alpha - 0.5 * ratio**2 * curvature > sum_alpha - 0.5 * curvature
    return previous * ratio if multiple_is_better else previous
